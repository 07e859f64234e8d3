// SPDX-License-Identifier: MIT
//
// How exact is each form of GELU? The rungs' own kernels on all 65,536 numbers of fp16 and of bf16 and, in fp32, on 4,096
// numbers of each power of two from 2^-24 to 2^5, both signs. Compared with GELU itself and, where a form is made from
// the formula with tanh, with that, both in double.
//
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp day07_gelu/[0-9]*.cu day07_gelu/programs/accuracy.cu -o accuracy && ./accuracy

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/check.h"
#include "day07_gelu/formulas.h"
#include "day07_gelu/gelu.h"

namespace day07 {
namespace {

template <class T>
using Launcher = void (*)(const Gelu<T>&, cudaStream_t);

// The results for the numbers of x.
template <class T>
std::vector<T> run(Launcher<T> launch, const std::vector<T>& x) {
  T *from = nullptr, *to = nullptr;
  const size_t bytes = x.size() * sizeof(T);
  CUDA_CHECK(cudaMalloc(&from, bytes));
  CUDA_CHECK(cudaMalloc(&to, bytes));
  CUDA_CHECK(cudaMemcpy(from, x.data(), bytes, cudaMemcpyHostToDevice));
  launch({from, to, static_cast<int64_t>(x.size())}, nullptr);
  std::vector<T> y(x.size());
  CUDA_CHECK(cudaMemcpy(y.data(), to, bytes, cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(from));
  CUDA_CHECK(cudaFree(to));
  return y;
}

// The worst of some numbers: how far from the truth, how many units in the last place of the truth, and at which x.
struct Worst {
  double error = 0, at = 0, units = 0;
  int wrong = 0;  // NaN or an infinity where the truth has none, or the other way round

  template <class T>
  void add(double x, double got, double want) {
    if (std::isfinite(got) != std::isfinite(want)) {
      ++wrong;
    } else if (std::isfinite(got)) {
      using Info = days::TypeInfo<T>;
      const double off = std::abs(got - want);
      if (off > error) error = off, at = x;
      const double unit =
          want == 0 ? 0 : std::ldexp(Info::kEpsilon, std::ilogb(want));  // of the binade that it lies in
      units = std::max(units, off / std::max(unit, Info::kDenormMin));
    }
  }
};

template <class T>
struct Form {
  const char* name;
  Launcher<T> launch;
  double (*formula)(double);
};

void header(const char* what) {
  std::printf("%s\n  form      worst error      at x     units   from GELU\n", what);
}

// From the form's own formula, in fractions and in last places, and from GELU itself.
template <class T>
int line(const Form<T>& form, const std::vector<T>& x) {
  const std::vector<T> y = run(form.launch, x);
  Worst own, exact;
  for (size_t i = 0; i < x.size(); ++i) {
    const double from = days::to_double(x[i]), got = days::to_double(y[i]);
    own.add<T>(from, got, days::to_double(days::from_double<T>(form.formula(from))));
    exact.add<T>(from, got, exact_gelu(from));
  }
  std::printf("  %-8s   %8.1e   %9.3f  %8.2g     %7.1e\n", form.name, own.error, own.at, own.units,
              exact.error);
  return own.wrong;
}

template <class T>
int all_of_16_bits(const char* what) {
  std::vector<T> x(65536);
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const uint16_t narrow = static_cast<uint16_t>(bits);
    memcpy(static_cast<void*>(&x[bits]), &narrow, 2);
  }
  header(what);
  int wrong = 0;
  for (const Form<T>& form :
       {Form<T>{"erf", gelu_erf<T>, exact_gelu}, Form<T>{"erfc", gelu_erfc<T>, exact_gelu},
        Form<T>{"tanh", gelu_tanh<T>, tanh_gelu}, Form<T>{"sigmoid", gelu_sigmoid<T>, tanh_gelu},
        Form<T>{"fast", gelu_fast<T>, tanh_gelu}, Form<T>{"pairs", gelu_pairs<T>, tanh_gelu}}) {
    wrong += line(form, x);
  }
  std::printf("\n");
  return wrong;
}

constexpr int kEach = 4096;  // numbers of a power of two
std::vector<float> from_power(int exponent, float sign) {
  std::vector<float> x(kEach);
  for (int i = 0; i < kEach; ++i) x[i] = sign * std::ldexp(1 + static_cast<float>(i) / kEach, exponent);
  return x;
}

const Form<float> kForms[] = {{"erf", gelu_erf<float>, exact_gelu},
                              {"erfc", gelu_erfc<float>, exact_gelu},
                              {"tanh", gelu_tanh<float>, tanh_gelu},
                              {"sigmoid", gelu_sigmoid<float>, tanh_gelu},
                              {"fast", gelu_fast<float>, tanh_gelu}};

int fp32_as_a_whole() {
  std::vector<float> x;
  for (int exponent = -24; exponent <= 5; ++exponent) {
    for (const float sign : {1.0f, -1.0f}) {
      const std::vector<float> more = from_power(exponent, sign);
      x.insert(x.end(), more.begin(), more.end());
    }
  }
  header("fp32, 4,096 numbers of each power of two from 2^-24 to 2^5, both signs");
  int wrong = 0;
  for (const Form<float>& form : kForms) wrong += line(form, x);
  return wrong;
}

// Right digits, binary, of each power of two: 24 is all that a float has.
void digits_by_power(float sign) {
  std::printf("\nfp32, binary digits that are right at the worst x of a power of two, x %s 0\n       ",
              sign < 0 ? "<" : ">");
  for (const Form<float>& form : kForms) std::printf(" %8s", form.name);
  std::printf("\n");
  for (int exponent : {-24, -16, -8, -4, -2, -1, 0, 1, 2, 3}) {
    std::printf("  2^%-3d ", exponent);
    const std::vector<float> x = from_power(exponent, sign);
    for (const Form<float>& form : kForms) {
      const std::vector<float> y = run(form.launch, x);
      double digits = 24;
      for (int i = 0; i < kEach; ++i) {
        const double want = form.formula(static_cast<double>(x[i]));
        if (std::abs(want) < 0x1p-126) continue;  // a denormal has fewer
        const double off = std::abs(static_cast<double>(y[i]) - want) / std::abs(want);
        if (off > 0) digits = std::min(digits, -std::log2(off));
      }
      std::printf(" %8.0f", std::max(0.0, std::floor(digits)));
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace day07

int main() {
  using namespace day07;
  int wrong = all_of_16_bits<days::half>("fp16, all 65,536 numbers");
  wrong += all_of_16_bits<days::bf16>("bf16, all 65,536 numbers");
  wrong += fp32_as_a_whole();
  digits_by_power(1.0f);
  digits_by_power(-1.0f);
  if (wrong != 0)
    std::printf("%d results are NaN or infinite where the truth is not, or the reverse\n", wrong);
  return wrong == 0 ? 0 : 1;
}
