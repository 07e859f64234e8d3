// SPDX-License-Identifier: MIT
#include <string>
#include <unordered_map>

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

bool is_launch_end(const Tokens& t, int i) {
  return t.is(i, ">") && t.is(i + 1, ">") && t.is(i + 2, ">") && t.touches_next(i) && t.touches_next(i + 1) &&
         t.is(i + 3, "(");
}

// The first > of the >>> that ends the launch configuration. Template arguments in it may end in >>> as well,
// and a comparison may have a < that nothing closes: then the first >>>( is it.
int launch_close(const Tokens& t, int open) {
  int first = -1, angles = 0;
  for (int i = open + 1; i < t.size() && !t.is(i, ";") && !t.closes(i); i = t.skip(i) + 1) {
    if (is_launch_end(t, i)) {
      if (angles == 0) return i;
      if (first < 0) first = i;
    }
    if (t.is(i, "<") && t.is_word(i - 1)) ++angles;
    if (t.is(i, ">") && angles > 0) --angles;
  }
  return first;
}

void rewrite_launch(const Unit& u, int open) {
  const Tokens& t = u.t;
  const int kernel = kernel_start(t, open - 1);
  const int close = launch_close(t, open);
  if (kernel < 0) t.fail(open, "cannot find the kernel of this launch");
  if (close < 0) t.fail(open, "cannot read this launch: expected kernel<<<grid, block>>>(arguments)");
  const auto configuration = t.split(open, close);
  if (configuration.size() < 2 || configuration.size() > 4)
    t.fail(open, "a launch needs <<<grid, block>>>, then perhaps the bytes of shared memory and a stream");
  // The kernel's name stays where it is, and with it the line of the launch.
  const std::size_t begin = t[open + 1].begin;
  u.edits.before(kernel,
                 "(::simt::push_config(" + u.edits.relocated(begin) + t.text_of(open + 1, close - 1) + "), ");
  u.edits.replace(open, close + 2, "");
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

// `(void*)kernel` hides the kernel's type, by which the backend knows it.
void remove_pointer_cast(const Unit& u, int first, int last) {
  const Tokens& t = u.t;
  auto is_pointer = [&](int from, int to) {  // [const] void*
    bool is_void = false;
    for (int i = from; i <= to; ++i) {
      if (t.is(i, "void")) is_void = true;
      if (!t.is(i, "void") && !t.is(i, "const") && !t.is(i, "*")) return false;
    }
    return is_void && t.is(to, "*");
  };
  if (t.is(first, "(") && t.partner(first) < last && is_pointer(first + 1, t.partner(first) - 1)) {
    u.edits.replace(first, t.partner(first), "");
  } else if (t.is(first, "reinterpret_cast") && t.is(first + 1, "<")) {
    const int close = t.close_angle(first + 1);
    if (close > 0 && is_pointer(first + 2, close - 1)) u.edits.replace(first, close, "");
  }
}

}  // namespace

void rewrite_launches(const Unit& u) {
  for (int i = 0; i < u.t.size(); ++i) {
    if (u.t.is(i, "<<<") && !u.t.is(i - 1, "operator")) {
      rewrite_launch(u, i);
    } else if (u.t.is_word(i)) {
      int open = i + 1;
      const int argument = kernel_argument(u.t.text(i));
      if (argument < 0) continue;
      if (u.t.is(open, "<")) open = u.t.close_angle(open) + 1;
      if (!u.t.is(open, "(")) continue;
      const auto arguments = u.t.split(open, u.t.partner(open));
      if (argument < static_cast<int>(arguments.size())) {
        const auto& [first, last] = arguments[static_cast<std::size_t>(argument)];
        remove_pointer_cast(u, first, last);
      }
    }
  }
}

}  // namespace simtcc
