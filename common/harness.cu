// SPDX-License-Identifier: MIT
//
// The harness: all of common/ that is not a header. It is compiled once and linked to every day, test and
// benchmark; a day's plain nvcc line names it beside the day's files.

#include "common/harness/fill.cuh"
#include "common/harness/inputs.h"
#include "common/harness/instance.h"
#include "common/harness/limits.cuh"
#include "common/harness/parallel.h"
#include "common/harness/results.h"
#include "common/harness/run_day.h"

#ifdef __SIMT__
namespace {
// A day's kernels come to their barriers with the whole block, as all that is taught of them says.
[[maybe_unused]] const bool whole_barriers = (simt::require_whole_barriers(), true);
}  // namespace
#endif
