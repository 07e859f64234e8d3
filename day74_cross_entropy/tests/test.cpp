// SPDX-License-Identifier: MIT
//
// The day's ladders are tested by themselves, and their wrong kernels are in wrong.cu. Here is the rest.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/buffer.h"
#include "common/random.h"
#include "common/testing.h"
#include "day74_cross_entropy/cross_entropy.h"
#include "day74_cross_entropy/linear.h"
#include "day74_cross_entropy/linear_check.h"

namespace day74 {
namespace {

using days::DeviceBuffer;

// The skeleton writes a loss and a gradient, of a sum that is still empty.
const bool kRowsAreGiven =
    days::skeleton_is_given("cross_entropy", "the writing of loss and gradient", [](const days::Shape& s) {
      return days::Given{static_cast<size_t>(s[0] * (s[1] + 1)), false};
    });

// Device addresses that nothing follows: the launchers must have thrown before.
template <class T>
T* nowhere(int i) {
  return reinterpret_cast<T*>((uintptr_t{1} << 40) * static_cast<uintptr_t>(i));
}

TEST(Day74Refuses, ClassesAndSmoothingOutOfRange) {
  const CrossEntropy<float> right{
      nowhere<float>(1), nowhere<int32_t>(2), nowhere<float>(3), nowhere<float>(4), 8, 8, 8, 0, -100};
  for (const auto& variant : days::variants<CrossEntropy<float>>("cross_entropy")) {
    for (const int classes : {-1, 0, 9}) {
      CrossEntropy<float> p = right;
      p.classes = classes;
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << classes;
    }
    for (const float smoothing : {-0.1f, 1.1f, NAN}) {
      CrossEntropy<float> p = right;
      p.smoothing = smoothing;
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << smoothing;
    }
    CrossEntropy<float> p = right;
    p.cols = p.classes = kMaxCols + 1;
    EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name;
  }
}

// The loss in double, straight from its definition.
double loss_in_double(const std::vector<double>& x, size_t target, double smoothing) {
  double sum = 0, all = 0;
  for (const double value : x) {
    sum += std::exp(value);
    all += value;
  }
  return std::log(sum) - (1 - smoothing) * x[target] - smoothing / static_cast<double>(x.size()) * all;
}

TEST(Day74Gradient, AgreesWithFiniteDifferences) {
  constexpr double kStep = 1e-5;
  constexpr float kDloss = -0.75f;
  for (const float smoothing : {0.0f, 0.25f, 1.0f})
    for (const int classes : {2, 7, 33, 130}) {
      const int target = classes / 3, cols = classes + 3;
      std::vector<float> logits;
      for (int i = 0; i < cols; ++i) logits.push_back(2 * days::normal(74, static_cast<size_t>(i)));
      std::vector<double> x(logits.begin(), logits.begin() + classes), want;
      const double s = static_cast<double>(smoothing);
      for (double& value : x) {
        const double was = value;
        value = was + kStep;
        const double above = loss_in_double(x, static_cast<size_t>(target), s);
        value = was - kStep;
        const double below = loss_in_double(x, static_cast<size_t>(target), s);
        value = was;
        want.push_back(static_cast<double>(kDloss) * (above - below) / (2 * kStep));
      }
      want.resize(static_cast<size_t>(cols), 0.0);
      const auto expect = [&](const std::string& name, const std::vector<float>& dx, float loss) {
        EXPECT_NEAR(static_cast<double>(loss), loss_in_double(x, static_cast<size_t>(target), s), 1e-5)
            << name;
        for (size_t i = 0; i < want.size(); ++i)
          ASSERT_NEAR(static_cast<double>(dx[i]), want[i], 1e-6) << name << " " << classes << " at " << i;
      };
      {
        std::vector<float> dx = logits;
        float loss = 0;
        cross_entropy_reference<float>(
            {dx.data(), &target, &kDloss, &loss, 1, cols, classes, smoothing, -100});
        expect("reference", dx, loss);
      }
      const DeviceBuffer<int32_t> targets(std::vector<int32_t>{target});
      const DeviceBuffer<float> dloss(std::vector<float>{kDloss}), loss(1);
      for (const auto& variant : days::variants<CrossEntropy<float>>("cross_entropy")) {
        if (!variant.runs_here) continue;
        const DeviceBuffer<float> dx(logits);
        variant.launch(
            {dx.data(), targets.data(), dloss.data(), loss.data(), 1, cols, classes, smoothing, -100});
        CUDA_CHECK(cudaDeviceSynchronize());
        expect(variant.name, dx.download(), loss.download()[0]);
      }
    }
}

TEST(Day74Refuses, LinearProblemsThatAreNone) {
  const days::Workspace enough{nowhere<char>(8), size_t{1} << 40};
  const LinearCrossEntropy<float> right{nowhere<float>(1),
                                        nowhere<float>(2),
                                        nowhere<int32_t>(3),
                                        nowhere<float>(4),
                                        nowhere<float>(5),
                                        nowhere<float>(6),
                                        nowhere<float>(7),
                                        8,
                                        8,
                                        8,
                                        8,
                                        0,
                                        -100,
                                        enough};
  for (const auto& variant : days::variants<LinearCrossEntropy<float>>("linear_cross_entropy")) {
    for (int wrong = 0; wrong < 4; ++wrong) {
      LinearCrossEntropy<float> p = right;
      if (wrong == 0) p.classes = 9;
      if (wrong == 1) p.classes = 0;
      if (wrong == 2) p.smoothing = NAN;
      if (wrong == 3) p.workspace.data = nullptr;
      EXPECT_THROW(variant.launch(p), std::invalid_argument) << variant.name << " " << wrong;
    }
  }
}

// The workspace is what slices are for.
TEST(Day74Slices, AQuarterOfTheWorkspace) {
  LinearCrossEntropy<days::bf16> p{};
  p.rows = 8192, p.width = 768, p.vocab = p.classes = 50257;
  EXPECT_EQ(logits_pitch(p), 50264);
  EXPECT_EQ(slice_of(p), 2048);
  EXPECT_EQ(logits_bytes(p, p.rows), size_t{2} * 8192 * 50264);
  EXPECT_EQ(logits_bytes(p, slice_of(p)) * 4, logits_bytes(p, p.rows));
  p.rows = 100000;
  EXPECT_EQ(slice_of(p), 2048);
  p.rows = 5;
  EXPECT_EQ(slice_of(p), 2);
}

// The check of large problems takes what the reference makes, and not with one loss or one word's gradient changed.
TEST(Day74CheckLarge, SeesALossAndAGradientThatAreWrong) {
  constexpr int kRows = 12, kWidth = 5, kVocab = 9;
  std::vector<float> x, w, dloss(kRows, 1), loss(kRows), dx(kRows * kWidth), dw(kVocab * kWidth);
  for (size_t i = 0; i < size_t{kRows} * kWidth; ++i) x.push_back(days::normal(1, i));
  for (size_t i = 0; i < size_t{kVocab} * kWidth; ++i) w.push_back(days::normal(2, i));
  std::vector<int32_t> targets;
  for (int row = 0; row < kRows; ++row) targets.push_back(row % 4 == 3 ? -100 : row % kVocab);
  for (const float smoothing : {0.0f, 0.1f}) {
    const LinearCrossEntropy<float> p{
        x.data(), w.data(), targets.data(), dloss.data(), loss.data(), dx.data(), dw.data(),
        kRows,    kWidth,   kVocab,         kVocab,       smoothing,   -100,      {}};
    linear_reference(p);
    EXPECT_TRUE(linear_check_large(p).ok()) << linear_check_large(p).text();
    for (float* const number : {&loss[0], &loss[kRows / 2], &dx[0], &dw[0], &dw[kVocab * kWidth - 1]}) {
      const float was = *number;
      *number += 0.01f;
      EXPECT_FALSE(linear_check_large(p).ok());
      *number = was;
    }
  }
}

}  // namespace
}  // namespace day74
