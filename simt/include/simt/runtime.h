// SPDX-License-Identifier: MIT
//
// The simt runtime: runs CUDA kernels on CPU threads. This header is the interface of three parties: the
// translator (simtcc) emits calls to the first section, the CUDA headers in this folder wrap the second, and
// the CUDA API functions (cudaMalloc, ...) are built on the third. Programs use CUDA's names, not these.
//
// Model: a CUDA thread is a fiber, a block runs on one OS thread (a worker), blocks spread over the workers.
// A launch goes into its stream's queue and runs when something waits for it; one runs at a time. One device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>

#include "driver_types.h"
#include "vector_types.h"

// The built-in variables: real thread-local objects that the scheduler sets at every switch, so debuggers can
// print them and a local variable may reuse the name. `const` lets a kernel's compiler keep them in
// registers.
#ifdef SIMT_RUNTIME_SOURCE
#define SIMT_BUILTIN extern __thread
#else
#define SIMT_BUILTIN extern const __thread
#endif
SIMT_BUILTIN uint3 threadIdx;
SIMT_BUILTIN uint3 blockIdx;
SIMT_BUILTIN dim3 blockDim;
SIMT_BUILTIN dim3 gridDim;
#undef SIMT_BUILTIN

namespace simt {

// Where a blocking operation stands in the user's source. As a default argument, here() is the caller's
// place:
//   void __syncthreads(simt::Site site = simt::here()) { simt::sync_threads(site); }
// Two barriers are the same barrier when they stand on the same line; no address or symbol is needed for
// that.
struct Site {
  const char* file = nullptr;
  int line = 0;
};
constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return {file, line};
}

// ================================================================ emitted by the translator

// What is known of a kernel; one static object a kernel (and a template instantiation).
struct Kernel {
  const char* name;                     // without namespace and template arguments
  void (*call)(const void* closure);    // runs one thread on its own copy of the arguments
  void* (*clone)(const void* closure);  // a launch runs after the call, on a copy
  void (*destroy)(void* closure);
  std::size_t argument_bytes = 0;
  int max_dynamic_shared = 48 * 1024;  // cudaFuncAttributeMaxDynamicSharedMemorySize
  int max_threads = 1024;              // of a block
  dim3 required_cluster = {0, 0, 0};   // __cluster_dims__; x = 0: none
  bool non_portable_cluster = false;   // cudaFuncAttributeNonPortableClusterSizeAllowed
  std::size_t static_shared = 0;       // bytes; known once the kernel has run
  std::uint32_t id = 0;                // given at the first launch
  bool told_returned = false;          // that some of its threads miss a barrier
};

// The configuration of the next launch of the calling host thread: k<<<g, b, shared, stream>>>.
void push_config(dim3 grid, dim3 block, std::size_t dynamic_shared = 0, cudaStream_t stream = nullptr);

struct LaunchOptions {
  dim3 cluster = {1, 1, 1};
  bool cooperative = false;
  bool may_overlap = false;  // with the kernel before it in its stream, until it waits (programmatic launch)
};
void push_config(dim3 grid, dim3 block, std::size_t dynamic_shared, cudaStream_t stream,
                 const LaunchOptions&);

// Queues or, in a query by kernel_of(), only names the kernel. Errors of the configuration go to set_error().
void launch_kernel(Kernel& kernel, const void* closure);

// What a kernel's __launch_bounds__ and __cluster_dims__ said.
struct KernelBounds {
  int max_threads = 1024;
  dim3 cluster = {0, 0, 0};
};

// Copies what no kernel asks for: a checked build does not look at it.
void copy_unchecked(void* to, const void* from, std::size_t bytes);
inline void copy_arguments(void* to, const void* from, std::size_t bytes) {
#ifdef __SANITIZE_THREAD__
  copy_unchecked(to, from, bytes);
#else
  std::memcpy(to, from, bytes);
#endif
}

// The body of every translated kernel: void k(P p) { ::simt::launch("k", [=]() mutable { ... }); }
// Each CUDA thread runs its own copy of the closure: it may change its parameters. The copies are bytes, as
// on a GPU: no constructor or destructor of a parameter runs there.
template <class Body>
void launch(const char* name, const Body& body, const KernelBounds& bounds = {}) {
  static Kernel kernel{name,
                       [](const void* closure) {
                         alignas(Body) unsigned char own[sizeof(Body)];
                         copy_arguments(own, closure, sizeof(Body));
                         (*std::launder(reinterpret_cast<Body*>(own)))();
                       },
                       [](const void* closure) -> void* {
                         return std::memcpy(::operator new (sizeof(Body), std::align_val_t{alignof(Body)}),
                                            closure, sizeof(Body));
                       },
                       [](void* closure) { ::operator delete (closure, std::align_val_t{alignof(Body)}); },
                       sizeof(Body),
                       48 * 1024,
                       bounds.max_threads,
                       bounds.cluster};
  launch_kernel(kernel, &body);
}

// The kernel behind a stub, found by calling the stub in query mode with zeroed arguments.
void begin_query();
Kernel* end_query();

template <class T>
struct ZeroedArgument {
  alignas(T) unsigned char bytes[sizeof(T)] = {};
  T& get() { return *std::launder(reinterpret_cast<T*>(bytes)); }
};
template <class... Args>
Kernel* kernel_of(void (*stub)(Args...)) {
  begin_query();
  stub(ZeroedArgument<std::remove_cv_t<std::remove_reference_t<Args>>>().get()...);
  return end_query();
}

// ---- device variables ----

// A variable of device code, which the host's code may only name to functions that take a symbol (unless it is managed). host_names:
// it does otherwise, too.
enum class VariableKind : std::uint8_t { device, constant, managed };
void keep_variable(const volatile void* address, std::size_t bytes, const char* name, VariableKind kind,
                   bool host_names);
struct DeviceVariable {
  DeviceVariable(const volatile void* address, std::size_t bytes, const char* name, VariableKind kind,
                 bool host_names) {
    keep_variable(address, bytes, name, kind, host_names);
  }
};
// Of checked builds: the program has virtual functions.
bool look_for_tables();

// ---- shared memory ----

// Identifies a __shared__ variable. `where` caches kernel id (upper half) and offset in the block's arena.
struct ArrayShape {  // bytes of an element, and how many there are in each dimension (1: no array)
  std::size_t bytes;
  std::size_t extents[3];
};
template <class T>
constexpr ArrayShape shape_of() {
  constexpr auto extent = [](std::size_t n) { return n ? n : 1; };
  using Element = std::remove_extent_t<std::remove_extent_t<std::remove_extent_t<T>>>;
  return {sizeof(Element),
          {extent(std::extent_v<T, 0>), extent(std::extent_v<T, 1>), extent(std::extent_v<T, 2>)}};
}
struct SharedSlot {
  std::size_t size, alignment;
  const char* name;
  ArrayShape shape;
  std::uint64_t where = 0;
};
extern __thread char* shared_base;        // of the running block's arena
extern __thread std::uint32_t kernel_id;  // of the running kernel
char* place_shared(SharedSlot& slot);     // the slow path: gives the variable an offset in this kernel

// The running block's instance of a __shared__ variable: auto& x = ::simt::shared_variable<S>("x").x
template <class S>
S& shared_variable(const char* name = nullptr) {
  static SharedSlot slot{sizeof(S), alignof(S), name, shape_of<decltype(S::value)>()};
  const std::uint64_t where = __atomic_load_n(&slot.where, __ATOMIC_RELAXED);
  char* address = shared_base + static_cast<std::uint32_t>(where);
  if (__builtin_expect(where >> 32 != kernel_id, 0)) address = place_shared(slot);
  return *reinterpret_cast<S*>(address);
}

// Of checked builds: the index of an element of an array of type `Array` that is used through a reference. The
// compiler itself, which compares all others, lets one pass that is just past the end.
void index_past_end(std::size_t extent, Site site);
template <class Array, class Index>
constexpr const Index& element_index(const Index& index, Site site = here()) {
  constexpr std::size_t kExtent = std::extent_v<std::remove_reference_t<Array>>;
  if constexpr (kExtent > 1 && std::is_integral_v<Index>) {  // one element: how older C spells any number
    if (index == static_cast<Index>(kExtent)) index_past_end(kExtent, site);
  }
  return index;
}
// The same of an element that is assigned or copied, `v[i] = x`, `x = v[i]`: where it is an object of a class, such as
// a float4, the compiler passes its address to the class's operator or constructor.
template <class Array, class Index>
constexpr const Index& object_index(const Index& index, Site site = here()) {
  if constexpr (std::is_class_v<std::remove_extent_t<std::remove_reference_t<Array>>>)
    return element_index<Array>(index, site);
  return index;
}

// Of checked builds: stands before `&v[n]`, in which an operator[] may make a reference past the end that
// nobody reads. It lasts as long as the whole expression.
extern __thread int addresses_only;
struct AddressOnly {
  AddressOnly() { ++addresses_only; }
  ~AddressOnly() { --addresses_only; }
  AddressOnly(const AddressOnly&) = delete;
  AddressOnly& operator=(const AddressOnly&) = delete;
};

// The start of extern __shared__ memory. It ends (up to `alignment`) at an inaccessible page.
void* dynamic_shared(std::size_t alignment = 16);
std::size_t dynamic_shared_bytes();

// ---- loops that may wait for another thread ----

extern __thread int ticks_left;
void tick_slow();
// In the condition of while and do loops. Yields to the other fibers now and then, checks the hang limit.
// Always true.
inline bool tick() {
  if (__builtin_expect(--ticks_left < 0, 0)) tick_slow();
  return true;
}

// Inline PTX, interpreted: what it does not know ends in a report that names the instruction.
struct PtxOperand {
  const char* constraint;
  const void* data;  // null: `address` is the value
  std::size_t bytes;
  const void* address = nullptr;  // of an array
  template <class T>
  PtxOperand(const char* constraint_, const T& value)
      : constraint(constraint_), data(&value), bytes(sizeof(T)) {}
  template <class T, std::size_t n>
  PtxOperand(const char* constraint_, const T (&array)[n])
      : constraint(constraint_), data(nullptr), bytes(sizeof(void*)), address(array) {}
  const void* place() const { return data ? data : &address; }
};
void ptx(const char* text, std::initializer_list<PtxOperand> outputs,
         std::initializer_list<PtxOperand> inputs, Site site = here());

// ================================================================ for the CUDA headers (device side)

bool in_kernel();
unsigned lane_id();
unsigned warp_id();          // within the block
std::uint32_t live_lanes();  // lanes of this warp that exist and have not returned

void sync_threads(Site site);
enum class Vote { count, all, any };
int sync_threads_vote(Vote vote, int predicate, Site site);

// A warp collective: the lanes of `mask` meet, the last one calls combine once for all, everyone goes on.
// Each lane brings pointers to its input and result, which stay on its own stack while it waits. A lane names
// its collective by the address of such a constant: lanes of one mask in different collectives are an error.
struct Lane {
  std::uint32_t mask;
  int operand;  // the source lane of a shuffle, ...
  const void* input;
  void* result;
  std::size_t bytes;  // size of the input
  const struct Collective* what;
  Site site;
};
struct Collective {
  const char* name;                                             // as CUDA calls it
  void (*combine)(Lane lanes[32], std::uint32_t participants);  // may call fail(); null: nothing to combine
};
void rendezvous(std::uint32_t mask, const Collective& what, const void* input, void* result,
                std::size_t bytes, int operand, Site site);

extern const Collective kSyncWarp, kShuffle, kBallot, kMatchAny, kMatchAll;

template <class T>
T shuffle(std::uint32_t mask, T value, int source_lane, Site site) {
  T result;
  rendezvous(mask, kShuffle, &value, &result, sizeof(T), source_lane, site);
  return result;
}
inline std::uint32_t ballot(std::uint32_t mask, bool predicate, Site site) {
  std::uint32_t result;
  rendezvous(mask, kBallot, &predicate, &result, sizeof(predicate), 0, site);
  return result;
}
// The lanes whose value has the same bytes as this lane's; match_all: all participants, or 0.
template <class T>
std::uint32_t match_any(std::uint32_t mask, T value, Site site) {
  std::uint32_t result;
  rendezvous(mask, kMatchAny, &value, &result, sizeof(T), 0, site);
  return result;
}
template <class T>
std::uint32_t match_all(std::uint32_t mask, T value, Site site) {
  std::uint32_t result;
  rendezvous(mask, kMatchAll, &value, &result, sizeof(T), 0, site);
  return result;
}
// Folds the participants' values in lane order with a stateless function: reduce(m, v, [](int a, int b)
// {...}, s).
template <class T, class Fold>
T reduce(std::uint32_t mask, T value, Fold, Site site) {
  static constexpr Collective collective{"__reduce_sync", [](Lane* lanes, std::uint32_t participants) {
                                           T folded{};
                                           bool first = true;
                                           for (std::uint32_t rest = participants; rest; rest &= rest - 1) {
                                             const T& next =
                                                 *static_cast<const T*>(lanes[__builtin_ctz(rest)].input);
                                             folded = first ? next : Fold{}(folded, next);
                                             first = false;
                                           }
                                           for (std::uint32_t rest = participants; rest; rest &= rest - 1)
                                             *static_cast<T*>(lanes[__builtin_ctz(rest)].result) = folded;
                                         }};
  T result;
  rendezvous(mask, collective, &value, &result, sizeof(T), 0, site);
  return result;
}
inline void sync_warp(std::uint32_t mask, Site site) {
  rendezvous(mask, kSyncWarp, nullptr, nullptr, 0, 0, site);
}
std::uint32_t active_mask(Site site);  // the lanes of this warp that wait at the same place

// Whether the value that an atomic operation finds matters: that of atomicExch often doesn't.
enum class AtomicKind : unsigned char { store, update };
extern __thread std::uint64_t atomics_done;
extern bool checked_build;  // the program's .cu files call the checker at each access
// The checker's look at an atomic operation. Its records must come in the order of the operations, whichever workers
// make them, so it takes a lock, which end_atomic() gives back. place: the return address into the code that asked for
// the operation; null: that of this very call.
void check_atomic(const volatile void* address, std::size_t bytes, AtomicKind kind, const void* place);
void end_atomic();
// griddepcontrol.wait: what the kernel before this one in its stream has written is there. Kernels run one after the other here,
// so it only tells checked builds that the running block has waited.
void wait_for_kernel_before();
void note_release();  // checked builds: the running thread may publish what it has done
inline void published() {
  if (__builtin_expect(checked_build, 0)) note_release();
}
// Stands before each atomic operation on [address, address + bytes), which it counts, and lives until that is done. It
// lets other threads run now and then.
struct AtomicPoint {
  AtomicPoint(const volatile void* address, std::size_t bytes, AtomicKind kind = AtomicKind::update,
              const void* place = nullptr) {
    ++atomics_done;
    tick();
    if (__builtin_expect(checked_build, 0)) check_atomic(address, bytes, kind, place);
  }
  ~AtomicPoint() {
    if (__builtin_expect(checked_build, 0)) end_atomic();
  }
  AtomicPoint(const AtomicPoint&) = delete;
  AtomicPoint& operator=(const AtomicPoint&) = delete;
};

// A wait for something that another thread of the resident blocks does (mbarrier, named barrier, ...):
//   while (!condition()) simt::wait(site);      and after each change of such a state:   simt::notify();
void wait(Site site);
void notify();

// Cooperative launches and clusters.
bool is_cooperative();
void sync_grid(Site site);
void sync_cluster(Site site);
dim3 cluster_dim();
unsigned cluster_rank();                               // of this block in its cluster
void* map_shared(const void* address, unsigned rank);  // the same place in another block's shared memory

bool is_shared(const void* address);  // of a resident block
bool is_global(const void* address);  // in the arena and no shared memory

// Reports `error: <message> [slug]` with kernel, block, thread and line, abandons the launch and sets the
// sticky error that belongs to the slug. Outside a kernel: reports and ends the process with status 1.
[[noreturn]] void fail(const char* slug, const char* format, ...) __attribute__((format(printf, 2, 3)));
[[noreturn]] void fail_assert(const char* expression, const char* file, int line);  // cudaErrorAssert

// ================================================================ for the CUDA API functions (host side)

// ---- memory ----
// Allocations live in one reserved range of addresses. Each starts at a multiple of 256 and ends (rounded up
// to 256) at an inaccessible page; before it and in the rest of its pages stand canaries. New memory holds
// 0xff bytes. Freed memory stays inaccessible as long as addresses last.
enum class MemoryKind : std::uint8_t { device, pinned, managed };

struct Allocation {
  char* base = nullptr;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  bool live = false;      // false: freed
  bool kept = false;      // reserve()d
  const char* name = "";  // name_memory()'s, as long as the allocation's addresses are its own
};
void* allocate(std::size_t bytes, MemoryKind kind);            // nullptr: out of memory; 0 bytes: one byte
bool release(void* pointer);                                   // false: no such live allocation
bool find_allocation(const void* address, Allocation* found);  // the live allocation that holds address
// An allocation that keeps its addresses: not there until revive(), gone with release(), as often as wanted.
void* reserve(std::size_t bytes);  // of device memory; nullptr: no addresses left
bool revive(void* pointer);        // false: it is there already, or out of memory
void give_up(void* pointer);       // from now on it is an ordinary one, freed if it is not there
// Reports call the allocation that begins at `base` by this name, "b (3 x 4)".
void name_memory(const void* base, const char* name);
bool find_kept(const void* address, Allocation* found);  // there or not
// Addresses at a multiple of `alignment` under which api/virtual_memory.cpp puts memory: the first `bytes` of
// them are an allocation that release() refuses.
void* reserve_addresses(std::size_t bytes, std::size_t alignment);
void set_mapped(void* addresses, std::size_t bytes);
void free_addresses(void* addresses);
bool take_memory(std::size_t bytes);  // of the device's; false: there is not so much
void give_memory(std::size_t bytes);
std::size_t memory_total();  // SIMT_MEMORY (MiB), else the machine's
std::size_t memory_free();

// What cudaHostRegister registered around an address; it holds as long as times_unregistered() is the same.
bool find_registered(const void* address, const char** begin, const char** end);
unsigned times_unregistered();

// ---- errors ----
// Sticky errors (a report inside a kernel) belong to the process, others to the calling host thread.
void set_error(cudaError_t error);  // cudaSuccess is ignored; returned by the next take_error()
cudaError_t sticky_error();
cudaError_t peek_error();  // sticky, else the last one
cudaError_t take_error();  // the same, and forgets the last one (never the sticky one)
void reset_device();       // cudaDeviceReset: frees all memory, forgets the sticky error
int reports();             // so far, with all that was queued; if not 0, a program that returns 0 ends with 1
void forget_reports();     // for a test that wanted the report
// Reports misuse of the API by the host (simt-launch, simt-memcpy, simt-free); the program goes on.
void report_host(const char* slug, const char* format, ...) __attribute__((format(printf, 2, 3)));

// ---- the device ----
constexpr int kMultiprocessors = 4;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr std::size_t kSharedPerBlock = 48 * 1024;
constexpr std::size_t kSharedPerBlockOptin = 227 * 1024;
constexpr std::size_t kSharedPerMultiprocessor = 228 * 1024;
// Blocks of this shape that fit on one multiprocessor at once; bounds a cooperative launch.
int resident_blocks(const Kernel& kernel, int block_threads, std::size_t dynamic_shared);

// ---- orders ----
// In which threads of a block start, and blocks of a grid: SIMT_ORDER, or what a test asks for. Holds from
// the next launch on.
enum class Order { normal, reversed, shuffle };
void set_order(Order order, std::uint64_t seed = 1);
// Threads that have returned make __syncthreads() an error in plain builds, too.
void require_whole_barriers(bool whole = true);
void reset_order();  // to what the environment says

// ---- statistics ----
struct LaunchStats {
  const char* kernel = "";
  dim3 grid = {0, 0, 0}, block = {0, 0, 0};
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t threads = 0;
  std::uint64_t barriers = 0;          // completed __syncthreads, counted once a block
  std::uint64_t warp_collectives = 0;  // completed, counted once a group of lanes
  std::uint64_t atomics = 0;
  std::uint64_t switches = 0;  // of fibers
};
struct Stats {
  LaunchStats last, total;
};
Stats stats();  // of all launches so far; runs those that are queued
// Whether launches from here on are in the trace, where there is one; runs those that are queued.
void trace_launches(bool traced);

// ---- streams ----
extern bool per_thread_default_stream;  // --default-stream per-thread: the handle 0 is the calling thread's

}  // namespace simt

#ifdef SIMT_TRACED
#include "simt/trace_markers.h"
#endif
