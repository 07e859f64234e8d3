// SPDX-License-Identifier: MIT
//
// Part of instance.cpp: compare.h's definitions. harness/inputs.h instantiates compare().
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/compare.h"
#include "common/parallel.h"

namespace days {

std::string Report::place(size_t index) const {
  std::vector<std::string> parts;
  for (size_t d = dims.size(); d-- > 1;) {
    const size_t extent = static_cast<size_t>(std::max<int64_t>(1, dims[d]));
    parts.push_back(std::to_string(index % extent));
    index /= extent;
  }
  std::string text = "[" + std::to_string(index);
  for (size_t i = parts.size(); i-- > 0;) text += "," + parts[i];
  return text + "]";
}

std::vector<std::string> Report::lines() const {
  std::vector<std::string> text = notes;
  for (const Mismatch& m : first) {
    text.push_back(place(m.index) + " is " + number(m.got) + ", expected " + number(m.want));
  }
  if (wrong > 0) {
    char error[32];
    std::snprintf(error, sizeof error, "%.3g", worst);
    text.push_back(std::to_string(wrong) + " of " + std::to_string(compared) + " wrong, worst error " +
                   (std::isnan(worst) ? "nan" : error) + " at " + place(worst_at));
  }
  return text;
}

std::string Report::text() const {
  std::string joined;
  for (const std::string& line : lines()) joined += (joined.empty() ? "" : "\n") + line;
  return joined;
}

void Report::merge(const Report& other) {
  if (compared == 0 && wrong == 0) dims = other.dims;
  if (worse(other.worst, worst)) {
    worst = other.worst;
    worst_at = other.worst_at;
  }
  compared += other.compared;
  wrong += other.wrong;
  unwritten += other.unwritten;
  for (const Mismatch& m : other.first) {
    if (first.size() < kShown) first.push_back(m);
  }
  notes.insert(notes.end(), other.notes.begin(), other.notes.end());
}

std::string Report::number(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

namespace detail {
template <class T>
bool is_poison(const T& value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  return std::all_of(bytes, bytes + sizeof(T), [](unsigned char b) { return b == TypeInfo<T>::kPoison; });
}
}  // namespace detail

template <class T>
Report compare(const T* got, const T* want, size_t n, Bound bound) {
  std::vector<Report> parts(cpu_threads());
  const size_t used = parallel_ranges(n, [&](size_t part, size_t begin, size_t end) {
    Report report;
    report.compared = end - begin;
    for (size_t i = begin; i < end; ++i) {
      const double g = to_double(got[i]), w = to_double(want[i]);
      double error = error_of(g, w);
      if (detail::is_poison(got[i])) ++report.unwritten;
      if constexpr (std::is_integral_v<T>) {
        if (error == 0 && got[i] != want[i]) error = 1;
      }
      if (Report::worse(error, report.worst)) {
        report.worst = error;
        report.worst_at = i;
      }
      const double tolerance = error == 0 ? 0 : bound.absolute + bound.relative * std::abs(w);
      if (!(error <= tolerance)) {
        ++report.wrong;
        if (report.first.size() < Report::kShown) report.first.push_back({i, g, w});
      }
    }
    parts[part] = std::move(report);
  });
  Report total;
  for (size_t part = 0; part < used; ++part) total.merge(parts[part]);
  return total;
}

}  // namespace days
