// SPDX-License-Identifier: MIT
#include "../cuda_runtime.h"  // which holds all of it here
