// SPDX-License-Identifier: MIT
//
// simtcc: a compiler launcher that lets a C++ compiler compile .cu files for the CPU backend.
//
//   simtcc g++ -O2 -std=c++20 -c kernel.cu -o kernel.o      preprocess, translate, compile
//   simtcc g++ -O2 -std=c++20 -c host.cpp -o host.o         anything else is passed on as it is
//
// --simt-checked before the compiler (or SIMT_CHECKED=1) instruments every memory access of a .cu file;
// --simt-traced also marks its loops and branches, for ./days explain;
// --simt-mutants puts variants with one bug each into device code, of which SIMT_MUTANT chooses when the program
// runs; kernel.o.mutants lists them;
// --simt-rdc is nvcc's -rdc=true: device functions of one file may be called from another.
// SIMT_KEEP=1 keeps the translated text beside the object (kernel.o.ii); SIMT_INCLUDE names another folder of
// CUDA headers. Exit status: the compiler's; 1 the file cannot be translated, 2 wrong usage, 3 no such
// compiler.
//
// By hand, from the root of the repository:
//   g++ -O2 -std=c++20 -DSIMT_INCLUDE_DIR='"'$PWD/simt/include'"' simt/translator/unit.cpp
//       simt/translator/main.cpp -o simtcc
//   ./simtcc g++ -O2 -g -fno-strict-aliasing -std=c++20 -c kernel.cu -o kernel.o
//   g++ -O2 -g -std=c++20 -D__SIMT__=1 -isystem simt/include -I simt kernel.o
//       simt/units/*.cpp -pthread -ldl -lbacktrace -o kernel
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "command.h"
#include "translate.h"

#ifndef SIMT_INCLUDE_DIR
#error "compile simtcc with -DSIMT_INCLUDE_DIR=\"...\", the folder of the CUDA headers"
#endif

namespace {

using simtcc::Arguments;
using simtcc::Command;

[[noreturn]] void quit(int code, const std::string& message) {
  std::fprintf(stderr, "simtcc: error: %s\n", message.c_str());
  std::exit(code);
}

// Becomes the command; does not return.
[[noreturn]] void execute(const Arguments& command) {
  std::vector<char*> argv;
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  std::fprintf(stderr, "simtcc: error: cannot run the compiler %s: %s\n", argv[0], std::strerror(errno));
  _exit(errno == ENOENT ? 3 : 1);
}

// Runs a command; its standard output, or its errors with it, go to *output where one is given. Returns its
// exit status.
int run(const Arguments& command, std::string* output = nullptr, bool errors = false) {
  int ends[2] = {-1, -1};
  if (output && pipe(ends) != 0) quit(3, "no pipe to the compiler: " + std::string(std::strerror(errno)));
  const pid_t child = fork();
  if (child < 0) quit(3, "no process for the compiler: " + std::string(std::strerror(errno)));
  if (child == 0) {
    if (output) {
      dup2(ends[1], STDOUT_FILENO);
      if (errors) dup2(ends[1], STDERR_FILENO);
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
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_clang(const std::string& compiler) {
  std::string version;
  run({compiler, "--version"}, &version);
  return version.find("clang") != std::string::npos;
}

// One access of the source stays one instruction: what several paths share is neither copied nor merged.
// Markers may push onto the stack where the compiler does not know of it, so there is no red zone.
Arguments traced_flags(bool clang) {
  Arguments flags{"-fno-unroll-loops"};
  const auto add = [&](const Arguments& more) { flags.insert(flags.end(), more.begin(), more.end()); };
#if defined(__x86_64__)
  add({"-mno-red-zone"});
#endif
  if (clang) {
    add({"-fno-vectorize", "-fno-slp-vectorize", "-mllvm", "-tsan-instrument-read-before-write"});
  } else {
    add({"-fno-tree-vectorize", "-fno-peel-loops", "-fno-split-loops", "-fno-unswitch-loops",
         "-fno-thread-jumps", "-fno-tree-pre", "-fno-code-hoisting", "-fno-tree-tail-merge",
         "-fno-crossjumping", "-fno-ipa-icf", "-fno-expensive-optimizations"});
  }
  return flags;
}

// Makes the compiler call the checker (simt/runtime) before each memory access. Function entries are
// of no use to it.
Arguments checked_flags(bool clang) {
  if (clang)
    return {"-fsanitize=thread",
            "-mllvm",
            "-tsan-instrument-func-entry-exit=0",
            "-mllvm",
            "-tsan-distinguish-volatile=1",
            "-fsanitize=array-bounds"};
  return {"-fsanitize=thread",           "--param",   "tsan-instrument-func-entry-exit=0", "--param",
          "tsan-distinguish-volatile=1", "-Wno-tsan", "-fsanitize=bounds-strict"};
}

void write_file(const std::string& path, const std::string& text) {
  FILE* file = std::fopen(path.c_str(), "wb");
  const bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (!file || std::fclose(file) != 0 || !written)
    quit(1, "cannot write " + path + ": " + std::strerror(errno));
}

// Where the translated text goes: beside the object, or among temporary files where no object is written.
std::string translated_path(const Command& command) {
  if (command.mode != "-fsyntax-only" && command.object.rfind("/dev/", 0) != 0) return command.object + ".ii";
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder ? folder : "/tmp") + "/simtcc-" + std::to_string(getpid()) + ".ii";
}

// Compiles a translation with mutants, without those that the compiler refuses: an initialiser of a constant,
// for example, may have none. Each time it names what is wrong, the lines that it names are left as they are.
int compile_mutants(const Command& command, const std::string& preprocessed, const std::string& translated,
                    Arguments more, const simtcc::Options& options) {
  more.push_back("-w");  // comparisons that are never true are the point of it
  constexpr int kMostTimes = 12;
  std::string messages;
  int status = 1;
  for (int time = 0; time < kMostTimes; ++time) {
    write_file(translated, simtcc::translate(preprocessed, options));
    messages.clear();
    status = run(simtcc::compile_command(command, translated, more), &messages, true);
    if (status == 0 || !options.mutants->spare(messages)) break;
  }
  std::fputs(messages.c_str(), stderr);
  if (status == 0 && !command.object.empty())
    write_file(command.object + ".mutants", options.mutants->list());
  return status;
}

int compile(const Command& command, bool checked, simtcc::Options options) {
  const char* include = std::getenv("SIMT_INCLUDE");
  Arguments front = simtcc::preprocess_command(command, include ? include : SIMT_INCLUDE_DIR);
  // The vector types ask the preprocessor whether their accesses are watched. And Ubuntu's compilers fortify
  // by themselves: memcpy and its kind would be others than the checker replaces.
  if (checked) front.insert(front.end(), {"-fsanitize=thread", "-U_FORTIFY_SOURCE"});
  if (checked && !options.traced) front.push_back("-DSIMT_HOST_LOOPS=1");
  if (options.traced) front.push_back("-DSIMT_TRACED=1");
  if (options.mutants) front.push_back("-DSIMT_MUTANTS=1");
  if (command.only_preprocesses()) execute(front);
  std::string text;
  if (const int status = run(front, &text)) return status;
  // g++ does not instrument `x = f()` where f returns a struct and stays a function of its own.
  const bool clang = checked && is_clang(command.compiler);
  options.checked = checked;
  options.inlined = checked && !clang;
  const std::string translated = translated_path(command);
  // A jump instead of a last call would leave no return address, and so no line for a report.
  // Kernels take tensor maps, of 64-byte alignment, by value, which some compilers remark on.
  Arguments more = {"-fno-optimize-sibling-calls", "-Wno-psabi"};
#if defined(__linux__) && defined(__x86_64__)
  // A large local array would reach over the guard below a fiber's stack, into the next one: frames of more
  // than a page touch each page as they are made.
  more.push_back("-fstack-clash-protection");
#endif
  if (checked) {
    for (const std::string& flag : checked_flags(clang)) more.push_back(flag);
  }
  if (options.traced) {
    for (const std::string& flag : traced_flags(clang)) more.push_back(flag);
  }
  int status = 0;
  if (options.mutants) {
    status = compile_mutants(command, text, translated, more, options);
  } else {
    write_file(translated, simtcc::translate(text, options));
    status = run(simtcc::compile_command(command, translated, more));
  }
  if (!std::getenv("SIMT_KEEP")) std::remove(translated.c_str());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments words(argv + 1, argv + argc);
  const char* environment = std::getenv("SIMT_CHECKED");
  bool checked = environment && std::strcmp(environment, "1") == 0;
  simtcc::Options options;
  simtcc::Mutants mutants;
  for (; !words.empty() && words[0].rfind("--simt-", 0) == 0; words.erase(words.begin())) {
    if (words[0] == "--simt-checked") {
      checked = true;
    } else if (words[0] == "--simt-traced") {
      checked = options.traced = true;
    } else if (words[0] == "--simt-mutants") {
      options.mutants = &mutants;
    } else if (words[0] == "--simt-rdc") {
      options.relocatable = true;
    } else {
      quit(2, "unknown option " + words[0]);
    }
  }
  if (words.empty())
    quit(
        2,
        "usage: simtcc [--simt-checked | --simt-traced] [--simt-mutants] [--simt-rdc] COMPILER ARGUMENTS...");
  try {
    const Command command = simtcc::parse_command(words);
    if (command.source.empty()) execute(words);
    return compile(command, checked, options);
  } catch (const simtcc::UsageError& e) {
    quit(2, e.what());
  } catch (const simtcc::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
