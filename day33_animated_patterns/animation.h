// SPDX-License-Identifier: MIT
// From a request to files.
#pragma once

#include <cstdio>

#include "day33_animated_patterns/request.h"

namespace day33 {

// Makes all frames and writes them; the race of GPU and CPU, and what was written, go to standard output. Throws
// days::ImageError, and leaves no half GIF.
void animate(const Request& request);

// "plasma  [#########...........]  27/60", over itself; nothing where `shown` is false.
class Progress {
 public:
  Progress(std::FILE* to, bool shown, const std::string& what, int steps)
      : to_(to), shown_(shown), what_(what), steps_(steps) {}
  void done(int steps) const;
  // Takes the line away.
  void end() const;

 private:
  std::FILE* to_;
  bool shown_;
  std::string what_;
  int steps_;
};

// Where FOLDER's frame goes: frame_0007.png.
std::string frame_path(const std::string& folder, int number);

}  // namespace day33
