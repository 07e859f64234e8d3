// SPDX-License-Identifier: MIT
//
// A desk behind HTTP: OpenAI's endpoints, streamed as they are written. It is here where the build found cpp-httplib.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "model/tokens.h"
#include "serve/api.h"
#include "serve/desk.h"

namespace serve {

// Why there is no server in this build; "" where there is one.
std::string no_http();

// What a server asks, from many threads.
struct Backend {
  std::function<std::optional<Ticket>(Request)> submit;
  std::function<std::string()> health;  // JSON
  const model::Tokenizer* tokenizer = nullptr;
  // A conversation as tokens, up to where the model has to answer (chat.h), and the tokens that end a text. Without a function what is said
  // is said in lines; without tokens <|endoftext|> ends it.
  std::function<std::vector<int32_t>(const std::vector<Message>&)> chat;
  std::vector<int32_t> ends;
  std::string model;  // its name
  int context = 0;
};

struct HttpLimits {
  int streams = 40;       // connections at once, each of which holds a thread; others wait to be heard
  size_t body = 1 << 20;  // bytes of a request
  int seconds = 5;        // to send a request, and to take a piece of an answer
};

class HttpServer {
 public:
  // Listens. port: 0 takes any that is free. Throws std::runtime_error where that cannot be, or there is no server in this build.
  HttpServer(Backend backend, const std::string& host, int port, const HttpLimits& limits = {});
  // Ends all answers, then the threads.
  ~HttpServer();
  int port() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A client's POST to this machine: HTTP's status and the body. For tests and for a program that asks itself.
std::pair<int, std::string> http_post(int port, const std::string& path, const std::string& body);

}  // namespace serve
