// SPDX-License-Identifier: MIT
//
// Which cases of a ladder a checked build leaves to the plain one (tests/testing.cpp).
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "common/error.h"
#include "common/ladder.h"
#include "common/types.h"

#ifdef __SIMT__
#include "simt/runtime.h"
#endif

namespace common_turns_test {

template <class T>
struct Copy {
  const T* x;
  T* y;
  int n;
};

// How often each type's launcher ran, by n.
std::map<std::string, std::map<int, int>>& runs() {
  static std::map<std::string, std::map<int, int>> all;
  return all;
}
template <class T>
void copy(const Copy<T>& p, cudaStream_t stream) {
  ++runs()[days::TypeInfo<T>::kName][p.n];
  CUDA_CHECK(
      cudaMemcpyAsync(p.y, p.x, static_cast<size_t>(p.n) * sizeof(T), cudaMemcpyDeviceToDevice, stream));
}
template <class T>
void copy_reference(const Copy<T>& p) {
  for (int i = 0; i < p.n; ++i) p.y[i] = p.x[i];
}

inline auto values(double most) {
  return [most](auto& p, days::Shape s, days::Inputs& in) {
    p.n = s[0];
    p.x = in.uniform("x", s[0], -most, most);
    p.y = in.output("y", s[0]);
  };
}
inline const auto turns = days::ladder<Copy>("turns")
                              .extents({"n"})
                              .types<float, days::half, days::bf16>()
                              .variant("copy", LAUNCHER(copy))
                              .reference(LAUNCHER(copy_reference))
                              .shapes({{1}, {2}, {3}, {4}, {5}, {6}, {7}})
                              .bench({{1 << 20}})
                              .show({{16}})
                              .inputs(values(1))
                              .hostile("tiny", values(1e-3))
                              .hostile("large", values(1e3))
                              .traffic([](const auto& p) { return days::reads(p.x, p.n); })
                              .tolerance(days::exact)
                              .lesson("what is tested where.");
REGISTER_LADDER(turns);

bool all_cases() {
#ifdef __SIMT__
  const char* asked = std::getenv("DAYS_TEST_ALL");
  return asked != nullptr && std::string(asked) == "1";
#else
  return true;
#endif
}

TEST(Turns, ThinOutATypeThatIsAsWideAsAnother) {
  std::map<std::string, int> cases;
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(i);
    if (std::string(suite.name()) != "turns") continue;
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const std::string name = suite.GetTestInfo(j)->name();
      if (name.find("_captured") != std::string::npos) continue;  // of one type and no shape
      ++cases[name.substr(0, name.find('_'))];
    }
  }
  EXPECT_EQ(cases["copy/fp32"], 7);
  EXPECT_EQ(cases["copy/fp16"], 7);
  EXPECT_EQ(cases["copy/bf16"], all_cases() ? 7 : 2);  // the third shape and the sixth
}

// After all tests, where none of them was filtered out.
class Counts : public ::testing::Environment {
 public:
  void TearDown() override {
    if (runs()["fp32"].size() != 7 || runs()["fp16"].size() != 7 || runs()["bf16"].empty()) return;
    int orders = 1, hostile = 2, captured = 1;  // one shape, in the first type, once more
#ifdef __SIMT__
    if (simt::checked_build) {
      orders = 3;
      if (!all_cases()) hostile = 1, captured = 0;
    }
#endif
    const int further_orders = all_cases() ? orders : 1;
    int once_more = 0;
    for (const auto& [n, count] : runs()["fp32"]) {
      EXPECT_GE(count, orders + hostile) << n;
      once_more += count - orders - hostile;
    }
    EXPECT_EQ(once_more, captured);
    for (const auto& [n, count] : runs()["fp16"]) EXPECT_EQ(count, further_orders + hostile) << n;
    for (const auto& [n, count] : runs()["bf16"]) EXPECT_EQ(count, further_orders + hostile) << n;
  }
};
[[maybe_unused]] ::testing::Environment* const counts = ::testing::AddGlobalTestEnvironment(new Counts);

}  // namespace common_turns_test
