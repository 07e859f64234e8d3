// SPDX-License-Identifier: MIT
// The device, its streams and events, and the driver API. Compiled as one, since reading the headers takes
// longer than compiling most files.
#include "api/assert.cpp"
#include "api/atomics16.cpp"
#include "api/clock.cpp"
#include "api/device.cpp"
#include "api/driver.cpp"
#include "api/driver_entry.cpp"
#include "api/error_calls.cpp"
#include "api/events.cpp"
#include "api/kernel_pointers.cpp"
#include "api/kernels.cpp"
#include "api/special_functions.cpp"
#include "api/stream_calls.cpp"
#include "api/tensor_map.cpp"
