// SPDX-License-Identifier: MIT
//
// How good can overlapping be? Each part is timed alone, and a model of the pipeline says what the whole should
// take: the slowest part of every chunk one after the other, and for the first chunk the two other parts, which
// nothing hides. Beside it stands what the pipeline does take. Many small chunks hide more, until the fixed cost
// of each copy and launch shows.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day60_streams_and_graphs/04_model.cu -o model
#include <algorithm>

#include "day60_streams_and_graphs/parts.cuh"

using namespace day60;

constexpr size_t kStreams = 4;

int main(int argc, char** argv) {
  const days::About about{"model", "what overlapping should take, and what it takes", 1 << 26, 1 << 18,
                          "uint32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size(), bytes = n * sizeof(uint32_t);
    const int turns = default_turns();
    const days::PinnedBuffer<uint32_t> x(n), y(n);
    fill(x.data(), n);
    const std::vector<uint32_t> expected = turned(x.data(), n, turns);
    const days::DeviceBuffer<uint32_t> device(n);
    const days::Stream own[kStreams];
    const std::vector<cudaStream_t> streams(own, own + kStreams);

    const auto pipeline = [&](size_t chunks) {
      const size_t most = days::ceil_div(n, chunks);
      for (size_t chunk = 0; chunk * most < n; ++chunk) {
        const size_t first = chunk * most, count = std::min(most, n - first);
        const cudaStream_t stream = streams[chunk % kStreams];
        uint32_t* const part = device.data() + first;
        CUDA_CHECK(cudaMemcpyAsync(part, x.data() + first, count * sizeof(uint32_t), cudaMemcpyHostToDevice,
                                   stream));
        turn<<<blocks(count), kThreads, 0, stream>>>(part, part, count, turns);
        CUDA_CHECK_LAUNCH();
        CUDA_CHECK(cudaMemcpyAsync(y.data() + first, part, count * sizeof(uint32_t), cudaMemcpyDeviceToHost,
                                   stream));
      }
    };

    if (days::on_gpu()) {
      program.table(static_cast<double>(bytes), static_cast<double>(bytes), "pipeline model");
      std::printf("%6s %9s %9s %9s | %9s %9s %7s\n", "chunks", "H2D ms", "kernel ms", "D2H ms", "model ms",
                  "takes ms", "reaches");
    } else {
      std::printf("%6s %14s %16s\n", "chunks", "one by one", "overlapped");
    }
    for (size_t chunks = 1; chunks <= (days::on_gpu() ? 256 : 16); chunks *= 2) {
      std::fill(y.data(), y.data() + n, 0u);
      pipeline(chunks);
      CUDA_CHECK(cudaDeviceSynchronize());
      if (!program.compare(y.data(), expected.data(), n, "y")) return;
      if (!days::on_gpu()) {  // each part takes one step here, as nothing is timed
        std::printf("%6zu %8.0f steps %10.0f steps\n", chunks, 3.0 * static_cast<double>(chunks),
                    pipeline_seconds({1, 1, 1}, chunks));
        continue;
      }
      const Parts parts =
          measure_parts(x.data(), y.data(), device.data(), days::ceil_div(n, chunks), turns, streams[0]);
      const double best = pipeline_seconds(parts, chunks);
      const days::Timing all = days::time_streams(streams, 10, [&] { pipeline(chunks); });
      program.row(std::to_string(chunks) + " chunks", all, best);
      std::printf("%6zu %9.3f %9.3f %9.3f | %9.3f %9.3f %6.1f%%\n", chunks, 1e3 * parts.copy_in,
                  1e3 * parts.kernel, 1e3 * parts.copy_out, 1e3 * best, 1e3 * all.seconds,
                  100 * best / all.seconds);
    }
  });
}
