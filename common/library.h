/* SPDX-License-Identifier: MIT
 *
 * What a day's shared library (tools/days_cli/library.py builds and loads it) offers to other languages: the
 * day's rungs and baselines on pointers of the caller's, and contests with inputs, checks and a timer as the
 * day's own programs have them. Plain C.
 *
 * A function that returns int returns 0, or an exit code of ./days: 1 failed, 2 wrong use (a name, a shape
 * that the rung refuses), 3 not on this machine. One that returns a pointer returns NULL then. days_error()
 * says why. Texts belong to the library: each stays until the same thread's next call of the function that
 * returned it. */
#ifndef DAYS_COMMON_LIBRARY_H_
#define DAYS_COMMON_LIBRARY_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this thread's latest call that failed. */
const char* days_error(void);

/* JSON: {backend, device, ladders [{ladder, extents, types, rows [{name, kind, absent {type: reason}}]}]} */
const char* days_description(void);

/* Queues a rung on the stream (a cudaStream_t; NULL is the default one). `buffers` are device pointers, one
 * for each buffer that the ladder's .inputs makes, in its order; their sizes follow from the shape
 * (days_contest_buffers shows them) and are not checked. Does not wait. A row that
 * has to be set up refuses: a contest sets it up. */
int days_launch(const char* ladder, const char* type, const char* row, const int64_t* shape, size_t extents,
                void* const* buffers, size_t count, void* workspace, size_t workspace_bytes, void* stream);

/* JSON: {buffers [{name, role, type, n, dims}], scalars [{name, value}]} of a problem, of which nothing is made: what days_launch
 * takes, and the numbers beside the extents that days_scalars may give. */
const char* days_problem(const char* ladder, const char* type, const int64_t* shape, size_t extents);

/* Bytes of the workspace that days_launch takes for this row; negative: failed, or the row refuses the shape. */
int64_t days_workspace(const char* ladder, const char* type, const char* row, const int64_t* shape,
                       size_t extents);

/* Numbers of a problem that are no extents, for this thread's launches from now on. With a count of 0 they are the ladder's again. */
int days_scalars(const char* const* names, const double* values, size_t count);

/* Until what is queued on the stream is done. Whoever hands a rung's result on to code that does not wait for the stream has to
 * call it; where kernels run on the CPU nobody waits by himself, as a launch only queues them. */
int days_wait(void* stream);

/* Tells CUDA of memory of the caller's that it does not know, which only memory of the host is, where kernels run on the CPU: a rung that
 * fills what it makes with cudaMemset is refused else. Until days_forget, which waits for all that is queued. */
int days_know(void* pointer, size_t bytes);
int days_forget(void* pointer);

/* Copies between the host and device memory, and waits. */
int days_upload(void* device, const void* host, size_t bytes);
int days_download(void* host, const void* device, size_t bytes);

/* A problem with its own device buffers, filled as the day's benchmark fills them. */
typedef struct days_contest days_contest;
days_contest* days_contest_open(const char* ladder, const char* type, const int64_t* shape, size_t extents);
void days_contest_close(days_contest*);
/* JSON: [{name, role ("input", "output", "in-place"), type, n, dims, pointer}] */
const char* days_contest_buffers(days_contest*);
/* Before a run: outputs poisoned, in-place buffers reset, the row's scratch memory made, the row set up. NULL: a contestant
 * that is none of the ladder's rows. */
int days_contest_prepare(days_contest*, const char* row);
/* Queues the row that was prepared. */
int days_contest_launch(days_contest*, const char* row, void* stream);
/* JSON: {ok, worst, lines [...]}: the outputs against the reference's by the ladder's tolerance, guards and
 * inputs. With {again: true}, right elements may be what filled them: whoever prepares, launches and verifies
 * once more, with another fill, knows. */
const char* days_contest_verify(days_contest*);

/* Keeps the device busy for about a millisecond by overwriting its L2 cache, so that nothing of the run
 * before is left in it and that the time to queue what follows is nobody's. */
int days_flush(void* stream);
/* What is queued between the two is timed with CUDA events; days_timer_seconds waits for it, negative:
 * failed. */
int days_timer_start(void* stream);
int days_timer_stop(void* stream);
double days_timer_seconds(void);

#ifdef __cplusplus
}
#endif

#endif
