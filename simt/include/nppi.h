// SPDX-License-Identifier: MIT
#error "simt: NPP is a device library: it has no CPU version here"
