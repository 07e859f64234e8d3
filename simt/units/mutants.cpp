// SPDX-License-Identifier: MIT
// A part of its own: programs without mutants are linked without it, and ask no environment for one.
#include "runtime/mutants.cpp"
