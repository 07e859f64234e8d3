// SPDX-License-Identifier: MIT
#pragma simt_library "cub/device/device_run_length_encode.cuh"
