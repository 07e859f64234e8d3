// SPDX-License-Identifier: MIT
//
// What a day's stand-alone programs share: flags, errors, times from CUDA events, results. A program is one .cu
// file with its own main(), which is compiled with common/core.cpp and common/program/program.cpp and without the harness:
//
//   int main(int argc, char** argv) {
//     const days::About about{"add", "adds two vectors", 1 << 26, 1 << 20};
//     return days::program(argc, argv, about, [](days::Program& program) {
//       ...                                                      // throws, or returns
//       program.compare(got.data(), expected.data(), n, "c");    // a wrong element fails the program
//     });
//   }
//
// Its last line is "ok: ..." where everything that it compared is right, and only then it ends with 0.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/stream.h"

namespace days {

// Whether kernels run on a GPU. On a CPU there is nothing to time: a program then prints counts and order.
inline constexpr bool on_gpu() {
#ifdef __SIMT__
  return false;
#else
  return true;
#endif
}

// A flag of a program's own, and what it allows. One that is called --size takes the place of the number of
// elements that each program has under this name.
struct Flag {
  const char* name;  // "--steps"
  const char* does;
  enum class Kind { number, choice, file, path, toggle } kind;
  int64_t preset = 0, least = 0, most = 0;  // of a number
  std::vector<std::string> choices = {};    // the first is taken where the flag is not given
};
inline Flag number_flag(const char* name, const char* does, int64_t preset, int64_t least, int64_t most) {
  return {name, does, Flag::Kind::number, preset, least, most};
}
inline Flag choice_flag(const char* name, const char* does, std::vector<std::string> choices) {
  return {name, does, Flag::Kind::choice, 0, 0, 0, std::move(choices)};
}
// A file that is read: it has to be there.
inline Flag file_flag(const char* name, const char* does) {
  return {name, does, Flag::Kind::file};
}
// A file or folder that is written: it need not be there.
inline Flag path_flag(const char* name, const char* does) {
  return {name, does, Flag::Kind::path};
}
inline Flag toggle_flag(const char* name, const char* does) {
  return {name, does, Flag::Kind::toggle};
}

// What a program is: its name in tables, what it does (for --help and --list), how many elements of which type it
// works on where --size does not say so, and its own flags.
struct About {
  const char* name;
  const char* does;
  size_t gpu_size, cpu_size;
  const char* type = "fp32";
  std::vector<Flag> flags = {};
};

// A table of a program's results. Its rows' speed is in bytes, or in units of the program's own.
struct Table {
  double read_bytes = 0, written_bytes = 0;  // by each row; 0 where speed is not in bytes
  const char* limit = "";                    // the name of what limits them, if anything does
  const char* unit = "";                     // "token": of each of these
  double units = 0;                          // a row does so many
  const char* part = "";                     // what tells this table from the program's others
};

struct Bound;  // common/compare.h
template <class T>
struct Type;

// n elements of host memory that the GPU's copy engines can reach without help: they stay where they are
// ("pinned") until they are freed.
template <class T>
class PinnedBuffer {
 public:
  explicit PinnedBuffer(size_t n) : size_(n) { CUDA_CHECK(cudaMallocHost(&data_, n * sizeof(T))); }
  ~PinnedBuffer() { static_cast<void>(cudaFreeHost(data_)); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Refers to a callable for as long as a call lasts.
template <class... A>
class Callable {
 public:
  template <class F>
  Callable(const F& f)
      : object_(&f), call_([](const void* object, A... a) { (*static_cast<const F*>(object))(a...); }) {}
  void operator()(A... a) const { call_(object_, a...); }

 private:
  const void* object_;
  void (*call_)(const void*, A...);
};

class Program {
 public:
  // Throws std::invalid_argument for flags that there are not, and values that are none.
  Program(int argc, char** argv, const About& about);
  ~Program();

  size_t size() const;

  // Its own flags, as they were given.
  int64_t number(const char* flag) const;
  const std::string& choice(const char* flag) const;
  const std::string& file(const char* flag) const;  // "" where there is none
  const std::string& path(const char* flag) const;  // the same
  bool on(const char* flag) const;

  // Compares every element; says which ones are wrong, and remembers it. NaN is wrong. Whether all are right. T: a
  // type of common/types.h with values of its own, from uint8_t to half. With common/compare.h included, an
  // element may be off by a Bound, or by what a policy makes of it that needs no inputs: {1e-3, 1e-3}, days::relative.
  template <class T>
  bool compare(const T* got, const T* expected, size_t n, const char* name);
  template <class T>
  bool compare(const T* got, const T* expected, size_t n, const char* name, const Bound& bound);
  template <class T, class Policy>
  bool compare(const T* got, const T* expected, size_t n, const char* name, const Policy& policy) {
    return compare(got, expected, n, name, static_cast<const Bound&>(policy(Type<T>{}, *this, *this)));
  }

  // It has done so many of its steps, which is shown while it runs and told where it dies. unit: "step".
  void progress(size_t done, size_t of, const char* unit);

  // The device lacks something: "needs sm_90". The program ends well, having said so.
  void skip(const std::string& reason);
  // It has done what it was asked for, and there was nothing to compare: "ok: ", and this, is then its last line.
  void done(const std::string& what);

  // Begins a table of results: the rows that follow are of it. A program that names none has one without speed.
  void table(const Table& table);
  void table(double read_bytes, double written_bytes, const char* limit = "");
  // A row of it; best: the seconds that the limit allows, 0 where there is none.
  void row(const std::string& name, const Timing& timing, double best = 0);

  // Runs `work` once more where --timeline asks for it, and records each Span of it.
  void record(const Callable<>& work);
  bool recording() const;

 private:
  friend class Span;
  friend int program(int argc, char** argv, const About& about, const Callable<Program&>& body);
  int finish();

  struct State;
  std::unique_ptr<State> state_;
};

// While it lives, what goes into the stream is one operation of the timeline, between two events:
// { Span span(program, "H2D", 1, stream); cudaMemcpyAsync(...); }. kind: H2D, D2H or kernel; number: the
// stream's in the picture, from 1.
class Span {
 public:
  Span(Program& program, const char* kind, int number, cudaStream_t stream);
  ~Span();
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  Program* program_;  // null where nothing is recorded
  const char* kind_;
  int number_;
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// The median time of `runs` runs of `work`, which puts operations into these streams: from when the first of
// them may begin until the last has ended, on the GPU's clock. What the host needs to issue them is in it.
Timing time_streams(const std::vector<cudaStream_t>& streams, int runs, const Callable<>& work);

// main() of a program: 0 all right or skipped, 1 wrong, 2 bad flags, 3 the machine lacks something.
int program(int argc, char** argv, const About& about, const Callable<Program&>& body);

}  // namespace days
