// SPDX-License-Identifier: MIT

#error "simt: nvcuda::wmma has no CPU version here"
