// SPDX-License-Identifier: MIT
#pragma simt_library "cub/warp/warp_reduce.cuh"
