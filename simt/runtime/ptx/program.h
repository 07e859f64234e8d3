// SPDX-License-Identifier: MIT
//
// Inline PTX is parsed once a text and kept as a list of steps, closures that read and write the operands:
//
//   parse.cpp       text to instructions
//   run.cpp         operands, special registers, the loop over the steps
//   arithmetic.cpp, logic.cpp, video.cpp, convert.cpp, memory.cpp, warp.cpp, copies.cpp   to steps
//
// Every register has 64 bits; an instruction looks at as many of them as its type has.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "../async.h"

namespace simt::ptx_code {

struct Frame {
  static constexpr std::size_t kMostParameters = 30;  // what a compiler takes
  const PtxOperand* parameters[kMostParameters];      // %0, %1, ...
  std::size_t parameter_count = 0;
  std::vector<std::uint64_t> registers;
  std::size_t next = 0;  // step
  bool carry = false;    // of add.cc and its kind
  Site site;
  void* caller = nullptr;
};

struct Operand {
  enum What { parameter, reg, special, immediate, sink, label, list, address };
  What what = sink;
  bool negated = false;    // !p
  int index = 0;           // of a parameter or register
  std::uint64_t bits = 0;  // of an immediate
  bool is_decimal = false;
  double decimal = 0;          // 1.5, without a type yet
  std::int64_t offset = 0;     // [a + offset]
  std::string name;            // of a label or special register
  std::vector<Operand> parts;  // {a, b}; a|b; [a, {b, c}]
};

// 'p' predicate, 'b' bits, 'u', 's' integers, 'f' IEEE, 'n' bfloat16, 't' tf32, 'e' 8-bit floats; packed: two
// of them.
struct Type {
  char kind = 'b';
  int bits = 32;
  bool packed = false;
  bool is_float() const { return kind == 'f' || kind == 'n'; }
};

using Step = std::function<void(Frame&)>;

struct Instruction {
  std::string name;                    // add.rn.f32
  std::vector<std::string> modifiers;  // all parts but the operation's own
  std::vector<Type> types;             // those of the modifiers that are types
  std::vector<Operand> operands;
  bool guarded = false;
  Operand guard;

  bool has(const char* modifier) const;
  Type type(std::size_t i = 0) const;  // the i-th type; throws where there is none
  // The i-th operand, as this type's; throws where there is none.
  const Operand& operand(std::size_t i) const;
  Operand operand(std::size_t i, Type type) const;
  [[noreturn]] void refuse() const;  // not an instruction that simt knows
};

struct Unknown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Program {
  std::vector<Step> steps;
  int registers = 0;
};

// ---- parse.cpp ----
const Program* parse(const char* text);  // throws Unknown

// ---- run.cpp ----
std::uint64_t read(const Frame& frame, const Operand& operand);
void write(Frame& frame, const Operand& operand, std::uint64_t value);
bool is_special(const std::string& name);

// ---- instructions ----
using Builder = Step (*)(const Instruction&);
using Builders = std::map<std::string, Builder>;
void add_arithmetic(Builders& builders);
void add_logic(Builders& builders);
void add_conversions(Builders& builders);
void add_memory(Builders& builders);
void add_warp(Builders& builders);
void add_copies(Builders& builders);
void add_video(Builders& builders);

// ---- memory.cpp ----
// Where an address operand points. `space`: "shared", or anything else for a generic address.
char* resolve(const Frame& frame, const Operand& address, bool shared);
bool is_shared_space(const Instruction& in);

// ---- values ----
template <class T>
T as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
std::uint64_t bits_of_value(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
// As an integer of the type's width: zero or sign extended to 64 bits.
std::uint64_t extended(Type type, std::uint64_t bits);
double to_double(Type type, std::uint64_t bits);
// Rounds to nearest even; directed: "rz", "rm", "rp".
std::uint64_t from_double_value(Type type, double value);

}  // namespace simt::ptx_code
