// SPDX-License-Identifier: MIT
#pragma once

#include "common/check.h"

namespace days {
namespace detail {
// Its address tells one type from another.
template <class State>
inline constexpr char kStateTag = 0;
}  // namespace detail

// What a variant's .setup(...) made, once, before the launches that use it: a plan, a sorted index, tuned
// parameters. It is the harness's, which destroys it after the last launch.
class Setup {
 public:
  Setup() = default;
  Setup(const void* state, const void* tag) : state_(state), tag_(tag) {}

  // What was made. Throws std::invalid_argument where nothing was, or something else.
  template <class State>
  const State& get(const char* variant) const {
    require(state_ != nullptr, variant, ": was not set up");
    require(tag_ == &detail::kStateTag<State>, variant, ": was set up for another variant");
    return *static_cast<const State*>(state_);
  }

 private:
  const void* state_ = nullptr;
  const void* tag_ = nullptr;
};

}  // namespace days
