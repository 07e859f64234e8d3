// SPDX-License-Identifier: MIT
//
// Programmatic dependent launch: in the same chain a kernel may be put onto the GPU before the one ahead of it has
// ended. It does what needs no result of it (here: finds its element), and then waits. What is hidden is the gap
// between two kernels, in which blocks are started. Since compute capability 9.0.
//   nvcc -O3 -std=c++20 -arch=sm_90 -I. common/core.cpp common/program/program.cpp day60_streams_and_graphs/06_dependent.cu -o dependent
#include "common/ptx.h"
#include "day60_streams_and_graphs/numbers.cuh"

using namespace day60;

constexpr int kKernels = 1000;

// turn() with two more lines. The whole grid of the kernel before has ended, and its writes are seen, where
// griddepcontrol_wait() returns; launch_dependents only lets the next grid start early.
__global__ void dependent_turn(uint32_t* data, size_t n, int turns) {
  days::ptx::griddepcontrol_launch_dependents();
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  days::ptx::griddepcontrol_wait();
  if (i >= n) return;
  uint32_t state = data[i];
  for (int t = 0; t < turns; ++t) state = kFactor * state + kSummand;
  data[i] = state;
}

// Compiled for less, the kernel has no wait in it, and its launch would be a race.
bool waits() {
  cudaFuncAttributes attributes;
  CUDA_CHECK(cudaFuncGetAttributes(&attributes, dependent_turn));
  return days::device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9 && attributes.ptxVersion >= 90;
}

int main(int argc, char** argv) {
  const days::About about{"dependent", "1,000 kernels, each started before the one ahead has ended", 1 << 12,
                          1 << 8, "uint32"};
  return days::program(argc, argv, about, [](days::Program& program) {
    if (!waits()) return program.skip("needs sm_90, and code compiled for it");
    const size_t n = program.size(), bytes = n * sizeof(uint32_t);
    std::vector<uint32_t> x(n), y(n);
    fill(x.data(), n);
    const days::DeviceBuffer<uint32_t> device(n);
    const days::Stream stream;

    const auto chain = [&](bool dependent) {
      cudaLaunchAttribute early[1] = {};
      early[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      early[0].val.programmaticStreamSerializationAllowed = 1;
      cudaLaunchConfig_t config = {};
      config.gridDim = dim3(blocks(n));
      config.blockDim = dim3(kThreads);
      config.stream = stream;
      config.attrs = early;
      config.numAttrs = dependent ? 1 : 0;
      for (int k = 0; k < kKernels; ++k)
        CUDA_CHECK(cudaLaunchKernelEx(&config, dependent_turn, device.data(), n, 1));
    };
    for (const bool dependent : {false, true}) {
      CUDA_CHECK(cudaMemcpy(device.data(), x.data(), bytes, cudaMemcpyHostToDevice));
      chain(dependent);
      CUDA_CHECK(cudaStreamSynchronize(stream));
      CUDA_CHECK(cudaMemcpy(y.data(), device.data(), bytes, cudaMemcpyDeviceToHost));
      program.compare(y.data(), turned(x.data(), n, kKernels).data(), n, "y");
    }
    if (!days::on_gpu()) {
      std::printf("The CPU runs one kernel after the other, so that here both chains are the same.\n");
      return;
    }
    // As graphs: launches from the host would be slower than either chain, and hide the difference.
    program.table(0, 0);
    double plain = 0;
    for (const bool dependent : {false, true}) {
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t ready = nullptr;
      CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      chain(dependent);
      CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
      CUDA_CHECK(cudaGraphInstantiate(&ready, graph, 0));
      const days::Timing timing =
          days::time_streams({stream}, 20, [&] { CUDA_CHECK(cudaGraphLaunch(ready, stream)); });
      if (!dependent) plain = timing.seconds;
      const char* const name = dependent ? "dependent launches" : "one after the other";
      program.row(name, timing);
      std::printf("%-20s %8.1f us, %.2f us a kernel, %.2f times as fast\n", name, 1e6 * timing.seconds,
                  1e6 * timing.seconds / kKernels, plain / timing.seconds);
      CUDA_CHECK(cudaGraphExecDestroy(ready));
      CUDA_CHECK(cudaGraphDestroy(graph));
    }
  });
}
