// SPDX-License-Identifier: MIT
#include "translate.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "tokens.h"

namespace simtcc {
namespace {

// Words that may be followed by arguments in parentheses without being a declarator.
bool is_attribute(std::string_view w) {
  static const std::set<std::string_view> words{
      "__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__", "__attribute__", "__declspec",
      "__align__",         "alignas",          "decltype",       "noexcept",    "requires"};
  return words.count(w) != 0;
}
bool is_specifier(std::string_view w) {
  static const std::set<std::string_view> words{"__global__",   "__device__",  "__host__",
                                                "__constant__", "__managed__", "__grid_constant__"};
  return words.count(w) != 0;
}

class Translator {
 public:
  explicit Translator(const std::string& text) : text_(text), t_(text) {}

  std::string run() {
    find_scopes();
    rewrite_pragmas();
    for (int i = 0; i < t_.size(); ++i) {
      if (t_.is(i, "<<<")) {
        rewrite_launch(i);
      } else if (t_.is_word(i)) {
        rewrite_word(i);
      }
    }
    for (const auto& [open, close] : device_bodies_) add_ticks(open, close);
    return apply();
  }

 private:
  struct Edit {
    std::size_t at, length;
    std::string text;
  };

  // ---- edits ----

  void insert(std::size_t at, std::string text) { edits_.push_back({at, 0, std::move(text)}); }
  void before(int i, std::string text) { insert(t_[i].begin, std::move(text)); }
  void after(int i, std::string text) { insert(t_[i].end, std::move(text)); }
  // Replaces tokens first..last; the lines they stood on stay.
  void replace(int first, int last, std::string text) {
    const std::size_t begin = t_[first].begin, end = t_[last].end;
    const auto lines =
        std::count(text_.begin() + static_cast<long>(begin), text_.begin() + static_cast<long>(end), '\n');
    edits_.push_back({begin, end - begin, text + std::string(static_cast<std::size_t>(lines), '\n')});
  }
  void remove(int i) { replace(i, i, ""); }
  std::string on_one_line(int first, int last) const {
    std::string s = text_.substr(t_[first].begin, t_[last].end - t_[first].begin);
    std::replace(s.begin(), s.end(), '\n', ' ');
    return s;
  }

  std::string apply() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      return a.at != b.at ? a.at < b.at : (a.length == 0) > (b.length == 0);
    });
    std::string out;
    out.reserve(text_.size() + 64 * edits_.size());
    std::size_t done = 0;
    for (const Edit& e : edits_) {
      if (e.at < done) continue;  // inside something that is gone
      out.append(text_, done, e.at - done);
      out += e.text;
      done = e.at + e.length;
    }
    return out.append(text_, done, std::string::npos);
  }

  [[noreturn]] void fail(int i, const std::string& what) const {
    throw Error(t_.place(i) + ": error: " + what);
  }

  // ---- scopes ----

  // at_namespace_scope_[i]: no class and no function is around token i.
  void find_scopes() {
    std::vector<bool> stack{true};
    at_namespace_scope_.resize(static_cast<std::size_t>(t_.size()));
    for (int i = 0; i < t_.size(); ++i) {
      if (t_.is(i, "}") && stack.size() > 1) stack.pop_back();
      at_namespace_scope_[static_cast<std::size_t>(i)] = stack.back();
      if (t_.is(i, "{")) stack.push_back(stack.back() && opens_namespace(i));
    }
  }
  bool opens_namespace(int brace) const {
    int i = brace - 1;
    if (i >= 1 && t_[i].kind == Token::literal && t_.is(i - 1, "extern")) return true;
    while (i >= 0 && (t_.is_word(i) || t_.is(i, "::")) && !t_.is(i, "namespace")) --i;
    return t_.is(i, "namespace");
  }

  // First token of the declaration around token i.
  int declaration_start(int i) const {
    while (i > 0 && !t_.is(i - 1, ";") && !t_.is(i - 1, "{") && !t_.is(i - 1, "}")) {
      if ((t_.is(i - 1, ")") || t_.is(i - 1, "]")) && t_.partner(i - 1) >= 0) {
        i = t_.partner(i - 1);
      } else if (t_.is(i - 1, ":") && !t_.is(i, ":") && i >= 2 &&
                 (t_.is(i - 2, "public") || t_.is(i - 2, "private") || t_.is(i - 2, "protected"))) {
        break;
      } else {
        --i;
      }
    }
    return i;
  }

  // The '(' of the parameter list in a declaration that starts at i, -1 for a variable.
  int parameter_list(int i) const {
    for (; i < t_.size(); ++i) {
      if (t_.is(i, ";") || t_.is(i, "{") || t_.is(i, "=")) return -1;
      if (t_.is(i, "[")) i = t_.partner(i);
      if (t_.is(i, "<")) {
        const int close = t_.close_angle(i);
        if (close > 0) i = close;
      }
      if (t_.is(i, "(")) {
        if (!is_attribute(t_.text(i - 1))) return i;
        i = t_.partner(i);
      }
    }
    return -1;
  }

  // ---- launches ----

  // First token of the expression that names a kernel and ends at token i.
  int kernel_start(int i) const {
    for (;;) {
      if (t_.is(i, ">") || t_.is(i, ">>>")) {
        const int open = t_.open_angle(i);
        if (open <= 0) return -1;
        i = open - 1;
      } else if (t_.is(i, ")") || t_.is(i, "]")) {
        const bool index = t_.is(i, "]");
        i = t_.partner(i);
        if (!index && !(t_.is_word(i - 1) && !t_.is(i - 1, "return") && !t_.is(i - 1, "else"))) return i;
        --i;
      } else if (t_.is_word(i)) {
        const int previous = t_.is(i - 1, "template") ? i - 2 : i - 1;
        if (t_.is(previous, "::")) {
          if (!(t_.is_word(previous - 1) && !t_.is(previous - 1, "return")) && !t_.is(previous - 1, ">"))
            return previous;
          i = previous - 1;
        } else if (t_.is(previous, ".") || t_.is(previous, "->")) {
          i = previous - 1;
        } else {
          return i;
        }
      } else {
        return -1;
      }
    }
  }

  void rewrite_launch(int open) {
    const int start = kernel_start(open - 1);
    int close = open + 1;
    while (close < t_.size() && !t_.is(close, ">>>")) {
      if ((t_.is(close, "(") || t_.is(close, "[") || t_.is(close, "{")) && t_.partner(close) > close)
        close = t_.partner(close);
      ++close;
    }
    if (start < 0 || close >= t_.size() || close == open + 1) fail(open, "cannot read this kernel launch");
    if (!t_.is(close + 1, "(")) fail(open, "a launch needs its arguments in parentheses");
    before(start, "(::simt::push_config(" + on_one_line(open + 1, close - 1) + "), ");
    replace(open, close, "");
    after(t_.partner(close + 1), ")");
  }

  // ---- words ----

  void rewrite_word(int i) {
    const std::string_view w = t_.text(i);
    if (gone_.count(i)) return;
    if (is_specifier(w)) {
      rewrite_specifier(i);
    } else if (w == "__shared__") {
      rewrite_shared(i);
    } else if (w == "__forceinline__") {
      replace(i, i,
              beside_inline(i) ? "__attribute__((always_inline))" : "inline __attribute__((always_inline))");
    } else if (w == "__noinline__") {
      // `__attribute__((__noinline__))` of system headers' macros stays as it is
      if (!t_.is(i - 1, "(")) replace(i, i, "__attribute__((noinline))");
    } else if (w == "__inline__") {
      replace(i, i, "inline");
    } else if (w == "__align__" && t_.is(i + 1, "(")) {
      replace(i, i, "__attribute__((aligned");
      after(t_.partner(i + 1), "))");
    } else if ((w == "__launch_bounds__" || w == "__cluster_dims__" || w == "__block_size__" ||
                w == "__maxnreg__") &&
               t_.is(i + 1, "(")) {
      replace(i, t_.partner(i + 1), "");
    } else if (w == "asm" || w == "__asm__" || w == "__asm") {
      rewrite_asm(i);
    } else if (t_.is(i + 1, "(") &&
               (w == "cudaLaunchKernel" || w == "cudaLaunchCooperativeKernel" || w == "cudaLaunchKernelExC" ||
                w == "cudaFuncSetAttribute" || w == "cudaFuncGetAttributes" ||
                w == "cudaFuncSetCacheConfig" || w == "cudaOccupancyMaxActiveBlocksPerMultiprocessor")) {
      remove_pointer_casts(i + 1);
    }
  }

  bool beside_inline(int i) const {
    for (int k = i - 1; k >= 0 && (t_.is_word(k) || t_.is(k, ")")); --k) {
      if (t_.is(k, ")")) k = t_.partner(k);
      if (t_.is(k, "inline") || t_.is(k, "__inline__")) return true;
    }
    for (int k = i + 1;
         k < t_.size() && (t_.is_word(k) || t_.is(k, "<") || t_.is(k, ">") || t_.is(k, "*") || t_.is(k, "&"));
         ++k) {
      if (t_.is(k, "inline") || t_.is(k, "__inline__")) return true;
    }
    return false;
  }

  // __global__, __device__ and their kind: gone, but for what they say about linkage, bodies and variables.
  void rewrite_specifier(int i) {
    remove(i);
    const std::string_view w = t_.text(i);
    if (w == "__grid_constant__" || w == "__host__") return;
    if (t_.is(i - 1, "]") || (t_.is(i - 1, "__host__") && t_.is(i - 2, "]"))) {  // a lambda
      int body = i + 1;
      while (body < t_.size() && !t_.is(body, "{")) body = t_.is(body, "(") ? t_.partner(body) + 1 : body + 1;
      if (body < t_.size()) device_bodies_.insert({body, t_.partner(body)});
      return;
    }
    const int start = declaration_start(i);
    const int parameters = parameter_list(template_end(start));
    if (at_namespace_scope_[static_cast<std::size_t>(i)]) make_static(start, parameters);
    if (parameters < 0 || (w != "__global__" && w != "__device__")) return;
    int body = t_.partner(parameters) + 1;
    while (body < t_.size() && !t_.is(body, "{") && !t_.is(body, ";") && !t_.is(body, "=")) {
      body = t_.is(body, "(") ? t_.partner(body) + 1 : body + 1;
    }
    if (!t_.is(body, "{")) return;
    device_bodies_.insert({body, t_.partner(body)});
    if (w != "__global__") return;
    int name = parameters - 1;
    if (t_.is(name, ">") || t_.is(name, ">>>")) name = t_.open_angle(name) - 1;  // a specialisation
    after(body, " ::simt::launch(\"" + std::string(t_.text(name)) + "\", [=]() mutable {");
    before(t_.partner(body), "}); ");
  }

  // Past `template <...>`s and what follows them: where the declaration proper starts.
  int template_end(int i) const {
    while (t_.is(i, "template") && t_.is(i + 1, "<")) {
      const int close = t_.close_angle(i + 1);
      if (close < 0) return i;
      i = close + 1;
    }
    return i;
  }

  // nvcc gives kernel templates, device functions and device variables to one file each; two files may reuse
  // a name.
  void make_static(int start, int parameters) {
    if (!made_static_.insert(start).second) return;
    bool is_template = false, specialisation = false;
    int i = start;
    while (t_.is(i, "template")) {
      if (!t_.is(i + 1, "<")) {
        specialisation = true;  // an explicit instantiation
        ++i;
        break;
      }
      is_template = true;
      if (t_.is(i + 2, ">")) specialisation = true;
      i = t_.close_angle(i + 1) + 1;
    }
    bool host = false, global = false, device = false;
    const int end = parameters >= 0 ? parameters : declaration_end(i);
    for (int k = i; k < end; ++k) {
      const std::string_view w = t_.text(k);
      if (w == "static" || w == "extern" || w == "friend" || w == "typedef" || w == "using" ||
          w == "struct" || w == "class" || w == "union" || w == "enum" || w == "operator" ||
          w == "constexpr" || w == "requires") {
        return;
      }
      if (w == "__host__") host = true;
      if (w == "__global__") global = true;
      if (w == "__device__" || w == "__constant__" || w == "__managed__") device = true;
      if (t_.is(k, "(") || t_.is(k, "[")) k = t_.partner(k);
    }
    if (parameters >= 0) {
      int name = parameters - 1;
      if (t_.is(name, ">")) name = t_.open_angle(name) - 1;
      if (t_.is(name - 1, "::")) return;  // a member, defined outside its class
    }
    if (specialisation || !(global ? is_template : device && !host)) return;
    if (t_.is(i, "[") && t_.is(i + 1, "[")) i = t_.partner(i) + 1;
    before(i, "[[maybe_unused]] static ");
  }
  int declaration_end(int i) const {
    while (i < t_.size() && !t_.is(i, ";") && !t_.is(i, "=") && !t_.is(i, "{")) {
      i = t_.is(i, "(") || t_.is(i, "[") ? t_.partner(i) + 1 : i + 1;
    }
    return i;
  }

  // ---- shared memory ----

  void rewrite_shared(int i) {
    const int start = shared_start(i);
    if (!shared_done_.insert(start).second) return;
    int end = i;
    while (end < t_.size() && !t_.is(end, ";")) {
      end = (t_.is(end, "(") || t_.is(end, "[") || t_.is(end, "{")) && t_.partner(end) > end
                ? t_.partner(end) + 1
                : end + 1;
    }
    bool dynamic = false;
    for (int k = start; k < end; ++k) dynamic = dynamic || t_.is(k, "extern");
    const std::vector<int> names = declared_names(start, end);
    if (names.empty()) fail(i, "a __shared__ declaration without a name");
    for (int k = start; k < end; ++k) {
      if (t_.is(k, "__shared__") || t_.is(k, "extern") || t_.is(k, "static")) remove(k);
      if (dynamic && (t_.is(k, "alignas") || t_.is(k, "__align__")) && t_.is(k + 1, "(")) {
        replace(k, t_.partner(k + 1), "");  // dynamic shared memory is aligned for every type
        gone_.insert(k);
        k = t_.partner(k + 1);
      }
    }
    const std::string id = std::to_string(shared_count_++);
    const bool global = at_namespace_scope_[static_cast<std::size_t>(i)];
    if (dynamic) {
      const std::string name(t_.text(names[0])), type = "simt_dynamic_" + id;
      before(start, "typedef ");
      replace(names[0], names[0], type);
      replace(end, end,
              global ? "; static ::simt::DynamicShared<" + type + "> " + name + ";"
                     : "; auto& " + name + " = *static_cast<" + type + "*>(::simt::dynamic_shared());");
      return;
    }
    const std::string type = "simt_shared_" + id;
    before(start, "struct " + type + " { ");
    std::string references = "; };";
    for (int name : names) {
      const std::string n(t_.text(name));
      references +=
          global ? " static ::simt::GlobalShared<" + type + ", decltype(" + type + "::" + n + "), &" + type +
                       "::" + n + "> " + n + ";"
                 : " auto& " + n + " = ::simt::shared_variable<" + type + ">(\"" + n + "\")." + n + ";";
    }
    replace(end, end, references);
  }
  int shared_start(int i) const {
    while (i > 0 && !t_.is(i - 1, ";") && !t_.is(i - 1, "{") && !t_.is(i - 1, "}") && !t_.is(i - 1, ":") &&
           !t_.is(i - 1, ")"))
      --i;
    if (t_.is(i - 1, ")") && is_attribute(t_.text(t_.partner(i - 1) - 1)))
      return shared_start(t_.partner(i - 1) - 1);
    return i;
  }
  std::vector<int> declared_names(int start, int end) const {
    std::vector<int> names;
    int last = -1;
    bool bound = false;  // past the name, in its array bounds
    for (int k = start; k <= end; ++k) {
      if (t_.is(k, ",") || t_.is(k, ";") || t_.is(k, "=")) {
        if (last >= 0) names.push_back(last);
        if (t_.is(k, "=")) fail(k, "a __shared__ variable cannot have an initialiser");
        last = -1;
        bound = false;
      } else if (t_.is(k, "<")) {
        const int close = t_.close_angle(k);
        if (close > 0) k = close;
      } else if (t_.is(k, "[") || t_.is(k, "{")) {
        bound = true;
        k = t_.partner(k);
      } else if (t_.is(k, "(")) {
        if (!is_attribute(t_.text(k - 1))) {  // a pointer or reference to an array: (*name)[n]
          for (int z = k + 1; z < t_.partner(k); ++z) {
            if (t_.is_word(z)) last = z;
          }
          bound = true;
        }
        k = t_.partner(k);
      } else if (t_.is_word(k) && !bound && !is_attribute(t_.text(k))) {
        last = k;
      }
    }
    return names;
  }

  // ---- the rest ----

  void rewrite_asm(int i) {
    int open = i + 1;
    while (t_.is(open, "volatile") || t_.is(open, "__volatile__")) ++open;
    if (!t_.is(open, "(")) return;
    std::string code;
    for (int k = open + 1; k < t_.partner(open) && t_[k].kind == Token::literal; ++k)
      code += std::string(t_.text(k)) + " ";
    replace(i, t_.partner(open), "::simt::ptx(" + code + ", {}, {})");
  }

  // `(void*)kernel` as a first argument hides the kernel's type.
  void remove_pointer_casts(int open) {
    const int close = t_.partner(open);
    for (int k = open + 1; k < close; ++k) {
      if (t_.is(k, ",")) return;
      if (!t_.is(k, "(")) continue;
      const int end = t_.partner(k);
      const bool plain = end == k + 3 && t_.is(k + 1, "void") && t_.is(k + 2, "*");
      const bool constant =
          end == k + 4 && t_.is(k + 1, "const") && t_.is(k + 2, "void") && t_.is(k + 3, "*");
      if (plain || constant) return replace(k, end, "");
      k = end;
    }
  }

  // Loops that may wait for another thread: `while`, `do`, and `for` without an increment.
  void add_ticks(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      if (t_.is(i, "while") && t_.is(i + 1, "(") && !declares(i + 2, t_.partner(i + 1))) {
        after(i + 1, "::simt::tick(), ");
      } else if (t_.is(i, "for") && t_.is(i + 1, "(")) {
        const int close = t_.partner(i + 1);
        if (t_.is(close - 1, ";")) before(close, " ::simt::tick()");
      }
    }
  }
  bool declares(int i, int end) const {  // while (int left = next())
    for (int k = i + 1; k < end; ++k) {
      if (t_.is(k, "(")) return false;
      if (t_.is(k, "=") && t_.is_word(k - 1) && k - 1 > i &&
          (t_.is_word(k - 2) || t_.is(k - 2, "*") || t_.is(k - 2, "&")))
        return true;
    }
    return false;
  }

  void rewrite_pragmas() {
    for (const auto& line : t_.pragmas()) {
      const std::string text = text_.substr(line.begin, line.end - line.begin);
      const auto unroll = text.find("unroll");
      if (unroll != std::string::npos && text.find("GCC") == std::string::npos) {
        std::string digits;
        bool constant = true;
        for (char c : text.substr(unroll + 6)) {
          if (c >= '0' && c <= '9') digits += c;
          if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') constant = false;
        }
        // g++ wants a number; without one it unrolls as it sees fit
        const bool number = constant && !digits.empty() && digits.size() < 5 && digits != "0";
        edits_.push_back({line.begin, text.size(), number ? "#pragma GCC unroll " + digits : ""});
      } else if (text.find("nv_") != std::string::npos || text.find("diag_suppress") != std::string::npos) {
        edits_.push_back({line.begin, text.size(), ""});
      }
    }
  }

  const std::string& text_;
  const Tokens t_;
  std::vector<Edit> edits_;
  std::vector<bool> at_namespace_scope_;
  std::set<std::pair<int, int>> device_bodies_;
  std::set<int> made_static_, shared_done_, gone_;
  int shared_count_ = 0;
};

}  // namespace

std::string translate(const std::string& preprocessed) {
  return Translator(preprocessed).run();
}

}  // namespace simtcc
