// SPDX-License-Identifier: MIT
#error "simt: cuRAND is a device library: it has no CPU version here"
