// SPDX-License-Identifier: MIT
//
// The work is cut into chunks, and neighbouring chunks go into different streams. A GPU has a copy engine for
// each direction beside its multiprocessors, so while one chunk is computed the next one can be copied in and
// the one before copied out. The slowest of the three sets the pace; the others hide behind it.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day60_streams_and_graphs/03_overlapped.cu -o overlapped
#include <algorithm>

#include "day60_streams_and_graphs/parts.cuh"

using namespace day60;

constexpr size_t kChunks = 16;
constexpr size_t kStreams = 4;

int main(int argc, char** argv) {
  const days::About about{"overlapped", "copies beside kernels: 16 chunks in 4 streams", 1 << 26, 1 << 18,
                          "uint32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size(), bytes = n * sizeof(uint32_t);
    const int turns = default_turns();
    const days::PinnedBuffer<uint32_t> x(n), y(n);
    fill(x.data(), n);
    const days::DeviceBuffer<uint32_t> device(n);
    const days::Stream own[kStreams];
    const std::vector<cudaStream_t> streams(own, own + kStreams);

    const auto there_and_back = [&] {
      const size_t most = days::ceil_div(n, kChunks);  // elements of a chunk; the last may have fewer
      for (size_t chunk = 0; chunk * most < n; ++chunk) {
        const size_t first = chunk * most, count = std::min(most, n - first);
        const int number = static_cast<int>(chunk % kStreams);
        const cudaStream_t stream = streams[number];
        uint32_t* const part = device.data() + first;
        {
          const days::Span span(program, "H2D", number + 1, stream);
          CUDA_CHECK(cudaMemcpyAsync(part, x.data() + first, count * sizeof(uint32_t), cudaMemcpyHostToDevice,
                                     stream));
        }
        {
          const days::Span span(program, "kernel", number + 1, stream);
          turn<<<blocks(count), kThreads, 0, stream>>>(part, part, count, turns);
          CUDA_CHECK_LAUNCH();
        }
        {
          const days::Span span(program, "D2H", number + 1, stream);
          CUDA_CHECK(cudaMemcpyAsync(y.data() + first, part, count * sizeof(uint32_t), cudaMemcpyDeviceToHost,
                                     stream));
        }
      }
    };
    CUDA_CHECK(cudaDeviceSynchronize());
    there_and_back();
    for (const cudaStream_t stream : streams) CUDA_CHECK(cudaStreamSynchronize(stream));
    program.compare(y.data(), turned(x.data(), n, turns).data(), n, "y");

    if (!days::on_gpu()) return;
    program.record(there_and_back);
    const days::Timing all = days::time_streams(streams, 10, there_and_back);
    const Parts parts =
        measure_parts(x.data(), y.data(), device.data(), days::ceil_div(n, kChunks), turns, streams[0]);
    const double best = pipeline_seconds(parts, kChunks);
    program.table(static_cast<double>(bytes), static_cast<double>(bytes), "pipeline model");
    program.row("overlapped", all, best);
    std::printf("%zu MiB there and back in %zu chunks: %.2f ms, %.1f GB/s, %.1f%% of the pipeline model\n",
                bytes >> 20, kChunks, 1e3 * all.seconds, gigabytes_per_second(2 * bytes, all.seconds),
                100 * best / all.seconds);
  });
}
