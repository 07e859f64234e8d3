// SPDX-License-Identifier: MIT
//
// What translated code and the CUDA headers ask of the CPU backend's runtime. One CUDA thread is one fiber,
// one block runs on one OS thread, and blocks spread over the cores; DESIGN and docs/simt.md tell why.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "vector_types.h"

typedef struct CUstream_st* cudaStream_t;

// The built-in variables of a kernel. The runtime sets them whenever it switches to another CUDA thread;
// kernels may read them only. Programs may have locals of the same names.
#if defined(__APPLE__)
#define SIMT_BUILTIN(name) __asm__("_simt_" #name)
#else
#define SIMT_BUILTIN(name) __asm__("simt_" #name)
#endif
extern const __thread uint3 threadIdx SIMT_BUILTIN(threadIdx);
extern const __thread uint3 blockIdx SIMT_BUILTIN(blockIdx);
extern const __thread dim3 blockDim SIMT_BUILTIN(blockDim);
extern const __thread dim3 gridDim SIMT_BUILTIN(gridDim);

namespace simt {

// ---- launching ----

/// What the runtime knows of a kernel: one static object behind each host stub.
struct Kernel {
  const char* name;                   // as in the source, without namespace and template arguments
  void (*call)(const void* closure);  // runs the body once, on a copy of the closure
  std::size_t closure_size = 0;
  std::size_t static_shared = 0;               // bytes, known once the kernel has run
  std::size_t max_dynamic_shared = 48 * 1024;  // cudaFuncAttributeMaxDynamicSharedMemorySize
};

struct LaunchConfig {
  dim3 grid, block;
  std::size_t dynamic_shared = 0;
  cudaStream_t stream = nullptr;
  dim3 cluster{1, 1, 1};
  bool cooperative = false;
};

void push_config(const LaunchConfig& config);
inline void push_config(dim3 grid, dim3 block, std::size_t dynamic_shared = 0,
                        cudaStream_t stream = nullptr) {
  push_config(LaunchConfig{grid, block, dynamic_shared, stream, dim3(1, 1, 1), false});
}
/// Runs the kernel with the pushed configuration; false in query mode (kernel_of).
void launch_kernel(Kernel& kernel, const void* closure);

template <class Body>
void launch(const char* name, Body&& body) {
  using Closure = std::remove_cvref_t<Body>;
  static Kernel kernel{
      name,
      [](const void* closure) {
        Closure own(*static_cast<const Closure*>(closure));  // parameters are each thread's own
        own();
      },
      sizeof(Closure)};
  launch_kernel(kernel, &body);
}

/// The Kernel behind a host stub: the stub is called in a mode in which it only says which kernel it is.
Kernel* begin_query();
Kernel* end_query();
template <class T>
struct Zeros {
  alignas(T) unsigned char bytes[sizeof(T)] = {};
  T& get() { return *reinterpret_cast<T*>(bytes); }
};
template <class... Parameters>
Kernel* kernel_of(void (*stub)(Parameters...)) {
  begin_query();
  stub(Zeros<std::remove_reference_t<Parameters>>().get()...);
  return end_query();
}

// ---- shared memory ----

/// Where a __shared__ variable lies in every block of a launch; one static object for each variable.
struct SharedSlot {
  std::atomic<std::uint64_t> launch{0};
  std::size_t offset = 0;
};
void place_shared(SharedSlot& slot, std::size_t size, std::size_t alignment);
extern thread_local char* shared_base;  // of the running block
extern std::uint64_t launch_number;

/// The running block's copy of a __shared__ variable; `S` is a struct that the translator made for it.
template <class S>
S& shared_variable() {
  static SharedSlot slot;
  if (slot.launch.load(std::memory_order_acquire) != launch_number) [[unlikely]] {
    place_shared(slot, sizeof(S), alignof(S));
  }
  return *reinterpret_cast<S*>(shared_base + slot.offset);
}
void* dynamic_shared();

// ---- barriers and warp collectives ----

enum class Reduce { count, all, any };
void sync_threads();
int sync_threads_reduce(Reduce operation, int predicate);

enum class Collective : std::uint8_t { shuffle, ballot, match, sync };
/// Waits until every live lane of `mask` has arrived with the same mask and operation. Returns this lane's
/// result, valid until its next collective: of `shuffle` the `size` bytes that lane `source` gave, of
/// `ballot` and `match` a 32-bit mask.
const void* rendezvous(std::uint32_t mask, Collective operation, const void* in, unsigned size, int source);
std::uint32_t active_mask();
unsigned lane_id();
unsigned warp_id();
void sync_grid();

// ---- progress ----

bool in_kernel();
void tick_slow();
extern thread_local int ticks_left;
/// Called by every loop that may spin: now and then lets other threads of the block run.
inline void tick() {
  if (--ticks_left < 0) [[unlikely]]
    tick_slow();
}
/// Called before each atomic operation on [p, p + n).
void atomic_point(const volatile void* p, std::size_t n);

// ---- errors ----

/// Reports an error of the running kernel, abandons the launch and leaves `error` (a cudaError_t) behind.
[[noreturn]] void fail(const char* slug, const char* format, ...) __attribute__((format(printf, 2, 3)));
[[noreturn]] void fail_with(int error, const char* slug, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/// Reports an error of the host program; it goes on.
void report(const char* slug, const char* format, ...) __attribute__((format(printf, 2, 3)));

int sticky_error();          // what the first failed kernel left, 0 where none did
int last_error(bool clear);  // of this host thread, or the sticky one
int set_error(int error);    // remembers and returns it
void reset_device();         // cudaDeviceReset: frees everything, clears the sticky error

// ---- memory ----

enum class MemoryKind : std::uint8_t { host = 1, device = 2, managed = 3 };  // cudaMemoryType's numbers
struct Allocation {
  char* begin;
  std::size_t size;
  MemoryKind kind;
};
/// 256-byte aligned, poisoned, its end at an inaccessible page. nullptr where there is not that much memory.
void* allocate(std::size_t bytes, MemoryKind kind);
/// False where `p` is not the start of a live allocation.
bool release(void* p);
bool find_allocation(const void* p, Allocation* found);
bool in_arena(const void* p);
bool is_shared(const void* p);  // of the running block
std::size_t memory_total();
std::size_t memory_free();

// ---- statistics ----

struct LaunchStats {
  const char* kernel = "";
  dim3 grid{0, 0, 0}, block{0, 0, 0};
  std::uint64_t blocks = 0, threads = 0;
  std::uint64_t barriers = 0;          // block-wide, once a block
  std::uint64_t warp_collectives = 0;  // once a warp
  std::uint64_t atomics = 0;
  std::uint64_t switches = 0;
};
struct Stats {
  LaunchStats last, total;
  std::uint64_t launches = 0;
};
const Stats& stats();

}  // namespace simt
