// SPDX-License-Identifier: MIT
//
// cpp-httplib's server with limits on what a connection may do. Debian 12's 0.11.4 takes header lines without end, a body in chunks without
// end, and waits anew for each byte; a client that leaves is noticed where somebody writes to it alone. Included by http.cpp alone.
#pragma once

#include <arpa/inet.h>
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "serve/api.h"

namespace serve {

// The answer to a request that came to no endpoint.
inline std::string status_json(int status) {
  static constexpr std::pair<int, const char*> kSaid[] = {
      {400, "this is no HTTP request, or an incomplete one"},
      {404, "there is nothing at this address for this method"},
      {408, "the request took too long to come"},
      {413, "the request's body is longer than is taken here"},
      {414, "the request's address is longer than is taken here"},
      {415, "a body with a Content-Encoding is not taken here"},
      {416, "the request's range is none"},
      {431, "the request's line and headers are longer than is taken here"}};
  std::string said = "HTTP " + std::to_string(status);
  for (const auto& [known, text] : kSaid)
    if (known == status) said = text;
  return error_json(status, "http_" + std::to_string(status), said);
}

struct ConnectionLimits {
  size_t head = 32 << 10;  // bytes of a request's line and headers
  size_t body = 1 << 20;   // bytes behind them
  std::chrono::milliseconds
      time{};  // for a request to come, whole, and for a client to take a piece of the answer
};

// A connection's bytes: those that come are counted and timed.
class LimitedStream final : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;

  LimitedStream(socket_t socket, const ConnectionLimits& limits, const std::function<bool()>& stops)
      : socket_(socket),
        limits_(limits),
        stops_(stops),
        left_(limits.head),
        until_(Clock::now() + limits.time) {
    // The system would take megabytes for a client that does not read them, and so hide it.
    const int bytes = 1 << 16;
    static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes));
  }

  void head_is_read() {
    in_body_ = true;
    left_ = limits_.body;
  }
  // HTTP's status for why reading ended early; 0 where it did not.
  int refusal() const { return refusal_; }
  // Whether something came, and nothing was answered.
  bool is_unanswered() const { return end_ > 0 && !wrote_; }
  bool is_client_there() const {
    pollfd asked{socket_, POLLRDHUP, 0};
    return ::poll(&asked, 1, 0) == 0;
  }

  // The library's own functions. Releases differ in which there are, so that none says override.
  ssize_t read(char* to, size_t n) {
    if (begin_ == end_) {
      if (left_ == 0) return refuse(in_body_ ? 413 : 431);
      if (!wait(POLLIN, until_)) return refuse(408);
      const ssize_t came = ::recv(socket_, bytes_.data(), bytes_.size(), 0);
      if (came <= 0) return came;
      begin_ = 0;
      end_ = static_cast<size_t>(came);
    }
    n = std::min({n, end_ - begin_, left_});
    if (n == 0) return refuse(in_body_ ? 413 : 431);
    std::copy_n(bytes_.data() + begin_, n, to);
    begin_ += n;
    left_ -= n;
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* from, size_t n) {
    const Clock::time_point until = Clock::now() + limits_.time;
    wrote_ = true;
    for (size_t sent = 0; sent < n;) {
      if (!wait(POLLOUT, until)) return -1;
      const ssize_t taken = ::send(socket_, from + sent, n - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (taken < 0 && errno != EAGAIN && errno != EINTR) return -1;
      sent += static_cast<size_t>(std::max<ssize_t>(taken, 0));
    }
    return static_cast<ssize_t>(n);
  }
  // Takes what still comes, so that the system does not answer it with a reset, which could cost the client the answer.
  void close() {
    ::shutdown(socket_, SHUT_WR);
    const Clock::time_point until = Clock::now() + std::chrono::milliseconds(500);
    while (wait(POLLIN, until) && ::recv(socket_, bytes_.data(), bytes_.size(), 0) > 0) {
    }
    ::shutdown(socket_, SHUT_RDWR);
    ::close(socket_);
  }

  bool is_readable() const { return begin_ < end_; }
  bool is_writable() const { return is_client_there() && wait(POLLOUT, Clock::now() + limits_.time); }
  void get_remote_ip_and_port(std::string& ip, int& port) const { address(::getpeername, &ip, &port); }
  void get_local_ip_and_port(std::string& ip, int& port) const { address(::getsockname, &ip, &port); }
  socket_t socket() const { return socket_; }
  bool wait_readable() const { return begin_ < end_ || wait(POLLIN, until_); }
  bool wait_writable() const { return is_writable(); }
  time_t duration() const { return 0; }

 private:
  ssize_t refuse(int status) {
    refusal_ = status;
    return -1;
  }
  bool wait(short what, Clock::time_point until) const {
    constexpr int kLook =
        100;  // milliseconds between two looks whether the server ends, which ends answers, but cuts none
    while (what == POLLOUT || !stops_()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) return false;
      pollfd asked{socket_, what, 0};
      const int ready = ::poll(&asked, 1, static_cast<int>(std::min<long long>(left, kLook)));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }
  template <class Name>
  void address(Name name, std::string* ip, int* port) const {
    sockaddr_storage found{};
    socklen_t size = sizeof found;
    if (name(socket_, reinterpret_cast<sockaddr*>(&found), &size) != 0) return;
    char text[INET6_ADDRSTRLEN] = "";
    if (found.ss_family == AF_INET) {
      const auto& four = reinterpret_cast<const sockaddr_in&>(found);
      ::inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
      *port = ntohs(four.sin_port);
    } else if (found.ss_family == AF_INET6) {
      const auto& six = reinterpret_cast<const sockaddr_in6&>(found);
      ::inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
      *port = ntohs(six.sin6_port);
    }
    *ip = text;
  }

  socket_t socket_;
  const ConnectionLimits& limits_;
  const std::function<bool()>& stops_;
  size_t left_;
  Clock::time_point until_;
  bool in_body_ = false, wrote_ = false;
  int refusal_ = 0;
  std::array<char, 4096> bytes_{};
  size_t begin_ = 0, end_ = 0;  // of what came and is not read yet
};

// Each connection has one request, and its answer says so: an idle client must not hold a thread, and what stands behind a request that
// was refused must not be taken for another one.
class LimitedServer final : public httplib::Server {
 public:
  LimitedServer(const ConnectionLimits& limits, std::function<bool()> stops)
      : limits_(limits), stops_(std::move(stops)) {}

  // Of the request that this thread answers.
  static bool is_client_there() { return stream_ == nullptr || stream_->is_client_there(); }
  static int refusal() { return stream_ == nullptr ? 0 : stream_->refusal(); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    LimitedStream stream(socket, limits_, stops_);
    stream_ = &stream;
    const bool good = answer(*this, stream, [&](httplib::Request& request) {
      stream.head_is_read();
      // A body is JSON whatever it is said to be, and an answer goes out whole and as it is.
      for (const char* name : {"Content-Type", "Accept-Encoding"}) request.headers.erase(name);
      request.ranges.clear();
    });
    stream_ = nullptr;
    if (!good && stream.is_unanswered()) {
      const int status = stream.refusal() != 0 ? stream.refusal() : 400;
      const std::string body = status_json(status);
      const std::string whole = "HTTP/1.1 " + std::to_string(status) +
                                " Refused\r\nConnection: close\r\nContent-Type: application/json\r\n"
                                "Content-Length: " +
                                std::to_string(body.size()) + "\r\n\r\n" + body;
      stream.write(whole.data(), whole.size());
    }
    stream.close();
    return good;
  }
  // Releases differ in what they want to be told.
  template <class Self, class Setup>
  static bool answer(Self& self, LimitedStream& stream, const Setup& setup) {
    bool closed = false;
    if constexpr (requires { self.process_request(stream, true, closed, setup); }) {
      return self.process_request(stream, true, closed, setup);
    } else {
      std::string there, here;
      int port_there = 0, port_here = 0;
      stream.get_remote_ip_and_port(there, port_there);
      stream.get_local_ip_and_port(here, port_here);
      return self.process_request(stream, there, port_there, here, port_here, true, closed, setup);
    }
  }

  ConnectionLimits limits_;
  std::function<bool()> stops_;
  static thread_local LimitedStream* stream_;
};
inline thread_local LimitedStream* LimitedServer::stream_ = nullptr;

}  // namespace serve
