// SPDX-License-Identifier: MIT
//
// Copy in, compute, copy out, from memory as malloc() and std::vector give it. The system may move such pages,
// so the GPU's copy engine cannot be pointed at them: the driver copies each piece into memory of its own
// first, and cudaMemcpyAsync() keeps the host waiting for that.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day60_streams_and_graphs/01_pageable.cu -o pageable
#include "day60_streams_and_graphs/numbers.cuh"

using namespace day60;

int main(int argc, char** argv) {
  const days::About about{"pageable", "copies from and to ordinary memory", 1 << 26, 1 << 18, "uint32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size(), bytes = n * sizeof(uint32_t);
    const int turns = default_turns();
    std::vector<uint32_t> x(n), y(n);  // pageable
    fill(x.data(), n);
    const days::DeviceBuffer<uint32_t> device(n);
    const days::Stream stream;

    const auto there_and_back = [&] {
      {
        const days::Span span(program, "H2D", 1, stream);
        CUDA_CHECK(cudaMemcpyAsync(device.data(), x.data(), bytes, cudaMemcpyHostToDevice, stream));
      }
      {
        const days::Span span(program, "kernel", 1, stream);
        turn<<<blocks(n), kThreads, 0, stream>>>(device.data(), device.data(), n, turns);
        CUDA_CHECK_LAUNCH();
      }
      {
        const days::Span span(program, "D2H", 1, stream);
        CUDA_CHECK(cudaMemcpyAsync(y.data(), device.data(), bytes, cudaMemcpyDeviceToHost, stream));
      }
    };
    CUDA_CHECK(cudaDeviceSynchronize());
    there_and_back();
    CUDA_CHECK(cudaStreamSynchronize(stream));
    program.compare(y.data(), turned(x.data(), n, turns).data(), n, "y");

    if (!days::on_gpu()) return;
    program.record(there_and_back);
    const days::Timing all = days::time_streams({stream}, 10, there_and_back);
    program.table(static_cast<double>(bytes), static_cast<double>(bytes));
    program.row("pageable", all);
    std::printf("%zu MiB there and back: %.2f ms, %.1f GB/s\n", bytes >> 20, 1e3 * all.seconds,
                gigabytes_per_second(2 * bytes, all.seconds));
  });
}
