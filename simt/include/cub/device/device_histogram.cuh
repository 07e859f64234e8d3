// SPDX-License-Identifier: MIT
#pragma simt_library "cub/device/device_histogram.cuh"
