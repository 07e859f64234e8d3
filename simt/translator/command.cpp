// SPDX-License-Identifier: MIT
#include "command.h"

#include <string_view>

namespace simtcc {
namespace {

bool one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  for (const std::string_view w : list) {
    if (w == word) return true;
  }
  return false;
}
bool starts_with(std::string_view word, std::string_view start) {
  return word.substr(0, start.size()) == start;
}
bool is_cuda_file(std::string_view word) {
  const auto dot = word.rfind('.');
  return word[0] != '-' && dot != std::string_view::npos && word.substr(dot) == ".cu";
}

// Options whose value is the next word.
bool is_preprocessor_option(std::string_view w) {
  return one_of(w, {"-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix",
                    "-iwithprefix", "-iwithprefixbefore", "-Xpreprocessor"});
}
bool takes_value(std::string_view w) {
  return one_of(w, {"-Xclang", "-Xassembler", "-Xlinker", "--param", "-arch", "-target", "--target",
                    "-isysroot", "--sysroot", "-L", "-l", "-T", "-u", "-z", "-mllvm", "-framework"});
}

// foo/bar.cu -> bar.o, where a compiler without -o writes.
std::string default_object(const std::string& source, const std::string& mode) {
  const auto slash = source.rfind('/');
  const std::string file = slash == std::string::npos ? source : source.substr(slash + 1);
  return file.substr(0, file.rfind('.')) + (mode == "-S" ? ".s" : ".o");
}

}  // namespace

Command parse_command(const Arguments& words) {
  Command c;
  c.compiler = words.at(0);
  Arguments sources;
  bool cuda = false;  // -x cu: so are the files that follow
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& w = words[i];
    auto next = [&]() -> const std::string& {
      if (i + 1 >= words.size()) throw UsageError("nothing follows " + w);
      return words[++i];
    };
    if (w.empty()) {
      c.both.push_back(w);
    } else if (one_of(w, {"-c", "-S", "-fsyntax-only", "-E", "-M", "-MM"})) {
      if (!c.only_preprocesses()) c.mode = w;
    } else if (w == "-o") {
      c.object = next();
    } else if (w == "-x") {
      cuda = next() == "cu";  // else the language is simtcc's to say
    } else if (starts_with(w, "-xc++") || starts_with(w, "-xcu")) {
      cuda = w == "-xcu";
    } else if (one_of(w, {"-MF", "-MT", "-MQ"})) {
      c.dependencies.push_back(w);
      c.dependencies.push_back(next());
    } else if (starts_with(w, "-M") || starts_with(w, "-Wp,-M")) {
      c.dependencies.push_back(w);
    } else if (is_preprocessor_option(w)) {
      c.preprocessor.push_back(w);
      c.preprocessor.push_back(next());
    } else if (one_of(std::string_view(w).substr(0, 2), {"-I", "-D", "-U"}) ||
               (starts_with(w, "-i") && !starts_with(w, "-isysroot")) || starts_with(w, "-Wp,")) {
      c.preprocessor.push_back(w);
    } else if (takes_value(w)) {
      c.both.push_back(w);
      c.both.push_back(next());
    } else if (is_cuda_file(w) || (cuda && w[0] != '-')) {
      sources.push_back(w);
    } else {
      c.both.push_back(w);
    }
  }
  if (sources.empty()) return c;
  c.source = sources[0];
  if (sources.size() > 1) {
    throw UsageError("one .cu file at a time: compile " + sources[0] + " and " + sources[1] +
                     " each with -c, then link");
  }
  if (c.mode.empty()) {
    throw UsageError("simtcc does not link: compile " + c.source +
                     " with -c -o FILE.o, then link that with libsimt.a and -pthread");
  }
  if (c.object.empty() && !c.only_preprocesses()) c.object = default_object(c.source, c.mode);
  return c;
}

Arguments preprocess_command(const Command& command, const std::string& include) {
  Arguments all{command.compiler, command.mode == "-M" || command.mode == "-MM" ? command.mode : "-E", "-x",
                "c++"};
  auto add = [&](const Arguments& more) { all.insert(all.end(), more.begin(), more.end()); };
  // Compute capability 9.0 with its `a` features, as the toolkit 13.0 sees it.
  add({"-D__CUDACC__", "-D__NVCC__", "-D__SIMT__=1", "-D__CUDA_ARCH__=900", "-D__CUDA_ARCH_FEAT_SM90_ALL",
       "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0", "-D__CUDACC_VER_BUILD__=0"});
  // nvcc includes this header by itself. Found by name in a system folder: its text is not translated.
  add({"-isystem", include, "-include", "cuda_runtime.h"});
  add(command.both);
  add(command.preprocessor);
  add(command.dependencies);
  // Left to itself, the preprocessor would name its own output as the target.
  bool writes = false, named = false, placed = false;
  for (const std::string& w : command.dependencies) {
    writes = writes || one_of(w, {"-MD", "-MMD"});
    named = named || one_of(w, {"-MT", "-MQ"});
    placed = placed || w == "-MF";
  }
  if (writes && !named) add({"-MT", command.object});
  if (writes && !placed) add({"-MF", command.object.substr(0, command.object.rfind('.')) + ".d"});
  if (command.only_preprocesses() && !command.object.empty()) add({"-o", command.object});
  add({command.source});
  return all;
}

Arguments compile_command(const Command& command, const std::string& translated, const Arguments& more) {
  Arguments all{command.compiler};
  auto add = [&](const Arguments& words) { all.insert(all.end(), words.begin(), words.end()); };
  add(command.both);
  add(more);
  add({command.mode, "-x", "c++-cpp-output", translated});
  if (command.mode != "-fsyntax-only") add({"-o", command.object});
  return all;
}

}  // namespace simtcc
