// SPDX-License-Identifier: MIT
//
// Requests as OpenAI's clients send them, and hostile ones; answers as these clients read them.
#include "serve/api.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/random.h"

namespace {

using nlohmann::json;
using serve::ApiError;
using serve::ApiRequest;
using serve::Kind;

ApiRequest completion(const std::string& fields) {
  return serve::parse_request(Kind::kCompletion, R"({"model": "tiny", "prompt": "a")" + fields + "}", "tiny");
}
ApiRequest chat(const std::string& body) {
  return serve::parse_request(Kind::kChat, body, "tiny");
}
void refused(Kind kind, const std::string& body, const std::string& because, int status = 400) {
  try {
    static_cast<void>(serve::parse_request(kind, body, "tiny"));
    ADD_FAILURE() << body << " is taken";
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status, status) << body;
    EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << body << ": " << error.what();
    const json answer = json::parse(serve::error_json(error.status, error.code, error.what()));
    EXPECT_TRUE(answer["error"]["message"].is_string());
    EXPECT_EQ(answer["error"]["type"], "invalid_request_error");
  }
}
void refused(const std::string& fields, const std::string& because) {
  refused(Kind::kCompletion, R"({"prompt": "a", )" + fields + "}", because);
}

TEST(serve_api, ACompletionsFields) {
  const ApiRequest plain = completion("");
  EXPECT_EQ(plain.prompt, "a");
  EXPECT_EQ(plain.max_tokens, -1);
  EXPECT_EQ(plain.sampling.temperature, 1);
  EXPECT_EQ(plain.sampling.top_p, 1);
  EXPECT_FALSE(plain.has_seed);
  EXPECT_FALSE(plain.stream);
  const ApiRequest all = completion(
      R"(, "max_tokens": 0, "temperature": 0.5, "top_p": 0.25, "seed": -3, "stop": ["x", "y\u00e9"], "stream": true,
         "stream_options": {"include_usage": true}, "n": 1, "user": "me", "logprobs": null, "echo": false)");
  EXPECT_EQ(all.max_tokens, 0);
  EXPECT_EQ(all.sampling.temperature, 0.5f);
  EXPECT_EQ(all.sampling.top_p, 0.25f);
  EXPECT_EQ(all.sampling.seed, static_cast<uint64_t>(-3));
  EXPECT_TRUE(all.has_seed);
  EXPECT_EQ(all.stops, (std::vector<std::string>{"x", "y\xc3\xa9"}));
  EXPECT_TRUE(all.stream && all.with_usage);
  EXPECT_EQ(completion(R"(, "stop": "x", "temperature": null)").stops, (std::vector<std::string>{"x"}));
}
TEST(serve_api, AChatsFields) {
  const ApiRequest request = chat(
      R"({"messages": [{"role": "system", "content": "be"}, {"role": "user", "content": "hi"}], "max_completion_tokens": 7})");
  ASSERT_EQ(request.messages.size(), 2u);
  EXPECT_EQ(request.messages[1].role, "user");
  EXPECT_EQ(request.messages[1].content, "hi");
  EXPECT_EQ(request.max_tokens, 7);
  for (const char* bad :
       {R"({})", R"({"messages": []})", R"({"messages": "hi"})", R"({"messages": ["hi"]})",
        R"({"messages": [{"role": "user"}]})", R"({"messages": [{"role": 1, "content": ""}]})",
        R"({"messages": [{"role": "tool", "content": "x"}]})",
        R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})"})
    refused(Kind::kChat, bad, "message");
}

TEST(serve_api, WhatIsWrongIsSaid) {
  for (const char* bad :
       {R"("temperature": NaN)", R"("temperature": 1e999)", R"("temperature": 1, "temperature": 1)",
        R"("x": [[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]])"})
    refused(bad, "the request");
  for (const char* bad : {R"("temperature": "1")", R"("temperature": -0.1)", R"("temperature": 1e308)",
                          R"("temperature": 2.1)", R"("temperature": true)"})
    refused(bad, "temperature is a number from");
  for (const char* bad : {R"("top_p": 1.01)", R"("top_p": [])"}) refused(bad, "top_p is a number");
  for (const char* bad :
       {R"("max_tokens": -1)", R"("max_tokens": 1.5)", R"("max_tokens": 18446744073709551615)",
        R"("max_tokens": 1048577)", R"("max_tokens": "1")"})
    refused(bad, "max_tokens is a whole number");
  for (const char* bad : {R"("seed": 1.5)", R"("seed": 9223372036854775808)"})
    refused(bad, "seed is a whole");
  for (const char* bad :
       {R"("stop": 1)", R"("stop": [1])", R"("stop": "")", R"("stop": ["a","b","c","d","e"])"})
    refused(bad, "stop");
  refused("\"stop\": \"" + std::string(257, 'x') + "\"", "1 to 256 bytes, not 257");
  refused(R"("stream": 1)", "stream is true or false");
  refused(R"("stream_options": {"include_usage": true})", "stream_options");
  refused(R"("stream": true, "stream_options": [])", "stream_options");
  for (const char* bad :
       {R"("n": 2)", R"("logprobs": 0)", R"("logprobs": true)", R"("tools": [1])", R"("best_of": 3)",
        R"("suffix": "x")", R"("echo": true)", R"("presence_penalty": 0.1)", R"("logit_bias": {"1": 5})",
        R"("response_format": {"type": "json_object"})"})
    refused(bad, "is not served here");
  for (const char* bad : {"", "{", "[]", "1", "\"x\"", "null", "\xff", "{\"prompt\": \"\xff\"}"})
    refused(Kind::kCompletion, bad, "the request");
  refused(Kind::kCompletion, "{}", "prompt is a string");
  refused(Kind::kCompletion, R"({"prompt": ["a", "b"]})", "prompt is a string");
  refused(Kind::kCompletion, R"({"prompt": "a", "model": "other"})", "there is no model", 404);
  refused(Kind::kCompletion, R"({"prompt": "a", "model": 3})", "model is a string");
}
// Whatever comes, it is taken or an ApiError.
TEST(serve_api, AnyBytes) {
  const std::string good =
      R"({"prompt": "a\u00e9", "max_tokens": 5, "temperature": 0.5, "stop": ["x"], "stream": true, "seed": 1})";
  int taken = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    std::string body = good;
    for (uint64_t i = 0; i < 1 + seed % 4; ++i) {
      const auto at = static_cast<size_t>(days::uniform_integer(seed, 2 * i, 0, std::ssize(body)));
      const auto byte = static_cast<char>(days::uniform_integer(seed, 2 * i + 1, 0, 256));
      switch (days::random_bits(seed, 100 + i) % 3) {
        case 0:
          body[at] = byte;
          break;
        case 1:
          body.erase(at, 1 + static_cast<size_t>(byte) % 8);
          break;
        default:
          body.insert(at, body.substr(at / 2, 6));
      }
      if (body.empty()) body = " ";
    }
    try {
      static_cast<void>(serve::parse_request(Kind::kCompletion, body, "tiny"));
      ++taken;
    } catch (const ApiError& error) {
      EXPECT_TRUE(json::accept(serve::error_json(error.status, error.code, error.what())));
    }
  }
  EXPECT_GT(taken, 100);
  EXPECT_LT(taken, 3900);
}

json data_of(const std::string& event) {
  EXPECT_TRUE(event.starts_with("data: ") && event.ends_with("\n\n")) << event;
  EXPECT_EQ(event.find('\n'), event.size() - 2) << "an event is a line";
  return json::parse(event.substr(6));
}
TEST(serve_api, AnswersAsClientsReadThem) {
  const serve::Reply reply{Kind::kCompletion, "cmpl-1", "tiny", 5},
      chat{Kind::kChat, "chatcmpl-1", "tiny", 5};
  json whole = json::parse(serve::whole_json(reply, "a\n\"b", "stop", {3, 4}));
  EXPECT_EQ(whole["object"], "text_completion");
  EXPECT_EQ(whole["choices"][0]["text"], "a\n\"b");
  EXPECT_EQ(whole["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(whole["usage"]["total_tokens"], 7);
  whole = json::parse(serve::whole_json(chat, "hi", "length", {3, 4}));
  EXPECT_EQ(whole["object"], "chat.completion");
  EXPECT_EQ(whole["choices"][0]["message"]["content"], "hi");

  EXPECT_EQ(serve::first_event(reply), "");
  EXPECT_EQ(data_of(serve::first_event(chat))["choices"][0]["delta"]["role"], "assistant");
  json event = data_of(serve::text_event(chat, "a\nb", ""));
  EXPECT_EQ(event["object"], "chat.completion.chunk");
  EXPECT_EQ(event["choices"][0]["delta"]["content"], "a\nb");
  EXPECT_TRUE(event["choices"][0]["finish_reason"].is_null());
  event = data_of(serve::text_event(reply, "", "length"));
  EXPECT_EQ(event["choices"][0]["text"], "");
  EXPECT_EQ(event["choices"][0]["finish_reason"], "length");
  event = data_of(serve::usage_event(reply, {1, 2}));
  EXPECT_TRUE(event["choices"].empty());
  EXPECT_EQ(event["usage"]["completion_tokens"], 2);
  EXPECT_EQ(json::parse(serve::models_json("tiny"))["data"][0]["id"], "tiny");
  EXPECT_EQ(json::parse(serve::error_json(429, "full", "x"))["error"]["type"], "rate_limit_error");
  EXPECT_EQ(json::parse(serve::error_json(500, "x", "\xff"))["error"]["type"], "server_error");
}

}  // namespace
