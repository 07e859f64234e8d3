// SPDX-License-Identifier: MIT
//
// Exercise: copy and compute at the same time. `./days check 60` copies this file to my/day60.cu.
//
// Goal: at least 90% of the copies may run beside a kernel, and where one operation after the other takes 100
// steps, yours take at most 45. Each chunk is copied in, turned by the kernel, and copied out; kChunks of them.
//
//  1. Cut n elements into kChunks pieces. n need not be a multiple: the last piece is shorter, or there are fewer.
//  2. Put the three operations of a piece into one of the streams, in their order.
//  3. Let neighbouring pieces go into different streams.
//  4. Wait for nothing in here: main() does, below.
#include <algorithm>

#include "day60_streams_and_graphs/parts.cuh"

using namespace day60;

constexpr size_t kChunks = 16;
constexpr size_t kStreams = 4;

// to[i] = from[i] turned `turns` times, for i < n. from and to: pinned host memory. device: n elements on the
// device, yours to use. Puts all work into the streams and returns.
void there_and_back(const uint32_t* from, uint32_t* to, uint32_t* device, size_t n, int turns,
                    const std::vector<cudaStream_t>& streams) {
  // your code
  static_cast<void>(from), static_cast<void>(to), static_cast<void>(device);
  static_cast<void>(n), static_cast<void>(turns), static_cast<void>(streams);
}

int main(int argc, char** argv) {
  const days::About about{"exercise", "your pipeline", 1 << 26, 1 << 18, "uint32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size();
    const int turns = default_turns();
    const days::PinnedBuffer<uint32_t> x(n), y(n);
    fill(x.data(), n);
    std::fill(y.data(), y.data() + n, 0u);
    const days::DeviceBuffer<uint32_t> device(n);
    const days::Stream own[kStreams];
    const std::vector<cudaStream_t> streams(own, own + kStreams);
    CUDA_CHECK(cudaDeviceSynchronize());

    const auto yours = [&] { there_and_back(x.data(), y.data(), device.data(), n, turns, streams); };
    yours();
    for (const cudaStream_t stream : streams) CUDA_CHECK(cudaStreamSynchronize(stream));
    if (!program.compare(y.data(), turned(x.data(), n, turns).data(), n, "y") || !days::on_gpu()) return;

    // On a GPU: beside what the model of the pipeline promises.
    const days::Timing all = days::time_streams(streams, 10, yours);
    const Parts parts =
        measure_parts(x.data(), y.data(), device.data(), days::ceil_div(n, kChunks), turns, streams[0]);
    const double best = pipeline_seconds(parts, kChunks);
    program.table(static_cast<double>(n * sizeof(uint32_t)), static_cast<double>(n * sizeof(uint32_t)),
                  "pipeline model");
    program.row("exercise", all, best);
    std::printf("%.2f ms, %.1f%% of the pipeline model\n", 1e3 * all.seconds, 100 * best / all.seconds);
  });
}
