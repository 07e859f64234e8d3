// SPDX-License-Identifier: MIT
__device__ int next(int i) {
  return i + 1;
}
