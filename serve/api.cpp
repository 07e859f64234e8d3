// SPDX-License-Identifier: MIT
#include "serve/api.h"

#include <algorithm>
#include <limits>

#include "model/json.h"

namespace serve {
namespace {

using model::Json;

constexpr int kMostStops = 4, kDepth = 16;
constexpr size_t kLongestStop = 256, kMostMessages = 1024;

[[noreturn]] void refuse(const std::string& code, const std::string& message) {
  throw ApiError(400, code, message);
}

// A value in a message: the beginning of one that is long.
std::string said(const Json& value) {
  const std::string all = value.dump();
  return all.size() <= 80 ? all : all.substr(0, 80) + "...";
}
// A field, or null where it is missing.
const Json& field(const Json& object, const char* name) {
  static const Json null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}
double number(const Json& object, const char* name, double least, double most, double preset) {
  const Json& value = field(object, name);
  if (value.is_null()) return preset;
  if (!value.is_number() || !(value.get<double>() >= least) || !(value.get<double>() <= most))
    refuse("invalid_value", std::string(name) + " is a number from " + Json(least).dump() + " to " +
                                Json(most).dump() + ", not " + said(value));
  return value.get<double>();
}
int64_t whole_number(const Json& object, const char* name, int64_t least, int64_t most, int64_t preset) {
  const Json& value = field(object, name);
  if (value.is_null()) return preset;
  // Numbers above the greatest int64_t are unsigned, and would come out negative.
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() ||
                     value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  if (!fits || value.get<int64_t>() < least || value.get<int64_t>() > most)
    refuse("invalid_value", std::string(name) + " is a whole number from " + std::to_string(least) + " to " +
                                std::to_string(most) + ", not " + said(value));
  return value.get<int64_t>();
}
bool truth(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (value.is_null()) return false;
  if (!value.is_boolean())
    refuse("invalid_type", std::string(name) + " is true or false, not " + said(value));
  return value.get<bool>();
}
std::string text(const Json& value, const std::string& name) {
  if (!value.is_string()) refuse("invalid_type", name + " is a string, not " + said(value));
  return value.get<std::string>();
}

// What would change the answer, and is not served: refused unless it has the value that changes nothing.
void refuse_others(const Json& object) {
  const auto only = [&](const char* name, const auto& harmless) {
    const Json& value = field(object, name);
    if (!value.is_null() && !harmless(value))
      refuse("unsupported_parameter", std::string(name) + " = " + said(value) + " is not served here");
  };
  const auto is_false = [](const Json& v) { return v.is_boolean() && !v.get<bool>(); };
  const auto is_number = [](double wanted) {
    return [wanted](const Json& v) { return v.is_number() && v.get<double>() == wanted; };
  };
  const auto is_empty = [](const Json& v) { return v.is_structured() && v.empty(); };
  const auto never = [](const Json&) { return false; };
  only("n", is_number(1));
  only("best_of", is_number(1));
  only("echo", is_false);
  only("logprobs", is_false);
  only("top_logprobs", is_number(0));
  only("presence_penalty", is_number(0));
  only("frequency_penalty", is_number(0));
  only("logit_bias", is_empty);
  only("tools", is_empty);
  only("functions", is_empty);
  only("suffix", never);
  only("tool_choice", [](const Json& v) { return v == "none" || v == "auto"; });
  only("response_format",
       [](const Json& v) { return v.is_object() && v.size() == 1 && field(v, "type") == "text"; });
}

Json head(const Reply& reply, const char* object) {
  return {{"id", reply.id}, {"object", object}, {"created", reply.created}, {"model", reply.model}};
}
const char* object_of(const Reply& reply, bool stream) {
  if (reply.kind == Kind::kCompletion) return "text_completion";
  return stream ? "chat.completion.chunk" : "chat.completion";
}
Json usage_of(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt},
          {"completion_tokens", usage.written},
          {"total_tokens", usage.prompt + usage.written}};
}
Json finish_of(const std::string& finish) {
  return finish.empty() ? Json() : Json(finish);
}
std::string event(const Json& json) {
  return "data: " + json.dump() + "\n\n";
}

}  // namespace

std::string error_json(int status, const std::string& code, const std::string& message) {
  const char* const type = status >= 500   ? "server_error"
                           : status == 429 ? "rate_limit_error"
                                           : "invalid_request_error";
  // A message may quote bytes that are no UTF-8.
  return Json{{"error", {{"message", message}, {"type", type}, {"param", nullptr}, {"code", code}}}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

ApiRequest parse_request(Kind kind, std::string_view body, const std::string& model) {
  Json json;
  try {
    json = model::parse_json(body, "the request", kDepth);
  } catch (const model::FileError& error) {
    refuse("invalid_json", error.what());
  }
  if (!json.is_object()) refuse("invalid_json", "the request is no object");
  refuse_others(json);
  ApiRequest request;
  request.kind = kind;
  if (const Json& name = field(json, "model"); !name.is_null() && text(name, "model") != model)
    throw ApiError(404, "model_not_found",
                   "there is no model " + said(name) + " here, but \"" + model + "\"");
  if (kind == Kind::kCompletion) {
    request.prompt = text(field(json, "prompt"), "prompt");
  } else {
    const Json& messages = field(json, "messages");
    if (!messages.is_array() || messages.empty() || messages.size() > kMostMessages)
      refuse("invalid_type", "messages is an array of 1 to 1024 messages");
    for (const Json& message : messages) {
      if (!message.is_object()) refuse("invalid_type", "a message is an object, not " + said(message));
      const std::string role = text(field(message, "role"), "a message's role");
      if (role != "system" && role != "user" && role != "assistant")
        refuse("invalid_value", "a message's role is system, user or assistant, not \"" + role + "\"");
      request.messages.push_back({role, text(field(message, "content"), "a message's content")});
    }
  }
  constexpr int64_t kMostTokens = 1 << 20;
  request.max_tokens = static_cast<int>(whole_number(json, "max_tokens", 0, kMostTokens, -1));
  if (kind == Kind::kChat)
    request.max_tokens =
        static_cast<int>(whole_number(json, "max_completion_tokens", 0, kMostTokens, request.max_tokens));
  request.sampling.temperature = static_cast<float>(number(json, "temperature", 0, 2, 1));
  request.sampling.top_p = static_cast<float>(number(json, "top_p", 0, 1, 1));
  constexpr auto kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  request.has_seed = !field(json, "seed").is_null();
  request.sampling.seed = static_cast<uint64_t>(whole_number(json, "seed", kLeast, kMost, 0));
  if (const Json& stop = field(json, "stop"); stop.is_array()) {
    for (const Json& one : stop) request.stops.push_back(text(one, "stop"));
  } else if (!stop.is_null()) {
    request.stops.push_back(text(stop, "stop"));
  }
  if (std::ssize(request.stops) > kMostStops) refuse("invalid_value", "stop has at most 4 strings");
  for (const std::string& stop : request.stops)
    if (stop.empty() || stop.size() > kLongestStop)
      refuse("invalid_value", "a stop has 1 to 256 bytes, not " + std::to_string(stop.size()));
  request.stream = truth(json, "stream");
  if (const Json& options = field(json, "stream_options"); !options.is_null()) {
    if (!options.is_object() || !request.stream)
      refuse("invalid_value", "stream_options is an object, and goes with stream = true");
    request.with_usage = truth(options, "include_usage");
  }
  return request;
}

std::string whole_json(const Reply& reply, const std::string& text, const std::string& finish,
                       const Usage& usage) {
  Json json = head(reply, object_of(reply, false));
  Json choice = {{"index", 0}, {"logprobs", nullptr}, {"finish_reason", finish_of(finish)}};
  if (reply.kind == Kind::kCompletion) {
    choice["text"] = text;
  } else {
    choice["message"] = {{"role", "assistant"}, {"content", text}};
  }
  json["choices"] = Json::array({choice});
  json["usage"] = usage_of(usage);
  return json.dump();
}
std::string first_event(const Reply& reply) {
  if (reply.kind == Kind::kCompletion) return "";
  Json json = head(reply, object_of(reply, true));
  json["choices"] = Json::array(
      {{{"index", 0}, {"delta", {{"role", "assistant"}, {"content", ""}}}, {"finish_reason", nullptr}}});
  return event(json);
}
std::string text_event(const Reply& reply, const std::string& text, const std::string& finish) {
  Json json = head(reply, object_of(reply, true));
  Json choice = {{"index", 0}, {"logprobs", nullptr}, {"finish_reason", finish_of(finish)}};
  if (reply.kind == Kind::kCompletion) {
    choice["text"] = text;
  } else {
    choice["delta"] = text.empty() ? Json::object() : Json{{"content", text}};
  }
  json["choices"] = Json::array({choice});
  return event(json);
}
std::string usage_event(const Reply& reply, const Usage& usage) {
  Json json = head(reply, object_of(reply, true));
  json["choices"] = Json::array();
  json["usage"] = usage_of(usage);
  return event(json);
}

std::string json_string(const std::string& text) {
  return Json(text).dump();
}
std::string models_json(const std::string& model) {
  return Json{
      {"object", "list"},
      {"data", Json::array({{{"id", model}, {"object", "model"}, {"created", 0}, {"owned_by", "days"}}})}}
      .dump();
}

}  // namespace serve
