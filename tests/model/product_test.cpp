// SPDX-License-Identifier: MIT
//
// model/product.h: every path against loops in double, on small odd shapes with gaps between rows; what must be refused; and wrong
// products, which the comparison must notice.
#include "model/product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/graph.h"
#include "common/random.h"
#include "tests/model/product_wrong.h"

namespace model {
namespace {

using days::DeviceBuffer;

// A problem of the tests: sizes, and how far rows and matrices lie apart beyond what they need.
struct Case {
  int m, n, k;
  Op op_a = Op::kN, op_b = Op::kN;
  Epilogue epilogue = Epilogue::kNone;
  int batch = 1;
  int gap_a = 0, gap_b = 0, gap_c = 0;  // elements behind each row
  bool shared_b = false;                // one b for all problems
  bool beside = false;                  // problems of c lie beside one another in its rows
  bool adds = false, keeps = true;
  bool in_place = false;  // the residual is c
  float alpha = 1;
  Path path = Path::kSimple;
  int split = 1;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << name_of(c.path) << ' ' << c.m << " x " << c.n << " x " << c.k << ' '
             << (c.op_a == Op::kN ? 'N' : 'T') << (c.op_b == Op::kN ? 'N' : 'T') << ", epilogue "
             << static_cast<int>(c.epilogue) << ", batch " << c.batch << ", gaps " << c.gap_a << ' '
             << c.gap_b << ' ' << c.gap_c << ", split " << c.split << (c.adds ? ", adds" : "")
             << (c.shared_b ? ", shared b" : "") << (c.beside ? ", beside" : "") << ", alpha " << c.alpha;
}

// A matrix of each problem, on both sides. What lies between rows is NaN before and must be so after.
template <class T>
struct Operand {
  int rows, cols;
  int64_t pitch, stride;
  std::vector<T> host;
  DeviceBuffer<T> device;

  Operand(int batch, int rows_, int cols_, int gap, bool beside, double scale, uint64_t seed)
      : rows(rows_), cols(cols_) {
    pitch = beside ? int64_t{batch} * cols + gap : cols + gap;
    stride = beside ? cols : rows * pitch + (gap > 0 ? 8 : 0);
    const int64_t size = batch == 0 ? 0 : (batch - 1) * stride + (rows - 1) * pitch + cols;
    host.assign(static_cast<size_t>(size > 0 ? size : 0), days::from_float<T>(NAN));
    for (int z = 0; z < batch; ++z)
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j)
          host[at(z, i, j)] = days::from_float<T>(
              static_cast<float>(scale) *
              days::normal(seed, static_cast<uint64_t>((int64_t{z} * rows + i) * cols + j)));
    device = DeviceBuffer<T>(host);
  }
  size_t at(int z, int i, int j) const { return static_cast<size_t>(z * stride + i * pitch + j); }
  double get(int z, int i, int j) const { return days::to_double(host[at(z, i, j)]); }
  Matrix<T> matrix() const { return {device.data(), pitch, stride}; }
  Matrix<const T> input() const { return {device.data(), pitch, stride}; }
  // What is wrong beyond the elements themselves: a gap that changed, a guard band.
  std::string damage(int batch, const std::vector<T>& now) const {
    std::vector<bool> mine(host.size());
    for (int z = 0; z < batch; ++z)
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j) mine[at(z, i, j)] = true;
    for (size_t i = 0; i < host.size(); ++i)
      if (!mine[i] && std::memcmp(&now[i], &host[i], sizeof(T)) != 0)
        return "gap " + std::to_string(i) + " was written";
    return device.damage();
  }
};

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}
double gelu_slope(double x) {
  const double root = std::sqrt(2 / 3.14159265358979323846);
  const double t = std::tanh(root * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

template <class In, class Out>
using Launcher = std::function<void(const Product<In, Out>&, cudaStream_t)>;

// One case with its memory.
template <class In, class Out>
struct Problem {
  const Case c;
  Operand<In> a, b, bias, kept;
  Operand<Out> out, residual;
  Product<In, Out> p;
  DeviceBuffer<float> workspace;

  explicit Problem(const Case& given)
      : c(given),
        a(c.batch, c.op_a == Op::kN ? c.m : c.k, c.op_a == Op::kN ? c.k : c.m, c.gap_a, false, 1, 1),
        b(c.shared_b ? 1 : c.batch, c.op_b == Op::kN ? c.k : c.n, c.op_b == Op::kN ? c.n : c.k, c.gap_b,
          false, 1, 2),
        bias(1, 1, c.n, 0, false, 2, 3),
        kept(c.batch, c.m, c.n, c.gap_c, false, 1.5, 4),
        out(c.batch, c.m, c.n, c.gap_c, c.beside, 3, 5),
        residual(c.batch, c.m, c.n, c.gap_c, false, 3, 6) {
    p.a = a.input(), p.b = b.input(), p.c = out.matrix();
    if (c.shared_b) p.b.stride = 0;
    p.m = c.m, p.n = c.n, p.k = c.k, p.op_a = c.op_a, p.op_b = c.op_b;
    p.batch = c.batch, p.alpha = c.alpha, p.adds = c.adds, p.epilogue = c.epilogue;
    p.bias = bias.device.data();
    if (c.keeps || c.epilogue != Epilogue::kBiasGelu) p.kept = kept.matrix();
    p.residual = c.in_place ? out.input() : residual.input();
    p.path = c.path, p.split = c.split;
    const size_t bytes = workspace_of(p);
    workspace = DeviceBuffer<float>(bytes / 4);
    p.workspace = {workspace.data(), bytes};
    if (!c.adds && !c.in_place) poison();
  }
  // Results that nobody reads are NaN before.
  void poison() {
    out.device.poison();
    for (int z = 0; z < c.batch; ++z)
      for (int i = 0; i < c.m; ++i)
        for (int j = 0; j < c.n; ++j) out.host[out.at(z, i, j)] = days::from_float<Out>(NAN);
    out.device.upload(out.host);
  }

  // What is wrong with the results, or "".
  std::string wrong() const {
    const std::vector<Out> got = out.device.download();
    const std::vector<In> got_kept = kept.device.download();
    for (const std::string& damage :
         {out.damage(c.batch, got), kept.damage(c.batch, got_kept), workspace.damage()})
      if (!damage.empty()) return damage;
    const bool writes_kept = c.epilogue == Epilogue::kBiasGelu && c.keeps;
    const double half_in = days::TypeInfo<In>::kEpsilon, half_out = days::TypeInfo<Out>::kEpsilon;
    for (int z = 0; z < c.batch; ++z) {
      for (int i = 0; i < c.m; ++i) {
        for (int j = 0; j < c.n; ++j) {
          double x = 0, size = 0;  // size: of all that is added up
          for (int l = 0; l < c.k; ++l) {
            const double left = c.op_a == Op::kN ? a.get(z, i, l) : a.get(z, l, i);
            const int zb = c.shared_b ? 0 : z;
            const double right = c.op_b == Op::kN ? b.get(zb, l, j) : b.get(zb, j, l);
            x += left * right;
            size += std::abs(left * right);
          }
          x *= static_cast<double>(c.alpha);
          size *= std::abs(static_cast<double>(c.alpha));
          const auto plus = [&](double value) {
            x += value;
            size += std::abs(value);
          };
          double more = 0;  // of the allowance
          switch (c.epilogue) {
            case Epilogue::kNone:
              break;
            case Epilogue::kBias:
              plus(bias.get(0, 0, j));
              break;
            case Epilogue::kBiasGelu: {
              plus(bias.get(0, 0, j));
              const double z_kept = days::to_double(got_kept[kept.at(z, i, j)]);
              if (writes_kept) {
                const double off = std::abs(z_kept - x);
                if (!(off <= 0x1p-20 * size + half_in * std::abs(x))) return told("kept", z, i, j, z_kept, x);
                x = gelu(z_kept);  // of what is kept, to the last digits
                size = std::abs(z_kept);
              } else {
                more = 1.2 * half_in * std::abs(x);
                x = gelu(x);
              }
              break;
            }
            case Epilogue::kGeluSlope:
              x *= gelu_slope(kept.get(z, i, j));
              break;
            case Epilogue::kResidual:
            case Epilogue::kBiasResidual:
              if (c.epilogue == Epilogue::kBiasResidual) plus(bias.get(0, 0, j));
              plus(c.in_place ? out.get(z, i, j) : residual.get(z, i, j));
              break;
          }
          if (c.adds) plus(out.get(z, i, j));
          const double value = days::to_double(got[out.at(z, i, j)]);
          if (!(std::abs(value - x) <= 0x1p-20 * size + half_out * std::abs(x) + more))
            return told("c", z, i, j, value, x);
        }
      }
    }
    if (!writes_kept && std::memcmp(got_kept.data(), kept.host.data(), got_kept.size() * sizeof(In)) != 0)
      return "kept was written";
    return "";
  }
  static std::string told(const char* name, int z, int i, int j, double got, double want) {
    std::ostringstream text;
    text << name << '[' << z << ',' << i << ',' << j << "] is " << got << ", not " << want;
    return text.str();
  }
};

template <class In, class Out>
std::string outcome(const Case& c, const Launcher<In, Out>& launch = multiply<In, Out>) {
  const Problem<In, Out> run(c);
  launch(run.p, nullptr);
  CUDA_CHECK(cudaDeviceSynchronize());
  return run.wrong();
}

constexpr Epilogue kEpilogues[] = {Epilogue::kNone,      Epilogue::kBias,     Epilogue::kBiasGelu,
                                   Epilogue::kGeluSlope, Epilogue::kResidual, Epilogue::kBiasResidual};

// What the device that is here lacks for a path, or "".
std::string lacks(Path path) {
  if (path == Path::kMma && target_here().sm < 80) return "needs sm_80";
  if (path == Path::kWgmma && target_here().sm != 90) return "needs sm_90";
  return "";
}

// Every op with every epilogue, and the rest in turn. `whole`: rows of a and b begin at multiples of 16 bytes, else anywhere.
template <class In, class Out>
void expect_right(Path path, bool whole, const std::vector<std::vector<int>>& shapes) {
  if (!lacks(path).empty()) GTEST_SKIP() << lacks(path);
  constexpr int kEach = 16 / sizeof(In);
  constexpr bool kAdds = sizeof(Out) == 4;
  size_t turn = sizeof(In) + sizeof(Out);
  for (const Epilogue epilogue : kEpilogues) {
    for (int ops = 0; ops < 4; ++ops, ++turn) {
      const std::vector<int>& shape = shapes[turn % shapes.size()];
      Case c{.m = shape[0], .n = shape[1], .k = shape[2]};
      c.op_a = ops % 2 ? Op::kT : Op::kN, c.op_b = ops / 2 ? Op::kT : Op::kN;
      c.epilogue = epilogue, c.path = path;
      c.batch = turn % 3 == 0 ? 3 : 1;
      c.shared_b = turn % 6 == 3, c.beside = turn % 6 == 0;
      c.adds = kAdds && turn % 2 == 0, c.keeps = turn % 5 != 0;
      c.in_place = turn % 4 == 1 && !c.beside &&
                   (epilogue == Epilogue::kResidual || epilogue == Epilogue::kBiasResidual);
      c.alpha = turn % 5 == 2 ? -0.75f : 1.0f;
      c.split = turn % 7 == 3 ? 2 : turn % 7 == 5 ? 3 : 1;
      const int a = c.op_a == Op::kN ? c.k : c.m, b = c.op_b == Op::kN ? c.n : c.k;
      c.gap_a = whole ? (kEach - a % kEach) % kEach + (turn % 2) * kEach : static_cast<int>(turn % 3);
      c.gap_b = whole ? (kEach - b % kEach) % kEach + (turn % 3 == 1) * kEach : static_cast<int>(turn % 2);
      c.gap_c = turn % 4 == 0 ? (kEach - c.n % kEach) % kEach : static_cast<int>(turn % 4) - 1;
      SCOPED_TRACE(::testing::Message() << c);
      EXPECT_EQ((outcome<In, Out>(c)), "");
    }
  }
}

const std::vector<std::vector<int>> kSmall = {{1, 1, 1},     {3, 5, 7},     {17, 33, 65},
                                              {64, 64, 64},  {65, 130, 70}, {31, 66, 200},
                                              {66, 24, 136}, {127, 8, 130}, {2, 129, 31}};

TEST(Product, SimpleFp32) {
  expect_right<float, float>(Path::kSimple, false, kSmall);
}
TEST(Product, SimpleFp16) {
  expect_right<half, half>(Path::kSimple, false, kSmall);
}
TEST(Product, SimpleFp16ToFp32) {
  expect_right<half, float>(Path::kSimple, true, kSmall);
}
TEST(Product, SimpleBf16) {
  expect_right<bf16, bf16>(Path::kSimple, true, kSmall);
}
TEST(Product, SimpleBf16ToFp32) {
  expect_right<bf16, float>(Path::kSimple, false, kSmall);
}

const std::vector<std::vector<int>> kTiles = {{1, 1, 1},      {3, 5, 7},     {17, 33, 65},
                                              {64, 64, 64},   {129, 40, 33}, {31, 258, 97},
                                              {130, 66, 136}, {8, 264, 200}, {66, 72, 650}};

TEST(Product, Ffma) {
  expect_right<float, float>(Path::kFfma, false, kTiles);
}
// Large blocks, of whole tiles and of others.
TEST(Product, FfmaOfEveryOp) {
  const int processors = target_here().multiprocessors;
  for (const Op a : {Op::kN, Op::kT}) {
    for (const Op b : {Op::kN, Op::kT}) {
      Case c{.m = 130, .n = 258, .k = 64, .op_a = a, .op_b = b, .epilogue = Epilogue::kBias};
      c.path = Path::kFfma, c.batch = days::ceil_div(processors, 4);
      c.gap_a = c.op_a == Op::kN ? 0 : 2, c.gap_b = c.op_b == Op::kN ? 2 : 0;
      EXPECT_EQ((outcome<float, float>(c)), "");
    }
  }
}

TEST(Product, MmaFp16) {
  expect_right<half, half>(Path::kMma, true, kTiles);
}
TEST(Product, MmaFp16ToFp32) {
  expect_right<half, float>(Path::kMma, true, kTiles);
}
TEST(Product, MmaBf16) {
  expect_right<bf16, bf16>(Path::kMma, true, kTiles);
}
TEST(Product, MmaBf16ToFp32) {
  expect_right<bf16, float>(Path::kMma, true, kTiles);
}

TEST(Product, WgmmaFp16) {
  expect_right<half, half>(Path::kWgmma, true, kTiles);
}
TEST(Product, WgmmaFp16ToFp32) {
  expect_right<half, float>(Path::kWgmma, true, kTiles);
}
TEST(Product, WgmmaBf16) {
  expect_right<bf16, bf16>(Path::kWgmma, true, kTiles);
}
TEST(Product, WgmmaBf16ToFp32) {
  expect_right<bf16, float>(Path::kWgmma, true, kTiles);
}

// More tiles than multiprocessors, so that a block takes several, and goes on in the middle of its ring.
TEST(Product, WgmmaTileAfterTile) {
  if (!lacks(Path::kWgmma).empty()) GTEST_SKIP() << lacks(Path::kWgmma);
  const int batch = 2 * target_here().multiprocessors + 3;
  Case c{.m = 5, .n = 9, .k = 200, .epilogue = Epilogue::kResidual, .batch = batch};
  c.gap_b = 7, c.path = Path::kWgmma;
  EXPECT_EQ((outcome<bf16, bf16>(c)), "");
  c.split = 2, c.op_a = Op::kT, c.gap_a = 3, c.shared_b = true;
  EXPECT_EQ((outcome<half, float>(c)), "");
}

TEST(Product, AutomaticOfWhateverIsHere) {
  EXPECT_EQ((outcome<bf16, float>({.m = 70, .n = 40, .k = 96, .path = Path::kAutomatic, .split = 0})), "");
  EXPECT_EQ((outcome<float, float>(
                {.m = 70, .n = 40, .k = 300, .adds = true, .path = Path::kAutomatic, .split = 0})),
            "");
  EXPECT_EQ((outcome<half, half>({.m = 9, .n = 11, .k = 13, .path = Path::kAutomatic, .split = 0})), "");
}

// Without m or n there is nothing to write; without k the epilogue is all there is.
TEST(Product, SizesOfZero) {
  for (const Epilogue epilogue : kEpilogues) {
    for (const bool adds : {false, true}) {
      EXPECT_EQ((outcome<bf16, float>({.m = 5,
                                       .n = 9,
                                       .k = 0,
                                       .epilogue = epilogue,
                                       .gap_c = 3,
                                       .adds = adds,
                                       .path = Path::kAutomatic,
                                       .split = 0})),
                "");
    }
    EXPECT_EQ((outcome<bf16, bf16>(
                  {.m = 0, .n = 9, .k = 7, .epilogue = epilogue, .path = Path::kAutomatic, .split = 0})),
              "");
    EXPECT_EQ((outcome<bf16, bf16>(
                  {.m = 5, .n = 0, .k = 7, .epilogue = epilogue, .path = Path::kAutomatic, .split = 0})),
              "");
  }
  Product<float> nothing;
  nothing.batch = 0, nothing.m = nothing.n = nothing.k = 7;
  EXPECT_NO_THROW(multiply(nothing, nullptr));
  Product<float> no_k{.c = {nullptr, 4}, .m = 4, .n = 4};
  EXPECT_THROW(multiply(no_k, nullptr), std::invalid_argument);
}

// Arguments of GELU at which a power, a square or a difference could go wrong.
TEST(Product, GeluOfEveryMagnitude) {
  std::vector<float> x = {0,      -0.0f, 1e-30f, -1e-30f, 1e-4f,  0.5f,  -0.5f, 1,      -1,
                          3,      -3,    5,      -5,      9,      -9,    15.9f, -15.9f, 16.1f,
                          -16.1f, 40,    -40,    1e10f,   -1e10f, 1e25f, -1e25f};
  const int n = static_cast<int>(x.size());
  const DeviceBuffer<float> kept(x), out(x.size());
  Product<float> p{
      .c = {out.data(), n}, .m = 1, .n = n, .epilogue = Epilogue::kBiasGelu, .bias = kept.data()};
  multiply(p, nullptr);
  std::vector<float> got = out.download();
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = gelu(static_cast<double>(x[i]));
    EXPECT_NEAR(static_cast<double>(got[i]), want,
                1e-6 * std::max(std::abs(static_cast<double>(x[i])), 1e-30))
        << x[i];
  }
  // The slope, of products that are 1.
  const DeviceBuffer<float> ones(std::vector<float>(x.size(), 1.0f));
  p = {.a = {ones.data(), 1}, .b = {ones.data(), n}, .c = {out.data(), n}, .m = 1, .n = n, .k = 1};
  p.epilogue = Epilogue::kGeluSlope, p.kept = {kept.data(), n};
  multiply(p, nullptr);
  got = out.download();
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(static_cast<double>(got[i]), gelu_slope(static_cast<double>(x[i])), 1e-6) << x[i];
  // NaN stays NaN.
  const DeviceBuffer<float> nans(std::vector<float>(1, NAN));
  p.kept.data = nans.data(), p.n = 1;
  multiply(p, nullptr);
  EXPECT_TRUE(std::isnan(out.download()[0]));
}

// Orders of threads that a GPU could take: the same bits in each.
template <class In, class Out>
bool same_bits(const Case& c, const Launcher<In, Out>& launch) {
  std::vector<Out> first;
  for (int turn = 0; turn < 6; ++turn) {
    const Problem<In, Out> run(c);
#ifdef __SIMT__
    simt::set_order(turn % 3 == 0   ? simt::Order::normal
                    : turn % 3 == 1 ? simt::Order::reversed
                                    : simt::Order::shuffle);
#endif
    launch(run.p, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
#ifdef __SIMT__
    simt::reset_order();
#endif
    const std::vector<Out> got = run.out.device.download();
    if (turn == 0) first = got;
    if (std::memcmp(first.data(), got.data(), got.size() * sizeof(Out)) != 0) return false;
  }
  return true;
}

TEST(Product, SameBitsInEveryRun) {
  EXPECT_TRUE((same_bits<float, float>({.m = 40, .n = 24, .k = 330, .adds = true, .split = 5},
                                       multiply<float, float>)));
  EXPECT_TRUE((same_bits<bf16, float>({.m = 40, .n = 24, .k = 330, .split = 5}, multiply<bf16, float>)));
  for (const Path path : {Path::kMma, Path::kWgmma}) {
    if (!lacks(path).empty()) continue;
    const Case c{.m = 40, .n = 24, .k = 336, .path = path, .split = 3};
    EXPECT_TRUE((same_bits<bf16, float>(c, multiply<bf16, float>))) << name_of(path);
  }
}

TEST(Product, CapturedIntoAGraph) {
  const Case c{
      .m = 70, .n = 72, .k = 136, .epilogue = Epilogue::kBiasGelu, .path = Path::kAutomatic, .split = 2};
  Problem<bf16, bf16> run(c);
  cudaStream_t stream;
  CUDA_CHECK(cudaStreamCreate(&stream));
  {
    const days::Graph graph(stream, [&] { multiply(run.p, stream); });
    for (int time = 0; time < 2; ++time) {
      run.poison();
      graph.launch(stream);
      CUDA_CHECK(cudaStreamSynchronize(stream));
      EXPECT_EQ(run.wrong(), "");
    }
  }
  CUDA_CHECK(cudaStreamDestroy(stream));
}

// Wrong products. Each is what its name says, and the comparison must say so.
template <class In, class Out, class Change>
Launcher<In, Out> changed(const Change& change) {
  return [change](Product<In, Out> p, cudaStream_t stream) {
    change(p);
    multiply(p, stream);
  };
}

TEST(WrongProduct, IgnoresATransposedA) {
  const auto wrong = changed<float, float>([](auto& p) { p.op_a = Op::kN; });
  EXPECT_NE((outcome<float, float>({.m = 24, .n = 16, .k = 24, .op_a = Op::kT}, wrong)), "");
}
TEST(WrongProduct, IgnoresATransposedB) {
  const auto wrong = changed<bf16, float>([](auto& p) { p.op_b = Op::kN; });
  EXPECT_NE((outcome<bf16, float>({.m = 24, .n = 24, .k = 24, .op_b = Op::kT}, wrong)), "");
}
TEST(WrongProduct, IgnoresAPitch) {
  for (const int which : {0, 1, 2}) {
    const auto wrong = changed<half, half>([&](auto& p) {
      if (which == 0) p.a.pitch = p.k;
      if (which == 1) p.b.pitch = p.n;
      if (which == 2) p.c.pitch = p.n;
    });
    EXPECT_NE((outcome<half, half>({.m = 24, .n = 16, .k = 32, .gap_a = 8, .gap_b = 8, .gap_c = 8}, wrong)),
              "")
        << which;
  }
}
TEST(WrongProduct, OverwritesWhatItShouldAddTo) {
  const auto wrong = changed<float, float>([](auto& p) { p.adds = false; });
  EXPECT_NE((outcome<float, float>({.m = 24, .n = 16, .k = 32, .adds = true}, wrong)), "");
}
TEST(WrongProduct, AddsToWhatItShouldOverwrite) {
  const auto wrong = changed<float, float>([](auto& p) { p.adds = true; });
  EXPECT_NE((outcome<float, float>({.m = 24, .n = 16, .k = 32}, wrong)), "");
}
TEST(WrongProduct, HasAnotherStride) {
  for (const int which : {0, 1, 2}) {
    const auto wrong = changed<half, half>([&](auto& p) {
      if (which == 0) p.a.stride = 0;
      if (which == 1) p.b.stride = p.n;
      if (which == 2) p.batch = 1;
    });
    EXPECT_NE((outcome<half, half>({.m = 24, .n = 16, .k = 32, .batch = 2}, wrong)), "") << which;
  }
}
// The slope at what GELU gave instead of at what it was given, and GELU's value kept instead of its argument.
TEST(WrongProduct, TakesGeluOfTheOutput) {
  const Launcher<float, float> slope = [](Product<float> p, cudaStream_t stream) {
    std::vector<float> kept(static_cast<size_t>(p.m) * static_cast<size_t>(p.n));
    CUDA_CHECK(cudaMemcpy(kept.data(), p.kept.data, kept.size() * 4, cudaMemcpyDeviceToHost));
    for (float& x : kept) x = static_cast<float>(gelu(static_cast<double>(x)));
    const DeviceBuffer<float> outputs(kept);
    p.kept.data = outputs.data();
    multiply(p, stream);
    CUDA_CHECK(cudaDeviceSynchronize());
  };
  EXPECT_NE((outcome<float, float>({.m = 24, .n = 16, .k = 32, .epilogue = Epilogue::kGeluSlope}, slope)),
            "");
  const Launcher<float, float> keeps = [](const Product<float>& p, cudaStream_t stream) {
    multiply(p, stream);
    CUDA_CHECK(cudaMemcpy(p.kept.data, p.c.data, static_cast<size_t>(p.m) * static_cast<size_t>(p.n) * 4,
                          cudaMemcpyDeviceToDevice));
  };
  EXPECT_NE((outcome<float, float>({.m = 24, .n = 16, .k = 32, .epilogue = Epilogue::kBiasGelu}, keeps)), "");
}
TEST(WrongProduct, DropsTheLastPartOfK) {
  const auto wrong = changed<float, float>([](auto& p) { p.k -= 1; });
  EXPECT_NE((outcome<float, float>({.m = 24, .n = 16, .k = 130, .split = 3}, wrong)), "");
}
TEST(WrongProduct, AddsPartsAsTheyCome) {
  const Case c{.m = 16, .n = 24, .k = 640, .split = 5};
  EXPECT_EQ((outcome<float, float>(c, wrong_atomics)), "");  // right, but for its order
  EXPECT_FALSE((same_bits<float, float>(c, wrong_atomics)));
}

// The message of what multiply() throws, or of what plan_of() does where there is no memory to multiply.
template <class In, class Out, class Change>
std::string refusal(const Change& change, Case c = {.m = 8, .n = 16, .k = 24, .batch = 2}) {
  Problem<In, Out> run(c);
  change(run.p);
  std::string message = "taken";
  try {
    multiply(run.p, nullptr);
  } catch (const std::invalid_argument& error) {
    message = error.what();
  }
  CUDA_CHECK(cudaDeviceSynchronize());
  const std::vector<Out> now = run.out.device.download();
  if (std::memcmp(now.data(), run.out.host.data(), now.size() * sizeof(Out)) != 0) return "c was written";
  return message;
}
template <class Change>
std::string refusal(const Change& change) {
  return refusal<float, float>(change);
}

TEST(Product, RefusesWhatIsNoProduct) {
  EXPECT_EQ(refusal([](auto& p) { p.m = -3; }), "multiply: m must not be negative: -3");
  EXPECT_EQ(refusal([](auto& p) { p.n = -4; }), "multiply: n must not be negative: -4");
  EXPECT_EQ(refusal([](auto& p) { p.k = -5; }), "multiply: k must not be negative: -5");
  EXPECT_EQ(refusal([](auto& p) { p.batch = -1; }), "multiply: batch must not be negative: -1");
  EXPECT_EQ(refusal([](auto& p) { p.split = -2; }), "multiply: split must not be negative: -2");
  EXPECT_EQ(refusal([](auto& p) { p.a.data = nullptr; }), "multiply: a is null");
  EXPECT_EQ(refusal([](auto& p) { p.b.data = nullptr; }), "multiply: b is null");
  EXPECT_EQ(refusal([](auto& p) { p.c.data = nullptr; }), "multiply: c is null");
  EXPECT_EQ(refusal([](auto& p) { p.a.pitch = 23; }),
            "multiply: the pitch of a is at least a row's 24, not 23");
  EXPECT_EQ(refusal([](auto& p) { p.b.pitch = -1; }),
            "multiply: the pitch of b is at least a row's 16, not -1");
  EXPECT_EQ(refusal([](auto& p) { p.c.pitch = 15; }),
            "multiply: the pitch of c is at least a row's 16, not 15");
  EXPECT_EQ(refusal([](auto& p) { p.a.stride = -24; }), "multiply: the stride of a is 0 to 2^40, not -24");
  EXPECT_EQ(refusal([](auto& p) { p.c.stride = 127; }),
            "multiply: problems of the batch overlap in c: its stride is 127");
  EXPECT_EQ(refusal([](auto& p) { p.c.stride = 0; }),
            "multiply: problems of the batch overlap in c: its stride is 0");
  EXPECT_EQ(refusal([](auto& p) { p.epilogue = Epilogue::kBias, p.bias = nullptr; }),
            "multiply: bias is null");
  EXPECT_EQ(refusal([](auto& p) { p.epilogue = Epilogue::kGeluSlope, p.kept.data = nullptr; }),
            "multiply: kept is null");
  EXPECT_EQ(refusal([](auto& p) { p.epilogue = Epilogue::kResidual, p.residual.data = nullptr; }),
            "multiply: residual is null");
  EXPECT_EQ(refusal([](auto& p) { p.epilogue = Epilogue::kBiasGelu, p.kept.stride = 3; }),
            "multiply: problems of the batch overlap in kept: its stride is 3");
  EXPECT_EQ(refusal([](auto& p) { p.epilogue = Epilogue::kBiasGelu, p.kept = p.c; }),
            "multiply: c must not be kept");
  EXPECT_EQ(refusal([](auto& p) { p.a.data = p.c.data; }), "multiply: c must not be a or b");
  EXPECT_EQ(refusal([](auto& p) { p.epilogue = static_cast<Epilogue>(9); }),
            "multiply: there is no epilogue 9");
  EXPECT_EQ(refusal([](auto& p) { p.path = static_cast<Path>(77); }), "multiply: there is no path 77");
  EXPECT_EQ(refusal([](auto& p) { p.op_a = static_cast<Op>(5); }), "multiply: there is no op 5");
  EXPECT_EQ((refusal<bf16, bf16>([](auto& p) { p.adds = true; })),
            "multiply: adds to a c in fp32 alone; its elements have bytes 2");
}

TEST(Product, RefusesAPathThatDoesNotTakeIt) {
  const auto mma = [](auto& p) { p.path = Path::kMma; };
  EXPECT_EQ((refusal<float, float>(mma)),
            "multiply: the path mma needs half or bf16, not elements with bytes 4");
  if (!lacks(Path::kMma).empty()) GTEST_SKIP() << lacks(Path::kMma);
  EXPECT_EQ((refusal<bf16, bf16>([&](auto& p) { mma(p), p.a.pitch = 25; })),
            "multiply: the path mma needs a pitch of a that 8 divides, not 25");
  EXPECT_EQ((refusal<bf16, bf16>([&](auto& p) { mma(p), p.b.stride = 390; })),
            "multiply: the path mma needs a stride of b that 8 divides, not 390");
  EXPECT_EQ((refusal<half, half>([&](auto& p) { mma(p), p.b.data += 3; })),
            "multiply: the path mma needs an address of b that 16 divides; the rest is 6");
}

// Which kernel takes a problem on devices that are not here, and in how many parts.
TEST(Product, PlansForADevice) {
  const auto path = [](auto p, int sm) { return std::string(name_of(plan_of(p, {sm, 132}).path)); };
  Product<bf16> p{
      .a = {nullptr, 768}, .b = {nullptr, 768}, .c = {nullptr, 768}, .m = 512, .n = 768, .k = 768};
  EXPECT_EQ(path(p, 75), "simple");
  const Product<float> f{.a = {nullptr, 5}, .b = {nullptr, 5}, .c = {nullptr, 5}, .m = 5, .n = 5, .k = 5};
  EXPECT_EQ(path(f, 75), "ffma");
  EXPECT_EQ(path(f, 90), "ffma");
  EXPECT_EQ(path(p, 80), "mma");
  EXPECT_EQ(path(p, 86), "mma");
  EXPECT_EQ(path(p, 89), "mma");
  EXPECT_EQ(path(p, 90), "wgmma");
  EXPECT_EQ(path(p, 100), "mma");
  EXPECT_EQ(path(p, 120), "mma");
  p.a.pitch = 770;  // the copies of 16 bytes cannot
  EXPECT_EQ(path(p, 80), "simple");
  EXPECT_EQ(path(p, 90), "simple");
  p.a.pitch = 768, p.c.pitch = 769;  // the way out can
  EXPECT_EQ(path(p, 80), "mma");
  p.path = Path::kMma;
  EXPECT_THROW(static_cast<void>(plan_of(p, {75, 40})), std::invalid_argument);

  // A gradient of weights has few tiles and a long k; an activation has many tiles.
  Product<bf16, float> dw{.a = {nullptr, 768},
                          .b = {nullptr, 768},
                          .c = {nullptr, 768},
                          .m = 768,
                          .n = 768,
                          .k = 65536,
                          .op_a = Op::kT};
  const Plan plan = plan_of(dw, {80, 132});
  EXPECT_GE(plan.split, 4);
  EXPECT_EQ(plan.workspace, size_t{4} * 768 * 768 * static_cast<size_t>(plan.split));
  Product<bf16> y{
      .a = {nullptr, 768}, .b = {nullptr, 3072}, .c = {nullptr, 3072}, .m = 65536, .n = 3072, .k = 768};
  EXPECT_EQ(plan_of(y, {80, 132}).split, 1);
  EXPECT_EQ(plan_of(y, {80, 132}).workspace, 0u);
  // No part is empty, whatever is asked for.
  dw.k = 200, dw.split = 3;
  EXPECT_EQ(plan_of(dw, {80, 132}).split, 2);
}

TEST(Product, RefusesAShortWorkspace) {
  const Case c{.m = 8, .n = 16, .k = 192, .batch = 2, .split = 3};
  EXPECT_EQ((refusal<float, float>([](auto& p) { p.workspace.bytes -= 1; }, c)),
            "multiply: needs a workspace of bytes: 3072; it has 3071");
  EXPECT_EQ((refusal<float, float>([](auto& p) { p.workspace.data = nullptr; }, c)),
            "multiply: the workspace is null");
}

}  // namespace
}  // namespace model
