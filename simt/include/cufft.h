// SPDX-License-Identifier: MIT
#error "simt: cuFFT is a device library: it has no CPU version here"
