// SPDX-License-Identifier: MIT
//
// Loads and stores with cache hints. There is no cache to hint at: they are the plain access, in one piece.
#pragma once

#define SIMT_LOAD(name)       \
  template <class T>          \
  inline T name(const T* p) { \
    return *p;                \
  }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
#undef SIMT_LOAD

namespace simt {
// Keeps the value's type out of deduction, so that __stcs(float_pointer, 0) converts as a function's argument
// would.
template <class T>
struct Identity {
  using type = T;
};
}  // namespace simt

#define SIMT_STORE(name)                                                  \
  template <class T>                                                      \
  inline void name(T* p, const typename simt::Identity<T>::type& value) { \
    *p = value;                                                           \
  }
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
#undef SIMT_STORE
