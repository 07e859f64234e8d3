// SPDX-License-Identifier: MIT
//
// Tells the runtime where device variables lie, and whether host code uses their names as ordinary variables' (runtime/variables.h):
//
//   __device__ int a[4];   static int a[4]; static const ::simt::DeviceVariable simt_variable1{&a, sizeof(a), "a", ...};
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite.h"

namespace simtcc {
namespace {

class Variables {
 public:
  explicit Variables(const Unit& unit) : u_(unit), t_(unit.t) {}

  void run() {
    std::vector<const Declaration*> found;
    std::set<std::string_view> names;
    for (const Declaration& d : u_.scopes.declarations) {
      if (!is_variable(d)) continue;
      found.push_back(&d);
      for (const int name : names_of(d)) names.insert(t_.text(name));
    }
    if (found.empty()) return;
    find_uses_by_host(names);
    for (const Declaration* d : found) {
      std::string text;
      for (const int name : names_of(*d)) text += registration(*d, t_.string(name));
      u_.edits.after(d->end, text);
    }
  }

 private:
  bool is_variable(const Declaration& d) const {
    return d.scope == Declaration::in_namespace && d.variable_space && d.parameters < 0 && d.body < 0 &&
           d.name >= 0 && t_.is(d.end, ";") && !d.is_template && !d.is_extern && !d.specialisation &&
           !d.instantiation && !d.qualified && !d.is_constexpr && !d.global;
  }

  // `int a, b[3] = {1, 2};`: a and b. Where a parenthesis may belong to a declarator, the name that Scopes found.
  std::vector<int> names_of(const Declaration& d) const {
    std::vector<int> names;
    bool value = false;
    int last = -1;
    for (int k = d.begin; k <= d.end; k = t_.skip(k) + 1) {
      if (t_.is(k, "<") && t_.is_word(k - 1) && !value) {
        const int close = t_.close_angle(k);
        if (close > 0) k = close;
      } else if (t_.is(k, "(") && !is_attribute(t_.text(k - 1)) && !value) {
        return {d.name};
      } else if (t_.is(k, ",") || t_.is(k, ";")) {
        if (last >= 0) names.push_back(last);
        last = -1;
        value = false;
      } else if (t_.is(k, "=") || t_.is(k, "[") || t_.is(k, "{")) {
        if (!t_.is(k, "{") || !is_class_body(d, k)) value = value || !t_.is(k + 1, "[");
      } else if (t_.is_word(k) && !value && !is_mark(t_.text(k)) && !is_attribute(t_.text(k))) {
        last = k;
      }
    }
    return names;
  }
  bool is_class_body(const Declaration& d, int brace) const {
    for (int k = d.begin; k < brace; ++k)
      if (t_.is(k, "struct") || t_.is(k, "class") || t_.is(k, "union") || t_.is(k, "enum"))
        return t_.is_word(t_.partner(brace) + 1);
    return false;
  }

  void find_uses_by_host(const std::set<std::string_view>& names) {
    static const std::set<std::string_view> takes_symbol{"cudaMemcpyToSymbol",
                                                         "cudaMemcpyFromSymbol",
                                                         "cudaMemcpyToSymbolAsync",
                                                         "cudaMemcpyFromSymbolAsync",
                                                         "cudaGetSymbolAddress",
                                                         "cudaGetSymbolSize",
                                                         "sizeof",
                                                         "decltype"};
    for (int i = 0; i < t_.size(); ++i) {
      if (!t_.is_word(i)) continue;
      if ((takes_symbol.count(t_.text(i)) || t_.text(i).find("Symbol") != std::string_view::npos) &&
          t_.is(i + 1, "(")) {
        i = t_.partner(i + 1);
        continue;
      }
      if (!names.count(t_.text(i)) || t_.is(i - 1, ".") || t_.is(i - 1, "->")) continue;
      const Body* body = u_.scopes.body_around(i);
      if (body && !body->device) named_.insert(t_.text(i));
    }
  }

  std::string registration(const Declaration& d, const std::string& name) {
    std::string kind = "device";
    for (int k = d.begin; k < d.end && !t_.is(k, "="); ++k) {
      if (t_.is(k, "__managed__")) kind = "managed";
      if (t_.is(k, "__constant__")) kind = "constant";
    }
    return " [[maybe_unused]] static const ::simt::DeviceVariable simt_variable" + std::to_string(++count_) +
           "{__builtin_addressof(" + name + "), sizeof(" + name + "), \"" + name +
           "\", ::simt::VariableKind::" + kind + ", " + (named_.count(name) ? "true" : "false") + "};";
  }

  const Unit& u_;
  const Tokens& t_;
  std::set<std::string_view> named_;
  int count_ = 0;
};

}  // namespace

void register_variables(const Unit& u) {
  Variables(u).run();
  // Copies of objects with virtual functions are looked at where there are any.
  if (!u.options.checked || u.options.traced) return;
  for (int i = 0; i < u.t.size(); ++i) {
    if (!u.t.is(i, "virtual")) continue;
    for (auto d = u.scopes.declarations.rbegin(); d != u.scopes.declarations.rend(); ++d) {
      if (d->scope != Declaration::in_namespace || d->end < 0) continue;
      u.edits.after(d->end, " [[maybe_unused]] static const bool simt_virtual = ::simt::look_for_tables();");
      return;
    }
  }
}

}  // namespace simtcc
