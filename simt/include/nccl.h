// SPDX-License-Identifier: MIT
#error "simt: NCCL is a device library: it has no CPU version here"
