// SPDX-License-Identifier: MIT
//
// A text as it comes, in pieces that may end inside a character or inside a word that is to stop it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace serve {

// What may be sent of tokens' bytes: whole UTF-8 alone, nothing of a stop and nothing behind it, and everything once. Bytes that are no
// UTF-8 become U+FFFD as soon as nothing can complete them, one for each longest beginning of a character, as Unicode advises.
class TextStream {
 public:
  // Stops that are empty stop nothing.
  explicit TextStream(std::vector<std::string> stops = {});

  // Takes bytes, and returns what may be sent now. Behind a stop that is "".
  std::string add(std::string_view bytes);
  // No more comes: returns what was held back, whose last character may be cut off.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  std::string send(bool all);

  std::vector<std::string> stops_;
  std::string bytes_;  // of a character that is not complete
  std::string text_;   // is not sent yet, because a stop may begin in it
  bool stopped_ = false;
};

}  // namespace serve
