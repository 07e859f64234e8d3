// SPDX-License-Identifier: MIT
#include "serve/engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/check.h"
#include "common/util.h"
#include "serve/ops.h"

namespace serve {

template <class T>
Engine<T>::Engine(const Model& model, const Size& size, size_t most_waiting)
    : generator_(model, size), most_waiting_(most_waiting), all_pages_(generator_.free_pages()) {}

template <class T>
void Engine<T>::require(const Request& request) const {
  days::require(request.max_new >= 0, "a text gets 0 tokens or more, not", request.max_new);
  generator_.require_text(request.tokens, request.sampling);
}

template <class T>
std::optional<Handle> Engine<T>::submit(Request request) {
  require(request);
  if (waiting_.size() >= most_waiting_) return std::nullopt;
  waiting_.push_back({next_, std::move(request)});
  return next_++;
}

template <class T>
void Engine<T>::cancel(Handle handle) {
  std::erase_if(waiting_, [&](const Job& job) { return job.handle == handle; });
  std::erase_if(running_, [&](const auto& entry) {
    if (entry.second.handle != handle) return false;
    generator_.remove(entry.first);
    return true;
  });
}

template <class T>
void Engine<T>::admit() {
  while (!waiting_.empty()) {
    Job& job = waiting_.front();
    // Each text that runs may want a page soon: one that comes must not take the last, only to lose its own again.
    const int wanted = days::ceil_div(static_cast<int>(job.request.tokens.size()), kPage);
    const int kept = running_.empty() ? 0 : static_cast<int>(running_.size()) + 1;
    if (wanted + kept > generator_.free_pages()) return;
    const std::optional<int> slot = generator_.add(job.request.tokens, job.request.sampling);
    if (!slot) return;
    running_.emplace(*slot, std::move(job));
    waiting_.pop_front();
  }
}

// A token came for a text. One that is finished leaves.
template <class T>
void Engine<T>::take(const Token& token, std::vector<Event>* events) {
  const auto found = running_.find(token.slot);
  Job& job = found->second;
  Event event{job.handle, token.token, Finish::kNot};
  const auto& ends = job.request.ends;
  if (token.token < 0) {
    event.finish = Finish::kBroken;
  } else if (std::find(ends.begin(), ends.end(), token.token) != ends.end()) {
    event = {job.handle, -1, Finish::kEnd};
  } else {
    job.request.tokens.push_back(token.token);
    // The last token need not go into the cache, so that a text may be a token longer than the context.
    if (++job.written >= job.request.max_new || generator_.length(token.slot) >= generator_.config().context)
      event.finish = Finish::kLength;
  }
  events->push_back(event);
  if (event.finish == Finish::kNot) return;
  generator_.remove(token.slot);
  running_.erase(found);
}

template <class T>
std::vector<Event> Engine<T>::step() {
  std::vector<Event> events;
  std::erase_if(waiting_, [&](const Job& job) {
    if (job.written < job.request.max_new) return false;
    events.push_back({job.handle, -1, Finish::kLength});
    return true;
  });
  admit();
  if (const std::optional<Token> first = generator_.prefill()) take(*first, &events);
  while (generator_.missing_pages() > 0) {
    const auto newest = std::max_element(running_.begin(), running_.end(), [](const auto& a, const auto& b) {
      return a.second.handle < b.second.handle;
    });
    generator_.remove(newest->first);
    Job job = std::move(newest->second);
    running_.erase(newest);
    // Alone it has all pages, and would only come back to be as long again.
    if (running_.empty() || days::ceil_div(static_cast<int>(job.request.tokens.size()), kPage) > all_pages_) {
      events.push_back({job.handle, -1, Finish::kLength});
    } else {
      waiting_.push_front(std::move(job));
    }
  }
  for (const Token& token : generator_.decode()) take(token, &events);
  return events;
}

template class Engine<float>;
template class Engine<days::half>;
template class Engine<days::bf16>;

}  // namespace serve
