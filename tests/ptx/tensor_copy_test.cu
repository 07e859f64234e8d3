// SPDX-License-Identifier: MIT
//
// Bulk tensor copies: every swizzle against a formula, boxes that reach out of the tensor, one to five
// dimensions, element strides, stores, reductions, multicast, and what cuTensorMapEncodeTiled refuses. The
// same on a GPU of compute capability 9.0.

#include <cuda.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "common/ptx.h"
#include "tests/ptx/managed.h"

#ifdef __SIMT__
#include "simt/tests/reports.h"
#endif

namespace tensor_copy_test {

namespace ptx = days::ptx;

constexpr int kTileBytes = 16 * 1024;

using ptx_tests::managed;
using ptx_tests::require;

using Encode = decltype(&cuTensorMapEncodeTiled);
Encode encode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status;
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                             &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  return reinterpret_cast<Encode>(function);
}

// A tensor of this type, its boxes, and what may be asked for beyond.
struct Tensor {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  int element = 1;  // bytes
  std::vector<cuuint64_t> extents;
  std::vector<cuuint32_t> box;
  std::vector<cuuint32_t> element_strides = std::vector<cuuint32_t>(5, 1);
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  std::vector<cuuint64_t> strides() const {
    std::vector<cuuint64_t> s;
    cuuint64_t bytes = static_cast<cuuint64_t>(element);
    for (size_t i = 0; i + 1 < extents.size(); ++i) {
      bytes = (bytes * extents[i] + 15) / 16 * 16;
      s.push_back(bytes);
    }
    return s;
  }
  size_t bytes() const {
    return extents.size() == 1 ? extents[0] * static_cast<size_t>(element)
                               : strides().back() * extents.back();
  }
  CUresult map(void* data, CUtensorMap* to) const {
    std::vector<cuuint64_t> s = strides();
    s.reserve(1);  // a pointer to somewhere, although one dimension has no stride
    return encode()(to, type, static_cast<cuuint32_t>(extents.size()), data, extents.data(), s.data(),
                    box.data(), element_strides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                    CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  }
  uint32_t box_bytes() const {
    uint32_t b = static_cast<uint32_t>(element);
    for (size_t i = 0; i < box.size(); ++i)
      b *= i ? (box[i] + element_strides[i] - 1) / element_strides[i] : box[i];
    return b;
  }
};

struct At {
  int c[5];
};

// Loads a box and shows all of the tile, bytes that nothing wrote being 0xee.
template <int kRank>
__global__ void load_box(const __grid_constant__ CUtensorMap map, At at, uint32_t bytes, unsigned char* out) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ uint64_t arrived;
  for (int i = static_cast<int>(threadIdx.x); i < kTileBytes; i += static_cast<int>(blockDim.x))
    tile[i] = 0xee;
  if (threadIdx.x == 0) ptx::mbarrier_init(&arrived, 1);
  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::prefetch_tensormap(&map);
    ptx::mbarrier_arrive_expect_tx(&arrived, bytes);
    const int* c = at.c;
    if constexpr (kRank == 1) ptx::cp_async_bulk_tensor(tile, &map, c[0], &arrived);
    if constexpr (kRank == 2) ptx::cp_async_bulk_tensor(tile, &map, c[0], c[1], &arrived);
    if constexpr (kRank == 3) ptx::cp_async_bulk_tensor(tile, &map, c[0], c[1], c[2], &arrived);
    if constexpr (kRank == 4) ptx::cp_async_bulk_tensor(tile, &map, c[0], c[1], c[2], c[3], &arrived);
    if constexpr (kRank == 5) ptx::cp_async_bulk_tensor(tile, &map, c[0], c[1], c[2], c[3], c[4], &arrived);
  }
  ptx::mbarrier_wait(&arrived, 0);
  for (int i = static_cast<int>(threadIdx.x); i < kTileBytes; i += static_cast<int>(blockDim.x))
    out[i] = tile[i];
}

// The tile after a load of the box at `at`.
std::vector<unsigned char> loaded(const Tensor& tensor, void* data, At at) {
  alignas(64) CUtensorMap map;
  EXPECT_EQ(tensor.map(data, &map), CUDA_SUCCESS);
  auto* out = managed<unsigned char>(kTileBytes);
  const uint32_t bytes = tensor.box_bytes();
  switch (tensor.extents.size()) {
    case 1:
      load_box<1><<<1, 128, kTileBytes>>>(map, at, bytes, out);
      break;
    case 2:
      load_box<2><<<1, 128, kTileBytes>>>(map, at, bytes, out);
      break;
    case 3:
      load_box<3><<<1, 128, kTileBytes>>>(map, at, bytes, out);
      break;
    case 4:
      load_box<4><<<1, 128, kTileBytes>>>(map, at, bytes, out);
      break;
    case 5:
      load_box<5><<<1, 128, kTileBytes>>>(map, at, bytes, out);
      break;
  }
  require(cudaDeviceSynchronize());
  std::vector<unsigned char> tile(out, out + kTileBytes);
  cudaFree(out);
  return tile;
}

unsigned char* numbered(size_t bytes) {
  auto* data = managed<unsigned char>(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>((i * 7 + i / 251) % 239);
  return data;
}

// Where byte x of row y stands: 16-byte pieces are moved by the number of their 128 bytes.
size_t place(size_t y, size_t x, CUtensorMapSwizzle swizzle, size_t row_bytes) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B:
      return y * 32 + ((x / 16) ^ (y / 4 % 2)) * 16 + x % 16;
    case CU_TENSOR_MAP_SWIZZLE_64B:
      return y * 64 + ((x / 16) ^ (y / 2 % 4)) * 16 + x % 16;
    case CU_TENSOR_MAP_SWIZZLE_128B:
      return y * 128 + ((x / 16) ^ (y % 8)) * 16 + x % 16;
    default:
      return y * row_bytes + x;
  }
}

TEST(TensorCopies, Swizzles) {
  const struct {
    CUtensorMapSwizzle swizzle;
    cuuint32_t width;
  } cases[] = {{CU_TENSOR_MAP_SWIZZLE_NONE, 48}, {CU_TENSOR_MAP_SWIZZLE_32B, 16},
               {CU_TENSOR_MAP_SWIZZLE_32B, 32},  {CU_TENSOR_MAP_SWIZZLE_64B, 64},
               {CU_TENSOR_MAP_SWIZZLE_64B, 32},  {CU_TENSOR_MAP_SWIZZLE_128B, 128},
               {CU_TENSOR_MAP_SWIZZLE_128B, 48}};
  for (const auto& c : cases) {
    Tensor tensor;
    tensor.extents = {160, 40};
    tensor.box = {c.width, 24};
    tensor.swizzle = c.swizzle;
    unsigned char* data = numbered(tensor.bytes());
    const std::vector<unsigned char> tile = loaded(tensor, data, {{16, 5}});
    std::vector<unsigned char> expected(kTileBytes, 0xee);
    for (size_t y = 0; y < 24; ++y)
      for (size_t x = 0; x < c.width; ++x)
        expected[place(y, x, c.swizzle, c.width)] = data[(y + 5) * 160 + x + 16];
    EXPECT_EQ(tile, expected) << "swizzle " << c.swizzle << ", rows of " << c.width;
    cudaFree(data);
  }
}

TEST(TensorCopies, BoxesBeyondTheTensor) {
  for (const At at : {At{{-8, -2}}, At{{56, 9}}, At{{-104, 0}}, At{{0, 50}}}) {
    for (bool nan : {false, true}) {
      Tensor tensor;
      tensor.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
      tensor.element = 2;
      tensor.extents = {67, 13};  // rows end in the middle of 16 bytes
      tensor.box = {24, 6};
      if (nan) tensor.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
      unsigned char* data = numbered(tensor.bytes());
      const std::vector<unsigned char> tile = loaded(tensor, data, at);
      for (int y = 0; y < 6; ++y) {
        for (int x = 0; x < 24; ++x) {
          const int gx = at.c[0] + x, gy = at.c[1] + y;
          uint16_t got, expected = nan ? 0x7ff7 : 0;
          std::memcpy(&got, &tile[static_cast<size_t>((y * 24 + x) * 2)], 2);
          if (gx >= 0 && gx < 67 && gy >= 0 && gy < 13) std::memcpy(&expected, data + gy * 144 + gx * 2, 2);
          ASSERT_EQ(got, expected) << "(" << gx << ", " << gy << ")";
        }
      }
      cudaFree(data);
    }
  }
}

TEST(TensorCopies, OneToFiveDimensions) {
  const cuuint64_t extents[] = {32, 7, 5, 4, 3};
  const cuuint32_t box[] = {16, 3, 2, 3, 2};
  const int start[] = {16, 5, -1, 2, 1};
  for (size_t rank = 1; rank <= 5; ++rank) {
    Tensor tensor;
    tensor.extents.assign(extents, extents + rank);
    tensor.box.assign(box, box + rank);
    unsigned char* data = numbered(tensor.bytes());
    const std::vector<cuuint64_t> strides = tensor.strides();
    At at{};
    std::copy(start, start + rank, at.c);
    const std::vector<unsigned char> tile = loaded(tensor, data, at);
    for (uint32_t i = 0; i < tensor.box_bytes(); ++i) {
      uint32_t rest = i;
      size_t from = 0;
      bool inside = true;
      for (size_t d = 0; d < rank; ++d) {
        const int index = at.c[d] + static_cast<int>(rest % box[d]);
        rest /= box[d];
        inside = inside && index >= 0 && index < static_cast<int>(extents[d]);
        from += static_cast<size_t>(index) * (d ? strides[d - 1] : 1);
      }
      ASSERT_EQ(tile[i], inside ? data[from] : 0) << rank << " dimensions, byte " << i;
    }
    cudaFree(data);
  }
}

TEST(TensorCopies, ElementStrides) {
  Tensor tensor;
  tensor.extents = {64, 64};
  tensor.box = {16, 7};
  tensor.element_strides = {2, 3, 1, 1, 1};  // that of the innermost dimension is ignored
  unsigned char* data = numbered(tensor.bytes());
  const std::vector<unsigned char> tile = loaded(tensor, data, {{16, 2}});
  for (size_t i = 0; i < 48; ++i) ASSERT_EQ(tile[i], data[(2 + i / 16 * 3) * 64 + 16 + i % 16]);
  EXPECT_EQ(tile[48], 0xee);
  cudaFree(data);
}

TEST(TensorCopies, Tf32IsRounded) {
  Tensor tensor;
  tensor.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  tensor.element = 4;
  tensor.extents = {8};
  tensor.box = {8};
  auto* data = managed<uint32_t>(8);
  const uint32_t bits[] = {0x3f801fff, 0x3f801000, 0x3f802fff, 0x00400000,
                           0x80000001, 0x3f800fff, 0x7f800001, 0x3f803000};
  const uint32_t rounded[] = {0x3f802000, 0x3f800000, 0x3f802000, 0x00400000,
                              0x80000000, 0x3f800000, 0x7fffe000, 0x3f804000};
  std::copy(bits, bits + 8, data);
  const std::vector<unsigned char> tile = loaded(tensor, data, {});
  EXPECT_EQ(std::memcmp(tile.data(), rounded, sizeof rounded), 0);
  cudaFree(data);
}

// ---- stores ----

template <bool kAdd>
__global__ void store_box(const __grid_constant__ CUtensorMap map, int x, int y, int elements) {
  extern __shared__ __align__(1024) unsigned char bytes[];
  auto* tile = reinterpret_cast<float*>(bytes);
  for (int i = static_cast<int>(threadIdx.x); i < elements; i += static_cast<int>(blockDim.x))
    tile[i] = static_cast<float>(i);
  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    if constexpr (kAdd) {
      ptx::cp_reduce_async_bulk_tensor_add(&map, tile, x, y);
    } else {
      ptx::cp_async_bulk_tensor_store(&map, tile, x, y);
    }
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group<0>();
  }
}

TEST(TensorCopies, StoresAndReductions) {
  for (const auto swizzle : {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_128B}) {
    for (bool add : {false, true}) {
      Tensor tensor;
      tensor.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
      tensor.element = 4;
      tensor.extents = {40, 20};
      tensor.box = {32, 16};
      tensor.swizzle = swizzle;
      auto* data = managed<float>(800);
      for (int i = 0; i < 800; ++i) data[i] = 0.5f;
      alignas(64) CUtensorMap map;
      ASSERT_EQ(tensor.map(data, &map), CUDA_SUCCESS);
      if (add) {
        store_box<true><<<1, 64, kTileBytes>>>(map, 20, -3, 512);
      } else {
        store_box<false><<<1, 64, kTileBytes>>>(map, 20, -3, 512);
      }
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      for (int gy = 0; gy < 20; ++gy) {
        for (int gx = 0; gx < 40; ++gx) {
          const int x = gx - 20, y = gy + 3;
          float expected = 0.5f;
          if (x >= 0 && y < 16) {
            const size_t at = place(static_cast<size_t>(y), static_cast<size_t>(x) * 4, swizzle, 128) / 4;
            expected = static_cast<float>(at) + (add ? 0.5f : 0);
          }
          ASSERT_EQ(data[gy * 40 + gx], expected) << "(" << gx << ", " << gy << ")";
        }
      }
      cudaFree(data);
    }
  }
}

// ---- to several blocks at once ----

__global__ __cluster_dims__(4) void multicast(const __grid_constant__ CUtensorMap map, unsigned char* out) {
  __shared__ __align__(128) unsigned char tile[2][128];
  __shared__ uint64_t arrived;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&arrived, 1);
    ptx::fence_mbarrier_init_release_cluster();
    ptx::mbarrier_arrive_expect_tx(&arrived, ptx::cluster_ctarank() == 2 ? 128 : 256);
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  const int block = static_cast<int>(blockIdx.x / 4);
  if (threadIdx.x == 0 && ptx::cluster_ctarank() == 1) {
    ptx::cp_async_bulk_tensor_multicast(tile[0], &map, 0, block, &arrived, 0xf);
    ptx::cp_async_bulk_tensor_multicast(tile[1], &map, 0, block + 1, &arrived, 0xb);  // not to rank 2
  }
  ptx::mbarrier_wait(&arrived, 0);
  if (ptx::cluster_ctarank() == 2) tile[1][threadIdx.x] = 0xee;
  for (int i = 0; i < 2; ++i) out[(blockIdx.x * 2 + i) * 128 + threadIdx.x] = tile[i][threadIdx.x];
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

TEST(TensorCopies, Multicast) {
  Tensor tensor;
  tensor.extents = {128, 3};
  tensor.box = {128, 1};
  unsigned char* data = numbered(tensor.bytes());
  auto* out = managed<unsigned char>(8 * 256);
  alignas(64) CUtensorMap map;
  ASSERT_EQ(tensor.map(data, &map), CUDA_SUCCESS);
  multicast<<<8, 128>>>(map, out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (int i = 0; i < 8 * 256; ++i) {
    const int block = i / 256, row = i / 128 % 2, x = i % 128;
    ASSERT_EQ(out[i], block % 4 == 2 && row == 1 ? 0xee : data[(block / 4 + row) * 128 + x]) << i;
  }
  cudaFree(data), cudaFree(out);
}

// ---- what the driver refuses ----

struct Arguments {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  cuuint32_t rank = 2;
  size_t address_offset = 0;
  cuuint64_t extents[5] = {64, 64, 1, 1, 1}, strides[5] = {256, 16384, 16384, 16384, 16384};
  cuuint32_t box[5] = {32, 8, 1, 1, 1}, element_strides[5] = {1, 1, 1, 1, 1};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};

template <class Change>
CUresult encoded(Change change) {
  static char* data = managed<char>(1 << 16);
  Arguments a;
  change(a);
  alignas(64) CUtensorMap map;
#ifdef __SIMT__
  testing::internal::CaptureStderr();
#endif
  const CUresult result = encode()(
      &map, a.type, a.rank, data + a.address_offset, a.extents, a.strides, a.box, a.element_strides,
      static_cast<CUtensorMapInterleave>(a.interleave), static_cast<CUtensorMapSwizzle>(a.swizzle),
      static_cast<CUtensorMapL2promotion>(a.promotion), static_cast<CUtensorMapFloatOOBfill>(a.fill));
#ifdef __SIMT__
  EXPECT_EQ(testing::internal::GetCapturedStderr().empty(), result == CUDA_SUCCESS)
      << "the reason is missing";
#endif
  return result;
}

#define EXPECT_ENCODED(change) EXPECT_EQ(encoded([](Arguments& a) { change; }), CUDA_SUCCESS) << #change
#define EXPECT_REFUSED(change) \
  EXPECT_EQ(encoded([](Arguments& a) { change; }), CUDA_ERROR_INVALID_VALUE) << #change

TEST(TensorMaps, WrongArgumentsAreRefused) {
  EXPECT_ENCODED(a.rank = 2);
  EXPECT_REFUSED(a.rank = 0);
  EXPECT_REFUSED(a.rank = 6);
  EXPECT_REFUSED(a.address_offset = 8);
  EXPECT_REFUSED(a.strides[0] = 8);
  EXPECT_ENCODED(a.strides[0] = 16);  // rows may overlap
  EXPECT_REFUSED(a.strides[0] = 1ull << 40);
  EXPECT_REFUSED(a.extents[0] = 0);
  EXPECT_ENCODED(a.extents[1] = 1ull << 32);
  EXPECT_REFUSED(a.extents[1] = (1ull << 32) + 1);
  EXPECT_REFUSED(a.box[1] = 0);
  EXPECT_ENCODED(a.box[1] = 256);
  EXPECT_REFUSED(a.box[1] = 257);
  EXPECT_REFUSED(a.box[0] = a.box[1] = 256);
  EXPECT_REFUSED(a.box[0] = 3);
  EXPECT_REFUSED(a.element_strides[1] = 0);
  EXPECT_ENCODED(a.element_strides[1] = 8);
  EXPECT_REFUSED(a.element_strides[1] = 9);
  EXPECT_REFUSED(a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
  EXPECT_REFUSED(a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
  EXPECT_ENCODED(a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B);
  EXPECT_REFUSED(a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B; a.box[0] = 64);
  EXPECT_REFUSED(a.swizzle = 9);
  EXPECT_REFUSED(a.promotion = 4);
  EXPECT_ENCODED(a.fill = 1);
  EXPECT_REFUSED(a.fill = 1; a.type = CU_TENSOR_MAP_DATA_TYPE_INT32);
  EXPECT_REFUSED(a.fill = 2);
  EXPECT_REFUSED(a.type = static_cast<CUtensorMapDataType>(99));
}

#ifdef __SIMT__

__global__ void misuse(const __grid_constant__ CUtensorMap map, int what) {
  __shared__ __align__(128) float tile[8][32];
  __shared__ uint64_t arrived;
  ptx::mbarrier_init(&arrived, 1);
  if (what == 0) ptx::cp_async_bulk_tensor(&tile[0][4], &map, 0, 0, &arrived);
  if (what == 1) ptx::cp_async_bulk_tensor(tile, &map, 0, 0, 0, &arrived);
  if (what == 2 || what == 3) ptx::cp_async_bulk_tensor(tile, &map, 0, 0, &arrived);
  if (what == 4) ptx::cp_async_bulk_tensor(tile, &map, -3, 0, &arrived);
  if (what == 5) ptx::cp_async_bulk_tensor_store(&map, tile, 2, 0);
}

TEST(TensorCopies, MisuseIsReported) {
  const char* const expected[] = {
      "the address in shared memory must be a multiple of 128 [simt-misaligned]",
      "cp.async.bulk.tensor.3d on a tensor of 2 dimensions [simt-launch]",
      "cuTensorMapEncodeTiled has not made this tensor map [simt-launch]",
      "are not in one live buffer [simt-use-after-free]",
      "This one begins at element -3, byte -12.",
      "must begin at a multiple of 16 bytes of its row [simt-illegal-instruction]"};
  for (int what = 0; what < 6; ++what) {
    Tensor tensor;
    tensor.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    tensor.element = 4;
    tensor.extents = {32, 8};
    tensor.box = {32, 8};
    float* data;
    ASSERT_EQ(cudaMalloc(&data, 1024), cudaSuccess);
    alignas(64) CUtensorMap map;
    ASSERT_EQ(tensor.map(data, &map), CUDA_SUCCESS);
    if (what == 2) map = CUtensorMap();
    if (what == 3) cudaFree(data);
    const std::string text = report_of([&] { misuse<<<1, 1>>>(map, what); });
    EXPECT_NE(text.find(expected[what]), std::string::npos) << text;
    EXPECT_NE(text.find("\ntests/ptx/tensor_copy_test.cu:"), std::string::npos) << text;
  }
}

#endif  // __SIMT__

}  // namespace tensor_copy_test
