// SPDX-License-Identifier: MIT
#pragma simt_library "cub/cub.cuh"
