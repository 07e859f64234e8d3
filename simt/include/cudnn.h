// SPDX-License-Identifier: MIT
#error "simt: cuDNN is a device library: it has no CPU version here"
