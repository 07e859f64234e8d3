// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/iterator/transform_iterator.h"
