// SPDX-License-Identifier: MIT
//
// OpenAI's completions as text: what a request asks for, and what its answer says. Nothing here knows HTTP.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/engine.h"

namespace serve {

// What is wrong with a request, as its answer says it.
class ApiError : public std::runtime_error {
 public:
  ApiError(int status, std::string code, const std::string& message)
      : std::runtime_error(message), status(status), code(std::move(code)) {}
  int status;  // of HTTP
  std::string code;
};
std::string error_json(int status, const std::string& code, const std::string& message);

enum class Kind : int { kCompletion, kChat };

struct Message {
  std::string role, content;
};
struct ApiRequest {
  Kind kind = Kind::kCompletion;
  std::string prompt;             // of a completion
  std::vector<Message> messages;  // of a chat
  int max_tokens = -1;            // -1: nobody said
  Sampling sampling{};
  bool has_seed = false;
  std::vector<std::string> stops;
  bool stream = false, with_usage = false;
};
// Reads a request's body. Fields that are null count as missing, and those that change nothing are skipped. Throws ApiError for what is no
// JSON, a field of the wrong type or beyond its limits, one that would change the answer and is not served here, and for another model than
// `model`.
ApiRequest parse_request(Kind kind, std::string_view body, const std::string& model);

struct Usage {
  int prompt = 0, written = 0;  // tokens
};
// An answer whole, or a piece of it. `finish`: "stop", "length", or "" where more comes.
struct Reply {
  Kind kind = Kind::kCompletion;
  std::string id, model;
  int64_t created = 0;  // seconds since 1970
};
std::string whole_json(const Reply&, const std::string& text, const std::string& finish, const Usage&);
// Events of a stream, with the blank line behind each. first_event() is a chat's, and "" of a completion.
std::string first_event(const Reply&);
std::string text_event(const Reply&, const std::string& text, const std::string& finish);
std::string usage_event(const Reply&, const Usage&);
inline constexpr std::string_view kLastEvent = "data: [DONE]\n\n";

// A text as JSON has it, with its quotes.
std::string json_string(const std::string& text);
std::string models_json(const std::string& model);

}  // namespace serve
