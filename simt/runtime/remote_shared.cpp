// SPDX-License-Identifier: MIT
//
// Checked builds: shared memory of another block of the cluster, before that block may have begun or after it may
// have ended. Only the cluster's barrier tells, and it counts whether or not the blocks were there this time: who
// uses another's memory has waited at one, and the other waits at one that ends later. Where anything else could
// have told, an mbarrier or an atomic or volatile access, nothing is reported.
#include <algorithm>

#include "checked.h"
#include "doubts.h"
#include "workers.h"

namespace simt {
namespace {

struct LastUse {
  const Block* block = nullptr;  // whose memory it is
  std::uint64_t phase = 0;       // of the cluster's barrier: that it ends after the use
  Failure failure;
};
thread_local auto* last_uses =
    new std::vector<LastUse>;  // never destroyed: kernels may run when the program exits

}  // namespace

void use_remote_shared(const Block& block, std::size_t bytes, Access access, void* caller) {
  if (worker->signalled) return;
  const Block& own = *current->block;
  const std::string what = format_text("The thread %s %s of the shared memory of block %s",
                                       access == Access::read ? "reads" : "writes", bytes_text(bytes).c_str(),
                                       block_name(*worker->launch, block.linear).c_str());
  if (own.cluster_waited == 0) {
    abandon(failure_of_access(
        caller, "simt-race-shared",
        "use of another block's shared memory that may not have begun\n" + what +
            ".\nWait at the cluster's barrier first, cluster.sync(): all its blocks run then."));
  }
  const std::uint64_t phase = next_cluster_phase(*current);
  const auto found = std::find_if(last_uses->begin(), last_uses->end(),
                                  [&](const LastUse& use) { return use.block == &block; });
  if (found != last_uses->end() && found->phase >= phase) return;
  LastUse use{&block, phase,
              failure_of_access(caller, "simt-race-shared",
                                "use of another block's shared memory that may have ended\n" + what +
                                    ", which waits for nobody after it.\nEnd with the cluster's barrier, "
                                    "cluster.sync(): memory of a block that has returned is gone.")};
  if (found == last_uses->end()) {
    last_uses->push_back(std::move(use));
  } else {
    *found = std::move(use);
  }
}

void settle_cluster() {
  if (last_uses->empty()) return;
  for (LastUse& use : *last_uses) {
    if (worker->signalled || worker->stopped() || use.block->cluster_waited >= use.phase) continue;
    record_failure(*worker->launch, std::move(use.failure));
    break;
  }
  last_uses->clear();
}

}  // namespace simt
