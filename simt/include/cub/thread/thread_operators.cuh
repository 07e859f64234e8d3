// SPDX-License-Identifier: MIT
#pragma simt_library "cub/thread/thread_operators.cuh"
