// SPDX-License-Identifier: MIT
//
// Copies that go on while the thread does, and the barriers in shared memory that count them. The CUDA
// headers (cuda_pipeline.h, cooperative_groups/memcpy_async.h, ...), common/ptx.h and inline PTX are built on
// these.
//
// A copy lands as late as it may: its destination holds poison (0xff bytes) from the call to the wait. Copies
// of cp.async's kind land when their thread waits for their group; those that an mbarrier counts land, one
// after the other, when no thread of the resident blocks can go on without them.
#pragma once

#include "simt/runtime.h"

namespace simt {

// ---- mbarrier: 8 bytes of shared memory. Section "mbarrier" of the PTX ISA ----
// A phase ends once its arrivals and its bytes have come; then the next one begins. What arrive() returns
// names the phase; test_*() and try_*() say whether a phase has ended, by that name or by the phase's parity.

void mbarrier_init(std::uint64_t* barrier, std::uint32_t arrivals);
void mbarrier_inval(std::uint64_t* barrier);
std::uint64_t mbarrier_arrive(std::uint64_t* barrier, std::uint32_t arrivals = 1,
                              std::uint32_t expected_bytes = 0);
std::uint64_t mbarrier_arrive_drop(std::uint64_t* barrier, std::uint32_t arrivals = 1);
void mbarrier_expect_tx(std::uint64_t* barrier, std::uint32_t bytes);
void mbarrier_complete_tx(std::uint64_t* barrier, std::uint32_t bytes);
std::uint32_t mbarrier_pending_count(std::uint64_t state);
// Let other threads run before they answer no.
bool mbarrier_test(std::uint64_t* barrier, std::uint64_t state, Site site);
bool mbarrier_test_parity(std::uint64_t* barrier, std::uint32_t parity, Site site);
void mbarrier_wait_parity(std::uint64_t* barrier, std::uint32_t parity, Site site);

// ---- cp.async: each thread's copies of 4, 8 or 16 bytes from global to shared memory, in groups ----

// The first `source_bytes` are copied, the rest is filled with zeros.
void async_copy(void* shared, const void* global, std::uint32_t bytes, std::uint32_t source_bytes);
void async_commit_group();
void async_wait_group(std::uint32_t left);  // until at most so many of the youngest groups are in flight
void async_wait_all();
// The barrier gets an arrival once this thread's copies so far have landed. `counted`: that arrival is one of
// those that the barrier was initialised with (.noinc); else it comes on top.
void async_arrive(std::uint64_t* barrier, bool counted);

// ---- cp.async.bulk: multiples of 16 bytes ----

// To shared memory of this block, or at the same place in each block of the mask; the barrier there counts
// the bytes.
void bulk_to_shared(void* shared, const void* global, std::uint32_t bytes, std::uint64_t* barrier,
                    std::uint32_t block_mask = 0);
void bulk_to_cluster(void* remote, const void* shared, std::uint32_t bytes, std::uint64_t* remote_barrier);

enum class ElementType : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16 };
enum class Reduction : std::uint8_t { none, add, min, max, inc, dec, bit_and, bit_or, bit_xor };
void bulk_to_global(void* global, const void* shared, std::uint32_t bytes,
                    Reduction reduction = Reduction::none, ElementType type = ElementType::u8);
void bulk_commit_group();
// fence.proxy.async: bulk copies that come after it read what the running thread has written to shared memory.
void fence_proxy_async();
// `read_only`: until their sources may be written again.
void bulk_wait_group(std::uint32_t left, bool read_only);

// ---- cp.async.bulk.tensor: a box of a tensor that cuTensorMapEncodeTiled described ----

// `coordinates`: of the box's first element, the innermost dimension first.
void tensor_to_shared(void* shared, const void* map, const int* coordinates, int rank, std::uint64_t* barrier,
                      std::uint32_t block_mask = 0);
void tensor_to_global(const void* map, const void* shared, const int* coordinates, int rank,
                      Reduction reduction = Reduction::none);

// ---- st.async: 4, 8 or 16 bytes to the shared memory of a block of the cluster, counted there ----
void store_async(void* remote, const void* value, std::uint32_t bytes, std::uint64_t* remote_barrier);

// ---- barriers by number (bar.sync, bar.arrive, bar.red) and the cluster's barrier in two halves ----

// `threads`: how many take part, waiting or not; 0: the whole block.
void bar_sync(std::uint32_t id, std::uint32_t threads, Site site);
void bar_arrive(std::uint32_t id, std::uint32_t threads, Site site);
int bar_red(std::uint32_t id, std::uint32_t threads, Vote vote, int predicate, Site site);
void cluster_arrive(Site site);
void cluster_wait(Site site);

}  // namespace simt
