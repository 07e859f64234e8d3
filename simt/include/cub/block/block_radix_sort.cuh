// SPDX-License-Identifier: MIT
#pragma simt_library "cub/block/block_radix_sort.cuh"
