// SPDX-License-Identifier: MIT
#error "simt: Thrust is a device library: it has no CPU version here"
