// SPDX-License-Identifier: MIT
#include <unordered_map>

#include "program.h"
#include "simt/float16_bits.h"

namespace simt {

long long clock_ticks();
unsigned long long nanoseconds();

namespace ptx_code {
namespace {

using Reader = std::uint64_t (*)();

const std::map<std::string, Reader>& special_registers() {
  static const auto& all = *new const std::map<std::string, Reader>{
      {"%tid.x", [] { return std::uint64_t{threadIdx.x}; }},
      {"%tid.y", [] { return std::uint64_t{threadIdx.y}; }},
      {"%tid.z", [] { return std::uint64_t{threadIdx.z}; }},
      {"%ntid.x", [] { return std::uint64_t{blockDim.x}; }},
      {"%ntid.y", [] { return std::uint64_t{blockDim.y}; }},
      {"%ntid.z", [] { return std::uint64_t{blockDim.z}; }},
      {"%ctaid.x", [] { return std::uint64_t{blockIdx.x}; }},
      {"%ctaid.y", [] { return std::uint64_t{blockIdx.y}; }},
      {"%ctaid.z", [] { return std::uint64_t{blockIdx.z}; }},
      {"%nctaid.x", [] { return std::uint64_t{gridDim.x}; }},
      {"%nctaid.y", [] { return std::uint64_t{gridDim.y}; }},
      {"%nctaid.z", [] { return std::uint64_t{gridDim.z}; }},
      {"%laneid", [] { return std::uint64_t{lane_id()}; }},
      {"%warpid", [] { return std::uint64_t{warp_id()}; }},
      {"%nwarpid", [] { return std::uint64_t{kThreadsPerMultiprocessor / 32}; }},
      {"%smid", [] { return static_cast<std::uint64_t>(worker->number % kMultiprocessors); }},
      {"%nsmid", [] { return std::uint64_t{kMultiprocessors}; }},
      {"%gridid", [] { return worker->launch->number; }},
      {"%clock", [] { return static_cast<std::uint64_t>(clock_ticks()) & 0xffffffffu; }},
      {"%clock_hi", [] { return static_cast<std::uint64_t>(clock_ticks()) >> 32; }},
      {"%clock64", [] { return static_cast<std::uint64_t>(clock_ticks()); }},
      {"%globaltimer", [] { return std::uint64_t{nanoseconds()}; }},
      {"%globaltimer_lo", [] { return std::uint64_t{nanoseconds() & 0xffffffffu}; }},
      {"%globaltimer_hi", [] { return std::uint64_t{nanoseconds() >> 32}; }},
      {"%lanemask_eq", [] { return std::uint64_t{1u << lane_id()}; }},
      {"%lanemask_lt", [] { return std::uint64_t{(1u << lane_id()) - 1}; }},
      {"%lanemask_le", [] { return std::uint64_t{(2u << lane_id()) - 1}; }},
      {"%lanemask_gt", [] { return std::uint64_t{~((2u << lane_id()) - 1)}; }},
      {"%lanemask_ge", [] { return std::uint64_t{~((1u << lane_id()) - 1)}; }},
      {"%cluster_ctarank", [] { return std::uint64_t{cluster_rank()}; }},
      {"%cluster_nctarank",
       [] {
         const dim3 d = cluster_dim();
         return std::uint64_t{d.x * d.y * d.z};
       }},
      {"%cluster_ctaid.x", [] { return std::uint64_t{blockIdx.x % cluster_dim().x}; }},
      {"%cluster_ctaid.y", [] { return std::uint64_t{blockIdx.y % cluster_dim().y}; }},
      {"%cluster_ctaid.z", [] { return std::uint64_t{blockIdx.z % cluster_dim().z}; }},
      {"%cluster_nctaid.x", [] { return std::uint64_t{cluster_dim().x}; }},
      {"%cluster_nctaid.y", [] { return std::uint64_t{cluster_dim().y}; }},
      {"%cluster_nctaid.z", [] { return std::uint64_t{cluster_dim().z}; }},
      {"%clusterid.x", [] { return std::uint64_t{blockIdx.x / cluster_dim().x}; }},
      {"%clusterid.y", [] { return std::uint64_t{blockIdx.y / cluster_dim().y}; }},
      {"%clusterid.z", [] { return std::uint64_t{blockIdx.z / cluster_dim().z}; }},
      {"%nclusterid.x", [] { return std::uint64_t{gridDim.x / cluster_dim().x}; }},
      {"%nclusterid.y", [] { return std::uint64_t{gridDim.y / cluster_dim().y}; }},
      {"%nclusterid.z", [] { return std::uint64_t{gridDim.z / cluster_dim().z}; }},
      {"%dynamic_smem_size", [] { return std::uint64_t{dynamic_shared_bytes()}; }},
  };
  return all;
}

const PtxOperand& parameter(const Frame& frame, const Operand& operand) {
  const auto i = static_cast<std::size_t>(operand.index);
  if (i >= frame.parameter_count)
    fail_at(frame.site, "simt-ptx", "inline PTX names %%%d, which is not among its %zu operands",
            operand.index, frame.parameter_count);
  return *frame.parameters[i];
}

std::uint64_t raw(const Frame& frame, const Operand& operand) {
  switch (operand.what) {
    case Operand::parameter: {
      const PtxOperand& p = parameter(frame, operand);
      if (p.bytes == 4 && *p.constraint != 'n') return *static_cast<const std::uint32_t*>(p.place());
      std::uint64_t bits = 0;
      std::memcpy(&bits, p.place(), std::min(p.bytes, sizeof bits));
      if (*p.constraint == 'n' && p.bytes == 4) return static_cast<std::uint64_t>(as<std::int32_t>(bits));
      return bits;
    }
    case Operand::reg:
      return frame.registers[static_cast<std::size_t>(operand.index)];
    case Operand::special:
      return special_registers().at(operand.name)();
    case Operand::immediate:
      return operand.bits;
    default:
      return 0;
  }
}

}  // namespace

bool is_special(const std::string& name) {
  return special_registers().count(name) > 0;
}

std::uint64_t read(const Frame& frame, const Operand& operand) {
  const std::uint64_t bits = raw(frame, operand);
  return operand.negated ? bits ^ 1 : bits;
}

void write(Frame& frame, const Operand& operand, std::uint64_t value) {
  if (operand.what == Operand::reg) {
    frame.registers[static_cast<std::size_t>(operand.index)] = value;
  } else if (operand.what == Operand::parameter) {
    const PtxOperand& p = parameter(frame, operand);
    std::memcpy(const_cast<void*>(p.place()), &value, std::min(p.bytes, sizeof value));
  } else if (operand.what != Operand::sink) {
    fail_at(frame.site, "simt-ptx", "inline PTX writes to something that is no register");
  }
}

std::uint64_t extended(Type type, std::uint64_t bits) {
  if (type.bits >= 64) return bits;
  const std::uint64_t mask = (std::uint64_t{1} << type.bits) - 1;
  bits &= mask;
  if (type.kind == 's' && bits >> (type.bits - 1)) bits |= ~mask;
  return bits;
}

double to_double(Type type, std::uint64_t bits) {
  if (type.kind == 'n') return Bfloat16Format::to_float(static_cast<unsigned short>(bits));
  if (type.kind == 'f' && type.bits == 16) return HalfFormat::to_float(static_cast<unsigned short>(bits));
  if (type.kind == 'f' && type.bits == 64) return as<double>(bits);
  if (type.kind == 'f' || type.kind == 't') return as<float>(bits);
  if (type.kind == 's') return static_cast<double>(static_cast<std::int64_t>(extended(type, bits)));
  return static_cast<double>(extended(type, bits));
}

std::uint64_t from_double_value(Type type, double value) {
  if (type.kind == 'n') return from_double<Bfloat16Format>(value);
  if (type.kind == 'f' && type.bits == 16) return from_double<HalfFormat>(value);
  if (type.kind == 'f' && type.bits == 64) return bits_of_value(value);
  return bits_of_value(static_cast<float>(value));
}

}  // namespace ptx_code

// A text of inline PTX is a string literal: its address names it.
void ptx(const char* text, std::initializer_list<PtxOperand> outputs,
         std::initializer_list<PtxOperand> inputs, Site site) {
  using namespace ptx_code;
  if (!current) fail_at(site, "simt-launch", "inline PTX outside a kernel");
  static thread_local std::unordered_map<const char*, const Program*> known;
  const Program*& program = known[text];
  if (!program) {
    std::string problem;
    try {
      program = parse(text);
    } catch (const Unknown& unknown) {
      problem = unknown.what();
    }
    if (!program) fail_at(site, "simt-ptx", "inline PTX: %s\nIn: %s", problem.c_str(), text);
  }
  const Program& running = *program;
  Frame frame;
  frame.site = site;
  frame.caller = __builtin_return_address(0);
  frame.registers.resize(static_cast<std::size_t>(running.registers));
  for (const auto& list : {outputs, inputs})
    for (const PtxOperand& o : list)
      if (frame.parameter_count < Frame::kMostParameters) frame.parameters[frame.parameter_count++] = &o;
  while (frame.next < running.steps.size()) {
    const Step& step = running.steps[frame.next++];
    step(frame);
  }
}

}  // namespace simt
