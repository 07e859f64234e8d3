// SPDX-License-Identifier: MIT
#pragma simt_library "cub/block/block_scan.cuh"
