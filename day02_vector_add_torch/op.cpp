// SPDX-License-Identifier: MIT
// vector_add as an operator of PyTorch, against its stable ABI: no header of PyTorch's own C++, so g++ alone compiles it in seconds, and the
// library works with later versions, too.
#include <dlfcn.h>

#include <limits>  // which PyTorch's headers take for granted

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <cstdint>
#include <stdexcept>
#include <string>

extern "C" int day02_vector_add(const float* a, const float* b, float* c, int64_t n,
                                void* stream);  // vector_add.cu
extern "C" int day02_on_cpu();
extern "C" int day02_wait(void* stream);

namespace {

using torch::stable::Tensor;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("vector_add: " + what);
}

// PyTorch's own stream of a GPU: what is queued there runs after what made a and b.
void* stream_of(const Tensor& tensor) {
  if (tensor.is_cpu()) return nullptr;
  using Function = int (*)(int32_t, void**);
  void* cuda = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  const auto current = reinterpret_cast<Function>(dlsym(cuda, "aoti_torch_get_current_cuda_stream"));
  void* stream = nullptr;
  require(current != nullptr && current(tensor.get_device_index(), &stream) == 0, "no stream");
  return stream;
}

Tensor vector_add(const Tensor& a, const Tensor& b) {
  using torch::headeronly::ScalarType;
  require(a.scalar_type() == ScalarType::Float && b.scalar_type() == ScalarType::Float,
          "a and b are float32");
  require(a.is_contiguous() && b.is_contiguous(), "a and b have no gaps; .contiguous() closes them");
  require(a.is_cpu() == b.is_cpu() && a.get_device_index() == b.get_device_index(),
          "a and b are on one device");
  require(a.is_cpu() == (day02_on_cpu() == 1), "a and b are on the device that the kernel was built for");
  bool same = a.dim() == b.dim();
  for (int64_t i = 0; same && i < a.dim(); ++i) same = a.size(i) == b.size(i);
  require(same, "a and b have one shape");
  Tensor c = torch::stable::empty_like(a);
  void* stream = stream_of(a);
  const auto at = [](const Tensor& tensor) { return static_cast<float*>(tensor.data_ptr()); };
  require(day02_vector_add(at(a), at(b), at(c), a.numel(), stream) == 0, "the kernel was not launched");
  if (a.is_cpu())
    require(day02_wait(stream) == 0, "the kernel failed");  // PyTorch's next operator would not wait
  return c;
}

}  // namespace

// STABLE_TORCH_LIBRARY(space, m) and STABLE_TORCH_LIBRARY_IMPL(space, CPU, m) do the same for one name space when the library is loaded.
// Here each rung asks for one of its own, so that what one registers is not there for another.
extern "C" void day02_register(const char* space) {
  using Library = torch::stable::detail::StableLibrary;
  auto* defined = new Library(Library::Kind::DEF, space, nullptr, "op.cpp", __LINE__);
  defined->def("vector_add(Tensor a, Tensor b) -> Tensor");
  for (const char* device : {"CPU", "CUDA"}) {
    auto* library = new Library(Library::Kind::IMPL, space, device, "op.cpp", __LINE__);
    library->impl("vector_add", TORCH_BOX(&vector_add));
  }
}
