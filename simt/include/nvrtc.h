// SPDX-License-Identifier: MIT
#error "simt: NVRTC is a device library: it has no CPU version here"
