// SPDX-License-Identifier: MIT
//
// Groups of several warps of a block (cooperative_groups' tiles of 64 threads and more): their threads meet,
// the last one combines what all have brought.
#include <map>
#include <tuple>

#include "workers.h"

#include "simt/group_collectives.h"

namespace simt {
namespace {

// One tile's meetings, one after the other.
struct Meeting {
  std::uint64_t launch = 0, block = ~std::uint64_t{0};  // whose this is: block objects are used again
  std::uint64_t completed = 0;
  std::vector<const void*> inputs;  // of those who have come, by rank
  std::vector<void*> results;
  unsigned arrived = 0;
};

// Of this worker: by block object, size and number of the tile.
thread_local std::map<std::tuple<const Block*, unsigned, unsigned>, Meeting> meetings;

}  // namespace

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void meet_tile(unsigned size, const void* input, void* result, TileCombine combine, Site site) {
  if (!current) fail("simt-launch", "a cooperative group's operation outside a kernel");
  Block& block = *current->block;
  const unsigned tile = current->linear / size, rank = current->linear % size;
  const unsigned members = std::min(size, block.size - tile * size);
  Meeting& meeting = meetings[{&block, size, tile}];
  if (meeting.launch != worker->launch->number || meeting.block != block.linear) {
    meeting = Meeting{};
    meeting.launch = worker->launch->number;
    meeting.block = block.linear;
  }
  meeting.inputs.resize(members);
  meeting.results.resize(members);
  meeting.inputs[rank] = input;
  meeting.results[rank] = result;
  const std::uint64_t mine = meeting.completed;
  if (++meeting.arrived == members) {
    if (combine) combine(meeting.inputs.data(), meeting.results.data(), members);
    meeting.arrived = 0;
    ++meeting.completed;
    notify();
    return;
  }
  while (meeting.completed == mine) wait(site);
}

}  // namespace simt
