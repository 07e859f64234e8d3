// SPDX-License-Identifier: MIT
//
// Part of instance.cpp: inputs.h's and function.h's definitions that no day has to compile again.
#pragma once

#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/function.h"
#include "common/harness.h"
#include "common/harness/arena.h"
#include "common/harness/compare.h"
#include "common/harness/structures.h"
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
      kBits<T>,
      TypeInfo<T>::kFloating,
      TypeInfo<T>::kPoison,
      [](void* data, size_t n, const Fill& fill) {
        T* values = static_cast<T*>(data);
        parallel_ranges(std::is_same_v<T, uint4x2> ? (n + 1) / 2 : n, [&](size_t, size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i) {
            if constexpr (std::is_same_v<T, uint4x2>) {
              const auto number = [&](size_t at) {
                return at < n ? from_double<uint8_t>(fill.function(at)) : uint8_t{0};
              };
              values[i] = fill.function ? uint4x2::of(number(2 * i), number(2 * i + 1))
                                        : random_pair(fill.distribution, fill.seed, i, n, fill.a, fill.b);
            } else {
              values[i] = fill.function ? from_double<T>(fill.function(i))
                                        : random_value<T>(fill.distribution, fill.seed, i, fill.a, fill.b);
            }
          }
        });
      },
      [](void* data, size_t n, const Fill& fill, cudaStream_t stream) {
        fill_on_device(static_cast<T*>(data), n, fill.distribution, fill.seed, fill.a, fill.b, stream);
      },
      [](const void* got, const void* want, size_t n, Bound bound, unsigned char fill) {
        return days::compare(static_cast<const T*>(got), static_cast<const T*>(want), n, bound, fill);
      },
      [](const void* data, size_t n, unsigned char fill) {
        size_t filled = 0;
        for (size_t i = 0; i < n; ++i) filled += is_fill(static_cast<const T*>(data), i, fill) ? 1 : 0;
        return filled;
      },
      [](const void* data, size_t begin, size_t end, size_t& finite) {
        double sum = 0;
        for (size_t i = begin; i < end; ++i) {
          const double value = to_double(element(static_cast<const T*>(data), i));
          if (!std::isfinite(value)) continue;
          sum += value * value;
          ++finite;
        }
        return sum;
      }};
  return type;
}

}  // namespace detail

#define DAYS_ELEMENT_TYPE(T)                                                    \
  template Report compare<T>(const T*, const T*, size_t, Bound, unsigned char); \
  template const detail::ElementType& detail::element_type<T>();
DAYS_ELEMENT_TYPE(float)
DAYS_ELEMENT_TYPE(double)
DAYS_ELEMENT_TYPE(half)
DAYS_ELEMENT_TYPE(bf16)
DAYS_ELEMENT_TYPE(fp8_e4m3)
DAYS_ELEMENT_TYPE(fp8_e5m2)
DAYS_ELEMENT_TYPE(uint4x2)
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
Inputs::Inputs(detail::Arena* arena) : Inputs(Where::kDevice) {
  arena_ = arena;
}
Inputs::Inputs(std::vector<void*> given) : Inputs(Where::kGiven) {
  given_ = std::move(given);
}
Inputs::~Inputs() = default;

Inputs::Values::Values(Inputs* in, const char* name, size_t n, detail::Fill fill, bool output,
                       std::vector<int64_t> dims)
    : in_(in), name_(name), n_(n), fill_(std::move(fill)), output_(output), dims_(std::move(dims)) {}
Inputs::Values::Values(const Values&) = default;
Inputs::Values& Inputs::Values::operator=(const Values&) = default;
Inputs::Values::~Values() = default;

namespace detail {
inline Extent product(std::initializer_list<Extent> extents) {
  Extent n = 1;
  for (const Extent extent : extents) n = n * extent;
  return n;
}
}  // namespace detail

Inputs::Values Inputs::Values::with_extents(std::initializer_list<Extent> extents) const {
  require(in_->count(detail::product(extents)) == n_, name_,
          ": the extents of .as(...) do not make its size");
  Values values = *this;
  values.dims_.assign(extents.begin(), extents.end());
  return values;
}
void* Inputs::Values::make(const detail::ElementType& type, bool is_const) {
  return in_->make(*this, type, output_ ? Role::kOutput : is_const ? Role::kInput : Role::kInOut);
}

size_t Inputs::count(Extent n) const {
  return where_ == Where::kGiven && n.value() < 0 ? 0 : static_cast<size_t>(n);
}
Inputs::Values Inputs::random(const char* name, Extent n, Distribution distribution, double a, double b) {
  return Values(this, name, count(n), {distribution, ++seed_, a, b, {}}, false, {n});
}
Inputs::Values Inputs::normal(const char* name, Extent n, double scale) {
  return random(name, n, Distribution::kNormal, scale, 0);
}
Inputs::Values Inputs::uniform(const char* name, Extent n) {
  return random(name, n, Distribution::kUniform, 0, 0);
}
Inputs::Values Inputs::uniform(const char* name, Extent n, double low, double high) {
  return random(name, n, Distribution::kUniform, low, high);
}
Inputs::Values Inputs::constant(const char* name, Extent n, double value) {
  return random(name, n, Distribution::kConstant, value, 0);
}
Inputs::Values Inputs::fill(const char* name, Extent n, Function<double(size_t)> function) {
  return Values(this, name, count(n), {.function = std::move(function)}, false, {n});
}
Inputs::Values Inputs::listed(const char* name, const void* list, size_t n, const detail::ElementType& type) {
  return Values(this, name, n, {.list = list, .listed = &type}, false, {Extent(n)});
}
const void* Inputs::structure_of(const Function<detail::Captures(uint64_t)>& make) {
  const uint64_t seed = ++seed_;
  const size_t index = next_structure_++;
  const bool made = twin_ != nullptr && index < twin_->structures_.size();
  structures_.push_back(made ? twin_->structures_[index] : make(seed));
  return structures_.back().object();
}
Inputs::Values Inputs::output_of(const char* name, std::initializer_list<Extent> extents) {
  return Values(this, name, count(detail::product(extents)), {}, true, {extents.begin(), extents.end()});
}

void* Inputs::make(Values& values, const detail::ElementType& type, Role role) {
  static_cast<void>((Extent(values.n_) + Extent(values.lead_)) *
                    Extent(type.bits));  // throws where too large
  require(values.lead_ * type.bits % 8 == 0, values.name_, ": no element of it begins there");
  const detail::ElementType* const listed = values.fill_.listed;
  if (listed != nullptr && listed != &type) {
    require(listed == &detail::element_type<double>(), values.name_, ": its values are ", listed->name,
            ", its pointer is to ", type.name);
    const double* const list = static_cast<const double*>(values.fill_.list);
    values.fill_ = {.function = [list](size_t i) { return list[i]; }};
  }
  for (const Buffer& other : buffers_)
    require(other.name != values.name_, "two inputs or outputs are named ", values.name_);
  Buffer buffer{std::move(values.name_), &type, values.n_, values.lead_, role, std::move(values.dims_),
                std::move(values.fill_), {},    {},        {},           {},   {}};
  const size_t bytes = buffer.bytes(), lead = buffer.lead_bytes();
  bytes_ += static_cast<double>(bytes) + 2.0 * DeviceMemory::kGuardBytes;
  if (where_ == Where::kDevice) {
    buffer.shared = arena_ == nullptr ? nullptr : arena_->place(bytes, type.poison);
    if (buffer.shared == nullptr) {
      buffer.device = DeviceMemory(bytes, type.poison);
      if (role != Role::kOutput) fill_device(buffer);
    } else if (role != Role::kOutput) {
      fill_host(buffer, arena_->image(buffer.data()));
    }
  } else if (where_ == Where::kHost) {
    buffer.host.reset(new unsigned char[bytes]);  // not make_unique, which would write it all
    std::memset(buffer.host.get(), type.poison, role == Role::kOutput ? bytes : lead);
    const size_t index = buffers_.size();
    const bool has_twin =
        twin_ != nullptr && index < twin_->buffers_.size() && twin_->buffers_[index].bytes() == bytes;
    const Buffer* const there = has_twin ? &twin_->buffers_[index] : nullptr;
    if (role != Role::kOutput && there != nullptr && there->shared != nullptr) {
      std::memcpy(buffer.host.get(), twin_->arena_->image(there->shared), bytes);
    } else if (role != Role::kOutput && there != nullptr && buffer.n >= kDownloadFrom) {
      CUDA_CHECK(cudaMemcpy(buffer.host.get(), there->device.data(), bytes, cudaMemcpyDeviceToHost));
    } else if (role != Role::kOutput) {
      fill_host(buffer, buffer.data());
    }
    if (role == Role::kInOut) {
      buffer.initial.reset(new unsigned char[bytes]);
      std::memcpy(buffer.initial.get(), buffer.host.get(), bytes);
    }
  }
  if (listed != nullptr) buffer.fill = {};  // the list need not outlive this call
  buffers_.push_back(std::move(buffer));
  if (where_ == Where::kGiven) {
    require(buffers_.size() <= given_.size(), "this problem takes more than the", given_.size(),
            " buffers given");
    return given_[buffers_.size() - 1];
  }
  return where_ == Where::kNowhere ? nullptr : buffers_.back().data();
}

void Inputs::fill_host(const Buffer& buffer, void* to) {
  if (buffer.fill.list == nullptr) return buffer.type->fill_host(to, buffer.n, buffer.fill);
  if (buffer.n > 0) std::memcpy(to, buffer.fill.list, buffer.type->bytes(buffer.n));
}

void Inputs::fill_device(const Buffer& buffer) {
  const detail::ElementType& type = *buffer.type;
  if (!buffer.fill.function && buffer.fill.list == nullptr)
    return type.fill_device(buffer.data(), buffer.n, buffer.fill, nullptr);
  const size_t bytes = type.bytes(buffer.n);
  const std::unique_ptr<unsigned char[]> values(new unsigned char[bytes]);
  fill_host(buffer, values.get());
  if (bytes > 0) CUDA_CHECK(cudaMemcpy(buffer.data(), values.get(), bytes, cudaMemcpyHostToDevice));
}

double Inputs::rms(const Buffer& buffer) {
  const unsigned char* data =
      (buffer.initial ? buffer.initial.get() : buffer.host.get()) + buffer.lead_bytes();
  std::vector<double> sums(cpu_threads());
  std::vector<size_t> counts(cpu_threads());
  const size_t parts = parallel_ranges(buffer.n, [&](size_t part, size_t begin, size_t end) {
    sums[part] = buffer.type->square_sum(data, begin, end, counts[part]);
  });
  double sum = 0;
  size_t count = 0;
  for (size_t part = 0; part < parts; ++part) {
    sum += sums[part];
    count += counts[part];
  }
  return count == 0 ? 1 : std::sqrt(sum / static_cast<double>(count));
}

double Inputs::rms(const detail::ElementType& type) const {
  double product = 1;
  for (const Buffer& buffer : buffers_) {
    if (buffer.role != Role::kOutput && buffer.type == &type) product *= rms(buffer);
  }
  return product;
}

double Inputs::rms(const std::string& name) const {
  for (const Buffer& buffer : buffers_) {
    if (buffer.role != Role::kOutput && buffer.name == name) return rms(buffer);
  }
  throw std::invalid_argument("no input is named " + name);
}

double Inputs::worst_output_error() const {
  const Buffer& output = buffers_.at(judged_);
  return output.type->compare(output.data(), output.expected_data(), output.n, {}, output.type->poison).worst;
}

}  // namespace days
