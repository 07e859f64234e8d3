// SPDX-License-Identifier: MIT
#error "simt: NVML is a device library: it has no CPU version here"
