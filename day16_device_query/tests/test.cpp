// SPDX-License-Identifier: MIT
#include <cmath>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "common/testing.h"
#include "day16_device_query/checks.h"
#include "day16_device_query/device_query.h"
#include "day16_device_query/host_limits.h"
#include "day16_device_query/properties.h"
#include "day16_device_query/roofline.h"

namespace day16 {
namespace {

// The last tile is copied, where it is no whole one; a copy of less than a tile is nothing else.
const bool kLastTileIsGiven =
    days::skeleton_is_given("copy", "the last tile, where it is no whole one", [](const days::Shape& s) {
      constexpr int64_t kTile = 4096;
      return days::Given{static_cast<size_t>(s[0] % kTile), s[0] < kTile};
    });

// The check for large sizes must see what the reference would: one wrong bit in one element, and a NaN.
TEST(Day16CheckLarge, SeesOneWrongBit) {
  std::vector<float> x(5000), y(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1021) / 7;
  const Fma<float> p{x.data(), y.data(), -0.99999f, 0.0625f, static_cast<int64_t>(x.size()), 77};
  fma_reference(p);
  EXPECT_TRUE(fma_check_large(p).ok());
  const float right = y[4999];
  y[4999] = std::nextafterf(right, 1e9f);
  EXPECT_EQ(fma_check_large(p).wrong, 1u);
  y[4999] = NAN;
  EXPECT_EQ(fma_check_large(p).wrong, 1u);
  y[4999] = right;
  EXPECT_TRUE(fma_check_large(p).ok());
}

TEST(Day16Properties, AreCompleteAndPlausible) {
  std::map<std::string, std::variant<int64_t, double, bool, std::string>> values;
  for (const Property& p : device_properties()) {
    const std::string key = p.group + "." + p.key;
    EXPECT_TRUE(values.emplace(key, p.value).second) << key << " is there twice";
    EXPECT_FALSE(p.label.empty());
    if (const int64_t* number = std::get_if<int64_t>(&p.value)) {
      EXPECT_GE(*number, 0) << key;
    }
  }
  EXPECT_FALSE(std::get<std::string>(values["device.name"]).empty());
  EXPECT_TRUE(std::holds_alternative<bool>(values["device.ecc"]));
  EXPECT_EQ(std::get<int64_t>(values["compute.warp_size"]), 32);
  EXPECT_GE(std::get<int64_t>(values["compute.multiprocessors"]), 1);
  EXPECT_GE(std::get<int64_t>(values["compute.max_threads_per_block"]), 1024);
  EXPECT_GT(std::get<int64_t>(values["memory.total_bytes"]), int64_t{1} << 28);
  EXPECT_GT(std::get<int64_t>(values["memory.l2_bytes"]), 0);
  EXPECT_EQ(values.count("derived.fp32_tflops"), days::current_device().simt ? 0u : 1u);
}

TEST(Day16Properties, TextFits80ColumnsAndJsonIsBalanced) {
  const std::vector<Property> list = {{"device", "name", "name", std::string("a \"quoted\\\" name")},
                                      {"device", "ecc", "ECC", true},
                                      {"memory", "bytes", "memory", int64_t{1536}, Unit::kBytes},
                                      {"memory", "rate", "rate", 4916.7, Unit::kGigabytesPerSecond}};
  EXPECT_EQ(as_json(list),
            "{\n  \"device\": {\n    \"name\": \"a \\\"quoted\\\\\\\" name\",\n    \"ecc\": true\n  },\n"
            "  \"memory\": {\n    \"bytes\": 1536,\n    \"rate\": 4916.7\n  }\n}");
  EXPECT_EQ(as_json({}), "{}");
  const std::string text = as_text(device_properties());
  for (size_t start = 0; start < text.size();) {
    const size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 80u) << text.substr(start, end - start);
    start = end + 1;
  }
  EXPECT_NE(as_text(list).find("1.5 KiB"), std::string::npos);
}

TEST(Day16Roofline, IsTheLesserOfSlopeAndRoof) {
  const Roofline roofline{
      "a <device> & more", "", {"copy", 4000}, {{"FFMA", 60000}, {"mma", 600000}}, {{"add", 1.0 / 12}}};
  EXPECT_DOUBLE_EQ(ridge(roofline, roofline.rates[0]), 15);
  EXPECT_DOUBLE_EQ(ridge(roofline, roofline.rates[1]), 150);
  EXPECT_DOUBLE_EQ(attainable(roofline, 1.0 / 12), 4000.0 / 12);
  EXPECT_DOUBLE_EQ(attainable(roofline, 15), 60000);
  EXPECT_DOUBLE_EQ(attainable(roofline, 100), 60000);

  const std::string svg = roofline_svg(roofline);
  EXPECT_EQ(svg.find("<device>"), std::string::npos) << "text must be escaped";
  for (const char* part : {"4000 GB/s", "60.0 TFLOP/s", "600 TFLOP/s", "333 GFLOP/s", "ridge: 15.0"}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_THROW(roofline_svg({"", "", {"copy", 4000}, {}, {}}), std::invalid_argument);
  EXPECT_THROW(roofline_svg({"", "", {"copy", 0}, {{"FFMA", 1}}, {}}), std::invalid_argument);
  EXPECT_THROW(roofline_svg({"", "", {"copy", 1}, {{"FFMA", -1}}, {}}), std::invalid_argument);
}

TEST(Day16HostLimits, ArePlausible) {
  const HostLimits limits = measure_host();
  EXPECT_GE(limits.threads, 1);
  EXPECT_GT(limits.copy_gb_per_s, 0.1);
  EXPECT_LT(limits.copy_gb_per_s, 1e5);
  EXPECT_GT(limits.fma_gflops, 0.1);
  EXPECT_LT(limits.fma_gflops, 1e6);
}

}  // namespace
}  // namespace day16
