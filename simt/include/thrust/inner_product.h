// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/inner_product.h"
