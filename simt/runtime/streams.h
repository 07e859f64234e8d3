// SPDX-License-Identifier: MIT
//
// Streams as queues. A call puts an operation into its stream and returns; the operation runs when something
// asks for it (a synchronisation, a copy that the host waits for, the program's end), and operations that
// nothing orders run in an order that SIMT_ORDER decides. So a result that is read too early is not there
// yet, and a stream that should have waited for another one goes first.
//
//   streams.cpp       issues operations, runs them, lends a thread to a host that waits by other means
//   stream_order.cpp  which operations happen before which; memory touched by two that nothing orders
//   timeline.cpp      writes down what was issued, for ./days explain
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "own_memory.h"
#include "user_view.h"

namespace simt {

struct StreamOperation;
struct Capture;  // of a stream into a graph: api/capture.cpp
using OperationPtr = std::shared_ptr<StreamOperation>;

// Memory that an operation reads or writes: slices of rows of `width` bytes.
struct Touched {
  const char* begin = nullptr;
  std::size_t width = 0;
  std::size_t pitch = 0, height = 1;  // from row to row
  std::size_t slice = 0, depth = 1;   // from slice to slice
  bool writes = false;
};

// What a timeline says of an operation.
struct Described {
  const char* kind = "";  // kernel, fill, host function; H2D, D2H, D2D, H2H: a copy; "": it is left out
  std::string name;       // of the kernel, else of the call
  std::size_t bytes = 0;  // of a copy or fill
  bool pageable = false;  // a copy from or to host memory that is not pinned
};

// What an operation does. A graph's node and all its launches share one.
class Work {
 public:
  explicit Work(const char* call_) : call(call_) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;
  virtual void run(std::uint64_t number) = 0;
  virtual void skip(cudaError_t) {}             // in place of run() once a kernel has failed
  virtual bool early() const { return false; }  // runs at the call where nothing is before it
  virtual void describe(Described*) const {}

  const char* call;  // the API's name for it, in reports
  std::vector<Touched> touched;
};
using WorkPtr = std::shared_ptr<Work>;

struct Configuration {
  dim3 grid, block;
  std::size_t dynamic_shared;
  LaunchOptions options;
};

class KernelWork : public Work {
 public:
  KernelWork(Kernel& kernel, const Configuration& configuration, void* closure);  // takes the closure
  ~KernelWork() override;
  void run(std::uint64_t number) override;
  void describe(Described* what) const override {
    what->kind = "kernel";
    what->name = kernel.name;
  }

  Kernel& kernel;
  const Configuration configuration;

 private:
  void* closure;
};

// Everything that happens before an operation: all operations up to `floor`, and in each listed stream all up
// to a number. Sorted by slot; shared, as most operations of a stream follow on the same.
struct VectorClock {
  struct Entry {
    std::uint32_t slot;
    std::uint64_t number;
  };
  std::uint64_t floor = 0;
  std::shared_ptr<const std::vector<Entry>> others;

  bool covers(std::uint32_t slot, std::uint64_t number) const;
  void add(std::uint32_t slot, std::uint64_t number);
  void join(const VectorClock& other);
};

struct StreamOperation {
  std::uint64_t number = 0;  // in the order of issue, from 1
  CUstream_st* stream = nullptr;
  std::uint32_t slot = 0;  // of the stream, which may be gone
  VectorClock clock;
  WorkPtr work;                     // null: only an order
  std::vector<OperationPtr> after;  // of other streams, and not done yet
  const char* call = "";            // of the work, which is let go once it has run
  std::vector<Touched> touched;
  std::vector<void*> frames;  // of the call, where its memory is known
  std::uint64_t visit = 0;
  std::atomic<bool> done{false};
};

}  // namespace simt

struct CUstream_st : simt::InOwnMemory {
  unsigned int flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  std::uint32_t slot = 0;
  bool blocking = true;    // ordered with the legacy default stream
  bool destroyed = false;  // removed once its operations are done
  std::deque<simt::OperationPtr, simt::OwnAllocator<simt::OperationPtr>> queue;
  simt::OperationPtr last;  // issued, perhaps done
  simt::VectorClock clock;  // of the next operation
  std::shared_ptr<simt::Capture> capture;
};

namespace simt {

// The stream behind a handle, or null.
CUstream_st* find_stream(cudaStream_t handle);
CUstream_st* create_stream(unsigned int flags, int priority);
bool destroy_stream(cudaStream_t handle);
// A stream that no handle names: the nodes of a graph run in such.
CUstream_st* create_hidden_stream();
void destroy_hidden_stream(CUstream_st* stream);

// Puts work into a stream, behind its last operation and those of `after`.
OperationPtr issue(CUstream_st& stream, WorkPtr work, const std::vector<OperationPtr>& after = {});
// The same for a call of the API: finds the stream, takes the work into a graph where the stream is captured.
cudaError_t submit(cudaStream_t handle, WorkPtr work, OperationPtr* issued = nullptr);
// ---- api/capture.cpp ----
cudaError_t capture_work(CUstream_st& stream, WorkPtr work);  // into the graph that the stream makes
// Waiting for a captured stream, or (null) for all: refused, and the capture is spoilt.
bool refused_while_capturing(const CUstream_st* stream);
// The legacy stream would have to wait for a captured one.
bool legacy_refused_while_capturing();

// Runs what has to run before the host may go on. False: this is a host function of a stream, which may not
// wait for itself.
bool finish(const OperationPtr& operation);
bool finish_stream(CUstream_st& stream);
// Runs one operation on the way there; true if it was done before.
bool query(const OperationPtr& operation);
bool query_stream(CUstream_st& stream);

// Between these two a launch only makes its work.
void begin_building();
std::shared_ptr<KernelWork> end_building();

// ---- stream_order.cpp; all with the queues' lock held, but happens_before() ----
void note_issued(const StreamOperation& operation);
void forget_order(std::uint64_t floor);  // nobody asks about earlier operations any more
void check_overlaps(const OperationPtr& operation, const VectorClock& host);
void set_running_operation(const StreamOperation* operation);
std::mutex& queues_mutex();

// ---- timeline.cpp: what SIMT_TIMELINE asks for; the last two only then, with the queues' lock held ----
bool timeline_wanted();
void timeline_issued(const StreamOperation& operation, std::string stream, std::vector<void*> frames);
void timeline_ran(const StreamOperation& operation);

}  // namespace simt
