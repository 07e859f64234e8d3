// SPDX-License-Identifier: MIT
#error "simt: CUB is a device library: it has no CPU version here"
