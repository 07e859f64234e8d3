// SPDX-License-Identifier: MIT
//
// A callable of any type behind one type, as std::function has it, for the lambdas of which each day has a
// hundred: here each costs the compiler one small function, where std::function and its header take a tenth
// of a second and then some milliseconds a lambda.
#pragma once

#include <type_traits>
#include <utility>

namespace days {
namespace detail {

// A callable's object, held once for all of its copies. Defined in harness/inputs.h.
class Captures {
 public:
  Captures() = default;
  // Owns `object`, which `destroy` deletes.
  Captures(const void* object, void (*destroy)(const void*));
  Captures(const Captures&);
  Captures& operator=(const Captures&);
  ~Captures();
  const void* object() const { return object_; }

 private:
  struct Owner;
  const void* object_ = nullptr;
  Owner* owner_ = nullptr;
};

// A lambda without captures needs no object: another one of its type does the same.
template <class F>
inline constexpr bool kStateless = std::is_empty_v<F>&& std::is_default_constructible_v<F>;

template <class F>
Captures capture(const F& f) {
  if constexpr (kStateless<F>) {
    return {};
  } else {
    return {new F(f), [](const void* object) { delete static_cast<const F*>(object); }};
  }
}
// The callable that was captured.
template <class F>
decltype(auto) captured(const void* object) {
  if constexpr (kStateless<F>) {
    return F{};
  } else {
    return *static_cast<const F*>(object);
  }
}

}  // namespace detail

template <class Signature>
class Function;

// Empty until it is given a callable; an empty one must not be called.
template <class R, class... A>
class Function<R(A...)> {
 public:
  using Call = R(const void* object, A...);

  Function() = default;
  template <class F>
  requires(!std::is_same_v<F, Function> && std::is_invocable_r_v<R, const F&, A...>) Function(F f)
      : captures_(detail::capture(f)), call_([](const void* object, A... a) -> R {
          return static_cast<R>(detail::captured<F>(object)(std::forward<A>(a)...));
        }) {}
  // For callables of a kind of their own: `call` is given the captures' object.
  Function(const detail::Captures& captures, Call* call) : captures_(captures), call_(call) {}

  explicit operator bool() const { return call_ != nullptr; }
  R operator()(A... a) const { return call_(captures_.object(), std::forward<A>(a)...); }

 private:
  detail::Captures captures_;
  Call* call_ = nullptr;
};

}  // namespace days
