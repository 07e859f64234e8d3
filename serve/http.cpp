// SPDX-License-Identifier: MIT
#include "serve/http.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "serve/api.h"
#include "serve/page.h"
#include "serve/text.h"

#ifdef DAYS_HTTPLIB
#include "serve/limited_server.h"
#endif

namespace serve {

#ifndef DAYS_HTTPLIB

std::string no_http() {
  return "needs cpp-httplib in the build: sudo apt-get install libcpp-httplib-dev";
}
struct HttpServer::State {};
HttpServer::HttpServer(Backend, const std::string&, int, const HttpLimits&) {
  throw std::runtime_error(no_http());
}
HttpServer::~HttpServer() = default;
int HttpServer::port() const {
  return 0;
}
std::pair<int, std::string> http_post(int, const std::string&, const std::string&) {
  throw std::runtime_error(no_http());
}

#else

namespace {

using namespace std::chrono_literals;
constexpr auto kLook = 100ms;  // how often somebody looks whether the client is still there
constexpr const char* kJson = "application/json";

std::string finish_word(Finish finish) {
  return finish == Finish::kLength ? "length" : "stop";
}

// An answer on its way.
class Answer {
 public:
  Answer(ApiRequest request, Ticket ticket, const Backend& backend, int prompt)
      : request_(std::move(request)), ticket_(std::move(ticket)), backend_(backend), text_(request_.stops) {
    static std::atomic<uint64_t> number{0};
    const bool chat = request_.kind == Kind::kChat;
    reply = {
        request_.kind, (chat ? "chatcmpl-" : "cmpl-") + std::to_string(++number), backend.model,
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
            .count()};
    usage.prompt = prompt;
  }
  // Waits a little. What of the text came; finish() is not "" where that is all, and broken() where nothing can come.
  std::string more() {
    const std::optional<Event> event = ticket_.next(kLook);
    if (!event) return "";
    std::string piece;
    if (event->token >= 0) {
      ++usage.written;
      if (event->token < backend_.tokenizer->size())
        piece = text_.add(backend_.tokenizer->bytes(event->token));
    }
    broken_ = event->finish == Finish::kBroken;
    if (text_.stopped()) {
      finish_ = "stop";
    } else if (event->finish != Finish::kNot && !broken_) {
      piece += text_.finish();
      finish_ = text_.stopped() ? "stop" : finish_word(event->finish);
    }
    return piece;
  }
  const std::string& finish() const { return finish_; }
  bool broken() const { return broken_; }
  const ApiRequest& request() const { return request_; }

  Reply reply;
  Usage usage;
  bool begun = false;

 private:
  ApiRequest request_;
  Ticket ticket_;
  const Backend& backend_;
  TextStream text_;
  std::string finish_;
  bool broken_ = false;
};

void say_error(httplib::Response& response, const ApiError& error) {
  response.status = error.status;
  if (error.status == 429) response.set_header("Retry-After", "1");
  response.set_content(error_json(error.status, error.code, error.what()), kJson);
}

// Whether a Host, "localhost:8080", names this machine.
bool is_loopback(const std::string& host) {
  const size_t colon = host.ends_with(']') ? std::string::npos : host.rfind(':');
  const std::string name = host.substr(0, colon);
  return name == "localhost" || name == "[::1]" || name.starts_with("127.");
}

}  // namespace

std::string no_http() {
  return "";
}

struct HttpServer::State {
  State(Backend b, const std::string& host, const HttpLimits& limits)
      : backend(std::move(b)),
        server({.body = limits.body + kChunks, .time = std::chrono::seconds(limits.seconds)},
               [this] { return stops.load(); }) {
    server.new_task_queue = [n = limits.streams] { return new httplib::ThreadPool(static_cast<size_t>(n)); };
    server.set_payload_max_length(limits.body);
    server.set_tcp_nodelay(true);
    // The library's own options would let two servers share a port.
    server.set_socket_options([](socket_t socket) {
      const int yes = 1;
      static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
    });
    server.set_pre_routing_handler([is_local = is_loopback(host), most = limits.body](
                                       const httplib::Request& request, httplib::Response& response) {
      try {
        require_friend(request, is_local);
        // The library would read a body that is too long to its end before it says so.
        const std::string length = request.get_header_value("Content-Length");
        if (length.size() > 18 || std::strtoull(length.c_str(), nullptr, 10) > most)
          throw ApiError(413, "http_413", "a body has at most " + std::to_string(most) + " bytes here");
        // A short body may become a gigabyte when it is unpacked.
        if (request.has_header("Content-Encoding"))
          throw ApiError(415, "http_415", "a body comes as it is here, without a Content-Encoding");
      } catch (const ApiError& error) {
        say_error(response, error);
        return httplib::Server::HandlerResponse::Handled;
      }
      return httplib::Server::HandlerResponse::Unhandled;
    });
    server.Get("/", [](const auto&, auto& response) {
      response.set_header(
          "Content-Security-Policy",
          "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
          "img-src data:; base-uri 'none'; frame-ancestors 'none'");
      response.set_content(kPage.data(), kPage.size(), "text/html; charset=utf-8");
    });
    server.Get("/health",
               [this](const auto&, auto& response) { response.set_content(backend.health(), kJson); });
    server.Get("/v1/models", [this](const auto&, auto& response) {
      response.set_content(models_json(backend.model), kJson);
    });
    for (const auto& [path, kind] :
         {std::pair{"/v1/completions", Kind::kCompletion}, {"/v1/chat/completions", Kind::kChat}})
      server.Post(path, [this, kind = kind](const httplib::Request& request, httplib::Response& response) {
        try {
          complete(kind, request, response);
        } catch (const ApiError& error) {
          say_error(response, error);
        } catch (const std::exception& error) {
          say_error(response, ApiError(503, "broken", error.what()));
        }
      });
    const httplib::Server::HandlerWithResponse say_what = [](const httplib::Request&,
                                                             httplib::Response& response) {
      if (!response.body.empty()) return httplib::Server::HandlerResponse::Unhandled;
      if (const int why = LimitedServer::refusal(); why != 0) response.status = why;
      response.set_content(status_json(response.status), kJson);
      return httplib::Server::HandlerResponse::Handled;
    };
    server.set_error_handler(say_what);
  }

  // A page of somebody else's, which a browser here has open, could ask too: under a name of its own that leads here, or by a form, whose
  // Origin tells.
  static void require_friend(const httplib::Request& request, bool is_local) {
    const std::string host = request.get_header_value("Host"), origin = request.get_header_value("Origin");
    if (is_local && !is_loopback(host))
      throw ApiError(403, "wrong_host", "this server is for this machine alone; --host opens it to others");
    if (!origin.empty() && origin != "http://" + host && origin != "https://" + host)
      throw ApiError(403, "wrong_origin", "a page from elsewhere asks");
  }

  std::shared_ptr<Answer> ask(Kind kind, const std::string& body) {
    ApiRequest asked = parse_request(kind, body, backend.model);
    std::string text = asked.prompt;
    for (const Message& message : asked.messages) text += message.content + "\n";
    Request request;
    request.tokens =
        kind == Kind::kChat && backend.chat ? backend.chat(asked.messages) : backend.tokenizer->encode(text);
    const int32_t end = backend.tokenizer->end_of_text();
    if (request.tokens.empty() && end >= 0) request.tokens.push_back(end);
    request.ends = backend.ends;
    if (request.ends.empty() && end >= 0) request.ends = {end};
    const auto prompt = static_cast<int>(request.tokens.size()), room = backend.context - prompt;
    request.max_new = asked.max_tokens >= 0 ? asked.max_tokens
                      : kind == Kind::kChat ? room
                                            : std::min(16, room);
    if (request.max_new > room || room < 0)
      throw ApiError(400, "context_length_exceeded",
                     "the model's context is " + std::to_string(backend.context) +
                         " tokens; the prompt has " + std::to_string(prompt) + ", and max_tokens is " +
                         std::to_string(request.max_new));
    request.sampling = asked.sampling;
    if (!asked.has_seed) {
      std::random_device random;
      request.sampling.seed = uint64_t{random()} << 32 | random();
    }
    std::optional<Ticket> ticket;
    try {
      ticket.emplace(taken(backend.submit(std::move(request))));
    } catch (const std::invalid_argument& error) {
      throw ApiError(400, "invalid_value", error.what());
    }
    return std::make_shared<Answer>(std::move(asked), std::move(*ticket), backend, prompt);
  }
  static Ticket taken(std::optional<Ticket> ticket) {
    if (!ticket) throw ApiError(429, "queue_full", "too many requests wait: try again");
    return std::move(*ticket);
  }

  void complete(Kind kind, const httplib::Request& request, httplib::Response& response) {
    const std::shared_ptr<Answer> answer = ask(kind, request.body);
    if (!answer->request().stream) {
      std::string text;
      while (answer->finish().empty()) {
        text += answer->more();
        if (stops) throw ApiError(503, "stopped", "the server is being stopped");
        if (answer->broken()) throw ApiError(500, "broken", "the model cannot go on");
        if (!LimitedServer::is_client_there()) return;  // nobody reads it, and the slot is free
      }
      response.set_content(whole_json(answer->reply, text, answer->finish(), answer->usage), kJson);
      return;
    }
    response.set_header("Cache-Control", "no-cache");
    response.set_chunked_content_provider(
        "text/event-stream", [this, answer](size_t, httplib::DataSink& sink) {
          // The library asks again and again as long as this is true, and looks for nobody.
          if (!sink.is_writable()) return false;
          std::string out;
          if (!std::exchange(answer->begun, true)) out = first_event(answer->reply);
          const std::string piece = answer->more();
          const bool ends = !answer->finish().empty(), fails = !ends && (stops || answer->broken());
          if (!piece.empty() || ends) out += text_event(answer->reply, piece, answer->finish());
          if (fails)
            out += "data: " +
                   (stops ? error_json(503, "stopped", "the server is being stopped")
                          : error_json(500, "broken", "the model cannot go on")) +
                   "\n\n";
          if (ends && answer->request().with_usage) out += usage_event(answer->reply, answer->usage);
          if (ends || fails) out += kLastEvent;
          if (!out.empty() && !sink.write(out.data(), out.size())) return false;
          if (ends || fails) sink.done();
          return true;
        });
  }

  // What a body's chunks may take beside the bytes in them.
  static constexpr size_t kChunks = 4096;
  std::atomic<bool> stops{false};
  Backend backend;
  LimitedServer server;
  int port = 0;
  std::thread thread;
};

HttpServer::HttpServer(Backend backend, const std::string& host, int port, const HttpLimits& limits)
    : state_(std::make_unique<State>(std::move(backend), host, limits)) {
  State& s = *state_;
  s.port = port == 0 ? s.server.bind_to_any_port(host) : s.server.bind_to_port(host, port) ? port : -1;
  if (s.port <= 0)
    throw std::runtime_error("cannot listen on " + host + ", port " + std::to_string(port) +
                             ": is it taken? --port takes another");
  s.thread = std::thread([&s] { s.server.listen_after_bind(); });
  while (!s.server.is_running()) std::this_thread::sleep_for(1ms);
}
HttpServer::~HttpServer() {
  if (!state_->thread.joinable()) return;
  state_->stops = true;
  state_->server.stop();
  state_->thread.join();
}
int HttpServer::port() const {
  return state_->port;
}

std::pair<int, std::string> http_post(int port, const std::string& path, const std::string& body) {
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(60);
  const httplib::Result result = client.Post(path, body, kJson);
  if (!result) throw std::runtime_error("no answer from port " + std::to_string(port));
  return {result->status, result->body};
}

#endif

}  // namespace serve
