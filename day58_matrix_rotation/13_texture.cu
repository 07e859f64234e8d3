// SPDX-License-Identifier: MIT
//
// The texture unit does the four loads, the border and the blend: one request for a pixel. Changed since patches: three of four requests
// and most of the arithmetic are gone; the weights are whole 256ths. The picture is first copied into an array, whose layout keeps
// neighbours of both directions together; who keeps pictures in arrays saves that copy. Bound by: the memory, half of it for the copy.
// Teaches: cudaCreateTextureObject, tex2D.

#include "common/check.h"
#include "common/util.h"
#include "day58_matrix_rotation/pixel.cuh"

namespace day58 {
namespace {

constexpr int kBlockX = 32, kBlockY = 8;
constexpr int kThreads = kBlockX * kBlockY;

// A texture's pixel x covers [x, x + 1): its middle, where nothing is blended, is at x + 0.5.
template <class T>
__device__ typename Pixel<T>::Value seen(cudaTextureObject_t picture, Spot spot) {
  const auto value = tex2D<typename Pixel<T>::Value>(picture, spot.x + 0.5f, spot.y + 0.5f);
  if constexpr (sizeof(T) == 1) {  // bytes come as 0 to 1
    return make_float4(255 * value.x, 255 * value.y, 255 * value.z, 255 * value.w);
  } else {
    return value;
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) texture_kernel(Turn<T> p, cudaTextureObject_t picture) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;  // a warp is 8 x 4 pixels
  const int x = blockIdx.x * kBlockX + warp % 4 * 8 + lane % 8;
  const int y = blockIdx.y * kBlockY + warp / 4 * 4 + lane / 8;
  if (x >= p.width || y >= p.height) return;
  using Bytes = typename Pixel<T>::Bytes;
  reinterpret_cast<Bytes*>(p.out)[int64_t{y} * p.width + x] =
      Pixel<T>::bytes(seen<T>(picture, seen_at(p, x, y)));
}

template <class T>
size_t row_bytes(const Turn<T>& p) {
  return 4 * static_cast<size_t>(p.width);
}

}  // namespace

Texture::~Texture() {
  if (object_ != 0) cudaDestroyTextureObject(object_);
  if (array_ != nullptr) cudaFreeArray(array_);
}

template <class T>
Texture turn_texture_setup(const Turn<T>& p, cudaStream_t) {
  require_picture(p, "texture");
  days::require_needs(p, "texture", kExtents);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<typename Pixel<T>::Bytes>();
  cudaArray_t array = nullptr;
  CUDA_CHECK(cudaMallocArray(&array, &format, static_cast<size_t>(p.width), static_cast<size_t>(p.height)));
  cudaResourceDesc memory{};
  memory.resType = cudaResourceTypeArray;
  memory.res.array.array = array;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] =
      p.border == Border::kClamp ? cudaAddressModeClamp : cudaAddressModeBorder;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = sizeof(T) == 1 ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  cudaTextureObject_t object = 0;
  const cudaError_t error = cudaCreateTextureObject(&object, &memory, &how, nullptr);
  Texture texture(array, object);  // frees the array, whatever comes
  CUDA_CHECK(error);
  return texture;
}

template <class T>
void turn_texture(const Turn<T>& p, cudaStream_t stream) {
  require_picture(p, "texture");
  days::require_needs(p, "texture", kExtents);
  const Texture& texture = p.setup.template get<Texture>("texture");
  CUDA_CHECK(cudaMemcpy2DToArrayAsync(texture.array(), 0, 0, p.in, row_bytes(p), row_bytes(p),
                                      static_cast<size_t>(p.height), cudaMemcpyDeviceToDevice, stream));
  const dim3 grid(days::ceil_div(p.width, kBlockX), days::ceil_div(p.height, kBlockY));
  texture_kernel<<<grid, kThreads, 0, stream>>>(p, texture.object());
  CUDA_CHECK_LAUNCH();
}

INSTANTIATE_LAUNCHER(turn_texture, Turn, uint8_t, float);
template Texture turn_texture_setup<uint8_t>(const Turn<uint8_t>&, cudaStream_t);
template Texture turn_texture_setup<float>(const Turn<float>&, cudaStream_t);

}  // namespace day58
