// SPDX-License-Identifier: MIT
#pragma once

#include "model/product.h"

namespace model {

// c = a * b where each part of k is added to c by an atomic as soon as it is there: right, but for the order, which is another one in
// every run. For p.split parts at most 1,024 threads share.
void wrong_atomics(const Product<float>& p, cudaStream_t stream);

}  // namespace model
