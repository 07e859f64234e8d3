// SPDX-License-Identifier: MIT
#include "serve/desk.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace serve {

struct Ticket::State {
  std::mutex mutex;
  std::condition_variable came;
  std::deque<Event> events;
  bool finished = false;  // the last event is a finish
  std::atomic<bool> dropped{false};
  std::function<void()> wake;  // of the desk's thread

  void give(const Event& event) {
    {
      const std::lock_guard lock(mutex);
      if (finished) return;
      finished = event.finish != Finish::kNot;
      events.push_back(event);
    }
    came.notify_one();
  }
};

Ticket::~Ticket() {
  if (state_ == nullptr) return;
  state_->dropped = true;
  state_->wake();
}
std::optional<Event> Ticket::next(std::chrono::milliseconds most) {
  std::unique_lock lock(state_->mutex);
  if (!state_->came.wait_for(lock, most, [&] { return !state_->events.empty(); })) return std::nullopt;
  const Event event = state_->events.front();
  state_->events.pop_front();
  return event;
}

// What a ticket may still need when the desk is gone.
namespace {
struct Bell {
  std::mutex mutex;
  std::condition_variable rang;
  bool rings = false;
  void ring() {
    {
      const std::lock_guard lock(mutex);
      rings = true;
    }
    rang.notify_one();
  }
};
}  // namespace

template <class T>
struct Desk<T>::State {
  State(const Model& model, const Size& size, size_t most_waiting, size_t most)
      : engine(model, size, ~size_t{0}), waiting_at_most(most_waiting), most_unread(most) {
    count();
    thread = std::thread([this] { run(); });
  }
  ~State() {
    stops = true;
    bell->ring();
    thread.join();
  }

  void run() {
    std::string why = "it was stopped";
    try {
      while (!stops) {
        {
          std::unique_lock lock(bell->mutex);
          if (engine.idle()) bell->rang.wait(lock, [&] { return bell->rings; });
          bell->rings = false;
        }
        take_requests();
        drop_tickets();
        if (!engine.idle()) {
          const std::vector<Event> events = engine.step();
          count();  // whoever gets a token finds his slot counted
          for (const Event& event : events) give(event);
        }
        count();
      }
    } catch (const std::exception& failure) {
      why = failure.what();
    }
    const std::lock_guard lock(mutex);
    counts.error = why;
    for (auto& [request, ticket] : inbox) ticket->give({0, -1, Finish::kBroken});
    for (auto& [handle, ticket] : tickets) ticket->give({0, -1, Finish::kBroken});
  }
  void take_requests() {
    std::deque<std::pair<Request, std::shared_ptr<Ticket::State>>> taken;
    {
      const std::lock_guard lock(mutex);
      taken.swap(inbox);
      counts.waiting += taken.size();
    }
    for (auto& [request, ticket] : taken) tickets[*engine.submit(std::move(request))] = ticket;
  }
  void drop_tickets() {
    std::erase_if(tickets, [&](const auto& entry) {
      if (entry.second->dropped) engine.cancel(entry.first);
      return entry.second->dropped.load();
    });
  }
  void give(const Event& event) {
    const auto found = tickets.find(event.handle);
    if (found == tickets.end()) return;
    Ticket::State& ticket = *found->second;
    const auto unread = [&] {
      const std::lock_guard lock(ticket.mutex);
      return ticket.events.size();
    }();
    if (unread >= most_unread && event.finish == Finish::kNot) {
      engine.cancel(event.handle);
      ticket.give({0, -1, Finish::kBroken});
    } else {
      ticket.give({0, event.token, event.finish});
      if (event.finish == Finish::kNot) return;
    }
    tickets.erase(found);
  }
  void count() {
    const std::lock_guard lock(mutex);
    counts.waiting = engine.waiting();
    counts.running = engine.running();
    counts.free_slots = engine.generator().free_slots();
    counts.free_pages = engine.generator().free_pages();
  }

  Engine<T> engine;  // the thread's, but for require_text(), which looks at what never changes
  std::map<Handle, std::shared_ptr<Ticket::State>> tickets;  // the thread's
  size_t waiting_at_most, most_unread;
  std::shared_ptr<Bell> bell = std::make_shared<Bell>();
  std::atomic<bool> stops{false};

  mutable std::mutex mutex;  // of what follows
  std::deque<std::pair<Request, std::shared_ptr<Ticket::State>>> inbox;
  Counts counts;
  std::thread thread;
};

template <class T>
Desk<T>::Desk(const Model& model, const Size& size, size_t most_waiting, size_t most_unread)
    : state_(std::make_unique<State>(model, size, most_waiting, most_unread)) {}
template <class T>
Desk<T>::~Desk() = default;

template <class T>
std::optional<Ticket> Desk<T>::submit(Request request) {
  State& s = *state_;
  s.engine.require(request);
  auto ticket = std::make_shared<Ticket::State>();
  ticket->wake = [bell = s.bell] { bell->ring(); };
  {
    const std::lock_guard lock(s.mutex);
    if (!s.counts.error.empty()) throw std::runtime_error("nothing is written any more: " + s.counts.error);
    if (s.inbox.size() + s.counts.waiting >= s.waiting_at_most) return std::nullopt;
    s.inbox.emplace_back(std::move(request), ticket);
  }
  s.bell->ring();
  return Ticket(std::move(ticket));
}

template <class T>
typename Desk<T>::Counts Desk<T>::counts() const {
  const std::lock_guard lock(state_->mutex);
  Counts counts = state_->counts;
  counts.waiting += state_->inbox.size();
  return counts;
}

template class Desk<float>;
template class Desk<days::half>;
template class Desk<days::bf16>;

}  // namespace serve
