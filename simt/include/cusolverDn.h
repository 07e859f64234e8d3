// SPDX-License-Identifier: MIT
#error "simt: cuSOLVER is a device library: it has no CPU version here"
