// SPDX-License-Identifier: MIT
//
// Part of instance.cpp: inputs.h's and function.h's definitions that no day has to compile again.
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/function.h"
#include "common/harness.h"
#include "common/harness/compare.h"
#include "common/inputs.h"
#include "common/inputs_buffer.h"
#include "common/parallel.h"

namespace days {
namespace detail {

struct Captures::Owner {
  std::shared_ptr<const void> object;
};
Captures::Captures(const void* object, void (*destroy)(const void*))
    : object_(object), owner_(new Owner{{object, destroy}}) {}
Captures::Captures(const Captures& other)
    : object_(other.object_), owner_(other.owner_ == nullptr ? nullptr : new Owner(*other.owner_)) {}
Captures& Captures::operator=(const Captures& other) {
  Captures copy = other;
  std::swap(object_, copy.object_);
  std::swap(owner_, copy.owner_);
  return *this;
}
Captures::~Captures() {
  delete owner_;
}

void throw_too_large(const char* what) {
  throw TooLarge(what);
}
void throw_does_not_fit(int64_t value, size_t bytes) {
  throw TooLarge(std::to_string(value) + " does not fit the " + std::to_string(8 * bytes) +
                 "-bit number that holds it");
}

template <class T>
const ElementType& element_type() {
  static constexpr ElementType type = {
      TypeInfo<T>::kName,
      sizeof(T),
      TypeInfo<T>::kPoison,
      [](void* data, size_t n, const Fill& fill) {
        T* values = static_cast<T*>(data);
        parallel_ranges(n, [&](size_t, size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) {
            values[i] = fill.function ? from_double<T>(fill.function(i))
                                      : random_value<T>(fill.distribution, fill.seed, i, fill.a, fill.b);
          }
        });
      },
      [](void* data, size_t n, const Fill& fill, cudaStream_t stream) {
        fill_on_device(static_cast<T*>(data), n, fill.distribution, fill.seed, fill.a, fill.b, stream);
      },
      [](const void* got, const void* want, size_t n, Bound bound) {
        return days::compare(static_cast<const T*>(got), static_cast<const T*>(want), n, bound);
      },
      [](const void* data, size_t n, size_t& finite) {
        double sum = 0;
        for (size_t i = 0; i < n; ++i) {
          const double value = to_double(static_cast<const T*>(data)[i]);
          if (!std::isfinite(value)) continue;
          sum += value * value;
          ++finite;
        }
        return sum;
      }};
  return type;
}

}  // namespace detail

#define DAYS_ELEMENT_TYPE(T)                                     \
  template Report compare<T>(const T*, const T*, size_t, Bound); \
  template const detail::ElementType& detail::element_type<T>();
DAYS_ELEMENT_TYPE(float)
DAYS_ELEMENT_TYPE(double)
DAYS_ELEMENT_TYPE(half)
DAYS_ELEMENT_TYPE(bf16)
DAYS_ELEMENT_TYPE(int8_t)
DAYS_ELEMENT_TYPE(uint8_t)
DAYS_ELEMENT_TYPE(int16_t)
DAYS_ELEMENT_TYPE(uint16_t)
DAYS_ELEMENT_TYPE(int32_t)
DAYS_ELEMENT_TYPE(uint32_t)
DAYS_ELEMENT_TYPE(int64_t)
DAYS_ELEMENT_TYPE(uint64_t)
#undef DAYS_ELEMENT_TYPE

Shape::Shape() = default;
Shape::Shape(std::initializer_list<int64_t> numbers) : numbers_(numbers) {}
Shape::Shape(std::vector<int64_t> numbers) : numbers_(std::move(numbers)) {}
Shape::Shape(const Shape&) = default;
Shape& Shape::operator=(const Shape&) = default;
Shape::~Shape() = default;

Extent Shape::operator[](size_t i) const {
  return numbers_.at(i);
}
std::string Shape::text(const char* between) const {
  std::string joined;
  for (const int64_t n : numbers_) joined += (joined.empty() ? "" : between) + std::to_string(n);
  return joined;
}

Inputs::Inputs(Where where, const Inputs* twin) : where_(where), twin_(twin) {}
Inputs::Inputs(std::vector<void*> given) : Inputs(Where::kGiven) {
  given_ = std::move(given);
}
Inputs::~Inputs() = default;

Inputs::Values::Values(Inputs* in, size_t n, detail::Fill fill, bool output, std::vector<int64_t> dims)
    : in_(in), n_(n), fill_(std::move(fill)), output_(output), dims_(std::move(dims)) {}
Inputs::Values::Values(const Values&) = default;
Inputs::Values& Inputs::Values::operator=(const Values&) = default;
Inputs::Values::~Values() = default;

void* Inputs::Values::make(const detail::ElementType& type, bool is_const) {
  const Role role = output_ ? Role::kOutput : is_const ? Role::kInput : Role::kInOut;
  return in_->make(type, n_, role, std::move(fill_), std::move(dims_));
}

Inputs::Values Inputs::random(Extent n, Distribution distribution, double a, double b) {
  return Values(this, n, {distribution, ++seed_, a, b, {}}, false, {n});
}
Inputs::Values Inputs::normal(Extent n, double scale) {
  return random(n, Distribution::kNormal, scale, 0);
}
Inputs::Values Inputs::uniform(Extent n) {
  return random(n, Distribution::kUniform, 0, 0);
}
Inputs::Values Inputs::uniform(Extent n, double low, double high) {
  return random(n, Distribution::kUniform, low, high);
}
Inputs::Values Inputs::constant(Extent n, double value) {
  return random(n, Distribution::kConstant, value, 0);
}
Inputs::Values Inputs::fill(Extent n, Function<double(size_t)> function) {
  return Values(this, n, {.function = std::move(function)}, false, {n});
}
Inputs::Values Inputs::output_of(std::initializer_list<Extent> extents) {
  Extent n = 1;
  for (const Extent extent : extents) n = n * extent;
  return Values(this, n, {}, true, {extents.begin(), extents.end()});
}

void* Inputs::make(const detail::ElementType& type, size_t n, Role role, detail::Fill fill,
                   std::vector<int64_t> dims) {
  const size_t bytes = static_cast<size_t>(Extent(n) * Extent(type.size));
  bytes_ += static_cast<double>(bytes) + 2.0 * DeviceMemory::kGuardBytes;
  Buffer buffer{&type, n, role, std::move(dims), std::move(fill), {}, {}, {}, {}};
  if (where_ == Where::kDevice) {
    buffer.device = DeviceMemory(bytes, type.poison);
    if (role != Role::kOutput) fill_device(buffer);
  } else if (where_ == Where::kHost) {
    buffer.host.reset(new unsigned char[bytes]);  // not make_unique, which would write it all
    if (role == Role::kOutput) {
      std::memset(buffer.host.get(), type.poison, bytes);
    } else if (twin_ != nullptr && n >= kDownloadFrom) {
      CUDA_CHECK(cudaMemcpy(buffer.host.get(), twin_->buffers_.at(buffers_.size()).device.data(), bytes,
                            cudaMemcpyDeviceToHost));
    } else {
      type.fill_host(buffer.host.get(), n, buffer.fill);
    }
    if (role == Role::kInOut) {
      buffer.initial.reset(new unsigned char[bytes]);
      std::memcpy(buffer.initial.get(), buffer.host.get(), bytes);
    }
  }
  buffers_.push_back(std::move(buffer));
  if (where_ == Where::kGiven) {
    require(buffers_.size() <= given_.size(), "this problem takes more than the", given_.size(),
            " buffers given");
    return given_[buffers_.size() - 1];
  }
  return where_ == Where::kNowhere ? nullptr : buffers_.back().data();
}

void Inputs::fill_device(const Buffer& buffer) {
  if (!buffer.fill.function)
    return buffer.type->fill_device(buffer.device.data(), buffer.n, buffer.fill, nullptr);
  const std::unique_ptr<unsigned char[]> values(new unsigned char[buffer.bytes()]);
  buffer.type->fill_host(values.get(), buffer.n, buffer.fill);
  if (buffer.bytes() > 0) {
    CUDA_CHECK(cudaMemcpy(buffer.device.data(), values.get(), buffer.bytes(), cudaMemcpyHostToDevice));
  }
}

double Inputs::rms(const detail::ElementType& type) const {
  double product = 1;
  for (const Buffer& buffer : buffers_) {
    if (buffer.role == Role::kOutput || buffer.type != &type) continue;
    const unsigned char* data = buffer.initial ? buffer.initial.get() : buffer.host.get();
    std::vector<double> sums(cpu_threads());
    std::vector<size_t> counts(cpu_threads());
    const size_t parts = parallel_ranges(buffer.n, [&](size_t part, size_t begin, size_t end) {
      sums[part] = type.square_sum(data + begin * type.size, end - begin, counts[part]);
    });
    double sum = 0;
    size_t count = 0;
    for (size_t part = 0; part < parts; ++part) {
      sum += sums[part];
      count += counts[part];
    }
    product *= count == 0 ? 1 : std::sqrt(sum / static_cast<double>(count));
  }
  return product;
}

double Inputs::worst_output_error() const {
  double worst = 0;
  for (const Buffer& buffer : buffers_) {
    if (!buffer.written()) continue;
    const double error = buffer.type->compare(buffer.host.get(), buffer.expected.get(), buffer.n, {}).worst;
    if (error > worst) worst = error;
  }
  return worst;
}

}  // namespace days
