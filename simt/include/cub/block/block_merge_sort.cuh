// SPDX-License-Identifier: MIT
#pragma simt_library "cub/block/block_merge_sort.cuh"
