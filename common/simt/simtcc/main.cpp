// SPDX-License-Identifier: MIT
//
// simtcc: a compiler launcher that lets a C++ compiler compile .cu files for the CPU backend.
//
//   simtcc g++ -O2 -std=c++20 -c kernel.cu -o kernel.o      preprocess, translate, compile
//   simtcc g++ -O2 -std=c++20 -c host.cpp -o host.o         anything else is passed on as it is
//
// Options of its own, before the compiler: --simt-checked (or SIMT_CHECKED=1) instruments every memory
// access. SIMT_KEEP=1 keeps the translated text beside the object (kernel.o.ii); SIMT_INCLUDE names the CUDA
// headers' folder. By hand, from the root of the repository:
//   g++ -O2 -std=c++20 -DSIMT_INCLUDE_DIR='"'$PWD/common/simt/include'"' common/simt/simtcc/*.cpp -o simtcc
//   g++ -O2 -g -std=c++20 -I common/simt/include -c common/simt/{runtime,api}/*.cpp && ar rcs libsimt.a *.o
//   ./simtcc g++ -O2 -g -fno-strict-aliasing -std=c++20 -c kernel.cu -o kernel.o
//   g++ kernel.o libsimt.a -pthread -lbacktrace -o kernel
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "translate.h"

#ifndef SIMT_INCLUDE_DIR
#error "compile simtcc with -DSIMT_INCLUDE_DIR=\"...\", the folder of the CUDA headers"
#endif

namespace {

using Arguments = std::vector<std::string>;

[[noreturn]] void quit(int code, const std::string& message) {
  std::fprintf(stderr, "simtcc: error: %s\n", message.c_str());
  std::exit(code);
}

[[noreturn]] void execute(const Arguments& command) {
  std::vector<char*> argv;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  std::fprintf(stderr, "simtcc: error: cannot run %s: %s\n", argv[0], std::strerror(errno));
  _exit(errno == ENOENT ? 3 : 1);
}

// Runs a command; its standard output goes to *output where one is given. Returns its exit status.
int run(const Arguments& command, std::string* output = nullptr) {
  int ends[2] = {-1, -1};
  if (output && pipe(ends) != 0) quit(3, "no pipe to the compiler: " + std::string(std::strerror(errno)));
  const pid_t child = fork();
  if (child < 0) quit(3, "no process for the compiler: " + std::string(std::strerror(errno)));
  if (child == 0) {
    if (output) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
    }
    execute(command);
  }
  if (output) {
    close(ends[1]);
    char buffer[1 << 16];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
      output->append(buffer, static_cast<std::size_t>(n));
    close(ends[0]);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

bool ends_with(const std::string& s, const char* end) {
  const std::size_t n = std::strlen(end);
  return s.size() >= n && s.compare(s.size() - n, n, end) == 0;
}

// One compile command, taken apart.
struct Command {
  std::string compiler, source, object;
  Arguments preprocess;    // flags of the preprocessor alone
  Arguments both;          // everything else
  Arguments dependencies;  // -MD and its kind
  bool compile_only = false, is_cuda = false, has_target = false, has_depfile = false;
};

Command parse(const Arguments& arguments) {
  Command c;
  c.compiler = arguments[0];
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    auto with_value = [&](Arguments& to) {
      to.push_back(a);
      if (i + 1 < arguments.size()) to.push_back(arguments[++i]);
    };
    if (a == "-c") {
      c.compile_only = true;
    } else if (a == "-o") {
      if (i + 1 < arguments.size()) c.object = arguments[++i];
    } else if (a == "-x") {
      ++i;  // simtcc says the language itself
    } else if (a == "-MD" || a == "-MMD") {
      c.dependencies.push_back(a);
    } else if (a == "-MF" || a == "-MT" || a == "-MQ") {
      (a == "-MF" ? c.has_depfile : c.has_target) = true;
      with_value(c.dependencies);
    } else if (a == "-I" || a == "-D" || a == "-U" || a == "-isystem" || a == "-include" || a == "-iquote" ||
               a == "-idirafter") {
      with_value(c.preprocess);
    } else if (a.compare(0, 2, "-I") == 0 || a.compare(0, 2, "-D") == 0 || a.compare(0, 2, "-U") == 0) {
      c.preprocess.push_back(a);
    } else if (a[0] != '-' && (ends_with(a, ".cu") || ends_with(a, ".cuh"))) {
      if (c.is_cuda)
        quit(2, "one .cu file at a time: compile " + c.source + " and " + a + " each with -c, then link");
      c.is_cuda = true;
      c.source = a;
    } else {
      c.both.push_back(a);
    }
  }
  return c;
}

Arguments join(std::initializer_list<Arguments> parts) {
  Arguments all;
  for (const Arguments& p : parts) all.insert(all.end(), p.begin(), p.end());
  return all;
}

int compile(Command c, bool checked) {
  if (!c.compile_only) quit(2, "compile " + c.source + " with -c, then link its object with libsimt.a");
  if (c.object.empty()) {
    const auto slash = c.source.rfind('/');
    c.object = c.source.substr(slash == std::string::npos ? 0 : slash + 1);
    c.object.replace(c.object.rfind('.'), std::string::npos, ".o");
  }
  const char* include = std::getenv("SIMT_INCLUDE");
  if (!c.dependencies.empty() && !c.has_target)
    c.dependencies.insert(c.dependencies.end(), {"-MT", c.object});
  if (!c.dependencies.empty() && !c.has_depfile)
    c.dependencies.insert(c.dependencies.end(), {"-MF", c.object + ".d"});
  const Arguments cuda{"-D__CUDACC__",
                       "-D__NVCC__",
                       "-D__SIMT__=1",
                       "-D__CUDA_ARCH__=900",
                       "-D__CUDA_ARCH_FEAT_SM90_ALL",
                       "-D__CUDACC_VER_MAJOR__=13",
                       "-D__CUDACC_VER_MINOR__=0",
                       "-D__CUDACC_VER_BUILD__=0",
                       "-isystem",
                       include ? include : SIMT_INCLUDE_DIR,
                       "-include",
                       "cuda_runtime.h",
                       "-include",
                       "simt/shared_proxy.h"};
  std::string text;
  const Arguments front =
      join({{c.compiler, "-E", "-x", "c++"}, c.both, c.preprocess, cuda, c.dependencies, {c.source}});
  if (const int status = run(front, &text)) return status;

  try {
    text = simtcc::translate(text);
  } catch (const simtcc::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  const std::string translated = c.object + ".ii";
  FILE* file = std::fopen(translated.c_str(), "wb");
  if (!file || std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fclose(file) != 0) {
    quit(1, "cannot write " + translated + ": " + std::strerror(errno));
  }
  Arguments back = join({{c.compiler}, c.both});
  if (checked) back.push_back("-fsanitize=thread");
  const int status = run(join({back, {"-x", "c++-cpp-output", "-c", translated, "-o", c.object}}));
  if (!std::getenv("SIMT_KEEP")) std::remove(translated.c_str());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments(argv + 1, argv + argc);
  const char* environment = std::getenv("SIMT_CHECKED");
  bool checked = environment && std::strcmp(environment, "1") == 0;
  while (!arguments.empty() && arguments[0] == "--simt-checked") {
    checked = true;
    arguments.erase(arguments.begin());
  }
  if (arguments.empty()) quit(2, "usage: simtcc [--simt-checked] COMPILER ARGUMENTS...");
  const Command command = parse(arguments);
  if (!command.is_cuda) execute(arguments);
  return compile(command, checked);
}
