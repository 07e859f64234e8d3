// SPDX-License-Identifier: MIT
//
// The texture unit looks after borders by itself: a box blur whose kernel has no test for the picture's edge.
// A texture is asked for a place, and its address mode says what stands in for places outside: clamp, mirror,
// wrap, or zero ("border"). The program compares each with the same blur on the CPU.
//
//   nvcc -std=c++20 -arch=sm_75 day04_image_blur/programs/texture_borders.cu -o texture_borders
//   ./texture_borders
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                       \
  do {                                                                    \
    const cudaError_t error = (call);                                     \
    if (error != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (false)

constexpr int kWidth = 61, kHeight = 43, kRadius = 5;

// Mirror and wrap exist only in "normalised" coordinates, in which the picture is 1 wide and 1 high. Pixel x
// has its middle at (x + 0.5) / width.
__global__ void blur_kernel(cudaTextureObject_t picture, uint8_t* blurred, int width, int height,
                            int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  unsigned sum = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx)
      sum += tex2D<uint8_t>(picture, (x + dx + 0.5f) / width, (y + dy + 0.5f) / height);
  }
  const unsigned count = (2 * radius + 1) * (2 * radius + 1);
  blurred[y * width + x] = static_cast<uint8_t>((sum + count / 2) / count);
}

int stand_in(int i, int n, cudaTextureAddressMode mode) {
  if (i >= 0 && i < n) return i;
  if (mode == cudaAddressModeClamp) return i < 0 ? 0 : n - 1;
  if (mode == cudaAddressModeWrap) return (i + n) % n;
  if (mode == cudaAddressModeMirror) return i < 0 ? -1 - i : 2 * n - 1 - i;
  return -1;  // cudaAddressModeBorder: zero
}

uint8_t on_the_cpu(const std::vector<uint8_t>& picture, int x, int y, cudaTextureAddressMode mode) {
  unsigned sum = 0;
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      const int row = stand_in(y + dy, kHeight, mode), col = stand_in(x + dx, kWidth, mode);
      sum += row < 0 || col < 0 ? 0 : picture[row * kWidth + col];
    }
  }
  const unsigned count = (2 * kRadius + 1) * (2 * kRadius + 1);
  return static_cast<uint8_t>((sum + count / 2) / count);
}

int main() {
  std::vector<uint8_t> picture(kWidth * kHeight), result(picture.size());
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<uint8_t>(i * i * 7 + i * 13);

  // A texture reads from an array, whose layout suits windows: neighbours in both directions are near.
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uint8_t>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &bytes, kWidth, kHeight));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, picture.data(), kWidth, kWidth, kHeight, cudaMemcpyHostToDevice));
  uint8_t* blurred;
  CHECK(cudaMalloc(&blurred, result.size()));

  const struct {
    const char* name;
    cudaTextureAddressMode mode;
  } borders[] = {{"clamp", cudaAddressModeClamp},
                 {"mirror", cudaAddressModeMirror},
                 {"wrap", cudaAddressModeWrap},
                 {"zero", cudaAddressModeBorder}};
  int wrong = 0;
  for (const auto& border : borders) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = border.mode;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    how.normalizedCoords = 1;
    cudaTextureObject_t texture = 0;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));

    const dim3 block(32, 8), grid((kWidth + 31) / 32, (kHeight + 7) / 8);
    blur_kernel<<<grid, block>>>(texture, blurred, kWidth, kHeight, kRadius);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result.data(), blurred, result.size(), cudaMemcpyDeviceToHost));
    CHECK(cudaDestroyTextureObject(texture));

    int differ = 0;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x)
        differ += result[y * kWidth + x] != on_the_cpu(picture, x, y, border.mode);
    }
    std::printf("%-7s %d x %d pixels, radius %d: %d differ from the CPU's\n", border.name, kWidth, kHeight,
                kRadius, differ);
    wrong += differ;
  }
  CHECK(cudaFree(blurred));
  CHECK(cudaFreeArray(array));
  return wrong == 0 ? 0 : 1;
}
