// SPDX-License-Identifier: MIT
#error "simt: cuSPARSE is a device library: it has no CPU version here"
