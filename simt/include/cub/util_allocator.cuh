// SPDX-License-Identifier: MIT
#pragma simt_library "cub/util_allocator.cuh"
