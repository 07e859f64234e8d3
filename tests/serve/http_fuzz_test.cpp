// SPDX-License-Identifier: MIT
//
// The server and clients that mean it ill: seeded requests over sockets, broken at every level. Each gets a right answer or a clear
// refusal, and behind every few the server is as it was.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "serve/desk.h"
#include "serve/http.h"
#include "tests/fuzz.h"
#include "tests/serve/reference.h"

namespace {

using namespace std::chrono_literals;
using fuzz::Chance;
using nlohmann::json;

constexpr int kSequences = 3, kContext = 48, kTokens = 300;
constexpr std::string_view kCompletions = "/v1/completions", kChat = "/v1/chat/completions";

// A client's connection.
class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // False where the server takes no more.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  void end() { ::shutdown(socket_, SHUT_WR); }
  // What comes until the server closes.
  std::string rest() {
    std::string all;
    char part[4096];
    for (;;) {
      pollfd asked{socket_, POLLIN, 0};
      if (::poll(&asked, 1, 20'000) != 1) {
        ADD_FAILURE() << "the server neither answers nor closes; it has said: " << all;
        return all;
      }
      const ssize_t came = ::recv(socket_, part, sizeof part, 0);
      if (came <= 0) return all;
      all.append(part, static_cast<size_t>(came));
    }
  }

 private:
  int socket_;
};

struct Answer {
  int status = 0;  // 0: nothing came
  std::map<std::string, std::string> headers;
  std::string body;
};
std::string unchunked(std::string_view text) {
  std::string body;
  for (;;) {
    const size_t line = text.find("\r\n");
    if (line == text.npos) break;
    const size_t n = std::strtoul(std::string(text.substr(0, line)).c_str(), nullptr, 16);
    text.remove_prefix(line + 2);
    if (n == 0) return body;
    if (text.size() < n + 2) break;
    body += text.substr(0, n);
    text.remove_prefix(n + 2);
  }
  ADD_FAILURE() << "chunks that have no end: " << body;
  return body;
}
Answer read_answer(const std::string& raw, bool of_head = false) {
  Answer answer;
  std::string_view text = raw;
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  if (text.starts_with(kContinue)) text.remove_prefix(kContinue.size());
  if (text.empty()) return answer;
  const size_t end = text.find("\r\n\r\n");
  EXPECT_TRUE(text.starts_with("HTTP/1.1 ") && end != text.npos) << raw;
  if (end == text.npos) return answer;
  answer.status = std::atoi(raw.c_str() + (text.data() - raw.data()) + 9);
  std::string_view head = text.substr(0, end + 2);
  head.remove_prefix(head.find("\r\n") + 2);
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const size_t colon = line.find(": ");
    EXPECT_NE(colon, line.npos) << raw;
    if (colon == line.npos) break;
    answer.headers[std::string(line.substr(0, colon))] = line.substr(colon + 2);
    head.remove_prefix(line.size() + 2);
  }
  const std::string_view body = text.substr(end + 4);
  answer.body = answer.headers["Transfer-Encoding"] == "chunked" ? unchunked(body) : std::string(body);
  if (const auto length = answer.headers.find("Content-Length"); length != answer.headers.end()) {
    EXPECT_EQ(answer.body.size(), of_head ? 0 : std::stoul(length->second)) << raw;
  }
  EXPECT_EQ(answer.headers["Connection"], "close") << raw;
  return answer;
}

std::string request(std::string_view method, std::string_view path, std::string_view headers,
                    std::string_view body) {
  return std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
         std::string(headers) + "\r\n" + std::string(body);
}
std::string post(std::string_view path, std::string_view body) {
  return request("POST", path,
                 "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n",
                 body);
}
std::string in_chunks(std::string_view body, Chance& chance) {
  std::string text;
  while (!body.empty()) {
    const size_t n = 1 + chance.below(std::min<size_t>(body.size(), 40));
    char line[32];
    std::snprintf(line, sizeof line, chance.one_in(2) ? "%zx\r\n" : "%zX\r\n", n);
    text += line + std::string(body.substr(0, n)) + "\r\n";
    body.remove_prefix(n);
  }
  return text + "0\r\n\r\n";
}
std::string chunked(std::string_view path, std::string_view chunks) {
  return request("POST", path, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", chunks);
}

// A body that the API takes; `stream` as it says.
json good_body(bool chat, bool stream, Chance& chance) {
  json body = {{"max_tokens", chance.below(4)}, {"temperature", chance.of({"0", "1"}) == "0" ? 0 : 1}};
  const std::string text(
      chance.of({"It was", "", "a", "\xc3\xa9t\xc3\xa9", "<|endoftext|>", "\n\n", "the the"}));
  if (chat) {
    body["messages"] = json::array({{{"role", "user"}, {"content", text}}});
    if (chance.one_in(3)) body["messages"].push_back({{"role", "assistant"}, {"content", text}});
  } else {
    body["prompt"] = text;
  }
  if (chance.one_in(3)) body["seed"] = chance.below(1000);
  if (chance.one_in(3)) body["stop"] = std::string(chance.of({"e", "th", "\n", "zzz"}));
  if (chance.one_in(3)) body["top_p"] = 0.5;
  if (chance.one_in(3)) body["model"] = "gpt";
  if (chance.one_in(4)) body["user"] = "me";
  if (stream) body["stream"] = true;
  if (stream && chance.one_in(2)) body["stream_options"] = {{"include_usage", true}};
  return body;
}
// A body of the API's fields with any values.
std::string any_body(bool chat, Chance& chance) {
  static constexpr std::string_view kFields[] = {"prompt",      "messages",
                                                 "max_tokens",  "max_completion_tokens",
                                                 "temperature", "top_p",
                                                 "seed",        "stop",
                                                 "stream",      "stream_options",
                                                 "n",           "logprobs",
                                                 "tools",       "response_format",
                                                 "model",       "logit_bias",
                                                 "tool_choice", "x"};
  static constexpr std::string_view kValues[] = {"null",
                                                 "true",
                                                 "false",
                                                 "0",
                                                 "1",
                                                 "-1",
                                                 "1.5",
                                                 "1e308",
                                                 "1e999",
                                                 "-0.0",
                                                 "18446744073709551615",
                                                 "99999999999999999999999",
                                                 "\"\"",
                                                 "\"a\"",
                                                 "\"gpt\"",
                                                 "\"\\ud800\"",
                                                 "\"\\u0000\"",
                                                 "\"\xff\"",
                                                 "[]",
                                                 "{}",
                                                 "[\"a\"]",
                                                 "[\"a\",\"b\",\"c\",\"d\",\"e\"]",
                                                 "[1]",
                                                 "{\"include_usage\":true}",
                                                 "{\"type\":\"text\"}",
                                                 "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]",
                                                 "[{\"role\":\"user\",\"content\":\"a\"}]",
                                                 "[{\"role\":\"tool\",\"content\":\"a\"}]",
                                                 "[{\"role\":\"user\"}]",
                                                 "[{\"content\":{}}]",
                                                 "NaN",
                                                 "-"};
  std::string text = chat ? R"({"messages":[{"role":"user","content":"a"}],"max_tokens":2)"
                          : R"({"prompt":"a","max_tokens":2)";
  if (chance.one_in(4)) text = "{\"max_tokens\":1";
  for (size_t n = chance.below(4); n > 0; --n)
    text += ",\"" + std::string(chance.of(kFields)) + "\":" + std::string(chance.of(kValues));
  if (chance.one_in(6)) text += ",\"stop\":\"" + std::string(250 + chance.below(20), 'x') + "\"";
  return text + (chance.one_in(12) ? "" : "}");
}

class HttpFuzz : public testing::Test {
 protected:
  HttpFuzz() {
    if (!serve::no_http().empty()) return;
    backend_.submit = [this](serve::Request request) { return desk_.submit(std::move(request)); };
    backend_.health = [this] {
      const auto counts = desk_.counts();
      return json{{"free", counts.free_slots}, {"waiting", counts.waiting}, {"error", counts.error}}.dump();
    };
    backend_.tokenizer = &tokenizer_;
    backend_.model = "gpt";
    backend_.context = kContext;
    server_ = std::make_unique<serve::HttpServer>(
        backend_, "127.0.0.1", 0, serve::HttpLimits{.streams = 12, .body = 1 << 16, .seconds = 1});
    usual_ = usual();
  }
  // `ends`: the client says that no more comes, which a client that waits for a text does not.
  Answer ask(const std::string& bytes, bool ends = false) {
    Client client(server_->port());
    client.send(bytes);
    if (ends) client.end();
    return read_answer(client.rest(), bytes.starts_with("HEAD "));
  }
  std::string usual() {
    const Answer answer =
        ask(post(kCompletions, R"({"prompt": "It was", "max_tokens": 5, "temperature": 0})"));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.status == 200 ? json::parse(answer.body)["choices"][0]["text"].get<std::string>() : "";
  }
  // All that a try can have hurt.
  void is_as_before() {
    const auto free = [&] {
      const Answer answer = ask(request("GET", "/health", "", ""));
      EXPECT_EQ(answer.status, 200);
      const json health = json::parse(answer.body);
      EXPECT_EQ(health["error"], "");
      return health["free"] == kSequences && health["waiting"] == 0;
    };
    bool is_free = free();
    for (int looks = 0; !is_free && looks < 1000; ++looks) {
      std::this_thread::sleep_for(10ms);
      is_free = free();
    }
    EXPECT_TRUE(is_free) << "a slot is held by nobody";
    EXPECT_EQ(usual(), usual_);
  }

  // ---- what an answer may be ----

  static void is_refusal(const Answer& answer) {
    EXPECT_GE(answer.status, 400);
    EXPECT_LT(answer.status, 500) << answer.body;
    const json said = json::parse(answer.body, nullptr, false);
    ASSERT_TRUE(said.is_object() && said.contains("error")) << answer.body;
    const json& error = said["error"];
    EXPECT_TRUE(error["message"].is_string() && error["type"].is_string() && error["code"].is_string())
        << answer.body;
    EXPECT_FALSE(error["message"].get<std::string>().empty());
  }
  static void is_text(const Answer& answer) {
    ASSERT_EQ(answer.status, 200) << answer.body;
    if (answer.headers.at("Content-Type") == "text/event-stream") {
      std::string_view rest = answer.body;
      bool finished = false, done = false;
      while (!rest.empty()) {
        const size_t end = rest.find("\n\n");
        ASSERT_TRUE(rest.starts_with("data: ") && end != rest.npos && !done) << answer.body;
        const std::string_view data = rest.substr(6, end - 6);
        rest.remove_prefix(end + 2);
        done = data == "[DONE]";
        if (done) continue;
        const json event = json::parse(data);
        for (const json& choice : event["choices"]) {
          EXPECT_FALSE(finished) << answer.body;
          finished = !choice["finish_reason"].is_null();
        }
      }
      EXPECT_TRUE(finished && done) << answer.body;
    } else {
      const json whole = json::parse(answer.body);
      const json& choice = whole["choices"][0];
      EXPECT_TRUE(choice["finish_reason"] == "stop" || choice["finish_reason"] == "length") << answer.body;
      EXPECT_TRUE(choice.contains("text") ? choice["text"].is_string()
                                          : choice["message"]["content"].is_string());
      EXPECT_LE(whole["usage"]["total_tokens"], kContext + 1);
    }
  }
  static void is_text_or_refusal(const Answer& answer) {
    if (answer.status == 200)
      is_text(answer);
    else
      is_refusal(answer);
  }
  // Of bytes that may be no request: whatever comes is HTTP.
  static void is_http(const Answer& answer) {
    EXPECT_LT(answer.status, 500) << answer.body;
    if (answer.status >= 400 && !answer.body.empty()) is_refusal(answer);
  }

  void attempt(uint64_t number);

  model::Tokenizer tokenizer_ = [] {
    std::string text;
    for (int i = 0; i < 400; ++i) text += "It was the " + std::to_string(i * 7919 % 1000) + "th time that ";
    return model::Tokenizer::train(text, kTokens);
  }();
  serve::Desk<float> desk_{serve_test::random_model({.layers = 1,
                                                     .width = 32,
                                                     .heads = 1,
                                                     .kv_heads = 1,
                                                     .head_dim = 32,
                                                     .inner = 32,
                                                     .vocab = kTokens,
                                                     .padded_vocab = kTokens + 4,
                                                     .context = kContext},
                                                    true, 80),
                           {.sequences = kSequences},
                           16};
  serve::Backend backend_;
  std::unique_ptr<serve::HttpServer> server_;
  std::string usual_;
  std::map<int, int> answers_;  // by status
};

void HttpFuzz::attempt(uint64_t number) {
  Chance chance(number);
  const bool chat = chance.one_in(2);
  const std::string_view path = chat ? kChat : kCompletions;
  const auto counted = [&](const Answer& answer) {
    ++answers_[answer.status];
    return answer;
  };
  switch (chance.below(14)) {
    case 0:
      return is_text(counted(ask(post(path, good_body(chat, chance.one_in(2), chance).dump()))));
    case 1: {  // a good body that somebody broke
      const std::string body = good_body(chat, false, chance).dump();
      return is_text_or_refusal(counted(ask(post(path, fuzz::broken(body, chance, fuzz::kJsonPieces)))));
    }
    case 2:
    case 3:
      return is_text_or_refusal(counted(ask(post(path, any_body(chat, chance)))));
    case 4: {  // a request that somebody broke
      static constexpr std::string_view kPieces[] = {"\r\n",
                                                     "\n",
                                                     "\r",
                                                     "\r\n\r\n",
                                                     " ",
                                                     ":",
                                                     "HTTP/1.1",
                                                     "HTTP/9.9",
                                                     "GET ",
                                                     "%",
                                                     "%00",
                                                     "%zz",
                                                     "?",
                                                     "#",
                                                     "Content-Length: 5\r\n",
                                                     "Content-Length: -1\r\n",
                                                     "Transfer-Encoding: chunked\r\n",
                                                     "Connection: keep-alive\r\n",
                                                     "Expect: 100-continue\r\n",
                                                     "Range: bytes=0-,0-,0-\r\n",
                                                     "Content-Encoding: gzip\r\n",
                                                     "\xff",
                                                     "0\r\n\r\n"};
      const std::string good = post(path, good_body(chat, false, chance).dump());
      return is_http(counted(ask(fuzz::broken(good, chance, kPieces), true)));
    }
    case 5: {  // lines that begin no request
      const std::string line(
          chance.of({"", " ", "GET", "GET /health", "GET,/health HTTP/1.1", "get /health HTTP/1.1",
                     "GET /health HTTP/2.0", "GET /health HTTP/1.1 x", "\x16\x03\x01\x02", "PRI * HTTP/2.0",
                     "GET /health?a?b HTTP/1.1", "FOO /health HTTP/1.1", "GET \\health HTTP/1.1",
                     "GET http://127.0.0.1/health HTTP/1.1", "CONNECT a:1 HTTP/1.1", "TRACE /health HTTP/1.1",
                     "PUT /v1/completions HTTP/1.1"}));
      return is_refusal(
          counted(ask(line + std::string(chance.of({"\r\n\r\n", "\r\n", "\n\n", "\r\n\r\n\r\n"})), true)));
    }
    case 6: {  // headers without end: many, long ones, one without a line's end
      std::string headers;
      const size_t n = 1000 + chance.below(100'000);
      if (chance.one_in(3)) {
        headers = "X: " + std::string(n, 'x');
        return is_http(counted(ask(request("GET", "/health", headers, ""), true)));
      }
      while (headers.size() < n)
        headers +=
            "X-" + std::to_string(chance.below(9)) + ": " + std::string(chance.below(200), 'y') + "\r\n";
      const Answer answer = counted(ask(request("GET", "/health", headers, "")));
      if (headers.size() > 33'000) return is_refusal(answer);
      EXPECT_TRUE(answer.status == 200 || headers.size() > 32'000) << answer.body;
      return;
    }
    case 7: {  // chunks as they should be: the same answer as in one piece
      const std::string body = R"({"prompt": "It was", "max_tokens": 5, "temperature": 0})";
      const Answer answer = counted(ask(chunked(kCompletions, in_chunks(body, chance))));
      is_text(answer);
      EXPECT_EQ(json::parse(answer.body)["choices"][0]["text"], usual_);
      return;
    }
    case 8: {  // chunks as they should not be
      static constexpr std::string_view kPieces[] = {
          "-1\r\n", "ffffffffffffffff\r\n", "0\r\n", "\r\n", "g", "7fffffff\r\n", "5;x=y\r\n", "0x5\r\n"};
      std::string chunks = in_chunks(good_body(chat, false, chance).dump(), chance);
      chunks = chance.one_in(5) ? "20000\r\n" + std::string(0x20000, ' ') + "\r\n" + chunks
                                : fuzz::broken(chunks, chance, kPieces);
      return is_http(counted(ask(chunked(path, chunks), true)));
    }
    case 9: {  // a body that is shorter or longer than it says
      const std::string body = good_body(chat, false, chance).dump();
      const std::string length(
          chance.of({"0", "1", "-1", "99999", "65537", "1000000000000000000", "18446744073709551615",
                     "99999999999999999999999", "abc", "", "5, 5", "0x10", "1e3"}));
      const std::string packed(chance.one_in(4) ? "Content-Encoding: gzip\r\n" : "");
      return is_http(
          counted(ask(request("POST", path, packed + "Content-Length: " + length + "\r\n", body), true)));
    }
    case 10: {  // two requests at once: the first is answered, and the answer says that this was all
      const Answer answer =
          counted(ask(post(path, good_body(chat, false, chance).dump()) + post(path, "{}")));
      return is_text(answer);
    }
    case 11: {  // bytes of no meaning
      std::string text = chance.bytes(1 + chance.below(300));
      if (chance.one_in(2)) text = "POST " + std::string(path) + " HTTP/1.1\r\n" + text + "\r\n\r\n";
      return is_http(counted(ask(text, true)));
    }
    case 12: {  // a client that leaves: before it has sent all, at once, or after some events
      json body = good_body(chat, chance.one_in(2), chance);
      body["max_tokens"] = 20;
      std::string text = post(path, body.dump());
      if (chance.one_in(3)) text.resize(chance.below(text.size()));
      Client client(server_->port());
      client.send(text);
      if (chance.one_in(2)) std::this_thread::sleep_for(std::chrono::milliseconds(chance.below(4)));
      return;
    }
    default: {  // other addresses and methods, with and without bodies
      const std::string_view method = chance.of({"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"});
      const std::string_view where =
          chance.of({"/", "/v1", "/health", "/v1/models", "/v1/completions", "/../../etc/passwd",
                     "/%2e%2e/%00", "/v1/completions?x=y&z", "*", "//"});
      const Answer answer = counted(
          ask(request(method, where, "Content-Length: 2\r\nAccept-Encoding: gzip, br\r\n", "{}"), true));
      EXPECT_NE(answer.status, 0);
      return is_http(answer);
    }
  }
}

TEST_F(HttpFuzz, AnyRequest) {
  if (server_ == nullptr) GTEST_SKIP() << serve::no_http();
  fuzz::tries(3000, 60, [&](uint64_t number) {
    attempt(number);
    if (number % 50 == 49) is_as_before();
  });
  is_as_before();
  for (const auto& [status, n] : answers_) std::printf("HTTP %d: %d\n", status, n);
}

// Who sends nothing, or a byte now and then, is refused in time, and nobody waits for him.
TEST_F(HttpFuzz, SlowSenders) {
  if (server_ == nullptr) GTEST_SKIP() << serve::no_http();
  const std::string whole = post(kCompletions, R"({"prompt": "It was", "max_tokens": 5, "temperature": 0})");
  std::vector<std::thread> slow;
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < 10; ++i)
    slow.emplace_back([&, i] {
      Client client(server_->port());
      const size_t most = whole.size() * i / 10;  // the rest never comes
      const auto until = begin + 3s;
      for (size_t at = 0;
           at < most && client.send(whole.substr(at, 1)) && std::chrono::steady_clock::now() < until; ++at)
        std::this_thread::sleep_for(20ms);
      const Answer answer = read_answer(client.rest());
      EXPECT_EQ(answer.status, most > 0 ? 408 : 0) << answer.body;
    });
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(usual(), usual_) << "beside them";
  for (std::thread& one : slow) one.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  is_as_before();
}

}  // namespace
