// SPDX-License-Identifier: MIT
//
// Operators of PyTorch over the shared libraries of days (common/library.h): one source for all of them. gpudays/op.py says at
// import what an operator's tensors are and which rungs it takes, and define() below registers it; its extents follow from the
// tensors. PyTorch's stable ABI alone: built once, it serves later versions, and g++ is all that it needs.
//
// An operator's tensors are told as "x rows* cols;gamma cols>y rows* cols": names of extents, one a dimension. One with a star
// stands for all dimensions that the others leave over, and its extent is their product.
#include <dlfcn.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/library.h"

namespace {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// Without the place in this file that STD_TORCH_CHECK puts before it: what is wrong is the caller's.
template <class... Parts>
void require(bool holds, const Parts&... parts) {
  if (holds) return;
  std::ostringstream text;
  (text << ... << parts);
  throw std::runtime_error(text.str());
}

struct Type {
  ScalarType torch;
  const char* name;  // PyTorch's
  const char* days;
};
constexpr Type kTypes[] = {
    {ScalarType::Float, "float32", "fp32"},     {ScalarType::Half, "float16", "fp16"},
    {ScalarType::BFloat16, "bfloat16", "bf16"}, {ScalarType::Double, "float64", "fp64"},
    {ScalarType::Int, "int32", "int32"},        {ScalarType::Long, "int64", "int64"},
    {ScalarType::Byte, "uint8", "uint8"},       {ScalarType::Char, "int8", "int8"},
    {ScalarType::Short, "int16", "int16"},      {ScalarType::Bool, "bool", ""}};

const Type& type_of(const Tensor& tensor) {
  static constexpr Type kOther{ScalarType::Undefined, "another type", ""};
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const Type& type) { return type.torch == tensor.scalar_type(); });
  return found == std::end(kTypes) ? kOther : *found;
}

std::string shape_of(const std::vector<int64_t>& sizes) {
  if (sizes.empty()) return "a single number";
  std::string text;
  for (const int64_t n : sizes) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

// The functions of a day's shared library, which stays loaded.
struct Library {
  explicit Library(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) throw std::runtime_error(dlerror());
    launch = find<decltype(launch)>("days_launch");
    error = find<decltype(error)>("days_error");
    wait = find<decltype(wait)>("days_wait");
  }
  template <class Function>
  Function find(const char* name) const {
    void* found = dlsym(handle, name);
    if (found == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<Function>(found);
  }
  void* handle;
  decltype(&days_launch) launch;
  decltype(&days_error) error;
  decltype(&days_wait) wait;
};

struct Argument {
  std::string name;
  std::vector<std::string> dims;  // names of extents, the star taken off
  size_t star = SIZE_MAX;         // the dimension that had one
  bool starred() const { return star != SIZE_MAX; }
};

struct Op {
  std::string name, ladder;
  std::vector<Argument> inputs, outputs;
  std::vector<std::string> extents;  // the ladder's, in its order
  std::vector<std::string> types;    // the ladder's
  std::vector<std::string> rungs;    // as they are tried: the first that takes the shape, and is there
  std::unique_ptr<Library> library;
  bool on_cpu = true;  // the library's kernels run on the CPU
};

// What an extent is, and who said so.
struct Bound {
  int64_t n = 0;
  std::vector<int64_t> sizes;  // of a star: the dimensions that it stands for
  const Argument* by = nullptr;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

Argument parsed(const std::string& text) {
  Argument argument;
  for (std::string word : split(text, ' ')) {
    if (argument.name.empty()) {
      argument.name = word;
      continue;
    }
    if (word.back() == '*') {
      argument.star = argument.dims.size();
      word.pop_back();
    }
    argument.dims.push_back(word);
  }
  return argument;
}

// "x[rows*, cols]", as the declaration has it.
std::string shown(const Argument& argument) {
  std::string text;
  for (size_t i = 0; i < argument.dims.size(); ++i)
    text += (i == 0 ? "" : ", ") + argument.dims[i] + (i == argument.star ? "*" : "");
  return argument.name + "[" + text + "]";
}

class Call {
 public:
  Call(const Op& op, std::vector<Tensor> inputs)
      : op_(op), inputs_(std::move(inputs)), bounds_(op.extents.size()) {
    for (size_t i = 0; i < inputs_.size(); ++i) bind(op_.inputs[i], inputs_[i]);
  }

  std::vector<Tensor> run() {
    std::vector<Tensor> outputs;
    for (const Argument& argument : op_.outputs) outputs.push_back(made(argument));
    int64_t elements = 0;
    for (const Tensor& output : outputs) elements += output.numel();
    if (elements == 0) return outputs;  // nothing to compute
    std::vector<int64_t> extents;
    for (size_t i = 0; i < bounds_.size(); ++i) {
      require(bounds_[i].n > 0, about(), op_.extents[i],
              " is 0: there is nothing to compute the result from");
      extents.push_back(bounds_[i].n);
    }
    launch(extents, outputs);
    return outputs;
  }

 private:
  std::string about() const { return "gpudays." + op_.name + ": "; }
  std::string where(const Tensor& tensor) const {
    return tensor.is_cpu() ? "the CPU" : "GPU " + std::to_string(tensor.get_device_index());
  }

  void bind(const Argument& argument, const Tensor& tensor) {
    const Tensor& first = inputs_[0];
    const std::string& name = argument.name;
    const Type& type = type_of(tensor);
    const bool known = std::find(op_.types.begin(), op_.types.end(), type.days) != op_.types.end();
    std::string takes;
    for (const Type& other : kTypes) {
      if (std::find(op_.types.begin(), op_.types.end(), other.days) != op_.types.end())
        takes += (takes.empty() ? "" : ", ") + std::string(other.name);
    }
    require(known, about(), name, " is ", type.name, ", and it takes ", takes);
    require(type.torch == first.scalar_type(), about(), name, " is ", type.name, ", and ", op_.inputs[0].name,
            " is ", type_of(first).name);
    require(tensor.is_cpu() == op_.on_cpu, about(), name, " is on ", where(tensor),
            ", and gpudays was built for ",
            op_.on_cpu ? "the CPU: " + name + ".cpu()" : "the GPU: " + name + ".cuda()");
    require(tensor.get_device_index() == first.get_device_index(), about(), name, " is on ", where(tensor),
            ", and ", op_.inputs[0].name, " on ", where(first));
    std::string strides;
    for (int64_t i = 0; i < tensor.dim(); ++i)
      strides += (i == 0 ? "" : ", ") + std::to_string(tensor.stride(i));
    require(tensor.is_contiguous(), about(), name, " is not contiguous: its strides are ", strides, ". ",
            name, ".contiguous() copies it");
    bind_shape(argument, sizes_of(tensor));
  }

  static std::vector<int64_t> sizes_of(const Tensor& tensor) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < tensor.dim(); ++i) sizes.push_back(tensor.size(i));
    return sizes;
  }

  void bind_shape(const Argument& argument, const std::vector<int64_t>& sizes) {
    const size_t fixed = argument.dims.size() - (argument.starred() ? 1 : 0);
    require(argument.starred() ? sizes.size() >= fixed : sizes.size() == fixed, about(), argument.name,
            " is ", shape_of(sizes), ", and it takes ", shown(argument));
    const size_t over = sizes.size() - fixed;  // the dimensions of the star
    size_t at = 0;
    for (size_t i = 0; i < argument.dims.size(); ++i) {
      const size_t count = i == argument.star ? over : 1;
      Bound found{
          1,
          {sizes.begin() + static_cast<ptrdiff_t>(at), sizes.begin() + static_cast<ptrdiff_t>(at + count)},
          &argument};
      for (const int64_t n : found.sizes) found.n *= n;
      at += count;
      Bound& bound = bound_of(argument.dims[i]);
      if (bound.by == nullptr) {
        bound = found;
        continue;
      }
      const bool stars = i == argument.star;
      require(stars ? bound.sizes == found.sizes : bound.n == found.n, about(), argument.name, " is ",
              shape_of(sizes), ", and ", argument.dims[i],
              stars ? " is " + shape_of(bound.sizes) : " is " + std::to_string(bound.n), " in ",
              bound.by->name);
    }
  }

  Bound& bound_of(const std::string& extent) {
    const auto found = std::find(op_.extents.begin(), op_.extents.end(), extent);
    return bounds_[static_cast<size_t>(found - op_.extents.begin())];
  }

  Tensor made(const Argument& argument) {
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < argument.dims.size(); ++i) {
      const Bound& bound = bound_of(argument.dims[i]);
      if (i == argument.star)
        sizes.insert(sizes.end(), bound.sizes.begin(), bound.sizes.end());
      else
        sizes.push_back(bound.n);
    }
    return torch::stable::new_empty(inputs_[0], sizes);
  }

  void launch(const std::vector<int64_t>& extents, const std::vector<Tensor>& outputs) {
    std::vector<void*> buffers;
    for (const Tensor& tensor : inputs_) buffers.push_back(tensor.data_ptr());
    for (const Tensor& tensor : outputs) buffers.push_back(tensor.data_ptr());
    const int device = inputs_[0].get_device_index();
    std::unique_ptr<torch::stable::accelerator::DeviceGuard> guard;
    if (!op_.on_cpu) guard = std::make_unique<torch::stable::accelerator::DeviceGuard>(device);
    void* stream = op_.on_cpu ? nullptr : current_stream(device);
    int code = 1;
    for (const std::string& rung : op_.rungs) {
      code = op_.library->launch(op_.ladder.c_str(), type_of(inputs_[0]).days, rung.c_str(), extents.data(),
                                 extents.size(), buffers.data(), buffers.size(), nullptr, 0, stream);
      if (code != 2 && code != 3) break;  // not this shape, or not on this device: the next one
    }
    require(code == 0, about(), op_.library->error());
    // A kernel on the CPU runs when it is waited for, and PyTorch's next operator would not wait.
    if (op_.on_cpu) require(op_.library->wait(stream) == 0, about(), op_.library->error());
  }

  // PyTorch's stream; of its library for CUDA, which is loaded where there is a tensor on a GPU.
  static void* current_stream(int device) {
    using Function = int (*)(int32_t, void**);
    static const Function function = [] {
      void* library = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
      return library == nullptr
                 ? nullptr
                 : reinterpret_cast<Function>(dlsym(library, "aoti_torch_get_current_cuda_stream"));
    }();
    void* stream = nullptr;
    require(function != nullptr && function(device, &stream) == 0,
            "gpudays: this PyTorch does not tell its CUDA stream");
    return stream;
  }

  const Op& op_;
  std::vector<Tensor> inputs_;
  std::vector<Bound> bounds_;
};

// PyTorch calls a plain function, which has to know of which operator it is: one function a place in this table.
constexpr size_t kMost = 64;
std::array<std::unique_ptr<Op>, kMost> ops;

template <size_t kPlace>
void boxed(StableIValue* stack, uint64_t inputs, uint64_t) {
  std::vector<Tensor> tensors;
  for (uint64_t i = 0; i < inputs; ++i) tensors.push_back(torch::stable::detail::to<Tensor>(stack[i]));
  const std::vector<Tensor> made = Call(*ops[kPlace], std::move(tensors)).run();
  for (size_t i = 0; i < made.size(); ++i) stack[i] = torch::stable::detail::from(made[i]);
}

using Boxed = void (*)(StableIValue*, uint64_t, uint64_t);
template <size_t... kPlaces>
constexpr std::array<Boxed, kMost> all_boxed(std::index_sequence<kPlaces...>) {
  return {&boxed<kPlaces>...};
}
constexpr std::array<Boxed, kMost> kBoxed = all_boxed(std::make_index_sequence<kMost>());

using Registered = torch::stable::detail::StableLibrary;

}  // namespace

extern "C" {

// Registers an operator for tensors on the CPU and on GPUs; "", or what is wrong. The text stays until this thread's next call.
const char* gpudays_define(const char* path, const char* name, const char* schema, const char* tensors,
                           const char* ladder, const char* extents, const char* types, const char* rungs,
                           int on_cpu) {
  thread_local std::string said;
  try {
    auto* const place = std::find(ops.begin(), ops.end(), nullptr);
    require(place != ops.end(), "there is no place for more than ", kMost, " operators");
    auto op = std::make_unique<Op>();
    op->name = name;
    op->ladder = ladder;
    const std::vector<std::string> sides = split(tensors, '>');
    for (const std::string& text : split(sides.at(0), ';')) op->inputs.push_back(parsed(text));
    for (const std::string& text : split(sides.at(1), ';')) op->outputs.push_back(parsed(text));
    op->extents = split(extents, ' ');
    op->types = split(types, ' ');
    op->rungs = split(rungs, ' ');
    op->library = std::make_unique<Library>(path);
    op->on_cpu = on_cpu != 0;
    *place = std::move(op);
    const Boxed function = kBoxed[static_cast<size_t>(place - ops.begin())];
    // Never freed: an operator is there until the process ends.
    auto* defined =
        new Registered(Registered::Kind::FRAGMENT, "gpudays", nullptr, "gpudays/ops.cpp", __LINE__);
    defined->def(schema);
    for (const char* key : {"CPU", "CUDA"})
      (new Registered(Registered::Kind::IMPL, "gpudays", key, "gpudays/ops.cpp", __LINE__))
          ->impl(name, function);
    said.clear();
  } catch (const std::exception& error) {
    said = error.what();
  }
  return said.c_str();
}

}  // extern "C"
