// SPDX-License-Identifier: MIT
//
// simtcc: a compiler launcher that lets a C++ compiler compile .cu files for the CPU backend.
//
//   simtcc g++ -O2 -std=c++20 -c kernel.cu -o kernel.o      preprocess, translate, compile
//   simtcc g++ -O2 -std=c++20 -c host.cpp -o host.o         anything else is passed on as it is
//
// --simt-checked before the compiler (or SIMT_CHECKED=1) instruments every memory access of a .cu file.
// SIMT_KEEP=1 keeps the translated text beside the object (kernel.o.ii); SIMT_INCLUDE names another folder of
// CUDA headers. Exit status: the compiler's; 1 the file cannot be translated, 2 wrong usage, 3 no such
// compiler.
//
// By hand, from the root of the repository:
//   g++ -O2 -std=c++20 -DSIMT_INCLUDE_DIR='"'$PWD/common/simt/include'"' common/simt/simtcc/*.cpp -o simtcc
//   ./simtcc g++ -O2 -g -fno-strict-aliasing -std=c++20 -c kernel.cu -o kernel.o
//   g++ -O2 -g -std=c++20 -D__SIMT__=1 -isystem common/simt/include -I common/simt kernel.o
//       common/simt/runtime/*.cpp common/simt/api/*.cpp -pthread -ldl -lbacktrace -o kernel
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
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_clang(const std::string& compiler) {
  std::string version;
  run({compiler, "--version"}, &version);
  return version.find("clang") != std::string::npos;
}

// Makes the compiler call the checker (common/simt/runtime) before each memory access. Function entries are
// of no use to it, and volatile accesses count as plain ones.
Arguments checked_flags(const std::string& compiler) {
  if (is_clang(compiler)) return {"-fsanitize=thread", "-mllvm", "-tsan-instrument-func-entry-exit=0"};
  return {"-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0", "-Wno-tsan"};
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

int compile(const Command& command, bool checked) {
  const char* include = std::getenv("SIMT_INCLUDE");
  Arguments front = simtcc::preprocess_command(command, include ? include : SIMT_INCLUDE_DIR);
  // The vector types ask the preprocessor whether their accesses are traced.
  if (checked) front.push_back("-fsanitize=thread");
  if (command.only_preprocesses()) execute(front);
  std::string text;
  if (const int status = run(front, &text)) return status;
  text = simtcc::translate(text);
  const std::string translated = translated_path(command);
  write_file(translated, text);
  const Arguments more = checked ? checked_flags(command.compiler) : Arguments{};
  const int status = run(simtcc::compile_command(command, translated, more));
  if (!std::getenv("SIMT_KEEP")) std::remove(translated.c_str());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments words(argv + 1, argv + argc);
  const char* environment = std::getenv("SIMT_CHECKED");
  bool checked = environment && std::strcmp(environment, "1") == 0;
  while (!words.empty() && words[0] == "--simt-checked") {
    checked = true;
    words.erase(words.begin());
  }
  if (words.empty()) quit(2, "usage: simtcc [--simt-checked] COMPILER ARGUMENTS...");
  try {
    const Command command = simtcc::parse_command(words);
    if (command.source.empty()) execute(words);
    return compile(command, checked);
  } catch (const simtcc::UsageError& e) {
    quit(2, e.what());
  } catch (const simtcc::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
