// SPDX-License-Identifier: MIT
//
// The same from pinned memory, whose pages stay where they are. The copy engine reads them itself, so a copy is
// as fast as the bus, and cudaMemcpyAsync() returns before it has begun. All is in one stream, so one thing
// still follows the other: what is gained is the staging, and nothing overlaps.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day60_streams_and_graphs/02_pinned.cu -o pinned
#include "day60_streams_and_graphs/numbers.cuh"

using namespace day60;

int main(int argc, char** argv) {
  const days::About about{"pinned", "copies from and to pinned memory, in one stream", 1 << 26, 1 << 18,
                          "uint32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size(), bytes = n * sizeof(uint32_t);
    const int turns = default_turns();
    const days::PinnedBuffer<uint32_t> x(n), y(n);
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
    program.row("pinned", all);
    std::printf("%zu MiB there and back: %.2f ms, %.1f GB/s\n", bytes >> 20, 1e3 * all.seconds,
                gigabytes_per_second(2 * bytes, all.seconds));
  });
}
