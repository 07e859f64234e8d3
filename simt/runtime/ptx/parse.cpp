// SPDX-License-Identifier: MIT
#include <cctype>
#include <cstdlib>

#include "program.h"

namespace simt::ptx_code {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}

std::vector<std::string> tokens_of(const char* p) {
  std::vector<std::string> tokens;
  while (*p) {
    if (std::isspace(static_cast<unsigned char>(*p))) {
      ++p;
    } else if (p[0] == '/' && p[1] == '/') {
      while (*p && *p != '\n') ++p;
    } else if (p[0] == '/' && p[1] == '*') {
      while (*p && !(p[0] == '*' && p[1] == '/')) ++p;
      if (*p) p += 2;
    } else if (is_word(*p) || (*p == '-' && std::isdigit(static_cast<unsigned char>(p[1])))) {
      std::string word(1, *p++);
      for (;; ++p) {
        if (is_word(*p)) {
          if (*p != '%' || word.back() != '%') word += *p;  // %% is %
        } else if (p[0] == ':' && p[1] == ':') {            // shared::cta
          word += "::";
          ++p;
        } else if (word.size() > 2 && word[0] == '0' && *p == '-') {
          break;
        } else {
          break;
        }
      }
      tokens.push_back(word);
    } else {
      tokens.emplace_back(1, *p++);
    }
  }
  return tokens;
}

std::vector<std::string> split(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (std::size_t dot; (dot = name.find('.', from)) != std::string::npos; from = dot + 1)
    parts.push_back(name.substr(from, dot - from));
  parts.push_back(name.substr(from));
  return parts;
}

bool parse_type(const std::string& text, Type* type) {
  static const auto& odd = *new const std::map<std::string, Type>{
      {"pred", {'p', 1, false}},  {"bf16", {'n', 16, false}}, {"bf16x2", {'n', 16, true}},
      {"f16x2", {'f', 16, true}}, {"tf32", {'t', 32, false}}, {"e4m3", {'e', 8, false}},
      {"e5m2", {'g', 8, false}},  {"u16x2", {'u', 16, true}}, {"s16x2", {'s', 16, true}}};
  if (const auto found = odd.find(text); found != odd.end()) {
    *type = found->second;
    return true;
  }
  if (text.size() < 2 || text.size() > 4 || std::string("busf").find(text[0]) == std::string::npos)
    return false;
  for (std::size_t i = 1; i < text.size(); ++i)
    if (!std::isdigit(static_cast<unsigned char>(text[i]))) return false;
  *type = {text[0], std::atoi(text.c_str() + 1), false};
  return true;
}

class Parser {
 public:
  explicit Parser(const char* text) : tokens_(tokens_of(text)) {
    add_arithmetic(builders());
    add_logic(builders());
    add_video(builders());
    add_conversions(builders());
    add_memory(builders());
    add_warp(builders());
    add_copies(builders());
  }

  Program run() {
    scopes_.emplace_back();
    while (at_ < tokens_.size()) statement();
    for (const auto& [step, name] : jumps_) resolve_jump(step, name);
    program_.registers = registers_;
    return std::move(program_);
  }

 private:
  struct Jump {
    std::size_t step;
    std::string name;
  };

  static Builders& builders() {
    static thread_local Builders all;
    return all;
  }

  const std::string& token() const {
    static const auto& none = *new std::string;
    return at_ < tokens_.size() ? tokens_[at_] : none;
  }
  bool take(const char* text) {
    if (token() != text) return false;
    ++at_;
    return true;
  }
  void expect(const char* text) {
    if (!take(text)) throw Unknown("'" + std::string(text) + "' is missing before '" + token() + "'");
  }

  void statement() {
    if (take(";")) return;
    if (take("{")) {
      scopes_.emplace_back();
      return;
    }
    if (take("}")) {
      if (scopes_.size() == 1) throw Unknown("'}' without '{'");
      scopes_.pop_back();
      return;
    }
    if (token() == ".reg") return declaration();
    if (token() == ".pragma" || token() == ".loc") {
      while (!take(";")) ++at_;
      return;
    }
    if (at_ + 1 < tokens_.size() && tokens_[at_ + 1] == ":") {
      labels_[token()] = program_.steps.size();
      at_ += 2;
      return;
    }
    instruction();
  }

  // .reg .b32 a, b<4>;
  void declaration() {
    ++at_;
    while (token()[0] == '.') ++at_;
    do {
      const std::string name = token();
      ++at_;
      if (take("<")) {
        const int count = std::atoi(token().c_str());
        ++at_;
        expect(">");
        for (int i = 0; i < count; ++i) scopes_.back()[name + std::to_string(i)] = registers_++;
      } else {
        scopes_.back()[name] = registers_++;
      }
    } while (take(","));
    expect(";");
  }

  void instruction() {
    Instruction in;
    if (take("@")) {
      in.guarded = true;
      in.guard = operand();
    }
    in.name = token();
    ++at_;
    while (!take(";")) {
      if (at_ >= tokens_.size()) break;  // the last ';' may be missing
      in.operands.push_back(operand());
      if (!take(",") && token() != ";" && at_ < tokens_.size())
        throw Unknown(in.name + ": '" + token() + "' is not expected");
    }
    in.modifiers = split(in.name);
    for (const std::string& part : in.modifiers) {
      Type type;
      if (parse_type(part, &type)) in.types.push_back(type);
    }
    if (in.modifiers[0] == "bra") {
      add_jump(in);
    } else {
      add(in, build(in));
    }
  }

  static Step build(const Instruction& in) {
    std::string prefix = in.name;
    for (;;) {
      const auto found = builders().find(prefix);
      if (found != builders().end()) return found->second(in);
      const std::size_t dot = prefix.rfind('.');
      if (dot == std::string::npos) in.refuse();
      prefix.resize(dot);
    }
  }

  void add(const Instruction& in, Step step) {
    if (!in.guarded) {
      program_.steps.push_back(std::move(step));
      return;
    }
    program_.steps.push_back([guard = in.guard, step = std::move(step)](Frame& f) {
      if (read(f, guard) & 1) step(f);
    });
  }

  void add_jump(const Instruction& in) {
    if (in.operands.size() != 1) in.refuse();
    jumps_.push_back({program_.steps.size(), in.operands[0].name});
    guards_[program_.steps.size()] = {in.guarded, in.guard};
    program_.steps.emplace_back();
  }

  void resolve_jump(std::size_t step, const std::string& name) {
    const auto label = labels_.find(name);
    if (label == labels_.end()) throw Unknown("bra: there is no label " + name);
    const auto& [guarded, guard] = guards_[step];
    const std::size_t to = label->second;
    const bool back = to <= step;  // may wait for another thread
    program_.steps[step] = [to, back, guarded = guarded, guard = guard](Frame& f) {
      if (guarded && !(read(f, guard) & 1)) return;
      f.next = to;
      if (back) tick();
    };
  }

  Operand operand() {
    Operand o;
    if (take("!")) {
      o = operand();
      o.negated = true;
      return o;
    }
    if (token() == "{" || token() == "[") {
      const bool is_address = token() == "[";
      ++at_;
      o.what = is_address ? Operand::address : Operand::list;
      while (!take(is_address ? "]" : "}")) {
        if (at_ >= tokens_.size()) throw Unknown("a bracket is not closed");
        o.parts.push_back(operand());
        if (is_address && take("+")) {
          o.offset = std::strtoll(token().c_str(), nullptr, 0);
          ++at_;
        } else if (is_address && token()[0] == '-') {
          o.offset = std::strtoll(token().c_str(), nullptr, 0);
          ++at_;
        }
        take(",");
      }
      return o;
    }
    o = plain(token());
    ++at_;
    if (take("|")) {
      Operand both;
      both.what = Operand::list;
      both.parts = {o, operand()};
      return both;
    }
    return o;
  }

  Operand plain(const std::string& word) const {
    Operand o;
    if (word == "_") return o;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->find(word); found != scope->end()) {
        o.what = Operand::reg;
        o.index = found->second;
        return o;
      }
    }
    const auto second = static_cast<unsigned char>(word.size() > 1 ? word[1] : 0);
    if (word[0] == '%' && std::isdigit(second)) {
      o.what = Operand::parameter;
      o.index = std::atoi(word.c_str() + 1);
    } else if (word[0] == '%') {
      if (!is_special(word)) throw Unknown("simt does not know the register " + word);
      o.what = Operand::special;
      o.name = word;
    } else if (std::isdigit(static_cast<unsigned char>(word[0])) || word[0] == '-') {
      number(word, o);
    } else if (word == "WARP_SZ") {
      o.what = Operand::immediate;
      o.bits = 32;
    } else {
      o.what = Operand::label;
      o.name = word;
    }
    return o;
  }

  static void number(const std::string& word, Operand& o) {
    o.what = Operand::immediate;
    const char kind = word.size() > 1 && word[0] == '0' ? static_cast<char>(std::tolower(word[1])) : ' ';
    if (kind == 'f' || kind == 'd') {
      o.bits = std::strtoull(word.c_str() + 2, nullptr, 16);
    } else if (kind == 'b') {
      o.bits = std::strtoull(word.c_str() + 2, nullptr, 2);
    } else if (kind != 'x' && word.find('.') != std::string::npos) {
      o.is_decimal = true;
      o.decimal = std::strtod(word.c_str(), nullptr);
    } else if (word[0] == '-') {
      o.bits = static_cast<std::uint64_t>(std::strtoll(word.c_str(), nullptr, 0));
    } else {
      o.bits = std::strtoull(word.c_str(), nullptr, 0);
    }
  }

  std::vector<std::string> tokens_;
  std::size_t at_ = 0;
  std::vector<std::map<std::string, int>> scopes_;
  std::map<std::string, std::size_t> labels_;
  std::vector<Jump> jumps_;
  std::map<std::size_t, std::pair<bool, Operand>> guards_;
  int registers_ = 0;
  Program program_;
};

}  // namespace

bool Instruction::has(const char* modifier) const {
  for (const std::string& m : modifiers)
    if (m == modifier) return true;
  return false;
}

Type Instruction::type(std::size_t i) const {
  if (i >= types.size()) refuse();
  return types[i];
}

const Operand& Instruction::operand(std::size_t i) const {
  if (i >= operands.size()) throw Unknown(name + ": an operand is missing");
  return operands[i];
}

Operand Instruction::operand(std::size_t i, Type type) const {
  Operand o = operand(i);
  if (o.what == Operand::immediate && o.is_decimal) o.bits = from_double_value(type, o.decimal);
  return o;
}

void Instruction::refuse() const {
  throw Unknown("simt does not know the instruction " + name);
}

const Program* parse(const char* text) {
  return new Program(Parser(text).run());
}

}  // namespace simt::ptx_code
