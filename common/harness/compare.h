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

std::string place(const std::string& name, const std::vector<int64_t>& dims, size_t index) {
  std::vector<std::string> parts;
  for (size_t d = dims.size(); d-- > 1;) {
    const size_t extent = static_cast<size_t>(std::max<int64_t>(1, dims[d]));
    parts.push_back(std::to_string(index % extent));
    index /= extent;
  }
  std::string text = name + "[" + std::to_string(index);
  for (size_t i = parts.size(); i-- > 0;) text += "," + parts[i];
  return text + "]";
}

namespace detail {
// "6 of 99 wrong, worst error 0.5 at y[0,33]"
inline std::string summary(const Report& output) {
  if (output.checked) return "wrong";
  char error[32];
  std::snprintf(error, sizeof error, "%.3g", output.worst);
  return std::to_string(output.wrong) + " of " + std::to_string(output.compared) + " wrong, worst error " +
         (std::isnan(output.worst) ? "nan" : error) + " at " +
         place(output.name, output.dims, output.worst_at);
}
}  // namespace detail

std::vector<Report::Shown> Report::shown() const {
  const bool several = !outputs.empty();
  const size_t count = several ? outputs.size() : 1;
  const Report* const all = several ? outputs.data() : this;
  const auto bad = std::count_if(all, all + count, [](const Report& r) { return r.wrong > 0; });
  const size_t each = std::max<size_t>(1, kShown / static_cast<size_t>(std::max<ptrdiff_t>(1, bad)));
  std::vector<Shown> chosen;
  for (const Report* output = all; output != all + count; ++output) {
    for (size_t i = 0; i < std::min(each, output->first.size()); ++i) {
      const Mismatch& m = output->first[i];
      chosen.push_back({days::place(output->name, output->dims, m.index), m});
    }
  }
  return chosen;
}

std::vector<std::string> Report::lines() const {
  std::vector<std::string> text = notes;
  for (const Shown& wrong_one : shown()) {
    text.push_back(wrong_one.place + " is " + number(wrong_one.mismatch.got) + ", expected " +
                   number(wrong_one.mismatch.want));
  }
  if (wrong == 0) return text;
  if (!remark.empty()) text.push_back(remark);
  const Report& one = outputs.empty() ? *this : outputs[0];
  if (outputs.size() <= 1 && !one.checked) text.push_back(detail::summary(one));
  if (outputs.size() > 1) {
    for (const Report& output : outputs) {
      text.push_back(output.name + ": " + (output.wrong > 0 ? detail::summary(output) : "right"));
    }
  }
  return text;
}

std::string Report::text() const {
  std::string joined;
  for (const std::string& line : lines()) joined += (joined.empty() ? "" : "\n") + line;
  return joined;
}

void Report::merge(const Report& other) {
  for (const Report& output : other.outputs) {
    const auto mine = std::find_if(outputs.begin(), outputs.end(),
                                   [&](const Report& one) { return one.name == output.name; });
    if (mine == outputs.end()) {
      outputs.push_back(output);
    } else {
      mine->merge(output);
    }
  }
  if (worse(other.worst, worst)) {
    worst = other.worst;
    worst_at = other.worst_at;
  }
  compared += other.compared;
  wrong += other.wrong;
  unwritten += other.unwritten;
  in_place += other.in_place;
  added += other.added;
  least_ratio = std::min(least_ratio, other.least_ratio);
  most_ratio = std::max(most_ratio, other.most_ratio);
  doubtful += other.doubtful;
  for (const Mismatch& m : other.first) {
    if (first.size() < kShown) first.push_back(m);
  }
  notes.insert(notes.end(), other.notes.begin(), other.notes.end());
  if (remark.empty()) remark = other.remark;
}

void Report::add(const Report& output) {
  Report sum = output;  // but for its single elements, which the output itself keeps
  sum.worst_at = 0;
  sum.first.clear();
  sum.outputs = {output};
  sum.outputs[0].notes.clear();
  merge(sum);
}

Report Report::failed(const std::string& why) {
  Report report;
  report.notes.push_back(why);
  return report;
}

std::string Report::number(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  const bool whole =
      std::abs(value) < 0x1p53 && value == std::trunc(value);  // 2779096487, not 2.77909649e+09
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.9g", value);
  return text;
}

namespace detail {
// An element's value, and whether it is nothing but that byte.
template <class T>
T element(const T* data, size_t i) {
  return data[i];
}
inline uint8_t element(const uint4x2* data, size_t i) {
  return i % 2 == 0 ? data[i / 2].lower() : data[i / 2].upper();
}
template <class T>
bool is_fill(const T* data, size_t i, unsigned char fill) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, data + i, sizeof(T));
  return std::all_of(bytes, bytes + sizeof(T), [fill](unsigned char b) { return b == fill; });
}
inline bool is_fill(const uint4x2* data, size_t i, unsigned char fill) {
  const uint4x2 both{fill};
  return element(data, i) == element(&both, i % 2);
}
}  // namespace detail

template <class T>
Report compare(const T* got, const T* want, size_t n, Bound bound, unsigned char fill) {
  std::vector<Report> parts(cpu_threads());
  const size_t used = parallel_ranges(n, [&](size_t part, size_t begin, size_t end) {
    Report report;
    report.compared = end - begin;
    for (size_t i = begin; i < end; ++i) {
      const auto got_one = detail::element(got, i), want_one = detail::element(want, i);
      const double g = to_double(got_one), w = to_double(want_one);
      double error = error_of(g, w);
      const bool unwritten = detail::is_fill(got, i, fill);
      if (unwritten) ++report.unwritten;
      if constexpr (std::is_integral_v<T>) {
        if (error == 0 && got_one != want_one) error = 1;
      }
      if (Report::worse(error, report.worst)) {
        report.worst = error;
        report.worst_at = i;
      }
      const double tolerance = error == 0 ? 0 : bound.absolute + bound.relative * std::abs(w);
      if (!(error <= tolerance)) {
        ++report.wrong;
        if constexpr (std::is_integral_v<T>) {
          T filled;
          std::memset(&filled, fill, sizeof filled);
          if (got_one == static_cast<T>(want_one + filled)) ++report.added;
        }
        if (g != 0 && w != 0) {
          report.least_ratio = std::min(report.least_ratio, g / w);
          report.most_ratio = std::max(report.most_ratio, g / w);
        }
        if (report.first.size() < Report::kShown) report.first.push_back({i, g, w});
      } else if (unwritten) {
        ++report.doubtful;
      }
    }
    parts[part] = std::move(report);
  });
  Report total;
  for (size_t part = 0; part < used; ++part) total.merge(parts[part]);
  return total;
}

}  // namespace days
