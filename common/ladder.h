// SPDX-License-Identifier: MIT
//
// A ladder: the kernels ("variants") that compete on one problem, and all that a program must know to run,
// test and time them. A day writes it once, in its ladder.cpp, and registers it; the day's executable
// (run_day.h), tests (testing.h), benchmark and shared library (library.h) find it there.
//
//   // row_scale.h
//   template <class T> struct RowScale { const T* x; const float* scale; T* y; int rows, cols; };
//
//   const auto row_scale = days::ladder<RowScale>("row_scale")
//       .extents({"rows", "cols"})                       // the numbers of a shape, in the order of --size
//       .types<float, half>()                            // before the variants
//       .variant("naive", LAUNCHER(row_scale_naive))
//       .variant("half2", LAUNCHER(row_scale_half2))
//       .needs(kColsOfHalf2)                             // needs.h: stands beside the launcher, which checks it
//       .reference(LAUNCHER(row_scale_reference))        // host pointers
//       .shapes({{1, 1}, {3, 33}})                       // tests
//       .bench({{16384, 4096}})                          // on a GPU
//       .show({{64, 4096}})                              // on the CPU backend
//       .inputs([](auto& p, days::Shape s, days::Inputs& in) { ... })    // inputs.h
//       .traffic([](const auto& p) { return days::reads(p.x, 1.0 * p.rows * p.cols) + ...; })
//       .tolerance(days::exact)                          // compare.h; of one output: .tolerance("lse", ...)
//       .lesson("one line");
//   REGISTER_LADDER(row_scale);
//
// A ladder is a value: each call returns a copy with one thing more. .needs, .runs_on, .rate, .workspace and .setup speak of
// the variant or baseline before them.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include "common/compare.h"
#include "common/device.h"
#include "common/function.h"
#include "common/inputs.h"
#include "common/needs.h"
#include "common/setup.h"
#include "common/types.h"
#include "common/util.h"
#include "common/workspace.h"

// A function, function template or overload set as one object that accepts exactly the problems that the
// function does, and knows its name.
#define LAUNCHER(f)                                                                                  \
  ::days::detail::Named([](const auto& p, auto... s) -> decltype(f(p, s...)) { return f(p, s...); }, \
                        [] { return #f; })

// Gives the ladder to all programs that are linked with this file, after those above it: the order of tables.
// At namespace scope, below the ladder.
#define REGISTER_LADDER(ladder) \
  [[maybe_unused]] static const bool DAYS_JOIN(days_ladder_, __LINE__) = ::days::register_ladder(ladder)

// Makes a library's launcher a contestant of the day's ladder of that name, which lists it with .baseline(name). At
// namespace scope in a file of its own, baselines/*.cu. Further arguments are the element types; without them
// every type of types.h that the launcher accepts, but for fp8 and packed ones.
#define REGISTER_BASELINE(problem, ladder_name, name, launcher, ...)                      \
  [[maybe_unused]] static const bool DAYS_JOIN(days_baseline_, __LINE__) =                \
      ::days::detail::register_baseline<problem>({__FILE__, ladder_name, name}, launcher, \
                                                 ::days::Type<std::tuple<__VA_ARGS__>>{})
// The same for what the library's launcher takes from p.setup: State setup(const problem<T>&, cudaStream_t).
#define REGISTER_BASELINE_SETUP(problem, ladder_name, name, setup, ...)                      \
  [[maybe_unused]] static const bool DAYS_JOIN(days_baseline_setup_, __LINE__) =             \
      ::days::detail::register_baseline_setup<problem>({__FILE__, ladder_name, name}, setup, \
                                                       ::days::Type<std::tuple<__VA_ARGS__>>{})
#define DAYS_JOIN(a, b) DAYS_JOIN_NOW(a, b)
#define DAYS_JOIN_NOW(a, b) a##b

namespace days {

struct Image;  // image.h
struct SharedImage;

// Bytes that a problem has to move at the least: each input once, each output once.
struct Traffic {
  double read = 0, written = 0;
  double bytes() const { return read + written; }
  friend Traffic operator+(Traffic a, Traffic b) { return {a.read + b.read, a.written + b.written}; }
};
// `count` elements of the array that the pointer points to.
template <class T>
Traffic reads(const T*, double count) {
  return {count * kBits<T> / 8, 0};
}
template <class T>
Traffic writes(const T*, double count) {
  return {0, count * kBits<T> / 8};
}

// The instruction that sets the pace of a compute-bound problem; limits.h measures what this device does of
// it. mma: mma.sync; wgmma: that of compute capability 9.0 alone; of floats with sums in float, of int8 in
// int32, fp8 is e4m3. by_type and wgmma_by_type choose by the element type: mma.sync (wgmma) of fp16, bf16,
// int8 and fp8, and FFMA for all others.
enum class Rate {
  kNone,
  ffma,
  mma_fp16,
  mma_bf16,
  mma_tf32,
  mma_int8,
  mma_fp8,
  wgmma_fp16,
  wgmma_bf16,
  wgmma_tf32,
  wgmma_int8,
  wgmma_fp8,
  by_type,
  wgmma_by_type
};

namespace detail {

// A callable with a name. It has no state, so it costs no more than the callable alone.
template <class F, class Name>
struct Named : F {
  Named() = default;
  Named(F, Name) {}
  static const char* name() { return Name{}(); }
};
template <class F>
const char* name_of() {
  if constexpr (requires { F::name(); }) {
    return F::name();
  } else {
    return "";
  }
}

// Problems are passed as void* from here on: Row and Typed belong to one Problem<T> each, and the ladder
// hands them only that.
using Launch = Function<void(const void* problem, cudaStream_t)>;
using MakeInputs = Function<void(void* problem, const Shape&, Inputs&)>;
// The reference of the rows from `begin` to `end`.
using SomeRows = Function<void(const void* problem, size_t begin, size_t end,
                               const Function<void(const void*)>& reference)>;

// f(const Problem&, A...), where f is the object of a Function<R(const void*, A...)>.
template <class F, class Problem, class R, class... A>
R call(const void* f, const void* p, A... a) {
  return static_cast<R>(captured<F>(f)(*static_cast<const Problem*>(p), static_cast<A>(a)...));
}
// Null where the launcher does not accept the problem.
template <class F, class Problem>
constexpr Launch::Call* launch_call() {
  if constexpr (std::is_invocable_v<F, const Problem&, cudaStream_t>) {
    return call<F, Problem, void>;
  } else {
    return nullptr;
  }
}
template <class Problem, class F>
Launch erase_launcher(F launcher) {
  return {capture(launcher), launch_call<F, Problem>()};
}

// What a .setup made.
struct MadeSetup {
  void* state;
  const void* tag;
  void (*destroy)(void*);
};
using SetUp = Function<MadeSetup(const void* problem, cudaStream_t)>;
// Null where the callable does not accept the problem.
template <class F, class Problem>
constexpr SetUp::Call* setup_call() {
  if constexpr (std::is_invocable_v<F, const Problem&, cudaStream_t>) {
    return [](const void* f, const void* p, cudaStream_t stream) -> MadeSetup {
      const auto make = [&] { return captured<F>(f)(*static_cast<const Problem*>(p), stream); };
      using State = decltype(make());
      return {new State(make()), &kStateTag<State>, [](void* state) { delete static_cast<State*>(state); }};
    };
  } else {
    return nullptr;
  }
}

using AllTypes = std::tuple<float, double, half, bf16, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t,
                            int64_t, uint64_t>;

// A library's row: `file` tells the day.
struct BaselineRow {
  const char* file;
  const char* ladder;
  const char* name;
};
void add_baseline(const BaselineRow& row, const std::type_info& problem, const Launch& launch);
void add_baseline_setup(const BaselineRow& row, const std::type_info& problem, const SetUp& setup);

template <template <class> class Problem, class T, class F>
void register_one(const BaselineRow& row, F launcher) {
  if constexpr (std::is_invocable_v<F, const Problem<T>&, cudaStream_t>) {
    add_baseline(row, typeid(Problem<T>), erase_launcher<Problem<T>>(launcher));
  }
}
// No types given: all that the launcher accepts.
template <template <class> class Problem, class F, class... Ts>
bool register_baseline(const BaselineRow& row, F launcher, Type<std::tuple<Ts...>>) {
  if constexpr (sizeof...(Ts) == 0) {
    return register_baseline<Problem>(row, launcher, Type<AllTypes>{});
  } else {
    (register_one<Problem, Ts>(row, launcher), ...);
    return true;
  }
}

template <template <class> class Problem, class T, class F>
void register_one_setup(const BaselineRow& row, F setup) {
  if constexpr (std::is_invocable_v<F, const Problem<T>&, cudaStream_t>) {
    add_baseline_setup(row, typeid(Problem<T>), {capture(setup), setup_call<F, Problem<T>>()});
  }
}
template <template <class> class Problem, class F, class... Ts>
bool register_baseline_setup(const BaselineRow& row, F setup, Type<std::tuple<Ts...>>) {
  if constexpr (sizeof...(Ts) == 0) {
    return register_baseline_setup<Problem>(row, setup, Type<AllTypes>{});
  } else {
    (register_one_setup<Problem, Ts>(row, setup), ...);
    return true;
  }
}

template <class P>
concept HasSetup = requires(P& p) {
  p.setup = Setup{};
};
template <class P>
void set_setup(void* p, Setup setup) {
  if constexpr (HasSetup<P>) static_cast<P*>(p)->setup = setup;
}

template <class P>
concept HasWorkspace = requires(P& p) {
  p.workspace = Workspace{};
};
template <class P>
void set_workspace(void* p, Workspace workspace) {
  if constexpr (HasWorkspace<P>) static_cast<P*>(p)->workspace = workspace;
}

// A Problem<T> and its element type.
struct ProblemType {
  const char* name;  // "fp32"
  const std::type_info& problem;
  void* (*create)();
  void (*destroy)(void*);
  void (*set_setup)(void*, Setup);  // null: the problem has none
};
template <class T, class P>
ProblemType problem_type() {
  return {TypeInfo<T>::kName, typeid(P), []() -> void* { return new P(); },
          [](void* p) { delete static_cast<P*>(p); }, HasSetup<P> ? set_setup<P> : nullptr};
}

// Ladder's steps whose callables take more than the problem; `f` as in call().
template <class F, class P>
void make_inputs(const void* f, void* p, const Shape& s, Inputs& in) {
  captured<F>(f)(*static_cast<P*>(p), s, in);
}
template <class F, class T, class P>
Bound tolerance(const void* f, const void* p, Inputs& in) {
  return captured<F>(f)(Type<T>{}, *static_cast<const P*>(p), in);
}
template <class F, class P>
void picture_in(const void* f, void* p, const Shape& s, const SharedImage& image, Inputs& in) {
  captured<F>(f)(*static_cast<P*>(p), s, image, in);
}
template <class F, class P>
void some_rows(const void* f, const void* p, size_t begin, size_t end,
               const Function<void(const void*)>& reference) {
  const P few = captured<F>(f)(*static_cast<const P*>(p), begin, end);
  reference(&few);
}

}  // namespace detail

// What a learner's kernel has to reach beyond right results. Counted on the CPU backend, but for speed.
struct Gates {
  double reads_per_input =
      0;  // bytes that it loads from global memory for each byte of input, at most; 0: no gate
  double wasted_sectors = 1;  // share of the bytes moved in 32-byte sectors that no thread asked for, at most
  double conflicts = -1;      // bank conflicts a request of shared memory, at most; negative: no gate
  double bytes_per_request = 0;  // that a warp asks of global memory with one instruction, at least
  // Sectors of global memory that atomic operations touch, for each sector of input, at most; negative: no gate.
  double atomics_per_input = -1;
  // Bytes of asynchronous copies to shared memory that a block has under way when it waits, on average, at least.
  double under_way = 0;
  // Loads from global memory that a thread makes before its first store there, on average, at least.
  double loads_first = 0;
  int launches = 0;       // kernels that one call launches, at most; 0: no gate
  int blocks = 0;         // of the launch that has the fewest, at least; 0: no gate
  double workspace = -1;  // bytes of its workspace that it writes, at most; negative: no gate
  double speed = 0;       // share of the device's limit, at least; on a GPU alone
};

// A gate: a metric's name, as tools/days_cli/metrics.py has it, and the bound.
struct Gate {
  const char* name;
  double bound;
};

// What is asked of all that could be.
std::vector<Gate> asked(const Gates& gates);

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
  std::string launcher;  // "softmax_online"; "": a library's, or a callable without a name
  bool baseline = false;
  bool exercise = false;                                 // takes part only where it is asked for
  std::string needs_text;                                // "cols % 8 == 0"
  std::vector<Requirement> runs_on;                      // none or one
  std::vector<detail::Launch> launch;                    // empty: this variant has no such type
  std::vector<Function<bool(const void*)>> needs;        // empty: every shape
  std::vector<Function<size_t(const void*)>> workspace;  // empty: none
  std::vector<detail::SetUp> setup;                      // empty: none
  Rate rate = Rate::kNone;                               // none: the ladder's
  std::vector<double> allowance;                         // added to the tolerance, by .within; empty: nothing
  // A number of the problem and the largest that it may be, as .needs names it.
  struct Limit {
    std::string name;
    int64_t most;
  };
  std::vector<Limit> at_most;
};

// A problem with pointers of one side, device or host.
struct InputMaker {
  std::string name;  // "" for the ladder's .inputs
  std::vector<detail::MakeInputs> make;
};

// How a size sweep is drawn, and what it measures.
struct SweepAxis {
  std::string over = {};  // the extent along the axis; "": the bytes that the problem takes
  std::string each = {};  // the extent of which each value has a plot of its own; "": none
  std::string type = {};  // the element type that is swept unless --type names others; "": the first
};

// What depends on the element type.
struct Typed {
  explicit Typed(const std::type_info& of) : problem(of) {}

  std::string name;  // "fp32"
  std::type_index problem;
  void* (*create)() = nullptr;  // a Problem<T>
  void (*destroy)(void*) = nullptr;
  void (*set_workspace)(void*, Workspace) = nullptr;  // null: the problem has none
  void (*set_setup)(void*, Setup) = nullptr;          // likewise
  Function<void(const void*)> reference, parallel;
  // Runs this reference on all cores; empty: rows depend on each other.
  Function<void(const void*, const Function<void(const void*)>& reference)> reference_by_rows;
  Function<Traffic(const void*)> traffic;
  Function<double(const void*)> flops;
  Function<Bound(const void*, Inputs&)> tolerance;
  // Of single outputs, by name.
  std::vector<std::pair<std::string, Function<Bound(const void*, Inputs&)>>> tolerances;
  // What is checked by a rule of the ladder's: an output by name, or "", all of them.
  std::vector<std::pair<std::string, Function<Report(const void*)>>> checks;
  Function<Report(const void*)> check_large;
  Function<std::string(const void*)> remark;

  bool checks_all() const { return !checks.empty() && checks[0].first.empty(); }
  Function<void(void*, const Shape&, const SharedImage&, Inputs&)> picture_in;
  Function<Image(const void*)> picture_out;
};

// A ladder with its types erased: all that run, tests and benchmarks see. What is not inline is in
// harness/ladder.h, compiled once for all days.
struct LadderInfo {
  LadderInfo(const char* name, const char* file);
  LadderInfo(const LadderInfo&);
  LadderInfo& operator=(const LadderInfo&);
  ~LadderInfo();

  std::string name;
  std::string day;  // "day05_matmul", the folder of the file that defines the ladder; "" where that is no day
  const char* file;  // that which defines the ladder
  std::vector<std::string> extents;
  std::vector<Row> rows;
  std::vector<Typed> types;
  std::vector<InputMaker> makers;  // the first is .inputs
  std::vector<Shape> test_shapes, gpu_shapes, bench_shapes, sweep_shapes, show_shapes;
  SweepAxis sweep_axis;
  Rate pace = Rate::kNone;  // of all rows that name no other
  std::string lesson_text;
  std::optional<Exercise> exercise_info;
  Function<Shape(const Image&)> picture_size;  // empty: --image is not for this ladder

  // The instruction, never by_type; of a row its own where it names one.
  Rate rate_of(size_t type) const;
  Rate rate_of(const Row& row, size_t type) const;
  // The launcher of a row, or null where the variant lacks the type or the library was not built in.
  const detail::Launch* launcher(const Row& row, size_t type) const;
  // What makes a row's p.setup, or null where it needs none.
  const detail::SetUp* setup(const Row& row, size_t type) const;
  // Why a row cannot run here at all, whatever the shape; "" where it can.
  std::string absent(const Row& row, size_t type, const Device& device) const;

 protected:
  // What is left of Ladder's steps without the element types. A list has one function for each of them.
  template <class Erased>
  using Calls = std::initializer_list<typename Erased::Call*>;

  void set_extents(std::initializer_list<const char*> names);
  void set_types(std::initializer_list<detail::ProblemType> problems);
  void add_variant(const char* name, const char* launcher, const detail::Captures& f,
                   Calls<detail::Launch> calls);
  void add_baseline(const char* name);
  void set_exercise(const char* goal, const char* starts, const char* solution, const Gates& gates);
  // Of the last row.
  struct Need {
    const char *text, *name;
  };
  void set_needs(std::initializer_list<Need> needs, const detail::Captures& f,
                 Calls<Function<bool(const void*)>> calls);
  void set_allowance(std::initializer_list<double> allowance);
  void set_runs_on(const Requirement& requirement);
  void set_workspace(const detail::Captures& f, Calls<Function<size_t(const void*)>> calls,
                     std::initializer_list<void (*)(void*, Workspace)> setters);
  void set_rate(Rate rate);
  void set_setup(const detail::Captures& f, Calls<detail::SetUp> calls);
  // Of the types.
  template <class Erased>
  void set(Erased Typed::*member, const detail::Captures& f, Calls<Erased> calls);
  void set_by_rows(const detail::Captures& rows, Calls<Function<size_t(const void*)>> counts,
                   const detail::Captures& some, Calls<detail::SomeRows> calls);
  void set_on_all_cores(const detail::Captures& f, Calls<Function<void(const void*)>> calls);
  void set_shapes(std::vector<Shape> LadderInfo::*member, std::initializer_list<Shape> shapes);
  void set_sweep(std::initializer_list<Shape> shapes, const SweepAxis& axis);
  void add_tolerance(const char* output, const detail::Captures& f,
                     Calls<Function<Bound(const void*, Inputs&)>> calls);
  void add_check(const char* output, const detail::Captures& f, Calls<Function<Report(const void*)>> calls);
  void set_inputs(const detail::Captures& f, Calls<detail::MakeInputs> calls);
  void add_hostile(const char* name, const detail::Captures& f, Calls<detail::MakeInputs> calls);
  void set_lesson(const char* text);
};

// The ladders of this program, in the order of their registration. A program of several files that register
// some must not rely on the order of the files.
const std::vector<const LadderInfo*>& registered_ladders();
// The ladder must live as long as the program. Returns true. Throws std::invalid_argument where the day has one of this name already.
bool register_ladder(const LadderInfo& ladder);

// What the tools know of a day's ladders, as JSON: the same on every machine and in every build. A day keeps it
// in its ladder.json.
std::string description(const std::vector<const LadderInfo*>& ladders);

// The day's ladder of this name ("day05_matmul", "matmul"). Throws std::invalid_argument where there is none.
const LadderInfo& find_ladder(const std::string& day, const std::string& name);
// By "day05_matmul/matmul", or by the name alone, where only one day of the program has it.
const LadderInfo& find_ladder(const std::string& name);
// "day05_matmul" of a path below that folder; "" where no folder of the path is a day.
std::string day_of(const std::string& file);

template <template <class> class Problem, class... Ts>
class Ladder : public LadderInfo {
 public:
  // The problem of the first element type, on which a day's wrong kernels are written.
  using First = Problem<std::tuple_element_t<0, std::tuple<Ts..., float>>>;

  explicit Ladder(const LadderInfo& info) : LadderInfo(info) {}

  Ladder extents(std::initializer_list<const char*> names) const {
    Ladder l = *this;
    l.set_extents(names);
    return l;
  }

  template <class... Us>
  Ladder<Problem, Us...> types() const {
    static_assert(sizeof...(Ts) == 0, ".types is called once");
    Ladder info = *this;
    info.set_types({detail::problem_type<Us, Problem<Us>>()...});
    return Ladder<Problem, Us...>(info);
  }

  // void launcher(const Problem<T>&, cudaStream_t), for some of the ladder's types or all.
  template <class F>
  Ladder variant(const char* name, F launcher) const {
    static_assert((std::is_invocable_v<F, const Problem<Ts>&, cudaStream_t> || ...),
                  "the launcher accepts the problem of none of the ladder's types (and .types comes first)");
    Ladder l = *this;
    l.add_variant(name, detail::name_of<F>(), detail::capture(launcher),
                  {detail::launch_call<F, Problem<Ts>>()...});
    return l;
  }

  // A contestant from baselines/*.cu, by the name it registers with.
  Ladder baseline(const char* name) const {
    Ladder l = *this;
    l.add_baseline(name);
    return l;
  }

  // The learner's kernel, a row named "exercise". `starts` and `solution` name variants.
  template <class F>
  Ladder exercise(F launcher, const char* goal, const char* starts, const char* solution, Gates gates) const {
    Ladder l = variant("exercise", launcher);
    l.set_exercise(goal, starts, solution, gates);
    return l;
  }

  // What the variant needs of a problem (needs.h), all of it: its launcher must refuse all others with
  // std::invalid_argument.
  template <class... Holds, class... Value>
  Ladder needs(const Needs<Holds, Value>&... all) const {
    const auto met = [... holds = all.holds](const auto& p) { return (holds(p) && ...); };
    Ladder l = *this;
    l.set_needs({{all.text.c_str(), all.name}...}, detail::capture(met),
                {detail::call<decltype(met), Problem<Ts>, bool>...});
    return l;
  }

  // A library's whole numbers may be this far from the reference's: it rounds by another rule, which the
  // day's note tells.
  Ladder within(double allowance) const {
    Ladder l = *this;
    l.set_allowance({(TypeInfo<Ts>::kFloating ? 0 : allowance)...});
    return l;
  }

  // The devices that the variant's code exists for.
  Ladder runs_on(Requirement requirement) const {
    Ladder l = *this;
    l.set_runs_on(requirement);
    return l;
  }

  // The variant's limit is this instruction's rate, and not that of .flops: tensor cores among kernels that use
  // none.
  Ladder rate(Rate rate) const {
    Ladder l = *this;
    l.set_rate(rate);
    return l;
  }

  // Bytes of scratch memory, which the harness puts into p.workspace; with less than that the launcher must
  // throw.
  template <class F>
  Ladder workspace(F bytes) const {
    static_assert((detail::HasWorkspace<Problem<Ts>> && ...),
                  "the problem needs a member `days::Workspace workspace`");
    Ladder l = *this;
    l.set_workspace(detail::capture(bytes), {detail::call<F, Problem<Ts>, size_t>...},
                    {detail::set_workspace<Problem<Ts>>...});
    return l;
  }

  // State make(const Problem<T>&, cudaStream_t): what the variant needs made once for a problem, before all of
  // its launches (a plan, a sorted index, tuned parameters). The harness calls it after the workspace
  // is there, puts what it returns into p.setup (setup.h), and destroys that when it is done; it is in no time
  // and no counter. It may launch, write to the workspace, which then stays as it is, and overwrite outputs.
  // It must be repeatable; a launcher that finds nothing set up must throw std::invalid_argument.
  template <class F>
  Ladder setup(F make) const {
    static_assert((detail::HasSetup<Problem<Ts>> && ...), "the problem needs a member `days::Setup setup`");
    static_assert((std::is_invocable_v<F, const Problem<Ts>&, cudaStream_t> || ...),
                  "the set-up accepts the problem of none of the ladder's types");
    Ladder l = *this;
    l.set_setup(detail::capture(make), {detail::setup_call<F, Problem<Ts>>()...});
    return l;
  }

  // void reference(const Problem<T>&) on host pointers: the truth, serial, obvious, accumulating in double.
  template <class F>
  Ladder reference(F f) const {
    static_assert((std::is_invocable_v<F, const Problem<Ts>&> && ...),
                  "the reference must accept every type");
    return with(&Typed::reference, f);
  }
  // The problem is made of rows(p) rows that do not depend on each other; some(p, begin, end) is that of a
  // few of them, on host pointers. The reference of a big problem then takes all of the CPU's cores, but
  // where it is timed.
  template <class Rows, class Some>
  Ladder by_rows(Rows rows, Some some) const {
    Ladder l = *this;
    l.set_by_rows(detail::capture(rows), {detail::call<Rows, Problem<Ts>, size_t>...}, detail::capture(some),
                  {detail::some_rows<Some, Problem<Ts>>...});
    return l;
  }
  // The same of a problem that is no such rows: f(p) makes what the reference makes, to the bit, on all cores.
  template <class F>
  Ladder by_rows(F f) const {
    static_assert((std::is_invocable_v<F, const Problem<Ts>&> && ...),
                  "the reference on all cores must accept every type");
    Ladder l = *this;
    l.set_on_all_cores(detail::capture(f), {detail::call<F, Problem<Ts>, void>...});
    return l;
  }
  // The reference's work on all of the CPU's cores, as good as a CPU does it: timed, and tested like a
  // variant.
  template <class F>
  Ladder parallel(F f) const {
    static_assert((std::is_invocable_v<F, const Problem<Ts>&> && ...),
                  "the parallel version must accept every type");
    return with(&Typed::parallel, f);
  }

  Ladder shapes(std::initializer_list<Shape> shapes) const { return with(&LadderInfo::test_shapes, shapes); }
  // Further test shapes that are too big for the CPU backend (its threads cost some nanoseconds each).
  Ladder gpu_shapes(std::initializer_list<Shape> shapes) const {
    return with(&LadderInfo::gpu_shapes, shapes);
  }
  Ladder bench(std::initializer_list<Shape> shapes) const { return with(&LadderInfo::bench_shapes, shapes); }
  // Sizes from small to big, odd ones among them, for `./days bench --sweep`.
  Ladder sweep(std::initializer_list<Shape> shapes, const SweepAxis& axis = {}) const {
    Ladder l = *this;
    l.set_sweep(shapes, axis);
    return l;
  }
  Ladder show(std::initializer_list<Shape> shapes) const { return with(&LadderInfo::show_shapes, shapes); }

  // Sets the problem's members for a shape (inputs.h). Called as make(Problem<T>&, Shape, Inputs&).
  template <class F>
  Ladder inputs(F make) const {
    Ladder l = *this;
    l.set_inputs(detail::capture(make), {detail::make_inputs<F, Problem<Ts>>...});
    return l;
  }
  // Further inputs, on which every test shape is run too.
  template <class F>
  Ladder hostile(const char* name, F make) const {
    Ladder l = *this;
    l.add_hostile(name, detail::capture(make), {detail::make_inputs<F, Problem<Ts>>...});
    return l;
  }

  // The least traffic of a problem, for GB/s. Its mix of reads and writes chooses the limit that the table
  // shows.
  template <class F>
  Ladder traffic(F f) const {
    return with(&Typed::traffic, f);
  }
  // The operations of a compute-bound problem: the table then shows TFLOP/s, of this instruction's limit.
  template <class F>
  Ladder flops(F f, Rate rate) const {
    Ladder l = with(&Typed::flops, f);
    l.pace = rate;
    return l;
  }

  // When an element is right: a policy of compare.h.
  template <class Policy>
  Ladder tolerance(Policy policy) const {
    Ladder l = *this;
    l.set(&Typed::tolerance, detail::capture(policy), {detail::tolerance<Policy, Ts, Problem<Ts>>...});
    return l;
  }
  // The same for one output, whose type may be another than the ladder's: .tolerance("lse",
  // in_type<float>(...)). Without one, an output of integers has to be exact where the ladder's type is no
  // integer, and one of another floating-point type is an error of the ladder's.
  template <class Policy>
  Ladder tolerance(const char* output, Policy policy) const {
    Ladder l = *this;
    l.add_tolerance(output, detail::capture(policy), {detail::tolerance<Policy, Ts, Problem<Ts>>...});
    return l;
  }

  // Report check(const Problem<T>&): whether the outputs of a problem on host pointers are right, where more
  // than one result is (the order of what a compaction keeps, which of equal values a top-k takes, a sample).
  // It stands in for the reference's results, at every size, and for one output or for all. An array that is
  // changed in place holds what became of it. What is wrong is said by Report::failed("...").
  template <class F>
  Ladder check(F f) const {
    return check("", f);
  }
  template <class F>
  Ladder check(const char* output, F f) const {
    static_assert((std::is_invocable_r_v<Report, F, const Problem<Ts>&> && ...),
                  "the check must accept every type and return a Report");
    Ladder l = *this;
    l.add_check(output, detail::capture(f), {detail::call<F, Problem<Ts>, Report>...});
    return l;
  }

  // Report check(const Problem<T>&): whether the outputs of a problem on host pointers are right, for shapes
  // whose reference would take too long (more than kLargeFlops).
  template <class F>
  Ladder check_large(F f) const {
    return with(&Typed::check_large, f);
  }

  // std::string remark(const Problem<T>&): what a learner sees in a wrong result that was written, a sentence
  // beside the wrong elements ("row 2 of y adds up to 0.78, not 1"); "" where there is nothing to say. The
  // problem is on host pointers.
  template <class F>
  Ladder remark(F f) const {
    return with(&Typed::remark, f);
  }

  // --image and --out: a picture as the problem, and the result as a picture. The day includes image.h.
  //   size(const Image&) -> Shape             the first numbers of the shape; --size gives the others
  //   in(Problem<T>&, const Shape&, const std::shared_ptr<const Image>&, Inputs&)      as .inputs
  //   out(const Problem<T>&) -> Image         of host pointers, after a run
  template <class Size, class In, class Out>
  Ladder picture(Size size, In in, Out out) const {
    Ladder l = with(&Typed::picture_out, out);
    l.picture_size = size;
    l.set(&Typed::picture_in, detail::capture(in), {detail::picture_in<In, Problem<Ts>>...});
    return l;
  }

  Ladder lesson(const char* text) const {
    Ladder l = *this;
    l.set_lesson(text);
    return l;
  }

 private:
  // f(const Problem<T>&) for each type.
  template <class R, class F>
  Ladder with(Function<R(const void*)> Typed::*member, const F& f) const {
    Ladder l = *this;
    l.set(member, detail::capture(f), {detail::call<F, Problem<Ts>, R>...});
    return l;
  }
  Ladder with(std::vector<Shape> LadderInfo::*member, std::initializer_list<Shape> shapes) const {
    Ladder l = *this;
    l.set_shapes(member, shapes);
    return l;
  }
};

// Starts a ladder on problems of the struct template Problem. `file` is where it is called: it tells the day.
template <template <class> class Problem>
Ladder<Problem> ladder(const char* name, const char* file = __builtin_FILE()) {
  return Ladder<Problem>(LadderInfo(name, file));
}

}  // namespace days
