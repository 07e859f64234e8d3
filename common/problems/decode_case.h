// SPDX-License-Identifier: MIT
//
// A small problem of attention of one token on the host and on the device, for tests that launch it more than
// once, or parts of it. Host only.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/problems/decode.h"
#include "common/random.h"
#include "common/setup.h"
#include "common/types.h"

namespace days {

// A problem on the host, and a variant's result of it. Row `length` and what follows are NaN until they are written.
template <class T>
struct DecodeCase {
  int batch, heads, kv_heads, capacity, dim;
  std::vector<int32_t> lengths;
  std::vector<T> q, k_new, v_new, k, v, o;
  std::vector<float> lse;

  DecodeCase(int batch, int heads, int kv_heads, int capacity, int dim, std::vector<int32_t> lengths)
      : batch(batch),
        heads(heads),
        kv_heads(kv_heads),
        capacity(capacity),
        dim(dim),
        lengths(std::move(lengths)),
        q(size(1, heads)),
        k_new(size(1, kv_heads)),
        v_new(size(1, kv_heads)),
        k(size(capacity, kv_heads)),
        v(size(capacity, kv_heads)),
        o(size(1, heads)),
        lse(static_cast<size_t>(batch) * static_cast<size_t>(heads)) {
    fill(q, 401);
    fill(k_new, 402);
    fill(v_new, 403);
    fill(k, 404);
    fill(v, 405);
    for (size_t i = 0; i < k.size(); ++i) {
      const size_t row = i / static_cast<size_t>(dim), of_head = static_cast<size_t>(capacity);
      const size_t b = row / of_head / static_cast<size_t>(kv_heads);
      if (static_cast<int64_t>(row % of_head) >= this->lengths[b]) k[i] = v[i] = from_float<T>(NAN);
    }
  }
  size_t size(int rows, int of) const {
    return static_cast<size_t>(batch) * static_cast<size_t>(of) * static_cast<size_t>(rows) *
           static_cast<size_t>(dim);
  }
  static void fill(std::vector<T>& to, uint64_t seed) {
    for (size_t i = 0; i < to.size(); ++i) to[i] = from_float<T>(normal(seed, i));
  }
  // Sequence b by itself.
  DecodeCase alone(int b) const {
    DecodeCase one = *this;
    one.batch = 1;
    one.lengths = {lengths[static_cast<size_t>(b)]};
    const auto part = [&](auto& of) {
      const size_t each = of.size() / static_cast<size_t>(batch), first = static_cast<size_t>(b) * each;
      of = {of.begin() + static_cast<std::ptrdiff_t>(first),
            of.begin() + static_cast<std::ptrdiff_t>(first + each)};
    };
    part(one.q), part(one.k_new), part(one.v_new), part(one.k), part(one.v), part(one.o), part(one.lse);
    return one;
  }
  // On whichever pointers: the case's own, or a device's copies.
  Decode<T> problem() {
    return {q.data(),
            k_new.data(),
            v_new.data(),
            k.data(),
            v.data(),
            lengths.data(),
            o.data(),
            lse.data(),
            batch,
            heads,
            kv_heads,
            capacity,
            dim,
            0.125f,
            dense_pitch(heads, dim),
            dense_pitch(kv_heads, dim),
            dense_pitch(heads, dim),
            {},
            {}};
  }
};

// A case's arrays on the device, and all that a launch of any rung wants: so many bytes of workspace, and what
// set_up(problem) makes.
template <class T, class SetUp>
class DecodeOnDevice {
 public:
  DecodeOnDevice(DecodeCase<T>& c, size_t workspace, SetUp set_up)
      : case_(c),
        q_(c.q),
        k_new_(c.k_new),
        v_new_(c.v_new),
        k_(c.k),
        v_(c.v),
        lengths_(c.lengths),
        o_(c.o),
        lse_(c.lse) {
    p = c.problem();
    p.q = q_.data();
    p.k_new = k_new_.data();
    p.v_new = v_new_.data();
    p.k = k_.data();
    p.v = v_.data();
    p.lengths = lengths_.data();
    p.o = o_.data();
    p.lse = lse_.data();
    scratch_ = DeviceMemory(workspace);
    p.workspace = {scratch_.data(), scratch_.bytes()};
    made_ = set_up(p);
    CUDA_CHECK(cudaDeviceSynchronize());
    p.setup = Setup(&made_, &detail::kStateTag<Made>);
  }
  // Puts what is in the case there; takes what has become of it.
  void upload() {
    copy(k_.data(), case_.k.data(), case_.k);
    copy(v_.data(), case_.v.data(), case_.v);
    copy(lengths_.data(), case_.lengths.data(), case_.lengths);
  }
  void download() {
    CUDA_CHECK(cudaDeviceSynchronize());
    copy(case_.k.data(), k_.data(), case_.k);
    copy(case_.v.data(), v_.data(), case_.v);
    copy(case_.o.data(), o_.data(), case_.o);
    copy(case_.lse.data(), lse_.data(), case_.lse);
  }

  Decode<T> p;

 private:
  using Made = std::invoke_result_t<SetUp, const Decode<T>&>;
  template <class E>
  struct Array {
    DeviceMemory memory;
    explicit Array(const std::vector<E>& from) : memory(from.size() * sizeof(E)) {
      copy(data(), from.data(), from);
    }
    E* data() const { return static_cast<E*>(memory.data()); }
  };
  template <class E>
  static void copy(void* to, const void* from, const std::vector<E>& like) {
    CUDA_CHECK(cudaMemcpy(to, from, like.size() * sizeof(E), cudaMemcpyDefault));
  }

  DecodeCase<T>& case_;
  Array<T> q_, k_new_, v_new_, k_, v_;
  Array<int32_t> lengths_;
  Array<T> o_;
  Array<float> lse_;
  DeviceMemory scratch_;
  Made made_;
};

template <class E>
bool same_bits(const std::vector<E>& a, const std::vector<E>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(E)) == 0;
}

}  // namespace days
