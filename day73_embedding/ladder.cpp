// SPDX-License-Identifier: MIT
// The day's two ladders, the look-up and the gradient of its table. Host code only.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "common/ladder.h"
#include "common/scalar.h"
#include "common/structures.h"
#include "day73_embedding/embedding.h"

namespace day73 {
namespace {

// Elements past an aligned address.
struct Offsets {
  int in = 0, out = 0;
};

// ---- tokens: make(p, inputs) -> the numbers of (count); they may set p.padding ----

auto zipf(double exponent = 1) {
  return [=](const auto& p, days::Inputs& in) -> const days::Tokens& {
    return in.structure([&](uint64_t seed) {
      if (in.given()) return days::Tokens{};  // a caller's own, whatever their number
      return days::random_tokens(seed, p.count, p.vocab, exponent);
    });
  };
}
// token(t, count, vocab), which may be no word.
template <class F>
auto each(F token) {
  return [=](const auto& p, days::Inputs& in) -> const days::Tokens& {
    return in.structure([&](uint64_t) {
      days::Tokens made;
      if (in.given()) return made;
      for (int64_t t = 0; t < p.count; ++t)
        made.tokens.push_back(static_cast<int32_t>(token(t, int64_t{p.count}, int64_t{p.vocab})));
      return made;
    });
  };
}
constexpr auto kEqual = [](int64_t, int64_t, int64_t vocab) { return vocab / 2; };
constexpr auto kLast = [](int64_t, int64_t, int64_t vocab) { return vocab - 1; };
constexpr auto kDifferent = [](int64_t t, int64_t, int64_t vocab) { return t * 40009 % vocab; };
constexpr auto kRising = [](int64_t t, int64_t count, int64_t vocab) { return t * vocab / count; };
constexpr auto kFalling = [](int64_t t, int64_t count, int64_t vocab) {
  return vocab - 1 - t * vocab / count;
};
// Every third is no word: the least and the largest number there is, and both neighbours of the words.
constexpr auto kNoWords = [](int64_t t, int64_t, int64_t vocab) -> int64_t {
  const int64_t none[] = {-1, vocab, std::numeric_limits<int32_t>::max(),
                          std::numeric_limits<int32_t>::min()};
  return t % 3 == 1 ? none[t / 3 % 4] : t * 7 % vocab;
};
constexpr auto kNone = [](int64_t, int64_t, int64_t) { return -7; };

template <class Make>
auto forward(Make tokens, Offsets past = {}) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.count = s[0];
    p.vocab = s[1];
    p.width = s[2];
    const days::Tokens& made = tokens(p, in);
    p.distinct = made.distinct;
    p.w = in.normal("w", s[1] * s[2]) + static_cast<size_t>(past.in);
    p.tokens = in.values("tokens", made.tokens);
    p.y = in.output("y", s[0], s[2]) + static_cast<size_t>(past.out);
  };
}

// padding(vocab)
template <class Make, class Values, class Padding>
auto backward(Make tokens, Values values, Padding padding, Offsets past = {}) {
  return [=](auto& p, days::Shape s, days::Inputs& in) {
    p.count = s[0];
    p.vocab = s[1];
    p.width = s[2];
    p.padding = static_cast<int>(days::scalar("padding", padding(p.vocab)));
    p.dy = values(p, s[0] * s[2], in) + static_cast<size_t>(past.in);
    p.tokens = in.values("tokens", tokens(p, in).tokens);
    p.dw = in.output("dw", s[1], s[2]) + static_cast<size_t>(past.out);
  };
}
auto no_padding() {
  return [](int) { return -1; };
}
auto normal() {
  return [](const auto&, days::Extent n, days::Inputs& in) { return in.normal("dy", n); };
}
template <class Make>
auto backward(Make tokens) {
  return backward(tokens, normal(), no_padding());
}
auto ones() {
  return [](const auto&, days::Extent n, days::Inputs& in) { return in.constant("dy", n, 1); };
}
// One row of dy is NaN and infinity in turn: its word's row alone may be so.
auto one_row_not_finite() {
  return [](const auto& p, days::Extent n, days::Inputs& in) {
    const auto width = static_cast<size_t>(p.width), row = static_cast<size_t>(p.count) / 3;
    return in.fill("dy", n, [=](size_t i) {
      if (i / width == row) return i % 2 == 0 ? std::nan("") : std::numeric_limits<double>::infinity();
      return static_cast<double>(i % 13) - 6;
    });
  };
}
// +-1e4 from row to row.
auto alternating() {
  return [](const auto& p, days::Extent n, days::Inputs& in) {
    const auto width = static_cast<size_t>(p.width);
    return in.fill("dy", n, [=](size_t i) { return i / width % 2 == 0 ? 1e4 : -1e4; });
  };
}

template <class P>
double longest(const P& p) {
  return longest_row(p.tokens, p.count, p.vocab, p.padding);
}

// Ends of a warp, a piece, a tile of the sort; rows with and without 16 bytes; more words than tokens and fewer.
template <class L>
L measured(const L& ladder) {
  return ladder.extents({"count", "vocab", "width"})
      .shapes({{1, 1, 1},
               {31, 7, 3},
               {33, 100, 64},
               {257, 50, 65},
               {300, 200, 768},
               {4099, 13, 40},
               {200, 5003, 8}})
      .gpu_shapes({{65536, 50257, 768}})
      .bench({{65536, 50257, 768}, {524288, 50257, 768}})
      .show({{2048, 997, 256}});
}

const auto embedding = measured(days::ladder<Embedding>("embedding").types<float, days::half, days::bf16>())
                           .variant("gather", LAUNCHER(embedding_gather))
                           .variant("gather_rows", LAUNCHER(embedding_gather_rows))
                           .needs(kRowsOf16Bytes)
                           .reference(LAUNCHER(embedding_reference))
                           .parallel(LAUNCHER(embedding_parallel))
                           .inputs(forward(zipf()))
                           .hostile("uniform", forward(zipf(0)))
                           .hostile("all equal", forward(each(kEqual)))
                           .hostile("the last word", forward(each(kLast)))
                           .hostile("some no words", forward(each(kNoWords)))
                           .hostile("no words at all", forward(each(kNone)))
                           .hostile("misaligned w", forward(zipf(), {.in = 1}))
                           .hostile("misaligned y", forward(zipf(), {.out = 3}))
                           .traffic([](const auto& p) {
                             return days::reads(p.w, 1.0 * static_cast<double>(p.distinct) * p.width) +
                                    days::reads(p.tokens, p.count) +
                                    days::writes(p.y, 1.0 * p.count * p.width);
                           })
                           .tolerance(days::exact)
                           .lesson("a look-up is a write: what it reads, L2 has.");

const auto embedding_backward =
    measured(days::ladder<EmbeddingBackward>("embedding_backward").types<float, days::half, days::bf16>())
        .variant("atomic", LAUNCHER(embedding_atomic))
        .workspace(LAUNCHER(sums_workspace))
        .variant("atomic_wide", LAUNCHER(embedding_atomic_wide))
        .needs(kFours)
        .runs_on(days::sm_90)
        .workspace(LAUNCHER(sums_workspace))
        .variant("sorted", LAUNCHER(embedding_sorted))
        .workspace(LAUNCHER(sorted_workspace))
        .variant("pieces", LAUNCHER(embedding_pieces))
        .needs(kRowsOf16Bytes)
        .workspace(LAUNCHER(pieces_workspace))
        .exercise(LAUNCHER(exercise), "the gradient of the table with one writer a row", "atomic", "sorted",
                  {.wasted_sectors = 0.1, .atomics_per_input = 0})
        .workspace(LAUNCHER(sorted_workspace))
        .reference(LAUNCHER(backward_reference))
        .parallel(LAUNCHER(backward_parallel))
        .inputs(backward(zipf()))
        .hostile("uniform", backward(zipf(0)))
        .hostile("all equal", backward(each(kEqual)))
        .hostile("all different", backward(each(kDifferent)))
        .hostile("rising", backward(each(kRising)))
        .hostile("falling", backward(each(kFalling)))
        .hostile("the last word", backward(each(kLast)))
        .hostile("some no words", backward(each(kNoWords)))
        .hostile("padding among them", backward(zipf(), normal(), [](int) { return 0; }))
        .hostile("all padding", backward(each(kEqual), normal(), [](int vocab) { return vocab / 2; }))
        .hostile("dy all ones", backward(each(kEqual), ones(), no_padding()))
        .hostile("a row not finite", backward(zipf(), one_row_not_finite(), no_padding()))
        .hostile("dy +-1e4", backward(zipf(), alternating(), no_padding()))
        .hostile("misaligned dy", backward(zipf(), normal(), no_padding(), {.in = 1}))
        .hostile("misaligned dw", backward(zipf(), normal(), no_padding(), {.out = 3}))
        .traffic([](const auto& p) {
          return days::reads(p.dy, 1.0 * p.count * p.width) + days::reads(p.tokens, p.count) +
                 days::writes(p.dw, 1.0 * p.vocab * p.width);
        })
        .tolerance(days::dot_product([](const auto& p) { return longest(p); }))
        .lesson("words are not equal: one writer a row, and the long ones cut.");

REGISTER_LADDER(embedding);
REGISTER_LADDER(embedding_backward);

}  // namespace
}  // namespace day73
