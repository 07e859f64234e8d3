// SPDX-License-Identifier: MIT
#include "edits.h"

#include <algorithm>

namespace simtcc {

std::size_t Edits::column(const std::string& text, std::size_t at) const {
  if (at == 0) return 0;
  const std::size_t newline = text.rfind('\n', at - 1);
  return newline == std::string::npos ? at : at - newline - 1;
}

std::string Edits::relocated(std::size_t at) const {
  const Tokens::Place p = t_.place(at);
  return "\n# " + std::to_string(p.line) + " " + std::string(p.file) + std::string(p.flags) + "\n" +
         std::string(column(t_.source(), at), ' ');
}

// Appends source text [from, to) after a change, with its first token where it was. `lines_moved`: line ends
// were added or removed (and with them perhaps a line marker), so that only a new marker tells the line.
void Edits::catch_up(std::string& out, std::size_t from, std::size_t to, bool lines_moved) const {
  const std::string& s = t_.source();
  std::size_t token = from;
  while (token < to && (s[token] == ' ' || s[token] == '\t')) ++token;
  const bool line_end = token < to && s[token] == '\n';
  const std::size_t here = column(out, out.size()), wanted = column(s, token);
  if (lines_moved || (!line_end && here > wanted)) {
    out += relocated(token);
  } else if (!line_end) {
    out.append(wanted - here, ' ');
  }
  out.append(s, token, to - token);
}

std::string Edits::apply() {
  // At one place insertions come first, by order and then as they were asked for.
  std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
    if (a.at != b.at) return a.at < b.at;
    if ((a.length == 0) != (b.length == 0)) return a.length == 0;
    return a.order < b.order;
  });
  const std::string& s = t_.source();
  std::string out;
  out.reserve(s.size() + 128 * edits_.size());
  std::size_t done = 0;
  bool moved = false, lines_moved = false;
  auto copy_until = [&](std::size_t to) {
    if (!moved) {
      out.append(s, done, to - done);
    } else if (to > done) {
      catch_up(out, done, to, lines_moved);
      moved = lines_moved = false;
    }
    done = to;
  };
  for (const Edit& e : edits_) {
    if (e.at < done) continue;  // inside something that is replaced as a whole
    copy_until(e.at);
    out += e.text;
    done = e.at + e.length;
    moved = true;
    if (e.text.find('\n') != std::string::npos || s.find('\n', e.at) < done) lines_moved = true;
  }
  copy_until(s.size());
  return out;
}

}  // namespace simtcc
