// SPDX-License-Identifier: MIT
//
// Races, in checked builds. Two accesses of different threads of a launch, one of them a write, race unless
// something orders them:
//
// - a barrier of the block, for threads of one block; __syncwarp for lanes of a warp (shuffles and votes
//   order nothing); a barrier of cluster or grid; simt::notify(), which mbarriers and the like call;
// - a fence in the earlier block and, after it, an atomic or volatile access in the later one: flags,
//   tickets, locks and look-back are made of these;
// - both are atomic or volatile, or the reader's next atomic operation confirms what it read.
//
// None of this is tracked to the end, and where it is not, nothing is reported. Missed by design: a race of
// threads in a block that a barrier, or of lanes that a __syncwarp, of others separates; one between blocks
// that do exchange flags, but others; one whose earlier access was followed by so many that it is forgotten
// (two million segments, or another thread's read of the same word); a plain read that another block's atomic
// operation overtakes. Threads that store the same value do not race, as the order of equal stores shows
// nowhere.
#include "checked_races.h"
#include "copies_under_way.h"
#include "doubts.h"
#include "operations.h"

#include <unistd.h>

#include <algorithm>

#include "cures.h"

namespace simt {

__thread bool in_doubt = false;

namespace {

// Between which threads the earlier access and the running thread's next one may happen in any order.
enum class Between { nothing, lanes, warps, blocks, streams };

// What a report needs, as it was when the second access came.
struct Race {
  const Thread* thread;
  const Block* shared;  // null: device memory
  const char* p;
  std::size_t bytes;
  Record earlier, now;
  bool earlier_write, now_write;
  Between between;
  void* caller;
};

// An access that may be a race, which what follows will tell:
// - a store over another thread's unordered store: whether the values differ is seen once it has been done;
// - a plain read of what another thread has changed atomically: good if an atomic operation of the same
//   thread on the same place confirms what it read, as in every loop of compare-and-swap.
struct Doubtful {
  Race race;
  unsigned char before[16];
};
thread_local Doubtful doubtful;

// The same the other way round: an atomic operation overtook another thread's plain read, which the reader's
// own may still confirm. Known at the block's next barrier or its end.
struct Overtaken {
  const Block* block = nullptr;  // null: none
  const Thread* reader;
  Race race;
};
thread_local Overtaken overtaken;

// A volatile store that a __syncwarp() was missing before, unless one of the lanes that had read there does
// so again before the block's next barrier or its end: then it waits for a flag.
struct Unsynced {
  const Block* block = nullptr;  // null: none
  Race race;
  unsigned char before[16];
};
thread_local Unsynced unsynced;

// The other store may be on its way, on another core. Waits for it, some times a launch; false: too often.
bool other_store_has_landed() {
  constexpr int kMost = 50;
  static thread_local std::uint64_t launch = 0;
  static thread_local int waits = 0;
  if (launch != worker->launch->number) {
    launch = worker->launch->number;
    waits = 0;
  }
  if (++waits > kMost) return false;
  usleep(200);
  return true;
}

Between unordered(const Block* shared, Record r, Record mark) {
  const Thread& thread = *current;
  const Block& block = *thread.block;
  const Worker& w = *worker;
  const std::uint32_t id = segment_of(r);
  const Record spread = spread_of(r);
  if (id >= kLastSegment) return Between::nothing;
  if (id == segment_of(mark)) {
    if (spread == kSeveralBlocks) return Between::blocks;
    if (spread == kSeveralWarps) return Between::warps;
    return spread == kSeveralLanes || lane_of(r) != thread.lane ? Between::lanes : Between::nothing;
  }
  if (id < (shared == &block ? block.ordered : shadow.ordered)) return Between::nothing;
  const Segment* s = find_segment(id);
  if (!s) return Between::nothing;
  if (s->host || id < shadow.launch_first) {  // another operation, or a parent's or sibling's launch
    if (shared || s->operation == 0 || s->operation == w.launch->number) return Between::nothing;
    if (s->operation == w.launch->overlapped) return block.has_waited ? Between::nothing : Between::streams;
    return happens_before(s->operation, w.launch->number) ? Between::nothing : Between::streams;
  }
  const bool same_block = s->block == static_cast<std::uint32_t>(block.linear);
  if (same_block && spread != kSeveralBlocks) {
    if (id < block.ordered) return Between::nothing;
    if (s->warp != thread.warp->id || spread == kSeveralWarps)
      return may_be_published(*s, false) ? Between::nothing : Between::warps;
    if (s->warp_epoch != thread.warp->epoch) return Between::nothing;
    if (lane_of(r) == thread.lane && spread == kOneThread) return Between::nothing;
    return may_be_published(*s, false) ? Between::nothing : Between::lanes;
  }
  // Blocks that are resident together: a barrier or an event that all of them may wait for.
  if (s->worker == w.number && s->wide >= w.resident_wide && s->wide < w.wide) return Between::nothing;
  return may_be_published(*s, spread == kSeveralBlocks) ? Between::nothing : Between::blocks;
}

std::string source_at(void* caller, Line* at) {
  if (!caller) return "";
  for (const Line& line : lines_of(caller)) {
    if (!line.user) continue;
    *at = line;
    std::string text = shown_path(line.file) + ":" + std::to_string(line.line) + "  ";
    const std::string source = source_text(line.file, line.line);
    if (!source.empty()) text += source + "    ";
    return text;
  }
  return "";
}

// Where a hook's caller has no line of the user's (a helper of simt's headers), its callers may.
std::string source_here(void* caller, Line* at) {
  const std::string text = source_at(caller, at);
  if (!text.empty() || !current) return text;
  const Failure failure = failure_of_access(caller, "", "");
  for (void* frame : failure.frames) {
    std::string text = source_at(frame, at);
    if (!text.empty()) return text;
  }
  return "";
}

std::string verb_of(Record r, bool write, bool several) {
  const std::string verb = write ? "write" : "read";
  return (is_strong(r) ? "atomically " : "") + verb + (several ? "" : "s");
}

Failure describe_streams(const Race& r) {
  const Launch& launch = *worker->launch;
  Failure failure = failure_here(
      "simt-stream-order", "operations in different streams use the same memory, and nothing orders them");
  const std::string name = name_of(r.p, r.bytes, r.shared);
  const Segment* s = find_segment(segment_of(r.earlier));
  const char* kernel = s ? kernel_of_operation(s->operation) : nullptr;
  const std::string who = kernel         ? "kernel " + std::string(kernel)
                          : s && s->host ? "a copy or fill"
                                         : "a kernel";
  Line line = {};
  const std::string before = source_at(place_of(r.earlier), &line);
  failure.places = before + who + " " + verb_of(r.earlier, r.earlier_write, false) + " " + name + "\n" +
                   source_here(r.caller, &line) + "thread " + thread_name(launch, r.thread->linear) +
                   " of block " + block_name(launch, r.thread->block->linear) + " " +
                   verb_of(r.now, r.now_write, false) + " it\n";
  if (s && s->operation == launch.overlapped) {
    failure.title = "a kernel that may overlap with the one before it uses its memory without waiting for it";
    failure.details = format_text(
        "kernel %s was launched with cudaLaunchAttributeProgrammaticStreamSerialization, so it may start "
        "before %s has ended.\n"
        "Put cudaGridDependencySynchronize() (griddepcontrol.wait) before that line.",
        launch.kernel->name, who.c_str());
  } else {
    failure.details = format_text("kernel %s runs in another stream than %s\n%s", launch.kernel->name,
                                  who.c_str(), kStreamCure);
  }
  return failure;
}

// Where a barrier is missing, in the order of the source, whichever access came first. A last barrier that lies between the two lines
// came before both accesses: one of them is of a loop's next turn.
std::string way_between(const Block& block, const Line& one, const Line& other) {
  if (one.line == 0 || other.line == 0 || one.line == other.line) return "between the two";
  const std::string file = shown_path(one.file);
  if (file != shown_path(other.file)) return "between the two";
  const int first = std::min(one.line, other.line), last = std::max(one.line, other.line);
  const Site barrier = block.last_barrier;
  if (barrier.file && first <= barrier.line && barrier.line <= last && shown_path(barrier.file) == file)
    return format_text("on the way from line %d back to line %d", last, first);
  return format_text("between line %d and line %d", first, last);
}

// Data is there for the thread that waits for its copy, and for others behind the barrier after that wait.
Failure describe_late_wait(const Race& r, void* copy, Failure failure, const std::string& name,
                           const std::string& who) {
  Line line = {}, wait = {};
  source_at(place_of(r.earlier), &wait);
  failure.places = source_at(copy, &line) + who + " copies to " + name + "\n";
  failure.places += source_here(r.caller, &line) + "thread " +
                    thread_name(*worker->launch, r.thread->linear) + " " +
                    verb_of(r.now, r.now_write, false) + " " + name + "\n";
  failure.details =
      format_text("kernel %s, block %s; that copy is not waited for before the barrier below it",
                  worker->launch->kernel->name, block_name(*worker->launch, r.thread->block->linear).c_str());
  if (wait.line > 0)
    failure.details +=
        format_text("\nIts thread waits at %s:%d, and no __syncthreads() follows before the %s.",
                    shown_path(wait.file).c_str(), wait.line, r.now_write ? "write" : "read");
  return failure;
}

Failure describe(const Race& r) {
  const OwnWork own;
  if (r.between == Between::streams) return describe_streams(r);
  const Launch& launch = *worker->launch;
  const Block& block = *r.thread->block;
  Failure failure = failure_here(r.shared ? "simt-race-shared" : "simt-race-global",
                                 r.shared ? "race on shared memory" : "race on global memory");
  const std::string name = name_of(r.p, r.bytes, r.shared);
  const Segment* s = find_segment(segment_of(r.earlier));
  const Record spread = spread_of(r.earlier);
  std::string who = "several threads";
  if (spread == kOneThread && s) who = "thread " + thread_name(launch, s->warp * 32u + lane_of(r.earlier));
  std::string earlier_block, this_block;
  if (r.between == Between::blocks) {
    this_block = " of block " + block_name(launch, block.linear);
    if (spread != kSeveralBlocks && s) earlier_block = " of block " + block_name(launch, s->block);
  }
  if (void* const copy =
          r.earlier_write && r.shared ? copy_waited_for_late(*r.shared, r.p, r.earlier) : nullptr)
    return describe_late_wait(r, copy, std::move(failure), name, who);
  Line first = {}, second = {};
  const std::string before = source_at(place_of(r.earlier), &first), here = source_here(r.caller, &second);
  failure.places = (before.empty() ? "earlier, " : before) + who + earlier_block + " " +
                   verb_of(r.earlier, r.earlier_write, spread != kOneThread) + " " + name + "\n" + here +
                   "thread " + thread_name(launch, r.thread->linear) + this_block + " " +
                   verb_of(r.now, r.now_write, false) + " " + name + "\n";
  const std::string path = way_between(block, first, second);
  failure.details = "kernel " + std::string(launch.kernel->name) + ", ";
  switch (r.between) {
    case Between::lanes:
      failure.details += "block " + block_name(launch, block.linear) + ", warp " +
                         std::to_string(r.thread->warp->id) + "; no __syncwarp() or __syncthreads() " + path;
      break;
    case Between::warps:
      failure.details += "block " + block_name(launch, block.linear) + "; no __syncthreads() " + path;
      break;
    default:
      failure.details +=
          is_strong(r.earlier) || is_strong(r.now)
              ? "different blocks; one access is atomic, the other is not, and nothing orders them"
              : "different blocks; no __threadfence() and flag, or grid barrier, " + path;
  }
  failure.details += "\nThe result may have been right this time; the order is not guaranteed.";
  return failure;
}

Failure describe_unsynced() {
  Failure failure = describe(unsynced.race);
  failure.details +=
      "\nvolatile keeps the compiler from changing the accesses; it orders nothing between lanes.";
  return failure;
}

class Look {
 public:
  Look(const Cells& cells, const char* p, std::size_t bytes, Access access, Strength strength, void* caller)
      : cells_(cells),
        p_(p),
        bytes_(bytes),
        access_(access),
        write_(access != Access::read),
        volatile_(strength == Strength::is_volatile),
        caller_(caller) {
    mark_ = mark_of(*current) | (strength != Strength::plain ? kStrong : 0);
    if (strength == Strength::atomic) current->warp->met = current->warp->segment;
    split_ = split_mark(cells.block);
  }

  Looked run() {
    auto offset = static_cast<std::size_t>(p_ - cells_.memory);
    for (std::size_t left = bytes_; left > 0;) {
      const std::size_t skip = offset % 4, count = std::min<std::size_t>(4 - skip, left);
      if (write_ && !cells_.block) unsettle(offset);
      Cell& word = cells_.words[offset / 4];
      Cell* bytes = cells_.bytes + offset / 4 * 4;
      // A word that was split while another block used this shared memory counts as whole.
      const bool split = load(word.write) == split_ || load(word.write) == ~Record{0};
      if (count == 4 && (!split || join_word(word, bytes, cells_.block, split_))) {
        visit(word, 4);
      } else {
        if (!cells_.block) shadow.pages[offset >> kPageShift].split = true;
        split_word(word, bytes, split_);
        for (std::size_t i = skip; i < skip + count; ++i) visit(bytes[i], 1);
        if (count == 4 && write_) {
          store(word.write, load(bytes[0].write));
          store(word.read, 0);
        }
      }
      offset += count;
      left -= count;
    }
    return looked_;
  }

 private:
  void visit(Cell& cell, std::size_t bytes) {
    looked_.bytes += bytes;
    const Record w = load(cell.write), r = load(cell.read);
    if (bytes == 4 && !cells_.block && segment_of(w) == kSplit) return;  // another worker has just split it
    const bool written = segment_of(w) >= cells_.written_from && segment_of(w) != kSplit;
    if (!written && access_ != Access::write) looked_.uninitialised += bytes;
    // An atomic write that this block has seen by an atomic or volatile read orders what follows.
    const bool seen = is_strong(w) && is_strong(r) && ours(r);
    if (written && !seen) compare(w, true);
    if (write_) {
      if (volatile_ && cells_.block == current->block) suspect_missing_sync(cell, r);
      // The atomic operations that a block's own came after lie before what the block does then.
      const bool last = written && is_strong(w) && is_strong(r) && ours(w) &&
                        unordered(cells_.block, w, mark_) == Between::nothing;
      if (segment_of(r) >= cells_.written_from && !last) compare(r, false);
      // An atomic operation confirms what its thread has read before.
      if (is_strong(mark_) && unordered(cells_.block, r, mark_) == Between::nothing)
        store(cell.read, mark_ | place_bits(caller_));
      store(cell.write, mark_ | place_bits(caller_));
    } else {
      store(cell.read, merged(r));
    }
  }

  bool ours(Record r) const {
    const Segment* s = find_segment(segment_of(r));
    if (spread_of(r) == kSeveralBlocks) return true;
    return s && s->operation == worker->launch->number &&
           s->block == static_cast<std::uint32_t>(current->block->linear);
  }

  void compare(Record earlier, bool earlier_write) {
    if (is_strong(earlier) && is_strong(mark_)) return;  // of two streams, too
    const Between between = unordered(cells_.block, earlier, mark_);
    if (__builtin_expect(between == Between::nothing, 1)) return;
    const Race race = {current, cells_.block,  p_,     bytes_,  earlier,
                       mark_,   earlier_write, write_, between, caller_};
    if (between == Between::streams)
      abandon(describe(
          {current, cells_.block, p_, bytes_, earlier, mark_, earlier_write, write_, between, caller_}));
    if (write_ && !earlier_write && is_strong(mark_)) return overtake(earlier, between);
    const bool confirmable = !write_ && is_strong(earlier);
    if (!confirmable && !(write_ && earlier_write)) abandon(describe(race));
    if (in_doubt || bytes_ > sizeof doubtful.before) return;
    if (write_ && between == Between::blocks && find_segment(segment_of(earlier))->worker != worker->number &&
        !other_store_has_landed())
      return;
    doubtful.race = race;
    std::memcpy(doubtful.before, p_, bytes_);
    in_doubt = true;
    hot_mark = 0;
  }

  void overtake(Record earlier, Between between) {
    Block& block = *current->block;
    const Segment* s = find_segment(segment_of(earlier));
    if (overtaken.block || between == Between::blocks || spread_of(earlier) != kOneThread || !s) return;
    overtaken = {&block,
                 &block.threads[s->warp * 32u + lane_of(earlier)],
                 {current, cells_.block, p_, bytes_, earlier, mark_, false, true, between, caller_}};
  }

  // A volatile store over what other lanes of the warp have read by volatile loads, in the same segment: a
  // flag, or a step of a reduction that counts on lanes in lockstep. It is a step where this very instruction
  // has stored for one of the others as well, close by. Who waits for a flag will read it again.
  void suspect_missing_sync(const Cell& cell, Record r) {
    if (unsynced.block || !is_strong(r) || segment_of(r) != segment_of(mark_)) return;
    if (current->warp->met == current->warp->segment || bytes_ > sizeof unsynced.before) return;
    const bool one = spread_of(r) == kOneThread;
    if (spread_of(r) > kSeveralLanes || (one && lane_of(r) == current->lane)) return;
    constexpr std::ptrdiff_t kReach = 64;  // words: 32 lanes with 8 bytes each
    const std::ptrdiff_t at = &cell - cells_.words;
    const auto words = static_cast<std::ptrdiff_t>(cells_.block->shared_bytes / 4);
    if (at < 0 || at >= words) return;  // bytes that have cells of their own
    for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, at - kReach); i < std::min(words, at + kReach); ++i) {
      const Record other = load(cells_.words[i].write);
      if (segment_of(other) != segment_of(mark_) || !is_strong(other) || lane_of(other) == current->lane ||
          (other & kPlaceMask) != place_bits(caller_) || (one && lane_of(other) != lane_of(r)))
        continue;
      unsynced.block = cells_.block;
      unsynced.race = {current,          cells_.block, p_,   bytes_,         r & ~kStrong,
                       mark_ & ~kStrong, false,        true, Between::lanes, caller_};
      std::memcpy(unsynced.before, p_, bytes_);
      return;
    }
  }

  // The readers' record with this read.
  Record merged(Record r) const {
    const Record mine = mark_ | place_bits(caller_);
    return segment_of(r) < cells_.written_from ? mine : merged_reads(cells_.block, r, mine);
  }

  const Cells& cells_;
  const char* p_;
  std::size_t bytes_;
  Access access_;
  bool write_, volatile_;
  void* caller_;
  Record mark_, split_;
  Looked looked_;
};

}  // namespace

void settle_doubt(const char* next, bool strong) {
  if (strong && unsynced.block && unsynced.race.thread != current && next >= unsynced.race.p &&
      next < unsynced.race.p + unsynced.race.bytes)
    unsynced.block = nullptr;
  if (strong && overtaken.reader == current && overtaken.race.p == next) overtaken.block = nullptr;
  if (!in_doubt) return;
  const Race& race = doubtful.race;
  if (!race.now_write && race.thread == current) {
    in_doubt = !(strong && race.p == next);
    return;
  }
  in_doubt = false;
  if (race.now_write && std::memcmp(race.p, doubtful.before, race.bytes) == 0) return;
  if (current) abandon(describe(race));
  record_failure(*worker->launch, describe(race));
}

namespace {
thread_local const Block* unwritten_block = nullptr;
thread_local Failure* unwritten = nullptr;  // never destroyed: kernels may run when the program exits
}  // namespace

bool unwritten_pending(const Block& block) {
  return unwritten_block == &block;
}
void suspect_unwritten(const Block& block, Failure failure) {
  if (unwritten_block) return;
  unwritten_block = &block;
  if (!unwritten) unwritten = new Failure;
  *unwritten = std::move(failure);
}
void settle_block(const Block& block) {
  if (overtaken.block == &block) {
    overtaken.block = nullptr;
    record_failure(*worker->launch, describe(overtaken.race));
  }
  if (unsynced.block == &block) {
    unsynced.block = nullptr;
    if (std::memcmp(unsynced.race.p, unsynced.before, unsynced.race.bytes) != 0)
      record_failure(*worker->launch, describe_unsynced());
  }
  if (unwritten_block != &block) return;
  unwritten_block = nullptr;
  record_failure(*worker->launch, std::move(*unwritten));
}
void forget_unsynced() {
  unsynced.block = nullptr;
}
void prefer_unwritten(Failure& failure) {
  overtaken.block = nullptr;
  unsynced.block = nullptr;
  if (!unwritten_block) return;
  unwritten_block = nullptr;
  if (std::strcmp(failure.slug, "simt-race-shared") != 0) failure = std::move(*unwritten);
}

void settle(std::size_t offset) {
  const Cell* cell = shadow.words + offset / 16 * 4;
  for (int i = 0; i < 4; ++i) {
    const Record r = load(cell[i].read);
    if (!written_before(load(cell[i].write), kUnknownWriter, shadow.ordered) || is_strong(r) ||
        segment_of(r) < shadow.ordered || spread_of(r) != kSeveralBlocks)
      return;
  }
  __atomic_store_n(&shadow.settled[offset / 16], shadow.epoch, __ATOMIC_RELAXED);
}

Record merged_reads(const Block* shared, Record others, Record mine) {
  const Between between = unordered(shared, others, mine);
  if (between == Between::nothing || between == Between::streams) return mine;
  if (is_strong(mine) != is_strong(others))
    return is_strong(mine) ? others : mine;  // a plain one can race with more
  const Record spread = std::max(static_cast<Record>(between), spread_of(others)) << kSpreadShift;
  // Volatile readers look at their own words as well: the first place says more.
  if (is_strong(mine)) return (mine & ~kPlaceMask) | (others & kPlaceMask) | spread;
  return mine | spread;
}

void check_read_only(const char* p, std::size_t bytes, void* caller) {
  if (own_work || !in_arena(p)) return;
  const std::uint32_t first = std::max(shadow.launch_first, kFirstSegment);
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto offset = static_cast<std::size_t>(p - shadow.arena) + i;
    const Record word = load(shadow.words[offset / 4].write);
    const Record w = segment_of(word) == kSplit ? load(shadow.bytes[offset].write) : word;
    if (segment_of(w) < first || segment_of(w) >= kLastSegment) continue;
    const Segment* const s = find_segment(segment_of(w));
    if (!s || s->host) continue;  // pinned and managed memory: the host had written it before
    const OwnWork own;
    const Launch& launch = *worker->launch;
    const std::string name = name_of(p, bytes, nullptr);
    Failure failure = failure_here("simt-race-global", "ld.global.nc of what its own kernel writes");
    Line line = {};
    failure.places = source_at(place_of(w), &line) + "the kernel " + verb_of(w, true, false) + " " + name +
                     "\n" + source_here(caller, &line) + "thread " + thread_name(launch, current->linear) +
                     " of block " + block_name(launch, current->block->linear) + " reads it\n";
    failure.details = "kernel " + std::string(launch.kernel->name) +
                      "; what it writes need not reach the read-only path before it ends";
    abandon(failure);
  }
}

Looked look(const Cells& cells, const char* p, std::size_t bytes, Access access, Strength strength,
            void* caller) {
  return Look(cells, p, bytes, access, strength, caller).run();
}

}  // namespace simt
