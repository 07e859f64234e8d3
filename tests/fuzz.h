// SPDX-License-Identifier: MIT
//
// Seeded tries with broken input. Each has a number, which says all that is random in it:
//
//   DAYS_FUZZ=17 build/cpu/bin/serve_test --gtest_filter='*fuzz*'         try 17 alone
//   DAYS_FUZZ_TRIES=100000 ...                                            more of them
//
// A try that fails, hangs or ends the program is named.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace fuzz {

// What is random in a try.
class Chance {
 public:
  explicit Chance(uint64_t number) : random_(number) {}
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  bool one_in(size_t n) { return below(n) == 0; }
  std::string_view of(std::span<const std::string_view> choices) { return choices[below(choices.size())]; }
  std::string_view of(std::initializer_list<std::string_view> choices) {
    return of(std::span(choices.begin(), choices.size()));
  }
  char byte() { return static_cast<char>(random_()); }
  std::string bytes(size_t n) {
    std::string made(n, '\0');
    for (char& one : made) one = byte();
    return made;
  }

 private:
  std::mt19937_64 random_;
};

// Changes one to three places: a byte, a piece that is lost or doubled, the end that is lost, or one of `pieces`, which comes in.
inline std::string broken(std::string text, Chance& chance, std::span<const std::string_view> pieces) {
  for (size_t changes = 1 + chance.below(3); changes > 0; --changes) {
    const size_t at = chance.below(text.size() + 1);
    switch (chance.below(6)) {
      case 0:
        if (at < text.size()) text[at] = chance.byte();
        break;
      case 1:
        text.erase(at, 1 + chance.below(9));
        break;
      case 2:
        text.insert(at, text.substr(chance.below(at + 1), chance.below(60)));
        break;
      case 3:
        if (chance.one_in(4)) text.resize(at);
        break;
      default:
        text.insert(at, chance.of(pieces));
    }
  }
  return text;
}
// Of JSON, and of numbers in it.
inline constexpr std::string_view kJsonPieces[] = {"{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   "\"",
                                                   ",",
                                                   ":",
                                                   "-1",
                                                   "0",
                                                   "1e9",
                                                   "1e308",
                                                   "1e999",
                                                   "18446744073709551615",
                                                   "99999999999999999999",
                                                   "2147483648",
                                                   "-9223372036854775808",
                                                   "null",
                                                   "true",
                                                   "NaN",
                                                   "\"a\"",
                                                   "\\u0000",
                                                   "\\ud800",
                                                   "\xff",
                                                   "\xc3",
                                                   "\xed\xa0\x80",
                                                   "[[[[[[[[[[[[[[[[[[[[",
                                                   "{\"a\":{\"a\":{\"a\":{\"a\":",
                                                   "//",
                                                   " "};

namespace detail {
inline constexpr int kSignals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM};
inline std::atomic<uint64_t> number{0};
inline struct sigaction before[std::size(kSignals)];
// Says the try's number where the program is about to end, and leaves the rest to whoever handled the signal before.
inline void say(int signal) {
  char text[64];
  const int n = std::snprintf(text, sizeof text, "\nDAYS_FUZZ=%llu %s\n",
                              static_cast<unsigned long long>(number.load()),
                              signal == SIGALRM ? "hangs" : "ends the program");
  if (write(STDERR_FILENO, text, static_cast<size_t>(n)) < 0) _exit(3);
  for (size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == signal) sigaction(signal, &before[i], nullptr);
  if (signal == SIGABRT || signal == SIGALRM) raise(signal);  // the others happen again
}
}  // namespace detail

// Whether no variable asks for other tries than the test's own.
inline bool is_whole() {
  return std::getenv("DAYS_FUZZ") == nullptr && std::getenv("DAYS_FUZZ_TRIES") == nullptr;
}
// Calls each(number) for 0, 1, ... up to `n`, or as the environment says; one may take `seconds`.
template <class Each>
void tries(uint64_t n, unsigned seconds, const Each& each) {
  const char* const only = std::getenv("DAYS_FUZZ");
  const char* const many = std::getenv("DAYS_FUZZ_TRIES");
  const uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 10) : 0;
  const uint64_t end = only != nullptr ? first + 1 : many != nullptr ? std::strtoull(many, nullptr, 10) : n;
  ASSERT_LT(first, end) << "DAYS_FUZZ and DAYS_FUZZ_TRIES are numbers";
  struct sigaction now {};
  now.sa_handler = detail::say;
  now.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < std::size(detail::kSignals); ++i)
    sigaction(detail::kSignals[i], &now, &detail::before[i]);
  for (uint64_t number = first; number < end && !testing::Test::HasFailure(); ++number) {
    detail::number = number;
    SCOPED_TRACE("DAYS_FUZZ=" + std::to_string(number));
    alarm(seconds);
    each(number);
    alarm(0);
  }
  for (size_t i = 0; i < std::size(detail::kSignals); ++i)
    sigaction(detail::kSignals[i], &detail::before[i], nullptr);
}

}  // namespace fuzz
