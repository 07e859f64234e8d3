// SPDX-License-Identifier: MIT
// What a user asks of the animation, and whether it can be had before anything is computed.
#pragma once

#include <string>
#include <vector>

#include "common/image.h"

namespace day33 {

struct Request {
  std::string pattern;  // one of pattern_names()
  int width = 320, height = 180;
  int frames = 60;
  int fps = 25;     // frames a second
  std::string out;  // FILE.gif, or a folder for PNG frames

  bool gif() const;
  // What a GIF keeps of fps: whole hundredths of a second.
  int hundredths() const;
};

std::vector<std::string> pattern_names();

// The words after the program's name. Throws days::ImageError (code 2), which says what would be right.
Request parse_request(const std::vector<std::string>& words);

// The most that the files can take: a GIF's packing can make noise larger than it is, PNG's hardly.
double worst_bytes(const Request& request);
// Throws days::ImageError (code 3) where that is more than half of the `free` bytes of the disk.
void require_room(const Request& request, double free);
// Throws days::ImageError (code 3) where the arrays are more than half of the `memory` bytes of this machine.
void require_memory(const Request& request, double memory);

// Bytes that are free where `path` will be, with its folder there: else days::ImageError (code 2).
double free_bytes(const std::string& path);

// For people: "812 KiB", "1.5 GiB".
std::string bytes_in_words(double bytes);

}  // namespace day33
