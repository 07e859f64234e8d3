// SPDX-License-Identifier: MIT
//
// The queues: operations go in at the call and run, one at a time, on the thread that waits for one of them.
#include <time.h>
#include <condition_variable>
#include <mutex>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "device_memory.h"
#include "doubts.h"
#include "failures.h"
#include "operations.h"
#include "options.h"
#include "spinning.h"
#include "streams.h"

namespace simt {

bool per_thread_default_stream = false;

namespace {

constexpr std::size_t kDeepest = 1024;  // a launch into a fuller stream waits, as on a GPU

struct Queues : InOwnMemory {
  std::mutex mutex;
  std::condition_variable changed;
  bool executing = false;  // some thread runs an operation
  std::uint64_t issued = 0, queued = 0, visit = 0, steps = 0;
  std::uint64_t stream_ids = 0;
  std::uint32_t slots = 0;
  OwnVector<CUstream_st*> streams;  // all; legacy is the first
  OwnSet<CUstream_st*> handles;
  CUstream_st* legacy = nullptr;
  CUstream_st* ran_last = nullptr;
  VectorClock host;         // what the host has waited for
  std::uint64_t calls = 0;  // that came here, so that the helper below sees an idle host
  bool memory_open = true;  // checked builds: device memory may be accessible
};

CUstream_st* add_stream(Queues& q) {
  auto* stream = new CUstream_st;
  stream->slot = q.slots++;
  q.streams.push_back(stream);
  return stream;
}

Queues& queues() {
  static Queues* queues = [] {
    auto* q = new Queues;
    q->legacy = add_stream(*q);
    q->stream_ids = 2;  // the default streams have the first ones
    return q;
  }();
  return *queues;
}

thread_local bool running_operation = false;

// ---- which one runs next ----

// The operations that can run now and that `operation` has to wait for, itself included.
void add_needed(Queues& q, const StreamOperation& operation, std::vector<StreamOperation*>& ready) {
  if (operation.done) return;
  StreamOperation& head = *operation.stream->queue.front();
  if (head.visit == q.visit) return;
  head.visit = q.visit;
  bool free = true;
  for (const OperationPtr& before : head.after) {
    if (before->done) continue;
    free = false;
    add_needed(q, *before, ready);
  }
  if (free) ready.push_back(&head);
}

void add_all(Queues& q, std::uint64_t last, std::vector<StreamOperation*>& ready) {
  for (const CUstream_st* stream : q.streams) {
    if (stream->queue.empty() || stream->queue.front()->number > last) continue;
    StreamOperation& head = *stream->queue.front();
    const bool free = std::all_of(head.after.begin(), head.after.end(),
                                  [](const OperationPtr& before) { return before->done.load(); });
    if (free) ready.push_back(&head);
  }
}

// On the way to `target`; null: to the end of all that was issued up to number `last`. The orders differ in
// what they bring to light:
//   normal    only what the target needs runs, the operation issued last first: a host or a stream that did
//             not wait for another stream is early
//   reversed  everything else first, one stream as far as it goes: a stream that should have waited is early
//   shuffle   any of those that can run
StreamOperation* choose(Queues& q, const StreamOperation* target, std::uint64_t last) {
  static auto& ready = *new std::vector<StreamOperation*>;
  ready.clear();
  ++q.visit;
  const Order order = options().order;
  if (target && order == Order::normal) {
    add_needed(q, *target, ready);
  } else {
    add_all(q, last, ready);
  }
  if (ready.size() <= 1) return ready.empty() ? nullptr : ready[0];
  if (order == Order::shuffle) {
    std::uint64_t h = (options().seed + 1) * 0x9e3779b97f4a7c15u + ++q.steps * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 31) * 0x94d049bb133111ebu;
    return ready[(h >> 32) % ready.size()];
  }
  if (order == Order::normal)
    return *std::max_element(
        ready.begin(), ready.end(),
        [](const StreamOperation* a, const StreamOperation* b) { return a->number < b->number; });
  const auto last_resort = [&](const StreamOperation* o) { return target && o->stream == target->stream; };
  return *std::min_element(ready.begin(), ready.end(),
                           [&](const StreamOperation* a, const StreamOperation* b) {
                             if (last_resort(a) != last_resort(b)) return last_resort(b);
                             if ((a->stream == q.ran_last) != (b->stream == q.ran_last))
                               return a->stream == q.ran_last;
                             return a->number < b->number;
                           });
}

// ---- running ----

void remove_if_gone(Queues& q, CUstream_st* stream) {
  if (!stream->destroyed || !stream->queue.empty()) return;
  q.streams.erase(std::find(q.streams.begin(), q.streams.end(), stream));
  if (q.ran_last == stream) q.ran_last = nullptr;
  delete stream;
}

std::string name_of(const Work& work) {
  return std::string(dynamic_cast<const KernelWork*>(&work) ? "kernel " : "") + work.call;
}

void run(Queues& q, StreamOperation* chosen, std::unique_lock<std::mutex>& lock) {
  q.executing = true;
  CUstream_st* stream = chosen->stream;
  const OperationPtr operation = stream->queue.front();
  WorkPtr work = std::move(operation->work);
  if (timeline_wanted()) timeline_ran(*operation);
  set_running_operation(operation.get());
  if (checked_build && work && !work->early() && !q.memory_open) {
    open_device_memory();
    q.memory_open = true;
  }
  lock.unlock();
  if (work) {
    running_operation = true;
    const cudaError_t error = sticky_error();
    if (error == cudaSuccess) {
      if (checked_build) look_before_operation();
      work->run(operation->number);
      if (checked_build) look_after_operation(operation->number, name_of(*work));
    } else {
      work->skip(error);
    }
    work.reset();
    running_operation = false;
  }
  lock.lock();
  set_running_operation(nullptr);
  stream->queue.pop_front();
  --q.queued;
  operation->after.clear();
  operation->done = true;
  q.executing = false;
  q.ran_last = stream;
  remove_if_gone(q, stream);
  q.changed.notify_all();
}

// The host goes on: what it does to device memory from now on is a mistake, unless another thread runs an
// operation, and then it is not seen.
void host_goes_on(Queues& q) {
  if (!checked_build || !q.memory_open || q.executing) return;
  close_device_memory();
  q.memory_open = false;
}

// Runs one operation, or waits for the one that another thread runs. False: there is none.
bool step(Queues& q, const StreamOperation* target, std::unique_lock<std::mutex>& lock,
          std::uint64_t last = std::numeric_limits<std::uint64_t>::max()) {
  if (q.executing) {
    q.changed.wait(lock);
    return true;
  }
  StreamOperation* next = choose(q, target, last);
  if (next) run(q, next, lock);
  return next != nullptr;
}

// The host has seen that `operation` is done: all that it issues from now on comes after it.
void host_has_seen(Queues& q, const StreamOperation& operation) {
  q.host.join(operation.clock);
  q.host.add(operation.slot, operation.number);
  const bool all = std::all_of(q.streams.begin(), q.streams.end(), [&](const CUstream_st* s) {
    return !s->last || q.host.covers(s->slot, s->last->number);
  });
  if (all) q.host = VectorClock{q.issued, nullptr};
}

bool any_up_to(const Queues& q, std::uint64_t number) {
  return std::any_of(q.streams.begin(), q.streams.end(), [&](const CUstream_st* s) {
    return !s->queue.empty() && s->queue.front()->number <= number;
  });
}

// What other threads issue meanwhile stays where it is: a thread that goes on launching would keep this one
// here.
void run_up_to(Queues& q, std::uint64_t number, std::unique_lock<std::mutex>& lock) {
  while (any_up_to(q, number) && step(q, nullptr, lock, number)) {
  }
}

// ---- a host that waits by other means ----

thread_local bool helping = false;      // this is the thread that helps it
thread_local std::thread::id acts_for;  // the host's thread in whose place this one runs operations, if any

double processor_seconds() {
  timespec t = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A host that waits for a host function's signal, or for a value that a kernel writes, never comes here. Once
// it makes no call for a while, sleeping or spinning, its operations run on a thread of their own.
void help_idle_host() {
  helping = true;
  constexpr auto kNap = std::chrono::milliseconds(50);
  constexpr int kAsleep = 4, kSpinning = 40;  // naps
  std::uint64_t calls = 0;
  double seconds = 0;
  int quiet = 0, idle = 0;
  Queues& q = queues();
  for (;;) {
    std::this_thread::sleep_for(kNap);
    const double now = processor_seconds();
    std::unique_lock<std::mutex> lock(q.mutex);
    const bool waits = q.queued > 0 && !q.executing && q.calls == calls;
    quiet = waits ? quiet + 1 : 0;
    idle = waits && now - seconds < 0.01 ? idle + 1 : 0;
    calls = q.calls;
    if (idle >= kAsleep || quiet >= kSpinning) {
      run_up_to(q, q.issued, lock);
      host_goes_on(q);
      quiet = idle = 0;
    }
    lock.unlock();
    seconds = processor_seconds();
  }
}

void start_helper() {
  static const bool started = [] {
    options();  // ends the program where one is wrong, which no lock may see
    std::thread(help_idle_host).detach();
    ++runtime_threads;
    return true;
  }();
  (void)started;
}

}  // namespace

bool host_goes_on_meanwhile() {
  return helping;
}

std::mutex& queues_mutex() {
  return queues().mutex;
}

bool operations_wait(std::uint64_t* last) {
  if (running_operation) return false;
  Queues& q = queues();
  const std::lock_guard<std::mutex> lock(q.mutex);
  *last = q.issued;
  return q.queued > 0 && !q.executing;
}

bool in_operation() {
  return running_operation;
}

void note_allocated() {
  if (!checked_build || running_operation || in_kernel()) return;
  install_fault_handlers();
  Queues& q = queues();
  const std::lock_guard<std::mutex> lock(q.mutex);
  q.memory_open = true;
  host_goes_on(q);
}

// ---- streams ----

CUstream_st* find_stream(cudaStream_t handle) {
  Queues& q = queues();
  if (!handle || handle == cudaStreamLegacy) {
    if (!handle && per_thread_default_stream) return find_stream(cudaStreamPerThread);
    return q.legacy;
  }
  if (handle == cudaStreamPerThread) {
    struct Own {
      CUstream_st* stream = create_hidden_stream();
      ~Own() { destroy_hidden_stream(stream); }
    };
    static thread_local Own own;
    own.stream->blocking = true;
    return own.stream;
  }
  const std::lock_guard<std::mutex> lock(q.mutex);
  return q.handles.count(handle) ? handle : nullptr;
}

CUstream_st* create_stream(unsigned int flags, int priority) {
  Queues& q = queues();
  const std::lock_guard<std::mutex> lock(q.mutex);
  CUstream_st* stream = add_stream(q);
  stream->flags = flags;
  stream->priority = priority;
  stream->blocking = !(flags & cudaStreamNonBlocking);
  stream->id = ++q.stream_ids;
  q.handles.insert(stream);
  return stream;
}

CUstream_st* create_hidden_stream() {
  Queues& q = queues();
  const std::lock_guard<std::mutex> lock(q.mutex);
  CUstream_st* stream = add_stream(q);
  stream->blocking = false;
  return stream;
}

void destroy_hidden_stream(CUstream_st* stream) {
  Queues& q = queues();
  const std::lock_guard<std::mutex> lock(q.mutex);
  stream->destroyed = true;
  remove_if_gone(q, stream);
}

bool destroy_stream(cudaStream_t handle) {
  Queues& q = queues();
  const std::lock_guard<std::mutex> lock(q.mutex);
  if (!q.handles.erase(handle)) return false;
  handle->destroyed = true;
  remove_if_gone(q, handle);
  return true;
}

// ---- operations ----

namespace {

// As a timeline shows it: streams that the program made count from 1.
std::string name_of(const Queues& q, const CUstream_st& stream) {
  if (&stream == q.legacy) return "default stream";
  constexpr std::uint64_t kDefaultStreams = 2;
  if (stream.id > kDefaultStreams) return "stream " + std::to_string(stream.id - kDefaultStreams);
  return stream.blocking ? "default stream of a thread" : "graph " + std::to_string(stream.slot);
}

}  // namespace

OperationPtr issue(CUstream_st& stream, WorkPtr work, const std::vector<OperationPtr>& after) {
  start_helper();
  auto operation = std::allocate_shared<StreamOperation>(OwnAllocator<StreamOperation>());
  const bool known = work && !work->touched.empty(), early = work && work->early();
  if (known) {
    operation->call = work->call;
    operation->touched = work->touched;
  }
  const bool wanted = timeline_wanted();
  std::vector<void*> frames = wanted ? capture_frames(16) : std::vector<void*>();
  Queues& q = queues();
  std::unique_lock<std::mutex> lock(q.mutex);
  if (known && q.streams.size() > 1) {
    lock.unlock();
    operation->frames = capture_frames(16);
    lock.lock();
  }
  ++q.calls;
  if (q.queued == 0) forget_order(q.host.floor);
  operation->number = ++q.issued;
  operation->stream = &stream;
  operation->slot = stream.slot;
  operation->work = std::move(work);
  stream.clock.join(q.host);
  const auto wait_for = [&](const OperationPtr& before) {
    stream.clock.join(before->clock);
    stream.clock.add(before->slot, before->number);
    if (!before->done) operation->after.push_back(before);
  };
  for (const OperationPtr& before : after) wait_for(before);
  if (&stream == q.legacy) {
    for (const CUstream_st* other : q.streams)
      if (other->blocking && other->last && other != &stream) wait_for(other->last);
  } else if (stream.blocking && q.legacy->last) {
    wait_for(q.legacy->last);
  }
  operation->clock = stream.clock;
  note_issued(*operation);
  if (wanted) timeline_issued(*operation, name_of(q, stream), std::move(frames));
  if (known) {
    check_overlaps(operation, q.host);
  }
  while (stream.queue.size() >= kDeepest && step(q, stream.queue.front().get(), lock)) {
  }
  stream.queue.push_back(operation);
  stream.last = operation;
  ++q.queued;
  if (early && stream.queue.size() == 1 && operation->after.empty() && !q.executing)
    run(q, operation.get(), lock);
  if (options().streams_now) {
    while (!operation->done && step(q, operation.get(), lock)) {
    }
  }
  host_goes_on(q);
  return operation;
}

cudaError_t submit(cudaStream_t handle, WorkPtr work, OperationPtr* issued) {
  if (in_kernel()) {
    fail("simt-launch", "%s is called from a kernel, which simt does not support",
         work ? work->call : "the CUDA API");
  }
  if (running_operation) return cudaErrorNotPermitted;  // a host function
  CUstream_st* stream = find_stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (stream->capture) return capture_work(*stream, std::move(work));
  if (stream == queues().legacy && legacy_refused_while_capturing()) return cudaErrorStreamCaptureImplicit;
  OperationPtr operation = issue(*stream, std::move(work));
  if (issued) *issued = std::move(operation);
  return cudaSuccess;
}

bool finish(const OperationPtr& operation) {
  if (running_operation) return false;
  Queues& q = queues();
  std::unique_lock<std::mutex> lock(q.mutex);
  ++q.calls;
  while (!operation->done && step(q, operation.get(), lock)) {
  }
  host_has_seen(q, *operation);
  host_goes_on(q);
  return true;
}

bool finish_stream(CUstream_st& stream) {
  OperationPtr last;
  {
    const std::lock_guard<std::mutex> lock(queues().mutex);
    last = stream.last;
  }
  return last ? finish(last) : !running_operation;
}

bool finish_everything() {
  if (running_operation) return false;
  Queues& q = queues();
  std::unique_lock<std::mutex> lock(q.mutex);
  ++q.calls;
  const std::uint64_t last = q.issued;
  run_up_to(q, last, lock);
  q.host.join(VectorClock{last, nullptr});
  host_goes_on(q);
  return true;
}

void finish_at_exit() {
  if (std::uint64_t last; !operations_wait(&last)) return;
  ++runtime_threads;
  std::thread([host = std::this_thread::get_id()] {
    acts_for = host;
    finish_everything();
  }).join();
  --runtime_threads;
}

std::thread::id host_that_waits() {
  return acts_for == std::thread::id() ? std::this_thread::get_id() : acts_for;
}

bool query(const OperationPtr& operation) {
  Queues& q = queues();
  std::unique_lock<std::mutex> lock(q.mutex);
  ++q.calls;
  if (operation->done) {
    host_has_seen(q, *operation);
    return true;
  }
  if (q.executing) {
    // The operation that another thread runs may itself wait for the host, which must learn that it is not done.
    if (!running_operation) q.changed.wait_for(lock, std::chrono::milliseconds(1));
  } else {
    step(q, operation.get(), lock);
    host_goes_on(q);
  }
  return false;
}

bool query_stream(CUstream_st& stream) {
  OperationPtr last;
  {
    const std::lock_guard<std::mutex> lock(queues().mutex);
    last = stream.last;
  }
  return !last || query(last);
}

}  // namespace simt
