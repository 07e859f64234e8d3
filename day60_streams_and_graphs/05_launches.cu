// SPDX-License-Identifier: MIT
//
// A chain of 1,000 kernels, each too small to keep a GPU busy for longer than its launch takes. A CUDA graph is
// the same chain, recorded once from the stream ("captured"), checked and prepared once ("instantiated"), and
// started by one call. A second recording with other arguments updates the prepared graph in place.
//   nvcc -O3 -std=c++20 -arch=sm_75 -I. common/core.cpp common/program/program.cpp day60_streams_and_graphs/05_launches.cu -o launches
#include <chrono>

#include "day60_streams_and_graphs/numbers.cuh"

using namespace day60;

constexpr int kKernels = 1000;

int main(int argc, char** argv) {
  const days::About about{"launches", "1,000 kernels: launched, as a graph, as a graph that is updated",
                          1 << 12, 1 << 8, "uint32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    const size_t n = program.size(), bytes = n * sizeof(uint32_t);
    std::vector<uint32_t> x(n), y(n);
    fill(x.data(), n);
    const days::DeviceBuffer<uint32_t> device(n);
    const days::Stream stream;

    const auto chain = [&](int turns) {  // each kernel needs what the one before has written
      for (int k = 0; k < kKernels; ++k) {
        turn<<<blocks(n), kThreads, 0, stream>>>(device.data(), device.data(), n, turns);
        CUDA_CHECK_LAUNCH();
      }
    };
    const auto captured = [&](int turns) {
      cudaGraph_t graph = nullptr;
      CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      chain(turns);  // recorded, not run
      CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
      return graph;
    };
    const auto expect = [&](const auto& work, int turns) {
      CUDA_CHECK(cudaMemcpy(device.data(), x.data(), bytes, cudaMemcpyHostToDevice));
      work();
      CUDA_CHECK(cudaStreamSynchronize(stream));
      CUDA_CHECK(cudaMemcpy(y.data(), device.data(), bytes, cudaMemcpyDeviceToHost));
      program.compare(y.data(), turned(x.data(), n, kKernels * turns).data(), n, "y");
    };

    cudaGraph_t one_turn = captured(1);
    const auto begin = std::chrono::steady_clock::now();
    cudaGraph_t two_turns = captured(2);
    const std::chrono::duration<double, std::micro> recording = std::chrono::steady_clock::now() - begin;
    cudaGraphExec_t ready = nullptr;
    CUDA_CHECK(cudaGraphInstantiate(&ready, one_turn, 0));
    const auto launch = [&] { CUDA_CHECK(cudaGraphLaunch(ready, stream)); };
    const auto update = [&](cudaGraph_t graph) {  // the same nodes and edges, other arguments
      cudaGraphExecUpdateResultInfo info = {};
      CUDA_CHECK(cudaGraphExecUpdate(ready, graph, &info));
    };
    expect([&] { chain(1); }, 1);
    expect(launch, 1);
    expect(
        [&] {
          update(two_turns);
          launch();
        },
        2);

    if (days::on_gpu()) {
      const days::Timing plain = days::time_streams({stream}, 20, [&] { chain(1); });
      const days::Timing graph = days::time_streams({stream}, 20, launch);
      bool odd = false;
      const days::Timing updated = days::time_streams({stream}, 20, [&] {
        update(odd ? one_turn : two_turns);
        odd = !odd;
        launch();
      });
      program.table(0, 0);
      for (const auto& [name, timing] :
           {std::pair{"plain launches", plain}, {"graph", graph}, {"updated graph", updated}}) {
        program.row(name, timing);
        std::printf("%-16s %8.1f us, %5.2f us a kernel, %.2f times as fast as plain launches\n", name,
                    1e6 * timing.seconds, 1e6 * timing.seconds / kKernels, plain.seconds / timing.seconds);
      }
      std::printf("%-16s %8.1f us of the host, in none of these times\n", "to record anew",
                  recording.count());
    } else {
      std::printf("to run the chain again: %d launches, or 1 of a graph (other arguments: 1 update more)\n",
                  kKernels);
    }
    CUDA_CHECK(cudaGraphExecDestroy(ready));
    CUDA_CHECK(cudaGraphDestroy(one_turn));
    CUDA_CHECK(cudaGraphDestroy(two_turns));
  });
}
