// SPDX-License-Identifier: MIT
#pragma simt_library "cub/device/device_segmented_reduce.cuh"
