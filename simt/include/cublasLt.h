// SPDX-License-Identifier: MIT
#error "simt: cuBLAS is a device library: it has no CPU version here"
