// SPDX-License-Identifier: MIT
// The day's ladders: latency, requests, bandwidth, registers, the bus. Host code only.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/ladder.h"
#include "day59_memory_hierarchy/cycle.h"
#include "day59_memory_hierarchy/memory.h"

namespace day59 {
namespace {

const auto chase =
    days::ladder<Chase>("chase")
        .extents({"lines", "chains", "steps"})
        .types<uint32_t>()
        .variant("one", LAUNCHER(chase_one))
        .variant("eight", LAUNCHER(chase_eight))
        .variant("warps", LAUNCHER(chase_warps))
        .variant("lanes", LAUNCHER(chase_lanes))
        .exercise(LAUNCHER(exercise), "all chains at once, at least 100 bytes with each request", "one",
                  "lanes", {.bytes_per_request = 100})
        .reference(LAUNCHER(chase_reference))
        // One line that leads to itself; fewer lines than chains; around 8 chains, 32 lanes, 32 warps; primes.
        .shapes({{1, 1, 1},
                 {1, 5, 3},
                 {2, 3, 7},
                 {7, 8, 9},
                 {31, 9, 100},
                 {64, 31, 65},
                 {100, 33, 33},
                 {5, 100, 2},
                 {2000, 3, 4},
                 {1021, 67, 10},
                 {3000, 256, 5}})
        // 32 chains of 15,625 steps are 500,000 loads: twice a row's time in ms is what `one` takes for a load, in ns.
        .bench({{128, 32, 15625}, {8192, 32, 15625}, {2097152, 32, 15625}})
        .sweep({{128, 32, 15625},
                {512, 32, 15625},
                {1024, 32, 15625},
                {2048, 32, 15625},
                {8192, 32, 15625},
                {65536, 32, 15625},
                {262144, 32, 15625},
                {2097152, 32, 15625}},
               {.over = "lines"})
        .show({{256, 32, 64}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.lines = s[0];
          p.chains = static_cast<int>(s[1]);
          p.steps = static_cast<int>(s[2]);
          const auto& cycle = in.structure(
              [&](uint64_t seed) { return Cycle{random_cycle(std::max<int64_t>(p.lines, 1), seed)}; });
          p.next = in.values("next", cycle.next);
          p.end = in.output("end", s[1]);
        })
        .traffic([](const auto& p) {
          return days::reads(p.next, 1.0 * p.chains * p.steps) + days::writes(p.end, p.chains);
        })
        .tolerance(days::exact)
        .lesson("a latency cannot be shortened, but many can pass at the same time.");

template <class Values>
auto lookup_of(Values values) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.stride = static_cast<int>(s[1]);
    p.steps = static_cast<int>(s[2]);
    p.table = in.fill("table", kTable, values);
    p.y = in.output("y", s[0]);
  };
}
const auto lookup =
    days::ladder<Lookup>("lookup")
        .extents({"n", "stride", "steps"})
        .types<uint32_t>()
        .variant("cached", LAUNCHER(lookup_cached))
        .variant("shared", LAUNCHER(lookup_shared))
        .variant("constant", LAUNCHER(lookup_constant))
        .variant("texture", LAUNCHER(lookup_texture))
        .setup(LAUNCHER(lookup_texture_setup))
        .reference(LAUNCHER(lookup_reference))
        .parallel(LAUNCHER(lookup_parallel))
        .shapes({{1, 1024, 1}, {31, 1, 2}, {256, 32, 3}, {257, 1023, 1}, {1009, 33, 40}, {3001, 5, 7}})
        .bench({{1 << 20, 1024, 256},
                {1 << 20, 1, 256},
                {1 << 20, 2, 256},
                {1 << 20, 31, 256},
                {1 << 20, 32, 256},
                {32, 1024, 100000}})
        .show({{4096, 32, 16}})
        // The next word: lanes keep their distances, and with them what they share.
        .inputs(lookup_of([](size_t i) { return static_cast<double>((i + 1) % kTable); }))
        .hostile("all lead to one", lookup_of([](size_t) { return 1023.0; }))
        .hostile("scattered",
                 lookup_of([](size_t i) { return static_cast<double>((i * 389 + 71) % kTable); }))
        .traffic([](const auto& p) {
          return days::reads(p.table, 1.0 * static_cast<double>(p.n) * p.steps) +
                 days::writes(p.y, static_cast<double>(p.n));
        })
        .tolerance(days::exact)
        .lesson("constant memory hands out one word at a time, shared memory one word of each bank.");

const auto sweep =
    days::ladder<Sweep>("sweep")
        .extents({"n", "laps"})
        .types<uint32_t>()
        .variant("near", LAUNCHER(sweep_near))
        .variant("far", LAUNCHER(sweep_far))
        .variant("held", LAUNCHER(sweep_shared))
        .needs(kInShared)
        .reference(LAUNCHER(sweep_reference))
        .parallel(LAUNCHER(sweep_parallel))
        .shapes({{4, 1}, {2112, 3}, {2116, 2}, {540676, 2}})
        // 4 MiB: 8 KiB a block, 32 a multiprocessor. 32 MiB: beyond L1. 1 GiB: beyond L2.
        .bench({{1 << 20, 64}, {1 << 23, 16}, {1 << 28, 4}})
        .show({{1 << 16, 4}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.n = s[0];
          p.laps = static_cast<int>(s[1]);
          p.x = in.uniform("x", s[0]);
          p.y = in.output("y", kReaders * kThreads);
        })
        .traffic([](const auto& p) {
          return days::reads(p.x, 1.0 * static_cast<double>(p.n) * p.laps) +
                 days::writes(p.y, double{kReaders} * kThreads);
        })
        .tolerance(days::exact)
        .lesson("the nearer, the wider: what is read again belongs where it is read from fastest.");

const auto mix =
    days::ladder<Mix>("mix")
        .extents({"n", "rounds"})
        .types<uint32_t>()
        .variant("kept", LAUNCHER(mix_kept))
        .variant("spilled", LAUNCHER(mix_spilled))
        .reference(LAUNCHER(mix_reference))
        .parallel(LAUNCHER(mix_parallel))
        .shapes({{1, 1}, {255, 2}, {256, 3}, {257, 1}, {1025, 5}})
        .bench({{1 << 20, 256}})
        .show({{4096, 8}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.n = s[0];
          p.rounds = static_cast<int>(s[1]);
          p.x = in.uniform("x", s[0]);
          p.y = in.output("y", s[0]);
        })
        .traffic([](const auto& p) {
          return days::reads(p.x, static_cast<double>(p.n)) + days::writes(p.y, static_cast<double>(p.n));
        })
        .tolerance(days::exact)
        .lesson("a register asks nobody; what is spilled asks memory each time.");

const auto fetch =
    days::ladder<Fetch>("fetch")
        .extents({"n"})
        .types<uint32_t>()
        .variant("pageable", LAUNCHER(fetch_pageable))
        .setup(LAUNCHER(fetch_pageable_setup))
        .variant("pinned", LAUNCHER(fetch_pinned))
        .setup(LAUNCHER(fetch_pinned_setup))
        .variant("mapped", LAUNCHER(fetch_mapped))
        .setup(LAUNCHER(fetch_pinned_setup))
        .variant("managed", LAUNCHER(fetch_managed))
        .needs(kMigrates)
        .setup(LAUNCHER(fetch_managed_setup))
        .reference(LAUNCHER(fetch_reference))
        .shapes({{1}, {255}, {257}, {4099}})
        .bench({{1 << 24}})
        .show({{1 << 16}})
        .inputs([](auto& p, days::Shape s, days::Inputs& in) {
          p.n = s[0];
          p.x = in.uniform("x", s[0]);
          p.y = in.output("y", s[0]);
        })
        .traffic([](const auto& p) {
          return days::reads(p.x, static_cast<double>(p.n)) + days::writes(p.y, static_cast<double>(p.n));
        })
        .tolerance(days::exact)
        .lesson("the host's memory is a level, too: the farthest, and the bus is its width.");

REGISTER_LADDER(chase);
REGISTER_LADDER(lookup);
REGISTER_LADDER(sweep);
REGISTER_LADDER(mix);
REGISTER_LADDER(fetch);

}  // namespace
}  // namespace day59
