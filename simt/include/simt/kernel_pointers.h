// SPDX-License-Identifier: MIT
//
// A kernel as a void*, as programs keep it in tables, structs and graph nodes. The translator puts
// kernel_pointer() where a kernel's name is cast to void*, which is the last place that knows its parameters;
// from there on the pointer (the stub's address) finds them again. Included by kernel_api.h.
#pragma once

#include <type_traits>
#include <utility>

#include "simt/runtime.h"

namespace simt {

struct KernelPointer {
  Kernel* (*kernel)(void* stub);               // what is known of the kernel
  void (*call)(void* stub, void** arguments);  // calls the stub: runs the launch configuration pushed before
};
void keep_kernel(void* stub, const KernelPointer& kernel);
// Null where the pointer is no kernel that was ever cast.
const KernelPointer* kernel_behind(const void* stub);

template <class... Parameters, std::size_t... kIndices>
void call_with(void (*stub)(Parameters...), void** arguments, std::index_sequence<kIndices...>) {
  stub(*static_cast<std::remove_cv_t<std::remove_reference_t<Parameters>>*>(arguments[kIndices])...);
}

template <class... Parameters>
void* kernel_pointer(void (*kernel)(Parameters...)) {
  using Stub = void (*)(Parameters...);
  void* const stub = reinterpret_cast<void*>(kernel);
  keep_kernel(stub, {[](void* s) { return kernel_of(reinterpret_cast<Stub>(s)); },
                     [](void* s, void** arguments) {
                       call_with(reinterpret_cast<Stub>(s), arguments,
                                 std::index_sequence_for<Parameters...>());
                     }});
  return stub;
}
// Something else that has a kernel's name.
template <class T, class = std::enable_if_t<!std::is_function_v<std::remove_pointer_t<T>>>>
auto kernel_pointer(const T& other) {
  return other;
}

// The kernel behind a void*, null where it is none: as kernel_of() of a stub.
inline Kernel* kernel_of(const void* stub) {
  const KernelPointer* found = kernel_behind(stub);
  return found ? found->kernel(const_cast<void*>(stub)) : nullptr;
}

}  // namespace simt
