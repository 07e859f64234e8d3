// SPDX-License-Identifier: MIT
#include <set>
#include <string>

#include "rewrite.h"

namespace simtcc {
namespace {

// Names that some declaration of this file says something about.
struct Names {
  std::set<std::string_view> defined;  // functions with a body
  std::set<std::string_view>
      shared_out;  // other files may see these: extern, friends, explicit instantiations
};

Names collect(const Unit& u) {
  Names names;
  for (const Declaration& d : u.scopes.declarations) {
    if (d.name < 0) continue;
    if (d.scope == Declaration::in_namespace && d.body >= 0 && !d.specialisation)
      names.defined.insert(u.t.text(d.name));
    if (d.is_extern || d.is_friend || d.instantiation) names.shared_out.insert(u.t.text(d.name));
  }
  return names;
}

// nvcc keeps device functions, device variables and kernel templates to their own file, so two files may
// reuse a name with another meaning. Kernels that are no templates have external linkage there, and a
// template that is only declared here, or instantiated explicitly, is meant to meet another file. With
// relocatable device code, functions and variables have the linkage that they would have in C++.
bool becomes_static(const Unit& u, const Declaration& d, const Names& names) {
  if (d.scope != Declaration::in_namespace || d.name < 0 || d.first_mark < 0) return false;
  if (d.is_static || d.is_extern || d.is_friend || d.qualified || d.specialisation || d.instantiation)
    return false;
  const std::string_view name = u.t.text(d.name);
  if (names.shared_out.count(name)) return false;
  if (u.options.relocatable) return false;
  if (d.parameters < 0) return d.variable_space && !d.is_inline;
  if (!names.defined.count(name)) return false;
  return d.global ? d.is_template : d.device && !d.host;
}

// Traces tell global variables, whose accesses are counted, from constant memory by their section. Not
// constants: one section cannot hold both.
std::string device_section(const Unit& u, const Declaration& d) {
#if defined(__APPLE__)
  return "";
#endif
  if (!u.options.traced || d.parameters >= 0 || d.is_template || d.is_constexpr) return "";
  for (int k = d.begin; k < d.name; ++k)
    if (u.t.is(k, "__constant__") || u.t.is(k, "const")) return "";
  return ", section(\"simt_device\")";
}

// `options` of ::simt::launch: what __launch_bounds__ and __cluster_dims__ said.
std::string launch_bounds(const Unit& u, const Declaration& d) {
  auto arguments = [&](int open) { return u.t.text_of(open + 1, u.t.partner(open) - 1); };
  if (d.launch_bounds < 0 && d.cluster_dims < 0) return "";
  std::string text = ", ::simt::KernelBounds{";
  if (d.launch_bounds >= 0) {
    const auto parts = u.t.split(d.launch_bounds, u.t.partner(d.launch_bounds));
    if (!parts.empty()) text += ".max_threads = int(" + u.t.text_of(parts[0].first, parts[0].second) + ")";
    if (d.cluster_dims >= 0) text += ", ";
  }
  if (d.cluster_dims >= 0) text += ".cluster = dim3(" + arguments(d.cluster_dims) + ")";
  return text + "}";
}

void rewrite_kernel(const Unit& u, const Declaration& d) {
  const int close = u.t.partner(d.parameters);
  const bool no_parameters =
      close == d.parameters + 1 || (close == d.parameters + 2 && u.t.is(close - 1, "void"));
  if (!no_parameters) {
    // The closure is the only user of the parameters, and g++ doesn't always count that.
    for (const auto& [first, last] : u.t.split(d.parameters, close)) {
      if (!u.t.is(first, "...")) u.edits.before(first, "[[maybe_unused]] ");
    }
  }
  // Each CUDA thread calls its own copy of the closure, so a kernel may change its parameters.
  const std::string inlined = u.options.inlined ? " __attribute__((flatten))" : "";
  u.edits.after(d.body, " ::simt::launch(\"" + u.t.string(d.name) + "\", [=]() mutable" + inlined + " {");
  u.edits.before(u.t.partner(d.body), "}" + launch_bounds(u, d) + "); ");
}

void check_kernel(const Unit& u, const Declaration& d) {
  if (d.device) u.t.fail(d.first_mark, "a function cannot be both __global__ and __device__");
  if (d.scope == Declaration::in_class && !d.is_static && !d.is_friend)
    u.t.fail(d.first_mark, "a kernel that is a member of a class must be static");
  if (d.parameters < 0) u.t.fail(d.first_mark, "__global__ without a function");
}

// `inline` may stand only once.
bool says_inline(const Unit& u, int token) {
  for (int k = token - 1; u.t.is_word(k) || u.t.is(k, ">") || u.t.is(k, "::") || u.t.is(k, ")"); --k) {
    if (u.t.is(k, "inline") || u.t.is(k, "__inline__")) return true;
    if (u.t.is(k, ")")) k = u.t.partner(k);
    if (u.t.is(k, ">")) k = u.t.open_angle(k);
    if (k < 0) break;
  }
  for (int k = token + 1; k < u.t.size() && !u.t.opens(k) && !u.t.is(k, ";") && !u.t.is(k, "="); ++k) {
    if (u.t.is(k, "inline") || u.t.is(k, "__inline__") || u.t.is(k, "__forceinline__")) return true;
    if (is_attribute(u.t.text(k)) && u.t.is(k + 1, "(")) k = u.t.partner(k + 1);
  }
  return false;
}

void rewrite_forceinline(const Unit& u, int i) {
  int k = i - 1;  // of a lambda: [=] __device__ __forceinline__ (int i) { ... }
  while (is_mark(u.t.text(k))) --k;
  const bool lambda = u.t.is(k, "]") || (u.t.is(k, ")") && !is_attribute(u.t.text(u.t.partner(k) - 1)));
  if (lambda) return u.edits.remove(i);
  u.edits.replace(
      i, says_inline(u, i) ? "__attribute__((always_inline))" : "inline __attribute__((always_inline))");
}

}  // namespace

void rewrite_declarations(const Unit& u) {
  const Names names = collect(u);
  for (const Declaration& d : u.scopes.declarations) {
    if (d.global) check_kernel(u, d);
    if (becomes_static(u, d, names))
      u.edits.replace(d.first_mark, "static __attribute__((unused" + device_section(u, d) + "))");
    if (d.global && d.body >= 0) rewrite_kernel(u, d);
  }
}

void rewrite_words(const Unit& u) {
  const Tokens& t = u.t;
  for (int i = 0; i < t.size(); ++i) {
    if (!t.is_word(i)) continue;
    const std::string_view w = t.text(i);
    if (w.substr(0, 2) != "__") continue;
    if (is_mark(w) || w == "__grid_constant__") {
      u.edits.remove(i);
    } else if (w == "__forceinline__") {
      rewrite_forceinline(u, i);
    } else if (w == "__noinline__") {
      if (!t.is(i - 1, "("))  // else it is in such an attribute
        u.edits.replace(i, u.options.inlined ? "" : "__attribute__((noinline))");
    } else if (w == "__align__" && t.is(i + 1, "(")) {
      const int close = t.partner(i + 1);
      u.edits.replace(i, close, "__attribute__((aligned" + t.text_of(i + 1, close) + "))");
    } else if ((w == "__launch_bounds__" || w == "__cluster_dims__" || w == "__block_size__" ||
                w == "__maxnreg__") &&
               t.is(i + 1, "(")) {
      u.edits.replace(i, t.partner(i + 1), "");
    }
  }
}

}  // namespace simtcc
