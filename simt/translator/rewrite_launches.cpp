// SPDX-License-Identifier: MIT
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rewrite.h"

namespace simtcc {
namespace {

bool is_keyword_before_expression(std::string_view w) {
  return w == "return" || w == "else" || w == "do" || w == "co_return" || w == "case" || w == "throw";
}

// The first token of the expression that names a kernel and ends at token i; -1 where there is none.
int kernel_start(const Tokens& t, int i) {
  while (i >= 0) {
    if (t.is(i, ">")) {
      i = t.open_angle(i) - 1;  // -2 where it was no argument list
      if (!t.is_word(i)) return -1;
    } else if (t.is(i, "]")) {
      i = t.partner(i) - 1;
    } else if (t.is(i, ")")) {
      i = t.partner(i);
      const bool call =
          (t.is_word(i - 1) && !is_keyword_before_expression(t.text(i - 1))) || t.is(i - 1, ">");
      if (!call || t.is(i - 1, "if") || t.is(i - 1, "for") || t.is(i - 1, "while")) return i;
      --i;
    } else if (t.is_word(i)) {
      const int previous = t.is(i - 1, "template") ? i - 2 : i - 1;
      if (t.is(previous, "::")) {
        const bool qualifier = t.is_word(previous - 1) && !is_keyword_before_expression(t.text(previous - 1));
        if (!qualifier && !t.is(previous - 1, ">")) return previous;
        i = previous - 1;
      } else if (t.is(previous, ".") || t.is(previous, "->")) {
        i = previous - 1;
      } else {
        return i;
      }
    } else {
      return -1;
    }
  }
  return -1;
}

// The last token of a <<<, which some editors write as << <; -1 where token i begins none.
int launch_open(const Tokens& t, int i) {
  if (t.is(i, "<<<")) return i;
  if ((t.is(i, "<<") && t.is(i + 1, "<")) || (t.is(i, "<") && t.is(i + 1, "<<"))) return i + 1;
  return t.is(i, "<") && t.is(i + 1, "<") && t.is(i + 2, "<") ? i + 2 : -1;
}

bool is_launch_end(const Tokens& t, int i, bool spaced) {
  return t.is(i, ">") && t.is(i + 1, ">") && t.is(i + 2, ">") && t.is(i + 3, "(") &&
         (spaced || (t.touches_next(i) && t.touches_next(i + 1)));
}

// The first > of the >>> that ends the launch configuration. A >>>( can end template arguments instead, but
// only where three of them are open; and a < that looks as if it opened some may be a comparison's, which
// nothing closes: then the first >>>( is the end.
int launch_close(const Tokens& t, int open, bool spaced) {
  int first = -1, angles = 0;
  for (int i = open + 1; i < t.size() && !t.is(i, ";") && !t.closes(i) && !t.is(i, "<<<");
       i = t.skip(i) + 1) {
    if (is_launch_end(t, i, spaced)) {
      if (angles < 3) return i;
      if (first < 0) first = i;
    }
    if (t.is(i, "<") && t.is_word(i - 1)) ++angles;
    if (t.is(i, ">") && angles > 0) --angles;
  }
  return first;
}

// Grid, block, bytes of shared memory, stream. Where `a < b, c > d` has been taken for one template's
// arguments, too few parts are left, and each comma counts.
std::vector<std::pair<int, int>> split_configuration(const Tokens& t, int open, int close) {
  auto parts = t.split(open, close);
  if (parts.size() >= 2) return parts;
  parts.clear();
  int first = open + 1;
  for (int i = first; i <= close; i = t.skip(i) + 1) {
    if (i != close && !t.is(i, ",")) continue;
    if (i > first) parts.push_back({first, i - 1});
    first = i + 1;
  }
  return parts;
}

void rewrite_launch(const Unit& u, int first, int open) {
  const Tokens& t = u.t;
  const int kernel = kernel_start(t, first - 1);
  int close = launch_close(t, open, first != open);
  if (close < 0) close = launch_close(t, open, true);
  if (kernel < 0) t.fail(open, "cannot find the kernel of this launch");
  if (close < 0) t.fail(open, "cannot read this launch: expected kernel<<<grid, block>>>(arguments)");
  const auto configuration = split_configuration(t, open, close);
  if (configuration.size() < 2 || configuration.size() > 4)
    t.fail(open, "a launch needs <<<grid, block>>>, then perhaps the bytes of shared memory and a stream");
  // The kernel's name stays where it is, and with it the line of the launch.
  const std::size_t begin = t[open + 1].begin;
  u.edits.before(kernel,
                 "(::simt::push_config(" + u.edits.relocated(begin) + t.text_of(open + 1, close - 1) + "), ");
  u.edits.replace(first, close + 2, "");
  u.edits.after(t.partner(close + 3), ")");
}

// Functions of the API that take a kernel as a void*, and which of their arguments that is.
int kernel_argument(std::string_view function) {
  static const std::unordered_map<std::string_view, int> functions{
      {"cudaLaunchKernel", 0},
      {"cudaLaunchCooperativeKernel", 0},
      {"cudaLaunchKernelExC", 1},
      {"cudaFuncSetAttribute", 0},
      {"cudaFuncSetCacheConfig", 0},
      {"cudaFuncSetSharedMemConfig", 0},
      {"cudaFuncGetAttributes", 1},
      {"cudaFuncGetName", 1},
      {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", 1},
      {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 1},
      {"cudaOccupancyMaxPotentialBlockSize", 2},
      {"cudaOccupancyMaxPotentialBlockSizeVariableSMem", 2},
      {"cudaOccupancyMaxPotentialClusterSize", 1},
      {"cudaOccupancyMaxActiveClusters", 1},
      {"cudaOccupancyAvailableDynamicSMemPerBlock", 1}};
  const auto found = functions.find(function);
  return found == functions.end() ? -1 : found->second;
}

// The last token of the type in a cast to void* that starts at token i, `(const void*)` or
// `reinterpret_cast<void*>`; -1 where there is none.
int void_cast(const Tokens& t, int i) {
  int from = i + 1, close = -1;
  if (t.is(i, "(")) {
    close = t.partner(i);
  } else if (t.is(i, "reinterpret_cast") && t.is(i + 1, "<")) {
    close = t.close_angle(++from - 1);
  }
  bool is_void = false;
  for (int k = from; k < close; ++k) {
    if (t.is(k, "void")) is_void = true;
    if (!t.is(k, "void") && !t.is(k, "const") && !t.is(k, "*")) return -1;
  }
  return is_void && t.is(close - 1, "*") && !t.is(close - 2, "*") ? close : -1;
}

// `(void*)kernel` hides the kernel's type, by which the backend knows it.
bool remove_pointer_cast(const Unit& u, int first, int last) {
  const int close = void_cast(u.t, first);
  if (close < 0 || close >= last) return false;
  u.edits.replace(first, close, "");
  return true;
}

// The last token of a name, [&] [a::] kernel [<int>], that stands alone and names a kernel; else -1.
int kernel_name_end(const Tokens& t, int i, const std::set<std::string_view>& kernels) {
  if (t.is(i, "&")) ++i;
  if (t.is(i, "::")) ++i;
  for (;; i += 2) {
    if (!t.is_word(i)) return -1;
    const int name = i;
    if (t.is(i + 1, "<")) {
      const int close = t.close_angle(i + 1);
      if (close > 0) i = close;
    }
    if (t.is(i + 1, "::")) continue;
    const bool alone = t.is(i + 1, ")") || t.is(i + 1, ",") || t.is(i + 1, ";") || t.is(i + 1, "}");
    return alone && kernels.count(t.text(name)) ? i : -1;
  }
}

// Any other cast of a kernel to void* tells the runtime what is behind the pointer.
void keep_kernel_type(const Unit& u, int cast, const std::set<std::string_view>& kernels) {
  const Tokens& t = u.t;
  int first = void_cast(t, cast) + 1;
  if (first == 0) return;
  if (t.is(cast, "reinterpret_cast") && t.is(first, "(")) ++first;
  const int parenthesis = t.is(first, "(") ? first : -1;
  if (parenthesis >= 0) ++first;
  const int last = kernel_name_end(t, first, kernels);
  if (last < 0 || (parenthesis >= 0 && last + 1 != t.partner(parenthesis))) return;
  u.edits.before(first, "::simt::kernel_pointer(");
  u.edits.after(last, ")");
}

}  // namespace

void rewrite_launches(const Unit& u) {
  std::set<std::string_view> kernels;
  for (const Declaration& d : u.scopes.declarations) {
    if (d.global && d.name >= 0) kernels.insert(u.t.text(d.name));
  }
  std::set<int> removed;  // casts
  for (int i = 0; i < u.t.size(); ++i) {
    if (!removed.count(i)) keep_kernel_type(u, i, kernels);
    if (const int open = launch_open(u.t, i); open >= 0 && !u.t.is(i - 1, "operator")) {
      rewrite_launch(u, i, open);
      i = open;
    } else if (u.t.is_word(i)) {
      int open = i + 1;
      const int argument = kernel_argument(u.t.text(i));
      if (argument < 0) continue;
      if (u.t.is(open, "<")) open = u.t.close_angle(open) + 1;
      if (!u.t.is(open, "(")) continue;
      const auto arguments = u.t.split(open, u.t.partner(open));
      if (argument < static_cast<int>(arguments.size())) {
        const auto& [first, last] = arguments[static_cast<std::size_t>(argument)];
        if (remove_pointer_cast(u, first, last)) removed.insert(first);
      }
    }
  }
}

}  // namespace simtcc
