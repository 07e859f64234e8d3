// SPDX-License-Identifier: MIT
//
// A model and one text on the device, for the persistent kernel alone: no generator, no prefill. The text's pages lie in disorder.
#pragma once

#include <cmath>
#include <vector>

#include "common/buffer.h"
#include "common/random.h"
#include "common/stream.h"
#include "common/util.h"
#include "serve/model.h"
#include "serve/persistent.h"

namespace serve_test {

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const serve::Model& model)
      : config(model.config),
        pages_(days::ceil_div(config.context, serve::kPage)),
        ints_(static_cast<size_t>(4 + pages_)),
        choice_(sizeof(serve::Choice), 0),
        logits_(static_cast<size_t>(config.padded_vocab)) {
    const serve::Weights& w = model.weights;
    on_device.tokens = put(w.tokens);
    on_device.positions = put(w.positions);
    on_device.output = w.output.empty() ? on_device.tokens : put(w.output);
    on_device.norm = put(w.norm);
    on_device.norm_bias = put(w.norm_bias);
    const std::vector<float> of_cache(
        static_cast<size_t>(pages_ * serve::kPage * config.kv_heads * config.head_dim), NAN);
    for (const serve::Weights::Layer& l : w.layers)
      on_device.layers.push_back({put(l.norm1), put(l.norm1_bias), put(l.qkv), put(l.qkv_bias), put(l.proj),
                                  put(l.proj_bias), put(l.norm2), put(l.norm2_bias), put(l.first),
                                  put(l.first_bias), put(l.down), put(l.down_bias), put(of_cache),
                                  put(of_cache)});
    std::vector<float> turns;
    for (const double turn : serve::turns_of(config)) turns.push_back(static_cast<float>(turn));
    turns_ = days::DeviceBuffer<float>(turns);
    on_device.frequency = turns_.data();
  }

  serve::Slots slots() const {
    return {lengths(), last(), static_cast<serve::Choice*>(choice_.data()), table(), pages_};
  }
  // Begins a text, or one that has `length` tokens already.
  void begin(int length) {
    length_ = length;
    std::vector<int32_t> pages;
    for (int i = 0; i < pages_; ++i) pages.push_back((i * 7 + 3) % pages_);
    if (pages_ % 7 == 0)
      for (int i = 0; i < pages_; ++i) pages[static_cast<size_t>(i)] = pages_ - 1 - i;
    const int32_t slot = 0;
    CUDA_CHECK(cudaMemcpy(table(), pages.data(), pages.size() * sizeof(int32_t), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(slot_of(), &slot, sizeof slot, cudaMemcpyHostToDevice));
  }
  // Its next token, of which the kernel is told by `queue(slot, logits, position)`; the logits behind it.
  template <class Queue>
  std::vector<float> step(int32_t token, const Queue& queue) {
    const int32_t length = length_++;
    CUDA_CHECK(cudaMemcpyAsync(lengths(), &length, sizeof length, cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaMemcpyAsync(last(), &token, sizeof token, cudaMemcpyHostToDevice, stream));
    queue(slot_of(), logits_.data(), position());
    std::vector<float> logits(static_cast<size_t>(config.vocab));
    CUDA_CHECK(cudaMemcpyAsync(logits.data(), logits_.data(), logits.size() * sizeof(float),
                               cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return logits;
  }
  int32_t* slot_of() const { return ints_.data(); }
  int32_t* lengths() const { return ints_.data() + 1; }
  int32_t* last() const { return ints_.data() + 2; }
  int32_t* position() const { return ints_.data() + 3; }
  int32_t* table() const { return ints_.data() + 4; }
  float* logits() const { return logits_.data(); }

  serve::Config config;
  serve::ModelOnDevice<T> on_device{};
  days::Stream stream;

 private:
  T* put(const std::vector<float>& values) {
    if (values.empty()) return nullptr;
    std::vector<T> rounded;
    rounded.reserve(values.size());
    for (const float value : values) rounded.push_back(T(value));
    return arrays_.emplace_back(rounded).data();
  }

  int pages_, length_ = 0;
  days::DeviceBuffer<int32_t> ints_;
  days::DeviceMemory choice_;
  days::DeviceBuffer<float> logits_;
  std::vector<days::DeviceBuffer<T>> arrays_;
  days::DeviceBuffer<float> turns_;
};

}  // namespace serve_test
