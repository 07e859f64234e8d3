// SPDX-License-Identifier: MIT
//
// NVIDIA's libraries of GPU code have no CPU version here. Their headers are there and empty (simt/include), so that a program may
// include one that it does not need; the first name of such a library that it uses is an error, which names the header.
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite.h"

namespace simtcc {
namespace {

struct Library {
  std::string_view headers;  // how their names begin
  std::string_view title;
  std::vector<std::string_view>
      names;  // "cub::": what stands in a namespace; "cublas": words that go on with a capital or _
};

const std::vector<Library>& libraries() {
  static const std::vector<Library> all{
      {"cub/", "CUB", {"cub::"}},
      {"thrust/", "Thrust", {"thrust::"}},
      {"cublas", "cuBLAS", {"cublas", "CUBLAS"}},
      {"cufft", "cuFFT", {"cufft", "CUFFT"}},
      {"curand", "cuRAND", {"curand", "CURAND"}},
      {"cusparse", "cuSPARSE", {"cusparse", "CUSPARSE"}},
      {"cusolver", "cuSOLVER", {"cusolver", "CUSOLVER"}},
      {"cudnn", "cuDNN", {"cudnn", "CUDNN"}},
      {"nvrtc", "NVRTC", {"nvrtc", "NVRTC"}},
      {"npp", "NPP", {"nppi", "npps", "Npp", "NPP"}},
      {"nccl", "NCCL", {"nccl", "NCCL"}},
      {"nvml", "NVML", {"nvml", "NVML"}},
      {"cuda/ptx", "cuda::ptx", {"cuda::ptx"}},
      {"cuda/annotated_ptr",
       "cuda::annotated_ptr",
       {"cuda::annotated_ptr", "cuda::access_property", "cuda::apply_access_property",
        "cuda::associate_access_property"}},
      {"cuda/memory_resource", "cuda::mr", {"cuda::mr"}},
      {"cuda/work_stealing", "cuda::for_each_canceled_block", {"cuda::for_each_canceled_block"}},
      {"cuda/std/inplace_vector", "cuda::std::inplace_vector", {"cuda::std::inplace_vector"}},
      {"cuda/std/linalg", "cuda::std::linalg", {"cuda::std::linalg"}}};
  return all;
}

class Refusal {
 public:
  explicit Refusal(const Unit& unit) : t_(unit.t) {}

  void run() {
    find_headers();
    if (headers_.empty()) return;
    for (int i = 0; i < t_.size(); ++i) {
      if (!t_.is_word(i) || t_.is(i - 1, ".") || t_.is(i - 1, "->")) continue;
      for (const Included& included : headers_) {
        for (const std::string_view name : included.library->names) {
          const int last = use(i, name);
          if (last < 0) continue;
          t_.fail(i, t_.text_of(i, last) + ": <" + included.header +
                         ">: " + std::string(included.library->title) +
                         " is a device library: it has no CPU version here");
        }
      }
    }
  }

 private:
  struct Included {
    const Library* library;
    std::string header;  // the first of the library's
  };

  // Each of those headers is a line of its own.
  void find_headers() {
    constexpr std::string_view kLine = "\n#pragma simt_library \"";
    const std::string& text = t_.source();
    for (std::size_t at = text.find(kLine); at != std::string::npos; at = text.find(kLine, at + 1)) {
      const std::size_t begin = at + kLine.size(), end = text.find_first_of("\"\r\n", begin);
      const std::string header = text.substr(begin, end - begin);
      for (const Library& library : libraries()) {
        if (header.compare(0, library.headers.size(), library.headers) != 0) continue;
        bool known = false;
        for (const Included& included : headers_) known = known || included.library == &library;
        if (!known) headers_.push_back({&library, header});
      }
    }
  }

  // The last token of what is used of a library, -1 where token i uses nothing of it.
  int use(int i, std::string_view name) const {
    if (name.find("::") == std::string_view::npos) {
      const std::string_view w = t_.text(i);
      if (w.compare(0, name.size(), name) != 0) return -1;
      const bool exact = w.size() == name.size() && t_.is(i + 1, "(");  // curand(&state)
      const char next = w.size() > name.size() ? w[name.size()] : ' ';
      const bool goes_on =
          std::isupper(static_cast<unsigned char>(next)) || std::isdigit(static_cast<unsigned char>(next)) ||
          (next == '_' && (std::isupper(static_cast<unsigned char>(name[0])) || name == "curand"));
      return exact || goes_on ? i : -1;
    }
    // A qualified name; `using namespace thrust` and `namespace ptx = cuda::ptx` use it, too.
    int k = i;
    while (!name.empty()) {
      const std::size_t colons = name.find("::");
      if (!t_.is(k, name.substr(0, colons))) return -1;
      if (colons == std::string_view::npos) return k;
      name.remove_prefix(colons + 2);
      if (name.empty()) {
        if (t_.is(k + 1, "::") && t_.is_word(k + 2)) return k + 2;
        return t_.is(i - 1, "namespace") && !t_.is(i + 1, "{") ? k
               : t_.is(i - 1, "=") && t_.is(i + 1, ";")        ? k
                                                               : -1;
      }
      if (!t_.is(k + 1, "::")) return -1;
      k += 2;
    }
    return -1;
  }

  const Tokens& t_;
  std::vector<Included> headers_;
};

}  // namespace

void refuse_libraries(const Unit& u) {
  Refusal(u).run();
}

}  // namespace simtcc
