// SPDX-License-Identifier: MIT
//
// A ladder's inputs. The ladder's input maker is called twice, once with an Inputs that makes device buffers
// and once with one that makes the same values on the host; the buffers of the two correspond by the order of
// the calls.
//
//   .inputs([](auto& p, days::Shape s, days::Inputs& in) {
//     p.rows = s[0];  p.cols = s[1];
//     p.x = in.normal("x", s[0] * s[1]);    // const T*: an input, which nobody may change
//     p.y = in.output("y", s[0], s[1]);     // T*: poisoned before each run
//   })
//
// Each has the name of the problem's member, which every message uses: "y[2,32] is nan, expected 0.5". A
// value maker assigned to a pointer to non-const is an input and an output at once (in place).
#pragma once

#include <cuda_runtime.h>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/compare.h"
#include "common/function.h"
#include "common/random.h"
#include "common/types.h"

namespace days {

// A size is more than a type or this device can hold.
class TooLarge : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {
[[noreturn]] void throw_too_large(const char* what);
[[noreturn]] void throw_does_not_fit(int64_t value, size_t bytes);
}  // namespace detail

// One number of a shape. It does arithmetic like an int64_t, but throws TooLarge where that would overflow or
// where the value does not fit the integer it is assigned to: `p.n = s[0]` with an int n refuses 2^32 instead
// of running on 0 elements.
class Extent {
 public:
  template <std::integral I>
  constexpr Extent(I value) : value_(static_cast<int64_t>(value)) {
    if (!std::in_range<int64_t>(value)) detail::throw_too_large("a number beyond 2^63");
  }
  template <class I>
  requires(std::integral<I> && !std::same_as<I, bool>) constexpr operator I() const {
    if (!std::in_range<I>(value_)) detail::throw_does_not_fit(value_, sizeof(I));
    return static_cast<I>(value_);
  }
  template <std::floating_point F>
  constexpr operator F() const {
    return static_cast<F>(value_);
  }

  constexpr int64_t value() const { return value_; }

 private:
  int64_t value_;
};

namespace detail {
template <class A>
inline constexpr bool kIsExtent = std::is_same_v<A, Extent>;
template <class A, class B>
concept ExtentPair = (kIsExtent<A> && (kIsExtent<B> || std::integral<B>)) ||
                     (std::integral<A> && kIsExtent<B>);
[[noreturn]] inline void throw_overflow() {
  throw_too_large("the product of the sizes is beyond 2^63");
}
}  // namespace detail

template <class A, class B>
requires detail::ExtentPair<A, B>
constexpr Extent operator*(A a, B b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(Extent(a).value(), Extent(b).value(), &result)) detail::throw_overflow();
  return result;
}
template <class A, class B>
requires detail::ExtentPair<A, B>
constexpr Extent operator+(A a, B b) {
  int64_t result = 0;
  if (__builtin_add_overflow(Extent(a).value(), Extent(b).value(), &result)) detail::throw_overflow();
  return result;
}
template <class A, class B>
requires detail::ExtentPair<A, B>
constexpr Extent operator-(A a, B b) {
  int64_t result = 0;
  if (__builtin_sub_overflow(Extent(a).value(), Extent(b).value(), &result)) detail::throw_overflow();
  return result;
}
template <class A, class B>
requires detail::ExtentPair<A, B>
constexpr Extent operator/(A a, B b) {
  return Extent(a).value() / Extent(b).value();
}
template <class A, class B>
requires detail::ExtentPair<A, B>
constexpr Extent operator%(A a, B b) {
  return Extent(a).value() % Extent(b).value();
}
template <std::floating_point F>
constexpr F operator*(F a, Extent b) {
  return a * static_cast<F>(b.value());
}
template <class A, class B>
requires detail::ExtentPair<A, B>
constexpr bool operator==(A a, B b) {
  return Extent(a).value() == Extent(b).value();
}
template <class A, class B>
requires detail::ExtentPair<A, B>
constexpr auto operator<=>(A a, B b) {
  return Extent(a).value() <=> Extent(b).value();
}

// The numbers that a problem's size is made of, in the order of the ladder's .extents(). A ladder names some
// fifty: what is not inline is in harness/inputs.h.
class Shape {
 public:
  Shape();
  Shape(std::initializer_list<int64_t> numbers);
  explicit Shape(std::vector<int64_t> numbers);
  Shape(const Shape&);
  Shape& operator=(const Shape&);
  ~Shape();

  Extent operator[](size_t i) const;
  size_t size() const { return numbers_.size(); }
  const std::vector<int64_t>& numbers() const { return numbers_; }
  bool operator==(const Shape&) const = default;

  // "4096 x 33", or "4096x33" as --size takes it
  std::string text(const char* between = " x ") const;

 private:
  std::vector<int64_t> numbers_;
};

namespace detail {

struct ElementType;
class Arena;

struct Fill {
  Distribution distribution = Distribution::kConstant;
  uint64_t seed = 0;
  double a = 0, b = 0;
  Function<double(size_t)> function = {};  // replaces all of the above where it is set
  const void* list = nullptr;              // likewise: the values themselves, for as long as they are there
  const ElementType* listed = nullptr;
};

// What can be done with a buffer whose element type is known only here.
struct ElementType {
  const char* name;
  size_t bits;
  bool floating;
  unsigned char poison;
  void (*fill_host)(void*, size_t, const Fill&);
  void (*fill_device)(void*, size_t, const Fill&, cudaStream_t);  // not for Fill::function
  Report (*compare)(const void*, const void*, size_t, Bound, unsigned char fill);
  size_t (*count)(const void*, size_t, unsigned char fill);  // elements that are nothing but that byte
  double (*square_sum)(const void*, size_t begin, size_t end, size_t& finite);

  size_t bytes(size_t n) const { return n / 8 * bits + (n % 8 * bits + 7) / 8; }
};

// Defined in harness/inputs.h for every type of types.h, which spares each day's compiler the work.
template <class T>
const ElementType& element_type();

}  // namespace detail

class Inputs {
 public:
  enum class Where { kNowhere, kDevice, kHost, kGiven };
  enum class Role { kInput, kInOut, kOutput };

  // kNowhere only counts bytes. A host Inputs that is given its device twin downloads large inputs from it,
  // before any kernel ran, instead of computing them again (that both are equal is tested).
  explicit Inputs(Where where, const Inputs* twin = nullptr);
  // kDevice: small buffers are parts of the arena, which has to outlive this, and are not on the device before its upload().
  explicit Inputs(detail::Arena* arena);
  // The caller's own device memory: the pointers of the buffers in the order of the calls, as they are.
  explicit Inputs(std::vector<void*> given);
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;
  ~Inputs();

  // What a maker returns: it becomes a buffer when it is assigned to a pointer, which tells its element type
  // and its role.
  class Values {
   public:
    template <class T>
    operator T*() && {
      return static_cast<T*>(make(detail::element_type<std::remove_const_t<T>>(), std::is_const_v<T>));
    }
    // The same values, `count` elements past an aligned address: in.normal("x", n) + 1 is a misaligned input
    // of n elements. Those before it belong to nobody: they are poison, and have to stay as they are.
    friend Values operator+(Values values, size_t count) {
      values.lead_ += count;
      return values;
    }
    // The extents of what is no output, to print an index as a tuple: in.normal("y", s[0] * s[1]).as(s[0],
    // s[1]). Their product is its size.
    template <class... Extents>
    Values as(Extents... extents) && {
      return with_extents({Extent(extents)...});
    }
    Values(const Values&);
    Values& operator=(const Values&);
    ~Values();

   private:
    friend class Inputs;
    Values(Inputs* in, const char* name, size_t n, detail::Fill fill, bool output, std::vector<int64_t> dims);
    Values with_extents(std::initializer_list<Extent> extents) const;
    void* make(const detail::ElementType& type, bool is_const);

    Inputs* in_;
    std::string name_;
    size_t n_;
    detail::Fill fill_;
    bool output_;
    std::vector<int64_t> dims_;
    size_t lead_ = 0;
  };

  // n values of N(0, scale^2), each rounded to the element type (random.h says how).
  [[nodiscard]] Values normal(const char* name, Extent n, double scale = 1);
  // Uniform from 0 to 1, or over the whole range of an integer type.
  [[nodiscard]] Values uniform(const char* name, Extent n);
  // Uniform from low up to, not including, high.
  [[nodiscard]] Values uniform(const char* name, Extent n, double low, double high);
  [[nodiscard]] Values constant(const char* name, Extent n, double value);
  // function(i) for each i < n, called on several threads; rounded to the element type.
  [[nodiscard]] Values fill(const char* name, Extent n, Function<double(size_t)> function);
  // The numbers of the list, each of its type; doubles are rounded to that of the pointer.
  template <class U>
  [[nodiscard]] Values values(const char* name, const std::vector<U>& list) {
    return listed(name, list.data(), list.size(), detail::element_type<U>());
  }
  // What is made in one go, of which several inputs are parts (the arrays of a sparse matrix): make(seed), called once for
  // device and host together. It must be the same for the same seed.
  //   const days::Csr& m = in.structure([&](uint64_t seed) { return days::random_csr(seed, rows, cols, 8); });
  //   p.row_ptr = in.values("row_ptr", m.row_ptr);
  template <class Make>
  const auto& structure(Make make) {
    using S = std::remove_cvref_t<decltype(make(uint64_t{}))>;
    const auto made = [&make](uint64_t seed) {
      return detail::Captures(new S(make(seed)), [](const void* s) { delete static_cast<const S*>(s); });
    };
    return *static_cast<const S*>(structure_of(made));
  }
  // Whether the arrays are a caller's own: then what a structure holds is read by nobody, and need not be worked out.
  bool given() const { return where_ == Where::kGiven; }
  // A buffer that a run writes, all of it. The product of the extents is its size; they print an index as a
  // tuple.
  template <class... Extents>
  [[nodiscard]] Values output(const char* name, Extents... extents) {
    return output_of(name, {Extent(extents)...});
  }

  // ---- For the harness ----

  struct Buffer;  // inputs_buffer.h
  std::vector<Buffer>& buffers() { return buffers_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  // Bytes of all buffers made so far, guard bands included.
  double bytes() const { return bytes_; }

  // The product, over all inputs whose element type is T, of the root of their mean square.
  template <class T>
  double rms() const {
    return rms(detail::element_type<T>());
  }

  // The root of the mean square of the input or in-place buffer of that name.
  double rms(const std::string& name) const;

  // The largest error of the output that is judged, as it stands in the host's buffer: a tolerance is asked
  // for one output after the other.
  double worst_output_error() const;
  void judge(size_t buffer) { judged_ = buffer; }

 private:
  static double rms(const Buffer& buffer);
  double rms(const detail::ElementType& type) const;

  static constexpr size_t kDownloadFrom = size_t{1} << 22;  // elements; below, the host computes its own

  // Elements of a buffer. Given ones are what they are, and those of a problem that must be refused may be
  // fewer than none.
  size_t count(Extent n) const;
  Values random(const char* name, Extent n, Distribution distribution, double a, double b);
  Values output_of(const char* name, std::initializer_list<Extent> extents);
  Values listed(const char* name, const void* list, size_t n, const detail::ElementType& type);
  const void* structure_of(const Function<detail::Captures(uint64_t)>& make);
  void* make(Values& values, const detail::ElementType& type, Role role);
  static void fill_host(const Buffer& buffer, void* to);
  static void fill_device(const Buffer& buffer);

  Where where_;
  const Inputs* twin_;
  detail::Arena* arena_ = nullptr;
  uint64_t seed_ = 0;
  double bytes_ = 0;
  std::vector<void*> given_;
  std::vector<Buffer> buffers_;
  std::vector<detail::Captures> structures_;
  size_t next_structure_ = 0;
  size_t judged_ = 0;
};

}  // namespace days
