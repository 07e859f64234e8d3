// SPDX-License-Identifier: MIT
//
// Operators of PyTorch over the shared libraries of days (common/library.h): one source for all of them. gpudays/op.py says at
// import what an operator's tensors are and which rungs it takes, and define() below registers it; its extents follow from the
// tensors. PyTorch's stable ABI alone: built once, it serves later versions, and g++ is all that it needs.
//
// Its arguments are told in words, each with its kind:
//   input x 0 = rows* 2*cols       a tensor: its place among the ladder's buffers, its type (= is the operator's), its dimensions
//   changed a 0 = n                one that is written to
//   output y 1 float32 rows*       one that is made
//   filled y 1 = n                 one that is made of zeros, as a rung does not write all of it
//   extent radius                  a whole number of the caller's that is an extent
//   number eps                     a number of the caller's that is none (days_scalars); NaN is the ladder's own
// A dimension is an extent, or 2*cols, 2*radius+1, dim/2, 3. One with a star at its end stands for all dimensions that the others
// leave over, and its extent is their product.
#include <dlfcn.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
constexpr Type kTypes[] = {{ScalarType::Float, "float32", "fp32"},
                           {ScalarType::Half, "float16", "fp16"},
                           {ScalarType::BFloat16, "bfloat16", "bf16"},
                           {ScalarType::Double, "float64", "fp64"},
                           {ScalarType::Int, "int32", "int32"},
                           {ScalarType::Long, "int64", "int64"},
                           {ScalarType::Byte, "uint8", "uint8"},
                           {ScalarType::Char, "int8", "int8"},
                           {ScalarType::Short, "int16", "int16"},
                           {ScalarType::UInt32, "uint32", "uint32"},
                           {ScalarType::Bool, "bool", ""}};

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
    workspace = find<decltype(workspace)>("days_workspace");
    scalars = find<decltype(scalars)>("days_scalars");
    know = find<decltype(know)>("days_know");
    forget = find<decltype(forget)>("days_forget");
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
  decltype(&days_workspace) workspace;
  decltype(&days_scalars) scalars;
  decltype(&days_know) know;
  decltype(&days_forget) forget;
};

// factor * extent / divisor + offset; without an extent its offset alone.
struct Dim {
  std::string text, extent;
  int64_t factor = 1, divisor = 1, offset = 0;

  int64_t of(int64_t n) const { return extent.empty() ? offset : n * factor / divisor + offset; }
  // The extent of which this is so many; -1 where there is none.
  int64_t solved(int64_t size) const {
    const int64_t scaled = (size - offset) * divisor;
    return scaled < 0 || scaled % factor != 0 ? -1 : scaled / factor;
  }
};

enum class Kind { kInput, kChanged, kOutput, kFilled, kExtent, kNumber };

struct Argument {
  Kind kind = Kind::kInput;
  std::string name;
  size_t place = 0;  // of a tensor, among the ladder's buffers
  std::string type;  // of a tensor: PyTorch's name, "" for the operator's
  std::vector<Dim> dims;
  size_t star = SIZE_MAX;  // the dimension that stands for several
  bool starred() const { return star != SIZE_MAX; }
  bool tensor() const { return kind != Kind::kExtent && kind != Kind::kNumber; }
  bool made() const { return kind == Kind::kOutput || kind == Kind::kFilled; }
};

struct Op {
  std::string name, ladder;
  std::vector<Argument> arguments;                         // in the schema's order, the outputs last
  std::vector<std::string> extents;                        // the ladder's, in its order
  std::vector<int64_t> fixed;                              // likewise: what an extent always is, or 0
  std::vector<std::pair<std::string, std::string>> types;  // PyTorch's, and the ladder's that serves it
  std::vector<std::string> rungs;  // as they are tried: the first that takes the shape, and is there
  size_t buffers = 0;              // the ladder's; one that no argument has is read by no rung of these
  std::unique_ptr<Library> library;
  bool sums = false;   // of no elements its results are 0
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

// "cols", "2*radius+1", "dim/2", "3"
Dim dim_of(const std::string& text) {
  Dim dim;
  dim.text = text;
  size_t at = 0;
  const auto number = [&] {
    size_t used = 0;
    const int64_t n = std::stoll(text.substr(at), &used);
    at += used;
    return n;
  };
  if (std::isdigit(static_cast<unsigned char>(text[0])) != 0) {
    const int64_t n = number();
    if (at == text.size()) {
      dim.offset = n;
      return dim;
    }
    dim.factor = n;
    ++at;  // the *
  }
  const size_t end = std::min(text.size(), text.find_first_of("/+-", at));
  dim.extent = text.substr(at, end - at);
  at = end;
  if (at < text.size() && text[at] == '/') {
    ++at;
    dim.divisor = number();
  }
  if (at < text.size()) dim.offset = number();
  return dim;
}

Argument parsed(const std::string& text) {
  static const std::pair<const char*, Kind> kKinds[] = {
      {"input", Kind::kInput},   {"changed", Kind::kChanged}, {"output", Kind::kOutput},
      {"filled", Kind::kFilled}, {"extent", Kind::kExtent},   {"number", Kind::kNumber}};
  const std::vector<std::string> words = split(text, ' ');
  Argument argument;
  for (const auto& [word, kind] : kKinds) {
    if (words.at(0) == word) argument.kind = kind;
  }
  argument.name = words.at(1);
  if (!argument.tensor()) return argument;
  argument.place = std::stoul(words.at(2));
  argument.type = words.at(3) == "=" ? "" : words[3];
  for (size_t i = 4; i < words.size(); ++i) {
    std::string word = words[i];
    if (word.back() == '*') {
      argument.star = argument.dims.size();
      word.pop_back();
    }
    argument.dims.push_back(dim_of(word));
  }
  return argument;
}

// "x[rows*, cols]", as the declaration has it.
std::string shown(const Argument& argument) {
  std::string text;
  for (size_t i = 0; i < argument.dims.size(); ++i)
    text += (i == 0 ? "" : ", ") + argument.dims[i].text + (i == argument.star ? "*" : "");
  return argument.name + "[" + text + "]";
}

// What the caller gives for an argument that is no output.
struct Given {
  std::unique_ptr<Tensor> tensor;
  int64_t whole = 0;
  double number = 0;
};

class Call {
 public:
  Call(const Op& op, std::vector<Given> given)
      : op_(op), given_(std::move(given)), bounds_(op.extents.size()) {
    for (size_t i = 0; i < given_.size() && first_ == nullptr; ++i) {
      if (op_.arguments[i].tensor() && op_.arguments[i].type.empty()) {
        first_ = given_[i].tensor.get();
        first_name_ = op_.arguments[i].name;
      }
    }
    for (size_t i = 0; i < bounds_.size(); ++i) bounds_[i].n = op_.fixed[i];
    for (size_t i = 0; i < given_.size(); ++i) {
      if (op_.arguments[i].kind == Kind::kExtent) bind_number(op_.arguments[i], given_[i].whole);
    }
    for (size_t i = 0; i < given_.size(); ++i) {
      if (op_.arguments[i].tensor()) bind(op_.arguments[i], *given_[i].tensor);
    }
  }

  std::vector<Tensor> run() {
    std::vector<Tensor> outputs;
    int64_t elements = 0;
    for (size_t i = 0; i < op_.arguments.size(); ++i) {
      const Argument& argument = op_.arguments[i];
      if (argument.kind == Kind::kChanged) elements += given_[i].tensor->numel();
      if (!argument.made()) continue;
      outputs.push_back(made(argument));
      elements += outputs.back().numel();
    }
    if (elements == 0) return outputs;  // nothing to compute
    std::vector<int64_t> extents;
    for (size_t i = 0; i < bounds_.size(); ++i) {
      if (bounds_[i].n == 0 && op_.sums) {
        for (Tensor& output : outputs) torch::stable::zero_(output);
        return outputs;
      }
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

  void bind_number(const Argument& argument, int64_t n) {
    require(n > 0, about(), argument.name, " is ", n, ", and it is at least 1");
    bound_of(argument.name) = {n, {n}, &argument};
  }

  void bind(const Argument& argument, const Tensor& tensor) {
    bind_type(argument, tensor);
    const std::string& name = argument.name;
    require(tensor.is_cpu() == op_.on_cpu, about(), name, " is on ", where(tensor),
            ", and gpudays was built for ",
            op_.on_cpu ? "the CPU: " + name + ".cpu()" : "the GPU: " + name + ".cuda()");
    require(tensor.get_device_index() == first_->get_device_index(), about(), name, " is on ", where(tensor),
            ", and ", first_name_, " on ", where(*first_));
    std::string strides;
    for (int64_t i = 0; i < tensor.dim(); ++i)
      strides += (i == 0 ? "" : ", ") + std::to_string(tensor.stride(i));
    require(tensor.is_contiguous(), about(), name, " is not contiguous: its strides are ", strides, ". ",
            name, ".contiguous() copies it");
    bind_shape(argument, sizes_of(tensor));
  }

  void bind_type(const Argument& argument, const Tensor& tensor) {
    const Type& type = type_of(tensor);
    if (!argument.type.empty()) {
      require(argument.type == type.name, about(), argument.name, " is ", type.name, ", and it takes ",
              argument.type);
      return;
    }
    std::string takes;
    bool known = false;
    for (const auto& [torch, days] : op_.types) {
      takes += (takes.empty() ? "" : ", ") + torch;
      known = known || torch == type.name;
    }
    require(known, about(), argument.name, " is ", type.name, ", and it takes ", takes);
    require(type.torch == first_->scalar_type(), about(), argument.name, " is ", type.name, ", and ",
            first_name_, " is ", type_of(*first_).name);
  }

  static std::vector<int64_t> sizes_of(const Tensor& tensor) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < tensor.dim(); ++i) sizes.push_back(tensor.size(i));
    return sizes;
  }

  void bind_shape(const Argument& argument, const std::vector<int64_t>& sizes) {
    const size_t fixed = argument.dims.size() - (argument.starred() ? 1 : 0);
    const auto takes = [&](bool holds) {
      require(holds, about(), argument.name, " is ", shape_of(sizes), ", and it takes ", shown(argument));
    };
    takes(argument.starred() ? sizes.size() >= fixed : sizes.size() == fixed);
    const size_t over = sizes.size() - fixed;  // the dimensions of the star
    size_t at = 0;
    for (size_t i = 0; i < argument.dims.size(); ++i) {
      const Dim& dim = argument.dims[i];
      const size_t count = i == argument.star ? over : 1;
      Bound found{
          1,
          {sizes.begin() + static_cast<ptrdiff_t>(at), sizes.begin() + static_cast<ptrdiff_t>(at + count)},
          &argument};
      for (const int64_t n : found.sizes) found.n *= n;
      at += count;
      if (dim.extent.empty()) {
        takes(found.n == dim.offset);
        continue;
      }
      Bound& bound = bound_of(dim.extent);
      if (bound.n == 0 && bound.by == nullptr) {
        found.n = dim.solved(found.n);
        takes(found.n >= 0);
        bound = found;
        continue;
      }
      const bool stars = i == argument.star;
      require(stars ? bound.sizes == found.sizes : dim.of(bound.n) == found.n, about(), argument.name, " is ",
              shape_of(sizes), ", and ", dim.extent,
              stars ? " is " + shape_of(bound.sizes) : " is " + std::to_string(bound.n),
              bound.by->tensor() ? " in " + bound.by->name : "");
    }
  }

  Bound& bound_of(const std::string& extent) {
    const auto found = std::find(op_.extents.begin(), op_.extents.end(), extent);
    return bounds_[static_cast<size_t>(found - op_.extents.begin())];
  }

  Tensor made(const Argument& argument) {
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < argument.dims.size(); ++i) {
      const Dim& dim = argument.dims[i];
      if (i == argument.star) {
        const Bound& bound = bound_of(dim.extent);
        sizes.insert(sizes.end(), bound.sizes.begin(), bound.sizes.end());
      } else {
        sizes.push_back(dim.of(dim.extent.empty() ? 0 : bound_of(dim.extent).n));
      }
    }
    std::optional<ScalarType> type;
    for (const Type& one : kTypes) {
      if (argument.type == one.name) type = one.torch;
    }
    return argument.kind == Kind::kFilled ? torch::stable::new_zeros(*first_, sizes, type)
                                          : torch::stable::new_empty(*first_, sizes, type);
  }

  // Gives the library the caller's numbers for one launch.
  class Numbers {
   public:
    Numbers(const Op& op, const std::vector<Given>& given) : library_(*op.library) {
      std::vector<const char*> names;
      std::vector<double> values;
      for (size_t i = 0; i < given.size(); ++i) {
        if (op.arguments[i].kind != Kind::kNumber || std::isnan(given[i].number)) continue;
        names.push_back(op.arguments[i].name.c_str());
        values.push_back(given[i].number);
      }
      any_ = !names.empty();
      if (any_) library_.scalars(names.data(), values.data(), names.size());
    }
    ~Numbers() {
      if (any_) library_.scalars(nullptr, nullptr, 0);
    }
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;

   private:
    const Library& library_;
    bool any_ = false;
  };

  // Memory of the CPU that a rung may fill with cudaMemset: what the call makes, and nobody else has.
  class Known {
   public:
    Known(const Op& op, const Tensor& tensor) {
      if (!op.on_cpu || tensor.numel() == 0) return;
      const auto bytes = static_cast<size_t>(tensor.numel()) * static_cast<size_t>(tensor.element_size());
      if (op.library->know(tensor.data_ptr(), bytes) != 0) return;
      forget_ = op.library->forget;
      pointer_ = tensor.data_ptr();
    }
    ~Known() {
      if (pointer_ != nullptr) forget_(pointer_);
    }
    Known(Known&& other) noexcept
        : forget_(other.forget_), pointer_(std::exchange(other.pointer_, nullptr)) {}
    Known& operator=(Known&&) = delete;

   private:
    decltype(&days_forget) forget_ = nullptr;
    void* pointer_ = nullptr;
  };

  void launch(const std::vector<int64_t>& extents, const std::vector<Tensor>& outputs) {
    std::vector<void*> buffers(op_.buffers);
    for (size_t i = 0; i < given_.size(); ++i) {
      if (op_.arguments[i].tensor()) buffers[op_.arguments[i].place] = given_[i].tensor->data_ptr();
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      buffers[op_.arguments[given_.size() + i].place] = outputs[i].data_ptr();
    for (const Tensor& output : outputs) known_.emplace_back(op_, output);
    const int device = first_->get_device_index();
    std::unique_ptr<torch::stable::accelerator::DeviceGuard> guard;
    if (!op_.on_cpu) guard = std::make_unique<torch::stable::accelerator::DeviceGuard>(device);
    void* stream = op_.on_cpu ? nullptr : current_stream(device);
    const Numbers numbers(op_, given_);
    const std::string torch_type = type_of(*first_).name;
    const auto type = std::find_if(op_.types.begin(), op_.types.end(),
                                   [&](const auto& pair) { return pair.first == torch_type; });
    int code = 1;
    for (const std::string& rung : op_.rungs) {
      code = launch(rung, type->second, extents, buffers, stream);
      if (code != 2 && code != 3) break;  // not this shape, or not on this device: the next one
    }
    require(code == 0, about(), op_.library->error());
    // A kernel on the CPU runs when it is waited for, and PyTorch's next operator would not wait.
    if (op_.on_cpu) require(op_.library->wait(stream) == 0, about(), op_.library->error());
  }

  int launch(const std::string& rung, const std::string& type, const std::vector<int64_t>& extents,
             const std::vector<void*>& buffers, void* stream) {
    const int64_t bytes = op_.library->workspace(op_.ladder.c_str(), type.c_str(), rung.c_str(),
                                                 extents.data(), extents.size());
    if (bytes < 0) return 2;
    void* workspace = nullptr;
    if (bytes > 0) {
      // PyTorch gives it back when the call is over, and to nobody who is not behind this launch on the stream.
      workspaces_.push_back(torch::stable::new_empty(*first_, std::vector<int64_t>{bytes}, ScalarType::Byte));
      known_.emplace_back(op_, workspaces_.back());
      workspace = workspaces_.back().data_ptr();
    }
    return op_.library->launch(op_.ladder.c_str(), type.c_str(), rung.c_str(), extents.data(), extents.size(),
                               buffers.data(), buffers.size(), workspace, static_cast<size_t>(bytes), stream);
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
  std::vector<Given> given_;
  std::vector<Bound> bounds_;
  const Tensor* first_ = nullptr;  // the first of the operator's type: what is made is made like it
  std::string first_name_;
  std::vector<Tensor> workspaces_;
  std::vector<Known> known_;  // gone before the workspaces
};

// PyTorch calls a plain function, which has to know of which operator it is: one function a place in this table.
constexpr size_t kMost = 128;
std::array<std::unique_ptr<Op>, kMost> ops;

template <size_t kPlace>
void boxed(StableIValue* stack, uint64_t inputs, uint64_t) {
  const Op& op = *ops[kPlace];
  std::vector<Given> given(inputs);
  for (uint64_t i = 0; i < inputs; ++i) {
    if (op.arguments[i].kind == Kind::kExtent)
      given[i].whole = torch::stable::detail::to<int64_t>(stack[i]);
    else if (op.arguments[i].kind == Kind::kNumber)
      given[i].number = torch::stable::detail::to<double>(stack[i]);
    else
      given[i].tensor = std::make_unique<Tensor>(torch::stable::detail::to<Tensor>(stack[i]));
  }
  const std::vector<Tensor> made = Call(op, std::move(given)).run();
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
//   arguments: a line each, as told above; extents: "rows cols form=2"; types: "float32=fp32 bfloat16=bf16"; rungs: "fast slow"
const char* gpudays_define(const char* path, const char* name, const char* schema, const char* arguments,
                           const char* ladder, const char* extents, const char* types, const char* rungs,
                           int buffers, int sums, int on_cpu) {
  thread_local std::string said;
  try {
    auto* const place = std::find(ops.begin(), ops.end(), nullptr);
    require(place != ops.end(), "there is no place for more than ", kMost, " operators");
    auto op = std::make_unique<Op>();
    op->name = name;
    op->ladder = ladder;
    for (const std::string& line : split(arguments, '\n')) op->arguments.push_back(parsed(line));
    for (const std::string& word : split(extents, ' ')) {
      const size_t equals = word.find('=');
      op->extents.push_back(word.substr(0, equals));
      op->fixed.push_back(equals == std::string::npos ? 0 : std::stoll(word.substr(equals + 1)));
    }
    for (const std::string& word : split(types, ' ')) {
      const size_t equals = word.find('=');
      op->types.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    op->rungs = split(rungs, ' ');
    op->buffers = static_cast<size_t>(buffers);
    op->library = std::make_unique<Library>(path);
    op->sums = sums != 0;
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
