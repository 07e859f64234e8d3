// SPDX-License-Identifier: MIT
//
// Part of instance.cpp: ladder.h's definitions that no day has to compile again.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <typeindex>
#include <utility>
#include <vector>

#include "common/check.h"
#include "common/image.h"
#include "common/json.h"
#include "common/ladder.h"
#include "common/parallel.h"

namespace days {

std::string day_of(const std::string& file) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t at = file.rfind("/"); at != std::string::npos && at > 0; at = file.rfind("/", at - 1)) {
    const size_t before = file.rfind("/", at - 1);
    const size_t start = before == std::string::npos ? 0 : before + 1;
    const std::string folder = file.substr(start, at - start);
    if (folder.size() > 6 && folder.rfind("day", 0) == 0 && digit(folder[3]) && digit(folder[4]) &&
        folder[5] == '_')
      return folder;
    if (before == std::string::npos) break;
  }
  return "";
}

namespace detail {

// Of one day, ladder and name for each problem.
struct Baseline {
  Launch launch;
  SetUp setup;
};
using Baselines = std::map<std::tuple<std::string, std::string, std::string, std::type_index>, Baseline>;
// A function-local object, so that it exists before whichever file's registration comes first.
inline Baselines& baselines() {
  static Baselines all;
  return all;
}
void add_baseline(const BaselineRow& row, const std::type_info& problem, const Launch& launch) {
  baselines()[{day_of(row.file), row.ladder, row.name, problem}].launch = launch;
}
void add_baseline_setup(const BaselineRow& row, const std::type_info& problem, const SetUp& setup) {
  baselines()[{day_of(row.file), row.ladder, row.name, problem}].setup = setup;
}
inline const Baseline* find_baseline(const LadderInfo& ladder, const Row& row, size_t type) {
  const auto found = baselines().find({ladder.day, ladder.name, row.name, ladder.types[type].problem});
  return found == baselines().end() ? nullptr : &found->second;
}

// Likewise.
inline std::vector<const LadderInfo*>& ladders() {
  static std::vector<const LadderInfo*> all;
  return all;
}

template <class Erased>
std::vector<Erased> functions(const Captures& f, std::initializer_list<typename Erased::Call*> calls) {
  std::vector<Erased> all;
  for (auto* const call : calls) all.emplace_back(f, call);
  return all;
}

inline Row new_row(const LadderInfo& ladder, const char* name) {
  Row row;
  row.name = name;
  row.launch.resize(ladder.types.size());
  row.needs.resize(ladder.types.size());
  row.workspace.resize(ladder.types.size());
  return row;
}
inline Row& last_row(LadderInfo& ladder) {
  require(!ladder.rows.empty(), ladder.name,
          ": .needs, .runs_on, .rate, .workspace and .setup follow a .variant or .baseline");
  return ladder.rows.back();
}

inline std::vector<Shape> checked(const LadderInfo& ladder, std::initializer_list<Shape> shapes) {
  for (const Shape& shape : shapes) {
    require(shape.size() == ladder.extents.size(), ladder.name, ": a shape has the numbers of .extents, not ",
            shape.text());
    for (const int64_t n : shape.numbers())
      require(n > 0, ladder.name, ": every number of a shape is positive, not", n);
  }
  return shapes;
}

}  // namespace detail

LadderInfo::LadderInfo(const char* of, const char* where) : name(of), day(day_of(where)), file(where) {}
LadderInfo::LadderInfo(const LadderInfo&) = default;
LadderInfo& LadderInfo::operator=(const LadderInfo&) = default;
LadderInfo::~LadderInfo() = default;

const std::vector<const LadderInfo*>& registered_ladders() {
  return detail::ladders();
}
bool register_ladder(const LadderInfo& ladder) {
  for (const LadderInfo* other : registered_ladders())
    require(other->day != ladder.day || other->name != ladder.name, "two ladders of ", ladder.day,
            " are named ", ladder.name);
  detail::ladders().push_back(&ladder);
  return true;
}

const LadderInfo& find_ladder(const std::string& day, const std::string& name) {
  for (const LadderInfo* ladder : registered_ladders())
    if (ladder->day == day && ladder->name == name) return *ladder;
  throw std::invalid_argument("no ladder \"" + name + "\"" + (day.empty() ? "" : " of " + day) +
                              " is registered");
}

const LadderInfo& find_ladder(const std::string& name) {
  if (const size_t slash = name.find('/'); slash != std::string::npos)
    return find_ladder(name.substr(0, slash), name.substr(slash + 1));
  const LadderInfo* found = nullptr;
  for (const LadderInfo* ladder : registered_ladders()) {
    if (ladder->name != name) continue;
    require(found == nullptr, "several days have a ladder ", name, ": say which, as ",
            ladder->day + "/" + name);
    found = ladder;
  }
  require(found != nullptr, "no ladder \"", name, "\"");
  return *found;
}

namespace detail {
inline Rate rate_of(Rate rate, const std::string& type) {
  if (rate != Rate::by_type && rate != Rate::wgmma_by_type) return rate;
  const bool wgmma = rate == Rate::wgmma_by_type;
  if (type == TypeInfo<half>::kName) return wgmma ? Rate::wgmma_fp16 : Rate::mma_fp16;
  if (type == TypeInfo<bf16>::kName) return wgmma ? Rate::wgmma_bf16 : Rate::mma_bf16;
  if (type == TypeInfo<int8_t>::kName) return wgmma ? Rate::wgmma_int8 : Rate::mma_int8;
  if (type.rfind("fp8_", 0) == 0) return wgmma ? Rate::wgmma_fp8 : Rate::mma_fp8;
  return Rate::ffma;
}
}  // namespace detail

Rate LadderInfo::rate_of(size_t type) const {
  return detail::rate_of(pace, types[type].name);
}
Rate LadderInfo::rate_of(const Row& row, size_t type) const {
  return row.rate == Rate::kNone ? rate_of(type) : detail::rate_of(row.rate, types[type].name);
}

const detail::Launch* LadderInfo::launcher(const Row& row, size_t type) const {
  if (!row.baseline) return row.launch[type] ? &row.launch[type] : nullptr;
  const detail::Baseline* const baseline = detail::find_baseline(*this, row, type);
  return baseline != nullptr && baseline->launch ? &baseline->launch : nullptr;
}

const detail::SetUp* LadderInfo::setup(const Row& row, size_t type) const {
  if (type < row.setup.size() && row.setup[type]) return &row.setup[type];
  const detail::Baseline* const baseline = row.baseline ? detail::find_baseline(*this, row, type) : nullptr;
  return baseline != nullptr && baseline->setup ? &baseline->setup : nullptr;
}

std::string LadderInfo::absent(const Row& row, size_t type, const Device& device) const {
  if (launcher(row, type) == nullptr) {
    bool other = !row.baseline;  // a library that takes another type is here
    for (size_t i = 0; i < types.size(); ++i) other = other || launcher(row, i) != nullptr;
    return other ? "no " + types[type].name : "not built";
  }
  for (const Requirement& requirement : row.runs_on) {
    if (!requirement.met(device))
      return std::string("needs ") + requirement.text + ", this is " + device.sm();
    if (device.code < requirement.code)
      return std::string("needs ") + requirement.text + ", built for sm_" + std::to_string(device.code);
  }
  return "";
}

void LadderInfo::set_extents(std::initializer_list<const char*> names) {
  extents.assign(names.begin(), names.end());
}

void LadderInfo::set_types(std::initializer_list<detail::ProblemType> problems) {
  require(rows.empty() && makers.empty(), name, ": .types<...>() comes before what depends on it");
  for (const detail::ProblemType& problem : problems) {
    Typed typed(problem.problem);
    typed.name = problem.name;
    typed.create = problem.create;
    typed.destroy = problem.destroy;
    typed.set_setup = problem.set_setup;
    types.push_back(std::move(typed));
  }
}

void LadderInfo::add_variant(const char* variant, const char* launcher, const detail::Captures& f,
                             Calls<detail::Launch> calls) {
  for (const Row& row : rows) require(row.name != variant, name, ": two rows are named ", variant);
  Row row = detail::new_row(*this, variant);
  row.launcher = launcher;
  if (const size_t colon = row.launcher.rfind(':'); colon != std::string::npos)
    row.launcher.erase(0, colon + 1);
  row.launch = detail::functions<detail::Launch>(f, calls);
  rows.push_back(std::move(row));
}

void LadderInfo::add_baseline(const char* baseline) {
  Row row = detail::new_row(*this, baseline);
  row.baseline = true;
  rows.push_back(std::move(row));
}

std::vector<Gate> asked(const Gates& gates) {
  const Gates none;
  std::vector<Gate> found;
  const auto gate = [&](const char* name, auto member) {
    if (gates.*member != none.*member) found.push_back({name, static_cast<double>(gates.*member)});
  };
  gate("reads_per_input", &Gates::reads_per_input);
  gate("wasted_sectors", &Gates::wasted_sectors);
  gate("conflicts", &Gates::conflicts);
  gate("bytes_per_request", &Gates::bytes_per_request);
  gate("atomics_per_input", &Gates::atomics_per_input);
  gate("under_way", &Gates::under_way);
  gate("loads_first", &Gates::loads_first);
  gate("launches", &Gates::launches);
  gate("blocks", &Gates::blocks);
  gate("workspace", &Gates::workspace);
  gate("speed", &Gates::speed);
  return found;
}

void LadderInfo::set_exercise(const char* goal, const char* starts, const char* solution,
                              const Gates& gates) {
  rows.back().exercise = true;
  exercise_info = Exercise{goal, starts, solution, gates};
}

void LadderInfo::set_needs(std::initializer_list<Need> needs, const detail::Captures& f,
                           Calls<Function<bool(const void*)>> calls) {
  Row& row = detail::last_row(*this);
  for (const Need& need : needs) {
    const std::string text = need.text, at_most = std::string(need.name) + " <= ";  // at_most() writes it so
    row.needs_text += (row.needs_text.empty() ? "" : ", ") + text;
    if (*need.name != 0 && text.rfind(at_most, 0) == 0 &&
        std::isdigit(static_cast<unsigned char>(text[at_most.size()])) != 0)
      row.at_most.push_back({need.name, std::stoll(text.substr(at_most.size()))});
  }
  row.needs = detail::functions<Function<bool(const void*)>>(f, calls);
}

void LadderInfo::set_allowance(std::initializer_list<double> allowance) {
  Row& row = detail::last_row(*this);
  require(row.baseline, name, ": .within is for a library; a kernel of ours has no excuse");
  row.allowance = allowance;
}

void LadderInfo::set_runs_on(const Requirement& requirement) {
  detail::last_row(*this).runs_on = {requirement};
}

void LadderInfo::set_workspace(const detail::Captures& f, Calls<Function<size_t(const void*)>> calls,
                               std::initializer_list<void (*)(void*, Workspace)> setters) {
  detail::last_row(*this).workspace = detail::functions<Function<size_t(const void*)>>(f, calls);
  for (size_t i = 0; i < types.size(); ++i) types[i].set_workspace = setters.begin()[i];
}

void LadderInfo::set_rate(Rate rate) {
  detail::last_row(*this).rate = rate;
}

void LadderInfo::set_setup(const detail::Captures& f, Calls<detail::SetUp> calls) {
  detail::last_row(*this).setup = detail::functions<detail::SetUp>(f, calls);
}

template <class Erased>
void LadderInfo::set(Erased Typed::*member, const detail::Captures& f, Calls<Erased> calls) {
  for (size_t i = 0; i < types.size(); ++i) types[i].*member = {f, calls.begin()[i]};
}
#define DAYS_SET(...)                                                                    \
  template void LadderInfo::set(Function<__VA_ARGS__> Typed::*, const detail::Captures&, \
                                Calls<Function<__VA_ARGS__>>);
DAYS_SET(void(const void*))
DAYS_SET(Traffic(const void*))
DAYS_SET(double(const void*))
DAYS_SET(Bound(const void*, Inputs&))
DAYS_SET(Report(const void*))
DAYS_SET(void(void*, const Shape&, const SharedImage&, Inputs&))
DAYS_SET(Image(const void*))
DAYS_SET(std::string(const void*))
#undef DAYS_SET

void LadderInfo::add_tolerance(const char* output, const detail::Captures& f,
                               Calls<Function<Bound(const void*, Inputs&)>> calls) {
  for (size_t i = 0; i < types.size(); ++i) {
    for (const auto& [other, policy] : types[i].tolerances)
      require(other != output, name, ": two tolerances of ", output);
    types[i].tolerances.emplace_back(output, Function<Bound(const void*, Inputs&)>(f, calls.begin()[i]));
  }
}

void LadderInfo::add_check(const char* output, const detail::Captures& f,
                           Calls<Function<Report(const void*)>> calls) {
  for (size_t i = 0; i < types.size(); ++i) {
    auto& checks = types[i].checks;
    require(checks.empty() || (*output != 0 && !types[i].checks_all()), name,
            ": one .check for all outputs, or one for each of some");
    for (const auto& [other, check] : checks) require(other != output, name, ": two checks of ", output);
    checks.emplace_back(output, Function<Report(const void*)>(f, calls.begin()[i]));
  }
}

void LadderInfo::set_by_rows(const detail::Captures& rows_of, Calls<Function<size_t(const void*)>> counts,
                             const detail::Captures& some, Calls<detail::SomeRows> calls) {
  for (size_t i = 0; i < types.size(); ++i) {
    const Function<size_t(const void*)> count(rows_of, counts.begin()[i]);
    const detail::SomeRows of(some, calls.begin()[i]);
    types[i].reference_by_rows = [count, of](const void* p, const Function<void(const void*)>& reference) {
      parallel_ranges(
          count(p), [&](size_t, size_t begin, size_t end) { of(p, begin, end, reference); }, 1);
    };
  }
}

void LadderInfo::set_on_all_cores(const detail::Captures& f, Calls<Function<void(const void*)>> calls) {
  for (size_t i = 0; i < types.size(); ++i) {
    const Function<void(const void*)> all(f, calls.begin()[i]);
    types[i].reference_by_rows = [all](const void* p, const Function<void(const void*)>&) { all(p); };
  }
}

void LadderInfo::set_shapes(std::vector<Shape> LadderInfo::*member, std::initializer_list<Shape> shapes) {
  this->*member = detail::checked(*this, shapes);
}

void LadderInfo::set_sweep(std::initializer_list<Shape> shapes, const SweepAxis& axis) {
  for (const std::string& extent : {axis.over, axis.each})
    require(extent.empty() || std::find(extents.begin(), extents.end(), extent) != extents.end(), name,
            ": .sweep over an extent that it does not have:", extent);
  require(axis.type.empty() || std::any_of(types.begin(), types.end(),
                                           [&](const Typed& type) { return type.name == axis.type; }),
          name, ": .sweep of a type that it does not have:", axis.type);
  sweep_shapes = detail::checked(*this, shapes);
  sweep_axis = axis;
}

void LadderInfo::set_inputs(const detail::Captures& f, Calls<detail::MakeInputs> calls) {
  require(makers.empty(), name, ": .inputs comes once, before .hostile");
  makers.push_back({"", detail::functions<detail::MakeInputs>(f, calls)});
}

void LadderInfo::add_hostile(const char* hostile, const detail::Captures& f,
                             Calls<detail::MakeInputs> calls) {
  require(!makers.empty(), name, ": .hostile comes after .inputs");
  makers.push_back({hostile, detail::functions<detail::MakeInputs>(f, calls)});
}

void LadderInfo::set_lesson(const char* text) {
  lesson_text = text;
}

namespace detail {

inline void describe(Json& json, const char* key, const std::vector<std::string>& texts) {
  json.key(key);
  json.open_flat('[');
  for (const std::string& text : texts) json.value(text);
  json.close();
}
inline void describe(Json& json, const char* key, const std::vector<Shape>& shapes) {
  json.key(key);
  json.open_flat('[');
  for (const Shape& shape : shapes) {
    json.open('[');
    for (const int64_t n : shape.numbers()) json.value(n);
    json.close();
  }
  json.close();
}

inline void describe(Json& json, const LadderInfo& ladder, const Row& row) {
  json.open_flat('{');
  json.member("name", row.name);
  json.member("kind", row.baseline ? "library" : row.exercise ? "exercise" : "variant");
  if (!row.launcher.empty()) json.member("launcher", row.launcher);
  if (!row.baseline) {  // a library's are known where it is
    std::vector<std::string> types;
    for (size_t type = 0; type < ladder.types.size(); ++type) {
      if (row.launch[type]) types.push_back(ladder.types[type].name);
    }
    describe(json, "types", types);
  }
  if (!row.needs_text.empty()) json.member("needs", row.needs_text);
  for (const Requirement& requirement : row.runs_on) json.member("runs_on", requirement.text);
  const auto given = [](const auto& functions) {
    return std::any_of(functions.begin(), functions.end(),
                       [](const auto& f) { return static_cast<bool>(f); });
  };
  if (given(row.workspace)) json.member("workspace", true);
  if (given(row.setup)) json.member("setup", true);
  json.close();
}

inline void describe(Json& json, const Exercise& exercise) {
  json.key("exercise");
  json.open('{');
  json.member("goal", exercise.goal);
  json.member("starts", exercise.starts);
  json.member("solution", exercise.solution);
  json.key("gates");
  json.open_flat('{');
  for (const Gate& gate : asked(exercise.gates)) json.member(gate.name, gate.bound);
  json.close();
  json.close();
}

inline void describe(Json& json, const LadderInfo& ladder) {
  json.open('{');
  json.member("name", ladder.name);
  describe(json, "extents", ladder.extents);
  std::vector<std::string> types, hostile;
  for (const Typed& type : ladder.types) types.push_back(type.name);
  for (size_t maker = 1; maker < ladder.makers.size(); ++maker) hostile.push_back(ladder.makers[maker].name);
  describe(json, "types", types);
  json.key("rows");
  json.open('[');
  for (const Row& row : ladder.rows) describe(json, ladder, row);
  json.close();
  if (ladder.exercise_info) describe(json, *ladder.exercise_info);
  describe(json, "hostile", hostile);
  json.key("shapes");
  json.open('{');
  describe(json, "test", ladder.test_shapes);
  describe(json, "gpu", ladder.gpu_shapes);
  describe(json, "bench", ladder.bench_shapes);
  describe(json, "sweep", ladder.sweep_shapes);
  describe(json, "show", ladder.show_shapes);
  json.close();
  json.member("lesson", ladder.lesson_text);
  json.close();
}

}  // namespace detail

std::string description(const std::vector<const LadderInfo*>& ladders) {
  Json json;
  json.open('{');
  json.key("ladders");
  json.open('[');
  for (const LadderInfo* ladder : ladders) detail::describe(json, *ladder);
  json.close();
  json.close();
  return json.text() + "\n";
}

}  // namespace days
