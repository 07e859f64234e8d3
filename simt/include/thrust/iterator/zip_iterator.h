// SPDX-License-Identifier: MIT
#pragma simt_library "thrust/iterator/zip_iterator.h"
