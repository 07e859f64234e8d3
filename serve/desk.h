// SPDX-License-Identifier: MIT
//
// An engine that many threads ask at once: one thread owns it, and each request has a ticket, on which its tokens come.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "serve/engine.h"

namespace serve {

// What was asked for. Whoever drops it cancels the request: its slot is free within a step.
class Ticket {
 public:
  struct State;
  explicit Ticket(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~Ticket();
  Ticket(Ticket&&) = default;
  Ticket& operator=(Ticket&&) = delete;

  // Waits for the next token at most so long. Nothing came where it returns nothing. The handle of the event is 0; Finish::kBroken also
  // means that the engine's thread has ended, or that nobody read the tokens for too long. Behind a finish nothing comes.
  std::optional<Event> next(std::chrono::milliseconds most);

 private:
  std::shared_ptr<State> state_;
};

template <class T>
class Desk {
 public:
  // Throws as Engine does. most_unread: tokens that nobody has read, after which a request is cancelled.
  Desk(const Model& model, const Size& size, size_t most_waiting, size_t most_unread = 4096);
  // Ends the thread; what is asked for gets Finish::kBroken.
  ~Desk();

  // Takes a request, or nothing where too many wait. Throws as Engine::submit() does, and std::runtime_error where the thread has ended.
  std::optional<Ticket> submit(Request request);

  struct Counts {
    size_t waiting = 0, running = 0;
    int free_slots = 0, free_pages = 0;
    std::string error;  // why the thread ended; "" while it runs
  };
  Counts counts() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace serve
