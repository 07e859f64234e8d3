// SPDX-License-Identifier: MIT
//
// Who is served when: requests wait in a queue, get a slot of the generator, and are written together. One thread owns an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "serve/generator.h"

namespace serve {

using Handle = uint64_t;  // of a request; they grow

struct Request {
  std::vector<int32_t> tokens;  // the prompt
  int max_new = 16;             // tokens that are written at most; 0 is a request that is done at once
  Sampling sampling{};
  std::vector<int32_t> ends{};  // tokens that end the text
};

enum class Finish : int {
  kNot,     // more comes
  kEnd,     // one of Request::ends came
  kLength,  // max_new tokens, the context, or all pages are full
  kBroken,  // the model's numbers are NaN or infinite
};
struct Event {
  Handle handle;
  int32_t token;  // -1: none, which then is a finish alone; a token that ends the text is none
  Finish finish;
};

template <class T>
class Engine {
 public:
  // most_waiting: requests that wait for a slot; others are turned away. Throws std::invalid_argument as Generator does.
  Engine(const Model& model, const Size& size, size_t most_waiting);

  // Throws std::invalid_argument as Generator::require_text() does, and where max_new is negative. Any thread may call it at any time.
  void require(const Request& request) const;
  // Takes a request, or nothing where the queue is full. Throws as require() does.
  std::optional<Handle> submit(Request request);
  // Ends a request, and frees what it has; it gets no more events. Does nothing where the handle is none.
  void cancel(Handle handle);

  // Gives slots to requests that wait, computes a chunk of one prompt, then a token for each text. Where pages run out the newest text
  // goes back to the head of the queue; its tokens become a prompt again, and it goes on where it was.
  std::vector<Event> step();

  bool idle() const { return waiting_.empty() && running_.empty(); }
  size_t waiting() const { return waiting_.size(); }
  size_t running() const { return running_.size(); }
  const Generator<T>& generator() const { return generator_; }

 private:
  struct Job {
    Handle handle;
    Request request;  // `tokens` grows by what is written
    int written = 0;
  };
  void take(const Token& token, std::vector<Event>* events);
  void admit();

  Generator<T> generator_;
  size_t most_waiting_;
  Handle next_ = 1;
  std::deque<Job> waiting_;
  std::map<int, Job> running_;  // by slot
  int all_pages_;
};

}  // namespace serve
