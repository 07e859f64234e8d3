// SPDX-License-Identifier: MIT
//
// Arrays, textures and surfaces. The filtered values are an H200's, bit for bit.

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace textures_test {

template <class Call>
std::string report_of(Call call) {
  simt::forget_reports();
  testing::internal::CaptureStderr();
  call();
  const int reports = simt::reports();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(reports, 1) << text;
  simt::forget_reports();
  return text;
}

void expect_part(const std::string& text, const char* part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << " lacks: " << part;
}

class Textures : public testing::Test {
 protected:
  void SetUp() override { cudaGetLastError(); }
  void TearDown() override {
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(simt::reports(), 0);
  }
};

// An array of w x h x d elements with these values.
template <class T>
cudaArray_t array_of(const std::vector<T>& values, size_t w, size_t h = 0, size_t d = 0,
                     unsigned int flags = 0, cudaChannelFormatDesc format = cudaCreateChannelDesc<T>()) {
  cudaArray_t array = nullptr;
  EXPECT_EQ(cudaMalloc3DArray(&array, &format, make_cudaExtent(w, h, d), flags), cudaSuccess);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(const_cast<T*>(values.data()), w * sizeof(T), w, h ? h : 1);
  p.dstArray = array;
  p.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
  p.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  return array;
}

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}
cudaTextureDesc description(cudaTextureFilterMode filter,
                            cudaTextureAddressMode address = cudaAddressModeClamp, bool normalized = false,
                            cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc d = {};
  for (cudaTextureAddressMode& mode : d.addressMode) mode = address;
  d.filterMode = filter;
  d.readMode = read;
  d.normalizedCoords = normalized;
  return d;
}
cudaTextureObject_t texture_of(cudaArray_t array, const cudaTextureDesc& d) {
  const cudaResourceDesc resource = resource_of(array);
  cudaTextureObject_t texture = 0;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &d, nullptr), cudaSuccess);
  return texture;
}

enum class Read { line, plane, volume, cube, gather };

template <class T>
__global__ void read(cudaTextureObject_t texture, Read how, const float3* at, T* out) {
  const float3 p = at[threadIdx.x];
  switch (how) {
    case Read::line:
      out[threadIdx.x] = tex1D<T>(texture, p.x);
      break;
    case Read::plane:
      out[threadIdx.x] = tex2D<T>(texture, p.x, p.y);
      break;
    case Read::volume:
      out[threadIdx.x] = tex3D<T>(texture, p.x, p.y, p.z);
      break;
    case Read::cube:
      out[threadIdx.x] = texCubemap<T>(texture, p.x, p.y, p.z);
      break;
    case Read::gather:
      out[threadIdx.x] = tex2Dgather<T>(texture, p.x, p.y, static_cast<int>(p.z));
      break;
  }
}

template <class T>
std::vector<T> read_at(cudaTextureObject_t texture, Read how, const std::vector<float3>& places) {
  float3* at = nullptr;
  T* out = nullptr;
  EXPECT_EQ(cudaMallocManaged(&at, places.size() * sizeof(float3)), cudaSuccess);
  EXPECT_EQ(cudaMallocManaged(&out, places.size() * sizeof(T)), cudaSuccess);
  std::copy(places.begin(), places.end(), at);
  read<<<1, static_cast<unsigned>(places.size())>>>(texture, how, at, out);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::vector<T> result(out, out + places.size());
  EXPECT_EQ(cudaFree(at), cudaSuccess);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  return result;
}

std::vector<float> read_line(cudaArray_t array, const cudaTextureDesc& d, const std::vector<float>& x) {
  std::vector<float3> places;
  for (const float v : x) places.push_back(make_float3(v, 0, 0));
  const cudaTextureObject_t texture = texture_of(array, d);
  const std::vector<float> result = read_at<float>(texture, Read::line, places);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  return result;
}

using Floats = std::vector<float>;

// ---- filtering, as measured ----

TEST_F(Textures, LinearFilteringRoundsWeightsTo8Bits) {
  const cudaArray_t ramp = array_of<float>({0, 1, 2, 3, 4, 5, 6, 7}, 8);
  const auto linear = description(cudaFilterModeLinear);
  EXPECT_EQ(read_line(ramp, linear, {2.5f, 2.5f + 3 / 2048.0f, 2.5f + 4 / 2048.0f, 2.5f + 12 / 2048.0f}),
            (Floats{2, 2, 0x1.008p+1f, 0x1.01p+1f}));
  EXPECT_EQ(read_line(ramp, linear, {3.5f - 4 / 2048.0f, 3.5f - 5 / 2048.0f}), (Floats{3, 0x1.7f8p+1f}));
  EXPECT_EQ(read_line(ramp, linear, {-1, 0.25f, 0.75f, 7.75f, 1e9f, -1e9f, NAN, INFINITY}),
            (Floats{0, 0, 0.25f, 7, 7, 0, 0, 7}));
  auto border = description(cudaFilterModeLinear, cudaAddressModeBorder);
  border.borderColor[0] = 5;
  // A border in y shows too: a line is read at its edge.
  EXPECT_EQ(read_line(ramp, border, {-0.5f, 0, 0.5f, 7.75f, 8, 8.5f}),
            (Floats{5, 3.75f, 2.5f, 0x1.7p+2f, 0x1.6p+2f, 5}));
  EXPECT_EQ(cudaFreeArray(ramp), cudaSuccess);

  const cudaArray_t odd =
      array_of<float>({1.0f / 3, 1e6f / 7, -1e-3f / 3, 3.14159274f, 1e20f, -1e20f, 0.1f, 0.7f}, 8);
  EXPECT_EQ(read_line(odd, linear, {0x1.44c60ap-1f, 0x1.6d62d2p+1f, 0x1.35b304p+1f, 0x1.294472p+2f}),
            (Floats{0x1.287602p+14f, 0x1.1dd478p+0f, 0x1.6e36p+13f, 0x1.ed4fep+65f}));
  EXPECT_EQ(cudaFreeArray(odd), cudaSuccess);
}

TEST_F(Textures, AddressModes) {
  const cudaArray_t ramp = array_of<float>({0, 1, 2, 3, 4, 5, 6, 7}, 8);
  const auto mode = [](cudaTextureAddressMode m, cudaTextureFilterMode f) { return description(f, m, true); };
  const Floats x = {-0x1.1bbd38p-1f, 0x1.51cce8p+0f, 0x1.fffffep-1f, -1, 1.0625f};
  EXPECT_EQ(read_line(ramp, mode(cudaAddressModeWrap, cudaFilterModeLinear), x),
            (Floats{0x1.888p+1f, 0x1.07p+1f, 3.5f, 3.5f, 0}));
  EXPECT_EQ(read_line(ramp, mode(cudaAddressModeWrap, cudaFilterModePoint), {-0.1f, 0, 1.3f}),
            (Floats{7, 0, 2}));
  EXPECT_EQ(read_line(ramp, mode(cudaAddressModeMirror, cudaFilterModePoint), {-0.1f, 1.05f, 2.05f}),
            (Floats{0, 7, 0}));
  EXPECT_EQ(read_line(ramp, mode(cudaAddressModeClamp, cudaFilterModePoint), {-3, 3}), (Floats{0, 7}));
  // Without normalised coordinates nothing repeats.
  EXPECT_EQ(read_line(ramp, description(cudaFilterModePoint, cudaAddressModeWrap), {-1, 8, 9}),
            (Floats{0, 7, 7}));
  EXPECT_EQ(cudaFreeArray(ramp), cudaSuccess);
}

TEST_F(Textures, FractionsAreFilteredIn16Bits) {
  const auto linear =
      description(cudaFilterModeLinear, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat);
  const Floats x = {0x1.294472p+2f, 0x1.a69498p+2f, 0x1.44c60ap-1f};
  const cudaArray_t u8 = array_of<unsigned char>({0, 255, 1, 254, 17, 200, 128, 127}, 8);
  EXPECT_EQ(read_line(u8, linear, x), (Floats{0x1.5cf15cp-3f, 0x1.00cdp-1f, 0x1.10011p-3f}));
  const cudaArray_t s8 = array_of<signed char>({-128, -127, -1, 0, 1, 127, 64, -64}, 8);
  EXPECT_EQ(read_line(s8, linear, x), (Floats{0x1.35d26cp-3f, 0x1.9b3336p-2f, -1}));
  const cudaArray_t u16 = array_of<unsigned short>({0, 65535, 1, 65534, 17, 40000, 32768, 32767}, 8);
  EXPECT_EQ(read_line(u16, linear, x), (Floats{0x1.6a416ap-4f, 0x1.0001p-1f, 0x1.10011p-3f}));
  const auto point =
      description(cudaFilterModePoint, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat);
  EXPECT_EQ(read_line(u8, point, {1.5f, 4.5f}), (Floats{1, 17 / 255.0f}));
  for (const cudaArray_t array : {u8, s8, u16}) EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

TEST_F(Textures, WeightsOfTwoAxesAreRoundedTogether) {
  std::vector<float> one(16, 0.0f);
  one[5] = 1;
  const cudaArray_t array = array_of<float>(one, 4, 4);
  const cudaTextureObject_t texture = texture_of(array, description(cudaFilterModeLinear));
  EXPECT_EQ(
      read_at<float>(texture, Read::plane,
                     {make_float3(0x1.8ae3d8p+0f, 0x1.3cp+1f, 0), make_float3(0x1.95c7aep+0f, 0x1.388p+1f, 0),
                      make_float3(0x1.a0ab86p+0f, 0x1.35p+1f, 0), make_float3(1.5f, 1.5f, 0)}),
      (Floats{0x1p-5f, 0x1.cp-5f, 0x1.3p-4f, 1}));
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

// ---- shapes and formats ----

TEST_F(Textures, VectorsIntegersAndHalves) {
  const cudaArray_t colors = array_of<uchar4>({{1, 2, 3, 4}, {250, 251, 252, 253}}, 2);
  const cudaTextureObject_t texture = texture_of(colors, description(cudaFilterModePoint));
  const auto read_colors = read_at<uchar4>(texture, Read::line, {make_float3(1.5f, 0, 0)});
  EXPECT_EQ(read_colors[0].x, 250);
  EXPECT_EQ(read_colors[0].w, 253);
  const cudaArray_t numbers = array_of<short2>({{-5, 6}, {-32768, 7}}, 2);
  const cudaTextureObject_t pairs = texture_of(numbers, description(cudaFilterModePoint));
  EXPECT_EQ(read_at<short2>(pairs, Read::line, {make_float3(1, 0, 0)})[0].x, -32768);
  const cudaArray_t halves =
      array_of<unsigned short>({0x3c00, 0xc100}, 2, 0, 0, 0, cudaCreateChannelDescHalf());
  EXPECT_EQ(read_line(halves, description(cudaFilterModeLinear), {0.5f, 1, 1.5f}),
            (Floats{1, -0.75f, -2.5f}));
  for (const cudaTextureObject_t t : {texture, pairs}) EXPECT_EQ(cudaDestroyTextureObject(t), cudaSuccess);
  for (const cudaArray_t a : {colors, numbers, halves}) EXPECT_EQ(cudaFreeArray(a), cudaSuccess);
}

__global__ void read_layers(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(texture, 1.5f, 0.5f, static_cast<int>(threadIdx.x) - 1);
}

TEST_F(Textures, VolumesLayersCubesAndGather) {
  std::vector<float> v(96);
  for (int i = 0; i < 96; ++i) v[i] = 100 * (i / 16) + 10 * (i % 16 / 4) + i % 4;
  const cudaArray_t volume = array_of<float>(v, 4, 4, 6);
  const cudaTextureObject_t t3 = texture_of(volume, description(cudaFilterModePoint));
  EXPECT_EQ(read_at<float>(t3, Read::volume, {make_float3(3, 2, 5), make_float3(1.9f, 0, 1)}),
            (Floats{523, 101}));

  const cudaArray_t layers = array_of<float>(v, 4, 4, 6, cudaArrayLayered);
  const cudaTextureObject_t tl = texture_of(layers, description(cudaFilterModeLinear));
  float* out;
  ASSERT_EQ(cudaMallocManaged(&out, 32), cudaSuccess);
  read_layers<<<1, 8>>>(tl, out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(Floats(out, out + 8), (Floats{1, 1, 101, 201, 301, 401, 501, 501})) << "layers are clamped";
  EXPECT_EQ(cudaFree(out), cudaSuccess);

  const cudaArray_t cube = array_of<float>(v, 4, 4, 6, cudaArrayCubemap);
  const cudaTextureObject_t tc =
      texture_of(cube, description(cudaFilterModePoint, cudaAddressModeClamp, true));
  EXPECT_EQ(read_at<float>(tc, Read::cube,
                           {make_float3(0x1.62221p-2f, 0x1.96c9fp-2f, -0x1.ea10e4p-1f),
                            make_float3(-0x1.73568p-3f, -0x1.5bf91p-1f, -0x1.8be07p-3f),
                            make_float3(0x1.fe0e38p-2f, 0x1.37e768p-2f, 0x1.3d575p-2f)}),
            (Floats{0x1.ffp+8f, 0x1.41p+8f, 0}));

  const cudaArray_t plane =
      array_of<float>(Floats(v.begin(), v.begin() + 16), 4, 4, 0, cudaArrayTextureGather);
  const cudaTextureObject_t tg = texture_of(plane, description(cudaFilterModePoint));
  const float4 g = read_at<float4>(tg, Read::gather, {make_float3(3.9f, 1.5f, 0)})[0];
  EXPECT_EQ((Floats{g.x, g.y, g.z, g.w}), (Floats{23, 23, 13, 13}));
  for (const cudaTextureObject_t t : {t3, tl, tc, tg}) EXPECT_EQ(cudaDestroyTextureObject(t), cudaSuccess);
  for (const cudaArray_t a : {volume, layers, cube, plane}) EXPECT_EQ(cudaFreeArray(a), cudaSuccess);
}

__global__ void fetch(cudaTextureObject_t texture, int2* out) {
  out[threadIdx.x] = tex1Dfetch<int2>(texture, static_cast<int>(threadIdx.x) - 1);
}

TEST_F(Textures, LinearMemoryAndRowsOfIt) {
  int2* memory;
  ASSERT_EQ(cudaMallocManaged(&memory, 8 * sizeof(int2)), cudaSuccess);
  for (int i = 0; i < 8; ++i) memory[i] = make_int2(i, -i);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<int2>();
  resource.res.linear.sizeInBytes = 3 * sizeof(int2);
  const cudaTextureDesc point = description(cudaFilterModePoint);
  cudaTextureObject_t texture;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &resource, &point, nullptr), cudaSuccess);
  int2* out;
  ASSERT_EQ(cudaMallocManaged(&out, 5 * sizeof(int2)), cudaSuccess);
  fetch<<<1, 5>>>(texture, out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0].y, 0) << "outside is zero";
  EXPECT_EQ(out[3].y, -2);
  EXPECT_EQ(out[4].y, 0);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  resource.res.linear.sizeInBytes = 9 * sizeof(int2);
  expect_part(report_of([&] {
                EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &point, nullptr),
                          cudaErrorInvalidValue);
              }),
              "72 bytes, but 64 are left");
  cudaGetLastError();
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(out), cudaSuccess);

  float* rows;
  size_t pitch;
  ASSERT_EQ(cudaMallocPitch(&rows, &pitch, 3 * sizeof(float), 2), cudaSuccess);
  const float values[] = {1, 2, 3, 4, 5, 6};
  ASSERT_EQ(cudaMemcpy2D(rows, pitch, values, 12, 12, 2, cudaMemcpyHostToDevice), cudaSuccess);
  resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {rows, cudaCreateChannelDesc<float>(), 3, 2, pitch};
  const cudaTextureDesc linear = description(cudaFilterModeLinear);
  ASSERT_EQ(cudaCreateTextureObject(&texture, &resource, &linear, nullptr), cudaSuccess);
  EXPECT_EQ(read_at<float>(texture, Read::plane, {make_float3(1, 1, 0), make_float3(2.5f, 1.5f, 0)}),
            (Floats{3, 6}));
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  resource.res.pitch2D.pitchInBytes = pitch + 4;
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &linear, nullptr), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_EQ(cudaFree(rows), cudaSuccess);
}

__global__ void read_levels(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, static_cast<float>(threadIdx.x) * 0.5f);
}

TEST_F(Textures, LevelsOfAMipmap) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t mipmap;
  ASSERT_EQ(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(4, 4, 0), 3), cudaSuccess);
  for (unsigned i = 0; i < 3; ++i) {
    cudaArray_t level;
    ASSERT_EQ(cudaGetMipmappedArrayLevel(&level, mipmap, i), cudaSuccess);
    cudaExtent extent;
    ASSERT_EQ(cudaArrayGetInfo(nullptr, &extent, nullptr, level), cudaSuccess);
    EXPECT_EQ(extent.width, 4u >> i);
    const std::vector<float> same(16, static_cast<float>(10 * i));
    ASSERT_EQ(cudaMemcpy2DToArray(level, 0, 0, same.data(), 16, (4 >> i) * sizeof(float), 4 >> i,
                                  cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  cudaArray_t none;
  EXPECT_EQ(cudaGetMipmappedArrayLevel(&none, mipmap, 3), cudaErrorInvalidValue);
  cudaGetLastError();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mipmap;
  cudaTextureDesc d = description(cudaFilterModeLinear, cudaAddressModeClamp, true);
  d.mipmapFilterMode = cudaFilterModeLinear;
  d.maxMipmapLevelClamp = 2;
  cudaTextureObject_t texture;
  ASSERT_EQ(cudaCreateTextureObject(&texture, &resource, &d, nullptr), cudaSuccess);
  float* out;
  ASSERT_EQ(cudaMallocManaged(&out, 6 * sizeof(float)), cudaSuccess);
  read_levels<<<1, 6>>>(texture, out);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(Floats(out, out + 6), (Floats{0, 5, 10, 15, 20, 20}));
  EXPECT_EQ(cudaFree(out), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(texture), cudaSuccess);
  EXPECT_EQ(cudaFreeMipmappedArray(mipmap), cudaSuccess);
}

// ---- surfaces ----

__global__ void double_each(cudaSurfaceObject_t surface, int shift, cudaSurfaceBoundaryMode mode) {
  const int x = static_cast<int>(threadIdx.x + shift) * static_cast<int>(sizeof(float)), y = threadIdx.y;
  const float v = surf2Dread<float>(surface, x, y, mode);
  surf2Dwrite(2 * v, surface, x, y, mode);
}

TEST_F(Textures, Surfaces) {
  const cudaArray_t array = array_of<float>({1, 2, 3, 4, 5, 6}, 3, 2, 0, cudaArraySurfaceLoadStore);
  const cudaResourceDesc resource = resource_of(array);
  cudaSurfaceObject_t surface;
  ASSERT_EQ(cudaCreateSurfaceObject(&surface, &resource), cudaSuccess);
  double_each<<<1, dim3(3, 2)>>>(surface, 0, cudaBoundaryModeTrap);
  double_each<<<1, dim3(3, 3)>>>(surface, 2, cudaBoundaryModeZero);  // only the last column is inside
  float back[6];
  ASSERT_EQ(cudaMemcpy2DFromArray(back, 12, array, 0, 0, 12, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(Floats(back, back + 6), (Floats{2, 4, 12, 8, 10, 24}));
  const cudaArray_t plain = array_of<float>({1, 2}, 2);
  const cudaResourceDesc wrong = resource_of(plain);
  cudaSurfaceObject_t none;
  EXPECT_EQ(cudaCreateSurfaceObject(&none, &wrong), cudaErrorInvalidValue) << "not made for surfaces";
  cudaGetLastError();
  EXPECT_EQ(cudaFreeArray(plain), cudaSuccess);
  const std::string text = report_of([&] {
    double_each<<<1, dim3(1, 1)>>>(surface, 3, cudaBoundaryModeTrap);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  });
  expect_part(text, "[simt-oob-global]\nsimt/tests/textures_test.cu:");
  expect_part(text, "byte 12 of row 0");
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaDestroySurfaceObject(surface), cudaSuccess);
}

// ---- arrays and misuse ----

TEST_F(Textures, CopiesOfArrays) {
  const cudaArray_t a = array_of<int>({1, 2, 3, 4, 5, 6, 7, 8}, 4, 2);
  const cudaArray_t b = array_of<int>(std::vector<int>(8, 0), 4, 2);
  ASSERT_EQ(cudaMemcpy2DArrayToArray(b, 4, 0, a, 0, 0, 8, 2), cudaSuccess);
  int back[8];
  ASSERT_EQ(cudaMemcpyFromArray(back, b, 0, 0, 32, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(std::vector<int>(back, back + 8), (std::vector<int>{0, 1, 2, 0, 0, 5, 6, 0}));
  expect_part(report_of([&] {
                EXPECT_EQ(cudaMemcpy2DToArray(b, 8, 0, back, 12, 12, 1, cudaMemcpyHostToDevice),
                          cudaErrorInvalidValue);
              }),
              "leave the array of 16 x 2 x 1");
  cudaGetLastError();
  expect_part(report_of([&] {
                EXPECT_EQ(cudaMemcpyToArray(b, 4, 1, back, 16, cudaMemcpyHostToDevice),
                          cudaErrorInvalidValue);
              }),
              "[simt-memcpy]");
  cudaGetLastError();
  EXPECT_EQ(cudaFreeArray(a), cudaSuccess);
  EXPECT_EQ(cudaFreeArray(b), cudaSuccess);
  EXPECT_NE(cudaFreeArray(b), cudaSuccess);
  cudaGetLastError();
}

TEST_F(Textures, WhatCannotBe) {
  const cudaChannelFormatDesc three = {8, 8, 8, 0, cudaChannelFormatKindUnsigned};
  const cudaChannelFormatDesc one = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  EXPECT_EQ(cudaMallocArray(&array, &three, 4), cudaErrorInvalidChannelDescriptor);
  EXPECT_EQ(cudaMallocArray(&array, &one, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc3DArray(&array, &one, make_cudaExtent(4, 5, 6), cudaArrayCubemap),
            cudaErrorInvalidValue);
  const cudaArray_t integers = array_of<int>({1, 2}, 2);
  const cudaResourceDesc resource = resource_of(integers);
  cudaTextureObject_t texture;
  auto d = description(cudaFilterModeLinear);
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &d, nullptr), cudaErrorInvalidFilterSetting);
  d = description(cudaFilterModePoint, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat);
  EXPECT_EQ(cudaCreateTextureObject(&texture, &resource, &d, nullptr), cudaErrorInvalidNormSetting);
  EXPECT_EQ(cudaDestroyTextureObject(12345), cudaErrorInvalidValue);
  cudaGetLastError();
  const std::string wrong = report_of([&] {
    float3* at;
    int* out;
    cudaMallocManaged(&at, sizeof(float3));
    cudaMallocManaged(&out, sizeof(int));
    *at = make_float3(0, 0, 0);
    read<<<1, 1>>>(texture_of(integers, description(cudaFilterModePoint)), Read::plane, at, out);
    EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  });
  expect_part(wrong, "a 1-D texture is read as a 2-D one");
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  const std::string gone = report_of([&] {
    float3* at;
    int* out;
    cudaMallocManaged(&at, sizeof(float3));
    cudaMallocManaged(&out, sizeof(int));
    read<<<1, 1>>>(777, Read::line, at, out);
    EXPECT_NE(cudaDeviceSynchronize(), cudaSuccess);
  });
  expect_part(gone, "does not exist");
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
}

}  // namespace textures_test
