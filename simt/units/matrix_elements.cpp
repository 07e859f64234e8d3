// SPDX-License-Identifier: MIT
// By itself: it sees the types of kernels, not those of the runtime.
#include "runtime/matrix_elements.cpp"
