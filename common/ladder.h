// SPDX-License-Identifier: MIT
//
// A ladder: the kernels ("variants") that compete on one problem, and all that a program must know to run,
// test and time them. A day writes it once, in its ladder.h; its executable (run_day.h), tests (testing.h)
// and benchmark (benchmarking.h) read it.
//
//   template <class T> struct RowScale { const T* x; const float* scale; T* y; int rows, cols; };      //
//   row_scale.h
//
//   inline const auto row_scale = days::ladder<RowScale>("row_scale")
//       .extents({"rows", "cols"})                       // the numbers of a shape, in the order of --size
//       .types<float, half>()                            // before the variants
//       .variant("naive", LAUNCHER(row_scale_naive))
//       .variant("half2", LAUNCHER(row_scale_half2)).needs("cols % 8 == 0", [](const auto& p) { return p.cols
//       % 8 == 0; }) .reference(LAUNCHER(row_scale_reference))        // host pointers .shapes({{1, 1}, {3,
//       33}})                       // tests .bench({{16384, 4096}})                          // on a GPU
//       .show({{64, 4096}})                              // on the CPU backend
//       .inputs([](auto& p, days::Shape s, days::Inputs& in) { ... })      // inputs.h
//       .traffic([](const auto& p) { return days::reads(p.x, 1.0 * p.rows * p.cols) + ...; })
//       .tolerance(days::exact)                          // compare.h
//       .lesson("one line");
//
// A ladder is a value: each call returns a copy with one thing more. .needs, .runs_on and .workspace speak of
// the variant or baseline before them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/compare.h"
#include "common/device.h"
#include "common/image.h"
#include "common/inputs.h"
#include "common/parallel.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

// A function, function template or overload set as one object that accepts exactly the problems that the
// function does.
#define LAUNCHER(f) [](const auto& p, auto... s) -> decltype(f(p, s...)) { return f(p, s...); }

// Makes a library's launcher a contestant of the ladder of that name, which lists it with .baseline(name). At
// namespace scope in a file of its own, baselines/*.cu. Further arguments are the element types; without them
// every type of types.h that the launcher accepts.
#define REGISTER_BASELINE(problem, ladder_name, name, launcher, ...)          \
  [[maybe_unused]] static const bool DAYS_JOIN(days_baseline_, __LINE__) =    \
      ::days::detail::register_baseline<problem>(ladder_name, name, launcher, \
                                                 ::days::Type<std::tuple<__VA_ARGS__>>{})
#define DAYS_JOIN(a, b) DAYS_JOIN_NOW(a, b)
#define DAYS_JOIN_NOW(a, b) a##b

namespace days {

// Bytes that a problem has to move at the least: each input once, each output once.
struct Traffic {
  double read = 0, written = 0;
  double bytes() const { return read + written; }
  friend Traffic operator+(Traffic a, Traffic b) { return {a.read + b.read, a.written + b.written}; }
};
// `count` elements of the array that the pointer points to.
template <class T>
Traffic reads(const T*, double count) {
  return {count * sizeof(T), 0};
}
template <class T>
Traffic writes(const T*, double count) {
  return {0, count * sizeof(T)};
}

// The instruction that sets the pace of a compute-bound problem; limits.h measures what this device does of
// it. mma: mma.sync with sums in float. by_type: that of fp16 and bf16, and FFMA for all others.
enum class Rate { kNone, ffma, mma_fp16, mma_bf16, by_type };

namespace detail {

// Problems are passed as void* from here on: Row and Typed belong to one Problem<T> each, and the ladder
// hands them only that.
using Launch = std::function<void(const void* problem, cudaStream_t)>;

struct BaselineKey {
  std::string ladder, name;
  std::type_index problem;
  auto operator<=>(const BaselineKey&) const = default;
};
// A function-local object, so that it exists before whichever file's registration comes first.
inline std::map<BaselineKey, Launch>& baselines() {
  static std::map<BaselineKey, Launch> all;
  return all;
}

// f(const Problem&, A...) as a function of a void*. One without captures, as LAUNCHER makes them, becomes a
// pointer: all pointers share one instantiation of std::function, where each lambda would have its own.
template <class Problem, class R, class... A, class F>
std::function<R(const void*, A...)> erased(F f) {
  if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F>) {
    return static_cast<R (*)(const void*, A...)>([](const void* p, A... a) -> R {
      return static_cast<R>(F{}(*static_cast<const Problem*>(p), static_cast<A>(a)...));
    });
  } else {
    return [f](const void* p, A... a) -> R {
      return static_cast<R>(f(*static_cast<const Problem*>(p), static_cast<A>(a)...));
    };
  }
}
template <class Problem, class F>
Launch erase_launcher(F launcher) {
  return erased<Problem, void, cudaStream_t>(launcher);
}

using AllTypes = std::tuple<float, double, half, bf16, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t,
                            int64_t, uint64_t>;

template <template <class> class Problem, class T, class F>
void register_one(const char* ladder, const char* name, F launcher) {
  if constexpr (std::is_invocable_v<F, const Problem<T>&, cudaStream_t>) {
    baselines()[{ladder, name, typeid(Problem<T>)}] = erase_launcher<Problem<T>>(launcher);
  }
}
// No types given: all that the launcher accepts.
template <template <class> class Problem, class F, class... Ts>
bool register_baseline(const char* ladder, const char* name, F launcher, Type<std::tuple<Ts...>>) {
  if constexpr (sizeof...(Ts) == 0) {
    return register_baseline<Problem>(ladder, name, launcher, Type<AllTypes>{});
  } else {
    (register_one<Problem, Ts>(ladder, name, launcher), ...);
    return true;
  }
}

template <class P>
concept HasWorkspace = requires(P& p) {
  p.workspace = Workspace{};
};

}  // namespace detail

// What a learner's kernel has to reach beyond right results. Counted on the CPU backend, but for speed.
struct Gates {
  double reads_per_input =
      0;  // bytes that it loads from global memory for each byte of input, at most; 0: no gate
  double wasted_sectors = 1;  // share of the bytes moved in 32-byte sectors that no thread asked for, at most
  double conflicts = -1;      // bank conflicts a request of shared memory, at most; negative: no gate
  double bytes_per_request = 0;  // that a warp asks of global memory with one instruction, at least
  double speed = 0;              // share of the device's limit, at least; on a GPU alone
};

// The learner's part of a ladder: exercise.cu, until they put a file of their own in its place.
struct Exercise {
  std::string goal;      // "softmax in at most two reads of each input"
  std::string starts;    // the rung to start from, which fails a gate
  std::string solution;  // the rung that passes all
  Gates gates;
};

// One line of the table: a variant, a library baseline or the learner's kernel. The vectors have one entry an
// element type of the ladder.
struct Row {
  std::string name;
  bool baseline = false;
  bool exercise = false;                                      // takes part only where it is asked for
  std::string needs_text;                                     // "cols % 8 == 0"
  std::vector<Requirement> runs_on;                           // none or one
  std::vector<detail::Launch> launch;                         // empty: this variant has no such type
  std::vector<std::function<bool(const void*)>> needs;        // empty: every shape
  std::vector<std::function<size_t(const void*)>> workspace;  // empty: none
  std::vector<double> allowance;  // added to the tolerance, by .within; empty: nothing
};

// A problem with pointers of one side, device or host.
struct InputMaker {
  std::string name;  // "" for the ladder's .inputs
  std::vector<std::function<void(void*, const Shape&, Inputs&)>> make;
};

// How a size sweep is drawn, and what it measures.
struct SweepAxis {
  std::string over = {};  // the extent along the axis; "": the bytes that the problem takes
  std::string each = {};  // the extent of which each value has a plot of its own; "": none
  std::string type = {};  // the element type that is swept unless --type names others; "": the first
};

// What depends on the element type.
struct Typed {
  std::string name;  // "fp32"
  std::type_index problem;
  std::function<std::shared_ptr<void>()> create;
  std::function<void(void*, Workspace)> set_workspace;  // empty: the problem has none
  std::function<void(const void*)> reference, parallel;
  std::function<void(const void*)>
      reference_by_rows;  // the same on all cores; empty: rows depend on each other
  std::function<Traffic(const void*)> traffic;
  std::function<double(const void*)> flops;
  std::function<Bound(const void*, Inputs&)> tolerance;
  std::function<Report(const void*)> check_large;
  std::function<void(void*, const Shape&, const std::shared_ptr<const Image>&, Inputs&)> picture_in;
  std::function<Image(const void*)> picture_out;
};

// A ladder with its types erased: all that run, tests and benchmarks see.
struct LadderInfo {
  // In harness/inputs.h: a ladder is copied some twenty times while it is written, and each copy inlined
  // costs compile time.
  LadderInfo();
  LadderInfo(const LadderInfo&);
  LadderInfo& operator=(const LadderInfo&);
  ~LadderInfo();

  std::string name;
  std::string day;  // "day05_matmul", the folder of the file that defines the ladder; "" where that is no day
  std::vector<std::string> extents;
  std::vector<Row> rows;
  std::vector<Typed> types;
  std::vector<InputMaker> makers;  // the first is .inputs
  std::vector<Shape> test_shapes, gpu_shapes, bench_shapes, sweep_shapes, show_shapes;
  SweepAxis sweep_axis;
  Rate rate = Rate::kNone;
  std::string lesson_text;
  std::optional<Exercise> exercise_info;
  std::function<Shape(const Image&)> picture_size;  // empty: --image is not for this ladder

  Rate rate_of(size_t type) const {
    if (rate != Rate::by_type) return rate;
    return types[type].name == TypeInfo<half>::kName   ? Rate::mma_fp16
           : types[type].name == TypeInfo<bf16>::kName ? Rate::mma_bf16
                                                       : Rate::ffma;
  }

  // The launcher of a row, or null where the variant lacks the type or the library was not built in.
  const detail::Launch* launcher(const Row& row, size_t type) const {
    if (!row.baseline) return row.launch[type] ? &row.launch[type] : nullptr;
    const auto found = detail::baselines().find({name, row.name, types[type].problem});
    return found == detail::baselines().end() ? nullptr : &found->second;
  }

  // Why a row cannot run here at all, whatever the shape; "" where it can.
  std::string absent(const Row& row, size_t type, const Device& device) const {
    if (launcher(row, type) == nullptr) {
      bool other = !row.baseline;  // a library that takes another type is here
      for (size_t i = 0; i < types.size(); ++i) other = other || launcher(row, i) != nullptr;
      return other ? "no " + types[type].name : "not built";
    }
    for (const Requirement& requirement : row.runs_on) {
      if (!requirement.met(device))
        return std::string("needs ") + requirement.text + ", this is " + device.sm();
      if (device.code < requirement.code)
        return std::string("needs ") + requirement.text + ", built for sm_" + std::to_string(device.code);
    }
    return "";
  }
};

template <template <class> class Problem, class... Ts>
class Ladder : public LadderInfo {
 public:
  // The problem of the first element type, on which a day's wrong kernels are written.
  using First = Problem<std::tuple_element_t<0, std::tuple<Ts..., float>>>;

  explicit Ladder(const LadderInfo& info) : LadderInfo(info) {}

  Ladder extents(std::initializer_list<const char*> names) const {
    return with([&](LadderInfo& l) { l.extents.assign(names.begin(), names.end()); });
  }

  template <class... Us>
  Ladder<Problem, Us...> types() const {
    static_assert(sizeof...(Ts) == 0, ".types is called once");
    LadderInfo info = *this;
    require(info.rows.empty() && info.makers.empty(), name,
            ": .types<...>() comes before what depends on it");
    (info.types.push_back({TypeInfo<Us>::kName,
                           typeid(Problem<Us>),
                           [] { return std::make_shared<Problem<Us>>(); },
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {}}),
     ...);
    return Ladder<Problem, Us...>(info);
  }

  // void launcher(const Problem<T>&, cudaStream_t), for some of the ladder's types or all.
  template <class F>
  Ladder variant(const char* name, F launcher) const {
    static_assert((std::is_invocable_v<F, const Problem<Ts>&, cudaStream_t> || ...),
                  "the launcher accepts the problem of none of the ladder's types (and .types comes first)");
    return with([&](LadderInfo& l) {
      for (const Row& row : l.rows) require(row.name != name, l.name, ": two rows are named ", name);
      Row row = new_row(name, false);
      size_t type = 0;
      (set_launch<Ts>(row, type++, launcher), ...);
      l.rows.push_back(std::move(row));
    });
  }

  // A contestant from baselines/*.cu, by the name it registers with.
  Ladder baseline(const char* name) const {
    return with([&](LadderInfo& l) { l.rows.push_back(new_row(name, true)); });
  }

  // The learner's kernel, a row named "exercise". `starts` and `solution` name variants.
  template <class F>
  Ladder exercise(F launcher, const char* goal, const char* starts, const char* solution, Gates gates) const {
    Ladder ladder = variant("exercise", launcher);
    ladder.rows.back().exercise = true;
    ladder.exercise_info = Exercise{goal, starts, solution, gates};
    return ladder;
  }

  // The shapes that the variant supports: its launcher must refuse all others with std::invalid_argument.
  template <class F>
  Ladder needs(const char* text, F condition) const {
    return with([&](LadderInfo& l) {
      Row& row = last(l);
      row.needs_text = text;
      size_t type = 0;
      ((row.needs[type++] = detail::erased<Problem<Ts>, bool>(condition)), ...);
    });
  }

  // A library's whole numbers may be this far from the reference's: it rounds by another rule, which the
  // day's note tells.
  Ladder within(double allowance) const {
    return with([&](LadderInfo& l) {
      require(last(l).baseline, l.name, ": .within is for a library; a kernel of ours has no excuse");
      last(l).allowance = {(std::is_integral_v<Ts> ? allowance : 0)...};
    });
  }

  // The devices that the variant's code exists for.
  Ladder runs_on(Requirement requirement) const {
    return with([&](LadderInfo& l) { last(l).runs_on = {requirement}; });
  }

  // Bytes of scratch memory, which the harness puts into p.workspace; with less than that the launcher must
  // throw.
  template <class F>
  Ladder workspace(F bytes) const {
    static_assert((detail::HasWorkspace<Problem<Ts>> && ...),
                  "the problem needs a member `days::Workspace workspace`");
    return with([&](LadderInfo& l) {
      size_t type = 0;
      Row& row = last(l);
      ((row.workspace[type++] = detail::erased<Problem<Ts>, size_t>(bytes)), ...);
      type = 0;
      ((l.types[type++].set_workspace =
            [](void* p, Workspace w) { set_workspace_of(*static_cast<Problem<Ts>*>(p), w); }),
       ...);
    });
  }

  // void reference(const Problem<T>&) on host pointers: the truth, serial, obvious, accumulating in double.
  template <class F>
  Ladder reference(F f) const {
    static_assert((std::is_invocable_v<F, const Problem<Ts>&> && ...),
                  "the reference must accept every type");
    return with([&](LadderInfo& l) {
      size_t type = 0;
      ((l.types[type++].reference = detail::erased<Problem<Ts>, void>(f)), ...);
    });
  }
  // The problem is made of rows(p) rows that do not depend on each other; some(p, begin, end) is that of a
  // few of them, on host pointers. The reference of a big problem then takes all of the CPU's cores, but
  // where it is timed. Comes after .reference.
  template <class Rows, class Some>
  Ladder by_rows(Rows rows, Some some) const {
    return with([&](LadderInfo& l) {
      for (const Typed& typed : l.types)
        require(static_cast<bool>(typed.reference), l.name, ": .by_rows comes after .reference");
      size_t type = 0;
      ((
           l.types[type].reference_by_rows =
               [rows, some, reference = l.types[type].reference](const void* p) {
                 const Problem<Ts>& whole = *as<Problem<Ts>>(p);
                 parallel_ranges(
                     static_cast<size_t>(rows(whole)),
                     [&](size_t, size_t begin, size_t end) {
                       const Problem<Ts> few = some(whole, begin, end);
                       reference(&few);
                     },
                     1);
               },
           ++type),
       ...);
    });
  }
  // The reference's work on all of the CPU's cores, as good as a CPU does it: timed, and tested like a
  // variant.
  template <class F>
  Ladder parallel(F f) const {
    static_assert((std::is_invocable_v<F, const Problem<Ts>&> && ...),
                  "the parallel version must accept every type");
    return with([&](LadderInfo& l) {
      size_t type = 0;
      ((l.types[type++].parallel = detail::erased<Problem<Ts>, void>(f)), ...);
    });
  }

  Ladder shapes(std::initializer_list<Shape> shapes) const {
    return with([&](LadderInfo& l) { l.test_shapes = checked(shapes); });
  }
  // Further test shapes that are too big for the CPU backend (its threads cost some nanoseconds each).
  Ladder gpu_shapes(std::initializer_list<Shape> shapes) const {
    return with([&](LadderInfo& l) { l.gpu_shapes = checked(shapes); });
  }
  Ladder bench(std::initializer_list<Shape> shapes) const {
    return with([&](LadderInfo& l) { l.bench_shapes = checked(shapes); });
  }
  // Sizes from small to big, odd ones among them, for `./days bench --sweep`.
  Ladder sweep(std::initializer_list<Shape> shapes, const SweepAxis& axis = {}) const {
    return with([&](LadderInfo& l) {
      for (const std::string& extent : {axis.over, axis.each})
        require(extent.empty() || std::find(l.extents.begin(), l.extents.end(), extent) != l.extents.end(),
                l.name, ": .sweep over an extent that it does not have:", extent);
      require(axis.type.empty() || std::any_of(l.types.begin(), l.types.end(),
                                               [&](const Typed& type) { return type.name == axis.type; }),
              l.name, ": .sweep of a type that it does not have:", axis.type);
      l.sweep_shapes = checked(shapes);
      l.sweep_axis = axis;
    });
  }
  Ladder show(std::initializer_list<Shape> shapes) const {
    return with([&](LadderInfo& l) { l.show_shapes = checked(shapes); });
  }

  // Sets the problem's members for a shape (inputs.h). Called as make(Problem<T>&, Shape, Inputs&).
  template <class F>
  Ladder inputs(F make) const {
    return with([&](LadderInfo& l) {
      require(l.makers.empty(), l.name, ": .inputs comes once, before .hostile");
      add_maker(l, "", make);
    });
  }
  // Further inputs, on which every test shape is run too.
  template <class F>
  Ladder hostile(const char* name, F make) const {
    return with([&](LadderInfo& l) {
      require(!l.makers.empty(), l.name, ": .hostile comes after .inputs");
      add_maker(l, name, make);
    });
  }

  // The least traffic of a problem, for GB/s. Its mix of reads and writes chooses the limit that the table
  // shows.
  template <class F>
  Ladder traffic(F f) const {
    return with([&](LadderInfo& l) {
      size_t type = 0;
      ((l.types[type++].traffic = detail::erased<Problem<Ts>, Traffic>(f)), ...);
    });
  }
  // The operations of a compute-bound problem: the table then shows TFLOP/s, of this instruction's limit.
  template <class F>
  Ladder flops(F f, Rate rate) const {
    return with([&](LadderInfo& l) {
      l.rate = rate;
      size_t type = 0;
      ((l.types[type++].flops = detail::erased<Problem<Ts>, double>(f)), ...);
    });
  }

  // When an element is right: a policy of compare.h.
  template <class Policy>
  Ladder tolerance(Policy policy) const {
    return with([&](LadderInfo& l) {
      size_t type = 0;
      ((l.types[type++].tolerance =
            [policy](const void* p, Inputs& in) { return policy(Type<Ts>{}, *as<Problem<Ts>>(p), in); }),
       ...);
    });
  }

  // Report check(const Problem<T>&): whether the outputs of a problem on host pointers are right, for shapes
  // whose reference would take too long (more than kLargeFlops).
  template <class F>
  Ladder check_large(F f) const {
    return with([&](LadderInfo& l) {
      size_t type = 0;
      ((l.types[type++].check_large = detail::erased<Problem<Ts>, Report>(f)), ...);
    });
  }

  // --image and --out: a picture as the problem, and the result as a picture.
  //   size(const Image&) -> Shape             the first numbers of the shape; --size gives the others
  //   in(Problem<T>&, const Shape&, const std::shared_ptr<const Image>&, Inputs&)      as .inputs
  //   out(const Problem<T>&) -> Image         of host pointers, after a run
  template <class Size, class In, class Out>
  Ladder picture(Size size, In in, Out out) const {
    return with([&](LadderInfo& l) {
      l.picture_size = size;
      size_t type = 0;
      ((
           l.types[type].picture_in = [in](void* p, const Shape& s, const std::shared_ptr<const Image>& image,
                                           Inputs& to) { in(*static_cast<Problem<Ts>*>(p), s, image, to); },
           l.types[type++].picture_out = [out](const void* p) { return out(*as<Problem<Ts>>(p)); }),
       ...);
    });
  }

  Ladder lesson(const char* text) const {
    return with([&](LadderInfo& l) { l.lesson_text = text; });
  }

 private:
  template <class P>
  static const P* as(const void* p) {
    return static_cast<const P*>(p);
  }
  template <class F>
  Ladder with(const F& change) const {
    Ladder copy = *this;
    change(static_cast<LadderInfo&>(copy));
    return copy;
  }
  static Row& last(LadderInfo& l) {
    require(!l.rows.empty(), l.name, ": .needs, .runs_on and .workspace follow a .variant or .baseline");
    return l.rows.back();
  }
  static Row new_row(const char* name, bool baseline) {
    constexpr size_t kTypes = sizeof...(Ts);
    Row row;
    row.name = name;
    row.baseline = baseline;
    row.launch.resize(kTypes);
    row.needs.resize(kTypes);
    row.workspace.resize(kTypes);
    return row;
  }
  template <class T, class F>
  static void set_launch(Row& row, size_t type, F launcher) {
    if constexpr (std::is_invocable_v<F, const Problem<T>&, cudaStream_t>) {
      row.launch[type] = detail::erase_launcher<Problem<T>>(launcher);
    }
  }
  template <class P>
  static void set_workspace_of(P& p, Workspace w) {
    if constexpr (detail::HasWorkspace<P>) p.workspace = w;
  }
  template <class F>
  static void add_maker(LadderInfo& l, const char* name, F make) {
    InputMaker maker{name, {}};
    (maker.make.push_back(
         [make](void* p, const Shape& s, Inputs& in) { make(*static_cast<Problem<Ts>*>(p), s, in); }),
     ...);
    l.makers.push_back(std::move(maker));
  }
  std::vector<Shape> checked(std::initializer_list<Shape> shapes) const {
    for (const Shape& shape : shapes) {
      require(shape.size() == LadderInfo::extents.size(), name, ": a shape has the numbers of .extents, not ",
              shape.text());
      for (const int64_t n : shape.numbers())
        require(n > 0, name, ": every number of a shape is positive, not", n);
    }
    return shapes;
  }
};

namespace detail {
// "day05_matmul" of ".../day05_matmul/ladder.h"; "" where no folder of the path is a day.
std::string day_of(const std::string& file);
}  // namespace detail

// Starts a ladder on problems of the struct template Problem. `file` is where it is called: it tells the day.
template <template <class> class Problem>
Ladder<Problem> ladder(const char* name, const char* file = __builtin_FILE()) {
  LadderInfo info;
  info.name = name;
  info.day = detail::day_of(file);
  return Ladder<Problem>(info);
}

}  // namespace days
