// SPDX-License-Identifier: MIT
#include "common/library.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/check.h"
#include "common/device.h"
#include "common/error.h"
#include "common/instance.h"
#include "common/json.h"
#include "common/scalar.h"
#include "common/timing.h"

// Names and rows in the ladder's first order; what runs is instance.h.
struct days_contest {
  days_contest(const days::LadderInfo& ladder, size_t type, const days::Shape& shape)
      : instance(ladder, type, shape), type(type) {}
  days::Instance instance;
  size_t type;
};

namespace days {
namespace {

constexpr int kFailed = 1, kUsage = 2, kMachine = 3;
constexpr double kBusySeconds = 1e-3;

class NotHere : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

thread_local std::string last_error;

// The code of what `body` throws; 0 where it throws nothing.
template <class Body>
int guarded(const Body& body) {
  try {
    body();
    return 0;
  } catch (const CudaError& error) {
    const std::string machine = machine_error(error.code());
    last_error = machine.empty() ? error.what() : machine;
    return machine.empty() ? kFailed : kMachine;
  } catch (const std::invalid_argument& error) {
    last_error = error.what();
    return kUsage;
  } catch (const TooLarge& error) {
    last_error = error.what();
    return kMachine;
  } catch (const NotHere& error) {
    last_error = error.what();
    return kMachine;
  } catch (const std::exception& error) {
    last_error = error.what();
    return kFailed;
  }
}

size_t find_type(const LadderInfo& ladder, const char* name) {
  for (size_t type = 0; type < ladder.types.size(); ++type) {
    if (ladder.types[type].name == name) return type;
  }
  throw std::invalid_argument(ladder.name + " has no type \"" + name + "\"");
}

// A row that can run here.
const Row& find_row(const LadderInfo& ladder, size_t type, const char* name) {
  for (const Row& row : ladder.rows) {
    if (row.name != name) continue;
    const std::string absent = ladder.absent(row, type, current_device());
    if (!absent.empty()) throw NotHere(row.name + ": " + absent);
    return row;
  }
  throw std::invalid_argument(ladder.name + " has no row \"" + name + "\"");
}

Shape make_shape(const LadderInfo& ladder, const int64_t* shape, size_t extents) {
  require(extents == ladder.extents.size(), ladder.name, " takes", ladder.extents.size(), " extents, not",
          extents);
  const Shape made(std::vector<int64_t>(shape, shape + extents));
  for (const int64_t n : made.numbers()) require(n > 0, ladder.name, ": an extent is positive, not", n);
  return made;
}

// No row of the ladder's: a contestant from elsewhere, which brings its own scratch memory.
Row stranger(const LadderInfo& ladder) {
  Row row;
  row.launch.resize(ladder.types.size());
  row.needs.resize(ladder.types.size());
  row.workspace.resize(ladder.types.size());
  return row;
}

// The problem on these buffers, with the numbers that were given; what it asks for is added to `asked`.
std::shared_ptr<void> make_problem(const LadderInfo& ladder, size_t type, const Shape& shape, Inputs& inputs,
                                   std::vector<detail::Scalar>& asked) {
  std::shared_ptr<void> problem = new_problem(ladder.types[type]);
  detail::Scalars& scalars = detail::scalars();
  scalars.asked = &asked;
  const std::shared_ptr<void> until_the_end(nullptr, [&](void*) { scalars.asked = nullptr; });
  ladder.makers.at(0).make[type](problem.get(), shape, inputs);
  for (const detail::Scalar& given : scalars.given) {
    const bool known = std::any_of(asked.begin(), asked.end(),
                                   [&](const detail::Scalar& one) { return one.name == given.name; });
    require(known, ladder.name, " has no number ", given.name);
  }
  return problem;
}
std::shared_ptr<void> make_problem(const LadderInfo& ladder, size_t type, const Shape& shape,
                                   Inputs& inputs) {
  std::vector<detail::Scalar> asked;
  return make_problem(ladder, type, shape, inputs, asked);
}

const char* role_name(Inputs::Role role) {
  return role == Inputs::Role::kInput ? "input" : role == Inputs::Role::kOutput ? "output" : "in-place";
}

void describe(Json& json, const Inputs::Buffer& buffer) {
  json.member("name", buffer.name);
  json.member("role", role_name(buffer.role));
  json.member("type", buffer.type->name);
  json.member("n", buffer.n);
  json.key("dims");
  json.open('[');
  for (const int64_t n : buffer.dims) json.value(n);
  json.close();
}

void describe(Json& json, const LadderInfo& ladder) {
  json.open('{');
  json.member("ladder", ladder.name);
  json.key("extents");
  json.open('[');
  for (const std::string& extent : ladder.extents) json.value(extent);
  json.close();
  json.key("types");
  json.open('[');
  for (const Typed& type : ladder.types) json.value(type.name);
  json.close();
  json.key("rows");
  json.open('[');
  for (const Row& row : ladder.rows) {
    if (row.exercise) continue;
    json.open('{');
    json.member("name", row.name);
    json.member("kind", row.baseline ? "library" : "variant");
    json.key("absent");
    json.open('{');
    for (size_t type = 0; type < ladder.types.size(); ++type) {
      const std::string absent = ladder.absent(row, type, current_device());
      if (!absent.empty()) json.member(ladder.types[type].name, absent);
    }
    json.close();
    json.close();
  }
  json.close();
  json.close();
}

L2Flush& flush() {
  static auto& flush = *new L2Flush;  // never freed: the device may be gone when the process ends
  return flush;
}
EventTimer& timer() {
  static auto& timer = *new EventTimer;
  return timer;
}

// How often the cache has to be overwritten to keep the device busy for long enough.
size_t flushes(cudaStream_t stream) {
  static const size_t count = [&] {
    if (current_device().simt) return size_t{1};
    flush()(stream);
    timer().start(stream);
    flush()(stream);
    timer().stop(stream);
    return static_cast<size_t>(std::clamp(std::ceil(kBusySeconds / timer().seconds()), 1.0, 200.0));
  }();
  return count;
}

}  // namespace
}  // namespace days

using days::guarded;

extern "C" {

const char* days_error(void) {
  return days::last_error.c_str();
}

const char* days_description(void) {
  thread_local std::string text;
  const int code = guarded([] {
    const days::Device& device = days::current_device();
    days::Json json;
    json.open('{');
    json.member("backend", device.simt ? "simt" : "cuda");
    json.member("device", device.name);
    json.key("ladders");
    json.open('[');
    for (const days::LadderInfo* ladder : days::registered_ladders()) days::describe(json, *ladder);
    json.close();
    json.close();
    text = json.text();
  });
  return code == 0 ? text.c_str() : nullptr;
}

int days_launch(const char* ladder, const char* type, const char* row, const int64_t* shape, size_t extents,
                void* const* buffers, size_t count, void* workspace, size_t workspace_bytes, void* stream) {
  return guarded([&] {
    const days::LadderInfo& found = days::find_ladder(ladder);
    const size_t index = days::find_type(found, type);
    const days::Row& launched = days::find_row(found, index, row);
    days::Inputs given(std::vector<void*>(buffers, buffers + count));
    const std::shared_ptr<void> problem =
        days::make_problem(found, index, days::make_shape(found, shape, extents), given);
    days::require(given.buffers().size() == count, found.name, " takes", given.buffers().size(),
                  " buffers, not", count);
    if (found.types[index].set_workspace)
      found.types[index].set_workspace(problem.get(), days::Workspace{workspace, workspace_bytes});
    (*found.launcher(launched, index))(problem.get(), static_cast<cudaStream_t>(stream));
  });
}

const char* days_problem(const char* ladder, const char* type, const int64_t* shape, size_t extents) {
  thread_local std::string text;
  const int code = guarded([&] {
    const days::LadderInfo& found = days::find_ladder(ladder);
    days::Inputs inputs(days::Inputs::Where::kNowhere);
    std::vector<days::detail::Scalar> asked;
    days::make_problem(found, days::find_type(found, type), days::make_shape(found, shape, extents), inputs,
                       asked);
    days::Json json;
    json.open('{');
    json.key("buffers");
    json.open('[');
    for (const days::Inputs::Buffer& buffer : inputs.buffers()) {
      json.open('{');
      days::describe(json, buffer);
      json.close();
    }
    json.close();
    json.key("scalars");
    json.open('[');
    for (const days::detail::Scalar& one : asked) {
      json.open('{');
      json.member("name", one.name);
      json.member("value", one.value);
      json.close();
    }
    json.close();
    json.close();
    text = json.text();
  });
  return code == 0 ? text.c_str() : nullptr;
}

int64_t days_workspace(const char* ladder, const char* type, const char* row, const int64_t* shape,
                       size_t extents) {
  int64_t bytes = -1;
  guarded([&] {
    const days::LadderInfo& found = days::find_ladder(ladder);
    const size_t index = days::find_type(found, type);
    const days::Row& asked = days::find_row(found, index, row);
    days::Inputs inputs(days::Inputs::Where::kNowhere);
    const std::shared_ptr<void> problem =
        days::make_problem(found, index, days::make_shape(found, shape, extents), inputs);
    days::require(!asked.needs[index] || asked.needs[index](problem.get()), asked.name, ": needs ",
                  asked.needs_text);
    bytes = asked.workspace[index] ? static_cast<int64_t>(asked.workspace[index](problem.get())) : 0;
  });
  return bytes;
}

int days_scalars(const char* const* names, const double* values, size_t count) {
  return guarded([&] {
    auto& given = days::detail::scalars().given;
    given.clear();
    for (size_t i = 0; i < count; ++i) given.push_back({names[i], values[i]});
  });
}

int days_wait(void* stream) {
  return guarded([&] { CUDA_CHECK(cudaStreamSynchronize(static_cast<cudaStream_t>(stream))); });
}

int days_know(void* pointer, size_t bytes) {
  return guarded([&] { CUDA_CHECK(cudaHostRegister(pointer, bytes, cudaHostRegisterDefault)); });
}

int days_forget(void* pointer) {
  return guarded([&] { CUDA_CHECK(cudaHostUnregister(pointer)); });
}

int days_upload(void* device, const void* host, size_t bytes) {
  return guarded([&] { CUDA_CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)); });
}

int days_download(void* host, const void* device, size_t bytes) {
  return guarded([&] { CUDA_CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost)); });
}

days_contest* days_contest_open(const char* ladder, const char* type, const int64_t* shape, size_t extents) {
  days_contest* made = nullptr;
  guarded([&] {
    const days::LadderInfo& found = days::find_ladder(ladder);
    made = new days_contest(found, days::find_type(found, type), days::make_shape(found, shape, extents));
  });
  return made;
}

void days_contest_close(days_contest* contest) {
  delete contest;
}

const char* days_contest_buffers(days_contest* contest) {
  thread_local std::string text;
  const int code = guarded([&] {
    days::Json json;
    json.open('[');
    for (const days::Inputs::Buffer& buffer : contest->instance.device_inputs().buffers()) {
      json.open('{');
      days::describe(json, buffer);
      json.member("pointer", reinterpret_cast<uintptr_t>(buffer.data()));
      json.close();
    }
    json.close();
    text = json.text();
  });
  return code == 0 ? text.c_str() : nullptr;
}

int days_contest_prepare(days_contest* contest, const char* row) {
  return guarded([&] {
    const days::LadderInfo& ladder = contest->instance.ladder();
    if (row == nullptr) return contest->instance.prepare(days::stranger(ladder));
    const days::Row& found = days::find_row(ladder, contest->type, row);
    if (!contest->instance.supports(found))
      throw std::invalid_argument(found.name + ": needs " + found.needs_text);
    contest->instance.prepare(found);
  });
}

int days_contest_launch(days_contest* contest, const char* row, void* stream) {
  return guarded([&] {
    contest->instance.launch(days::find_row(contest->instance.ladder(), contest->type, row),
                             static_cast<cudaStream_t>(stream));
  });
}

const char* days_contest_verify(days_contest* contest) {
  thread_local std::string text;
  const int code = guarded([&] {
    const days::Report report = contest->instance.verify();
    days::Json json;
    json.open('{');
    json.member("ok", report.ok());
    if (contest->instance.again()) json.member("again", true);
    json.member("worst", report.worst);
    json.key("lines");
    json.open('[');
    for (const std::string& line : report.lines()) json.value(line);
    json.close();
    json.close();
    text = json.text();
  });
  return code == 0 ? text.c_str() : nullptr;
}

int days_flush(void* stream) {
  return guarded([&] {
    const cudaStream_t on = static_cast<cudaStream_t>(stream);
    for (size_t i = days::flushes(on); i > 0; --i) days::flush()(on);
  });
}

int days_timer_start(void* stream) {
  return guarded([&] { days::timer().start(static_cast<cudaStream_t>(stream)); });
}

int days_timer_stop(void* stream) {
  return guarded([&] { days::timer().stop(static_cast<cudaStream_t>(stream)); });
}

double days_timer_seconds(void) {
  double seconds = -1;
  guarded([&] { seconds = days::timer().seconds(); });
  return seconds;
}

}  // extern "C"
