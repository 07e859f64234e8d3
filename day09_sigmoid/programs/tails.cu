// SPDX-License-Identifier: MIT
//
// Where do the tails end, and with how many digits? The rungs' own kernels on all 65,536 numbers of fp16 and of bf16, and on
// fp32 numbers along both tails, compared with double.
//
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp day09_sigmoid/[0-9]*.cu day09_sigmoid/programs/tails.cu -o tails && ./tails
//
// With -ftz=true, -prec-div=false or -use_fast_math on nvcc's line `naive` and `vectors` become what the flag makes of them.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/check.h"
#include "day09_sigmoid/formulas.h"
#include "day09_sigmoid/sigmoid.h"

namespace day09 {
namespace {

template <class T>
class Array {
 public:
  explicit Array(const std::vector<T>& values) : count_(values.size()) {
    CUDA_CHECK(cudaMalloc(&data_, count_ * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    CUDA_CHECK(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

template <class T>
struct Form {
  const char* name;
  void (*launch)(const Sigmoid<T>&, cudaStream_t);
};

template <class T>
std::vector<T> run(const Form<T>& form, const std::vector<T>& x) {
  const Array<T> from(x), to(x);
  form.launch({from.data(), to.data(), static_cast<int64_t>(x.size())}, nullptr);
  return to.values();
}

// The gradients for dy = 1, from x and from what `vectors` makes of x.
template <class T>
std::vector<T> gradient_from_x(const std::vector<T>& x) {
  const Array<T> from(x), ones(std::vector<T>(x.size(), days::from_double<T>(1))), to(x);
  sigmoid_grad_even<T>({from.data(), ones.data(), to.data(), static_cast<int64_t>(x.size())}, nullptr);
  return to.values();
}
template <class T>
std::vector<T> gradient_from_y(const std::vector<T>& x) {
  const Array<T> y(run<T>({"vectors", sigmoid_vectors<T>}, x)),
      ones(std::vector<T>(x.size(), days::from_double<T>(1))), to(x);
  sigmoid_grad_from_y<T>({y.data(), ones.data(), to.data(), static_cast<int64_t>(x.size())}, nullptr);
  return to.values();
}

template <class T>
std::vector<T> all_of_16_bits() {
  std::vector<T> x(65536);
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const uint16_t narrow = static_cast<uint16_t>(bits);
    memcpy(static_cast<void*>(&x[bits]), &narrow, 2);
  }
  return x;
}

// How many results are not the nearest number of the type; how far off the worst of those right of 0 and left of it is, in
// parts of the right result that is a normal number.
template <class T>
int all_numbers(const char* what, const std::vector<Form<T>>& forms) {
  const std::vector<T> x = all_of_16_bits<T>();
  constexpr double kLeastNormal = days::TypeInfo<T>::kDenormMin / days::TypeInfo<T>::kEpsilon;
  std::printf("%s, all 65,536 numbers\n  form       not the nearest   worst of x > 0   of x < 0\n", what);
  int wrong = 0;
  for (const Form<T>& form : forms) {
    const std::vector<T> y = run(form, x);
    int other = 0;
    double worst[2] = {0, 0};
    for (size_t i = 0; i < x.size(); ++i) {
      const double from = days::to_double(x[i]), got = days::to_double(y[i]), exact = exact_sigmoid(from);
      const double nearest = days::to_double(days::from_double<T>(exact));
      if (std::isnan(nearest) != std::isnan(got)) ++wrong;
      if (std::isnan(nearest)) continue;
      other += got != nearest;
      if (exact >= kLeastNormal) worst[from < 0] = std::max(worst[from < 0], std::abs(got - exact) / exact);
    }
    std::printf("  %-9s  %15d   %14.1e   %8.1e\n", form.name, other, worst[0], worst[1]);
  }
  std::printf("\n");
  return wrong;
}

// Right digits at x, of 24.
int digits(double got, double want) {
  const double off = std::abs(got - want) / want;
  return off > 0 ? std::clamp(static_cast<int>(std::floor(-std::log2(off))), 0, 24) : 24;
}

const std::vector<Form<float>> kForms = {{"vectors", sigmoid_vectors<float>},
                                         {"tails", sigmoid_tails<float>},
                                         {"fast", sigmoid_fast<float>},
                                         {"tanh", sigmoid_tanh<float>}};

// The least of the 1,000 numbers around x, because one may be right by luck.
void digits_along_the_tails() {
  std::printf("fp32, binary digits that are right around x\n    x      s(x) ");
  for (const Form<float>& form : kForms) std::printf(" %8s", form.name);
  std::printf("   1 - s(-x)\n");
  for (const float at : {-100.f, -87.f, -60.f, -30.f, -16.f, -8.f, -4.f, -1.f, 1.f, 16.f, 100.f}) {
    std::vector<float> x(1000), mirrored(1000);
    for (int i = 0; i < 1000; ++i)
      x[i] = at + 0.0003f * at / std::abs(at) * static_cast<float>(i), mirrored[i] = -x[i];
    std::printf("  %5.0f  %8.1e ", at, exact_sigmoid(at));
    const auto least = [&](const auto& got) {
      int fewest = 24;
      for (int i = 0; i < 1000; ++i) fewest = std::min(fewest, digits(got(i), exact_sigmoid(x[i])));
      return fewest;
    };
    for (const Form<float>& form : kForms) {
      const std::vector<float> y = run(form, x);
      std::printf(" %8d", least([&](int i) { return static_cast<double>(y[i]); }));
    }
    const std::vector<float> other = run(kForms[0], mirrored);
    std::printf("  %10d\n", least([&](int i) { return static_cast<double>(1.0f - other[i]); }));
  }
}

// The numbers of the type in steps of 1 / 64 from 0 to 110.
template <class T>
void ends(const char* type, const std::vector<Form<T>>& forms) {
  std::vector<T> left, right;
  for (int i = 0; i < 110 * 64; ++i) {
    left.push_back(days::from_double<T>(-i / 64.0));
    right.push_back(days::from_double<T>(i / 64.0));
  }
  const auto first = [&](const std::vector<T>& x, const std::vector<T>& y, double value) {
    for (size_t i = 0; i < y.size(); ++i)
      if (days::to_double(y[i]) == value) return days::to_double(x[i]);
    return std::nan("");
  };
  const auto number = [](double value) {
    char text[32] = "never";
    if (!std::isnan(value)) std::snprintf(text, sizeof text, "%.2f", value);
    return std::string(text);
  };
  for (const Form<T>& form : forms) {
    std::printf("  %s  %-8s  %13s  %10s\n", type, form.name, number(first(left, run(form, left), 0)).c_str(),
                number(first(right, run(form, right), 1)).c_str());
  }
  const auto gradient = [&](const char* name, const std::vector<T>& on_the_left,
                            const std::vector<T>& on_the_right) {
    std::printf("  %s  %-11s  %10s  %10s  %10s\n", type, name, number(first(left, on_the_left, 0)).c_str(),
                "", number(first(right, on_the_right, 0)).c_str());
  };
  gradient("grad_even", gradient_from_x(left), gradient_from_x(right));
  gradient("grad_from_y", gradient_from_y(left), gradient_from_y(right));
}

template <class T>
std::vector<Form<T>> forms_of_16_bits() {
  return {{"vectors", sigmoid_vectors<T>},
          {"tails", sigmoid_tails<T>},
          {"fast", sigmoid_fast<T>},
          {"tanh", sigmoid_tanh<T>},
          {"pairs", sigmoid_pairs<T>}};
}

}  // namespace
}  // namespace day09

int main() {
  using namespace day09;
  std::printf(
      "Where a result becomes 0 or 1, x in steps of 1/64\n  type  form      is 0 from x =  1 from x =  0 "
      "from x =\n");
  ends<float>("fp32", kForms);
  ends<days::half>("fp16", forms_of_16_bits<days::half>());
  ends<days::bf16>("bf16", forms_of_16_bits<days::bf16>());
  std::printf("\n");
  digits_along_the_tails();
  std::printf("\n");
  int wrong = all_numbers<days::half>("fp16", forms_of_16_bits<days::half>());
  wrong += all_numbers<days::bf16>("bf16", forms_of_16_bits<days::bf16>());
  if (wrong != 0) std::printf("%d results are NaN where the truth is not, or the reverse\n", wrong);
  return wrong == 0 ? 0 : 1;
}
