// SPDX-License-Identifier: MIT
//
// CUDA's keywords. In a .cu file the translator reads them as they are, so they must stay tokens there; a
// plain C++ file that shares a header with kernels sees them vanish.
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#define CUDART_CB
#define CUDARTAPI

#ifndef __CUDACC__
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(n)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#endif

#endif
