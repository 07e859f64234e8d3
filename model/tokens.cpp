// SPDX-License-Identifier: MIT
#include "model/tokens.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <queue>
#include <stdexcept>
#include <unordered_set>

#include "model/json.h"
#include "model/unicode.h"

namespace model {
namespace {

// ---- characters ----

struct Character {
  uint32_t code;  // kNone: a byte that is no UTF-8
  size_t bytes;
};
constexpr uint32_t kNone = 0xffffffff;

// The first character of a text that is not empty. Overlong forms and surrogates are no UTF-8.
Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {kNone, 1};
  uint32_t code = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {kNone, 1};
    code = code << 6 | (byte(i) & 0x3f);
  }
  static constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {kNone, 1};
  return {code, bytes};
}

void append_character(uint32_t code, std::string* text) {
  if (code < 0x80) {
    *text += static_cast<char>(code);
  } else {  // the letters that stand for bytes are all below 0x800
    *text += static_cast<char>(0xc0 | code >> 6);
    *text += static_cast<char>(0x80 | (code & 0x3f));
  }
}

template <size_t n>
bool in(const CharacterRange (&ranges)[n], uint32_t code) {
  const auto* range = std::lower_bound(std::begin(ranges), std::end(ranges), code,
                                       [](const CharacterRange& r, uint32_t c) { return r.last < c; });
  return range != std::end(ranges) && range->first <= code;
}

enum class Kind { space, letter, number, other };
Kind kind_of(uint32_t code) {
  if (code < 0x80) {
    if (code == ' ' || (code >= 9 && code <= 13)) return Kind::space;
    if ((code | 32) >= 'a' && (code | 32) <= 'z') return Kind::letter;
    return code >= '0' && code <= '9' ? Kind::number : Kind::other;
  }
  if (code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
      code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000)
    return Kind::space;
  return in(kLetters, code) ? Kind::letter : in(kNumbers, code) ? Kind::number : Kind::other;
}

// ---- bytes as letters ----

// In the files each byte is a visible character: itself where it is one, else one from U+0100 on. Ids are in the order of these.
struct ByteLetters {
  std::array<uint32_t, 256> letter;
  std::array<unsigned char, 256> by_id;
};
const ByteLetters& byte_letters() {
  static const ByteLetters letters = [] {
    ByteLetters made{};
    uint32_t next = 0x100;
    size_t id = 0;
    const auto visible = [](int b) {
      return (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
    };
    for (const bool now : {true, false}) {
      for (int b = 0; b < 256; ++b) {
        if (visible(b) != now) continue;
        made.letter[static_cast<size_t>(b)] = now ? static_cast<uint32_t>(b) : next++;
        made.by_id[id++] = static_cast<unsigned char>(b);
      }
    }
    return made;
  }();
  return letters;
}

std::string to_letters(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    append_character(byte_letters().letter[static_cast<unsigned char>(byte)], &text);
  return text;
}
// False where a character stands for no byte.
bool to_bytes(std::string_view text, std::string* bytes) {
  static const std::unordered_map<uint32_t, char> kBytes = [] {
    std::unordered_map<uint32_t, char> made;
    for (int b = 0; b < 256; ++b) made[byte_letters().letter[static_cast<size_t>(b)]] = static_cast<char>(b);
    return made;
  }();
  bytes->clear();
  while (!text.empty()) {
    const Character character = first_character(text);
    const auto found = kBytes.find(character.code);
    if (found == kBytes.end()) return false;
    *bytes += found->second;
    text.remove_prefix(character.bytes);
  }
  return true;
}

}  // namespace

size_t first_word(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();
  const auto run = [&](size_t at, Kind kind) {
    while (at < text.size()) {
      const Character character = first_character(text.substr(at));
      if (kind_of(character.code) != kind) break;
      at += character.bytes;
    }
    return at;
  };
  const size_t begin = text[0] == ' ' ? 1 : 0;
  if (begin < text.size()) {
    const Kind kind = kind_of(first_character(text.substr(begin)).code);
    if (kind != Kind::space) return run(begin, kind);
  }
  // Spaces: all of them at the text's end, else all but the last, which the next word may take.
  const size_t end = run(0, Kind::space);
  if (end == text.size()) return end;
  size_t last = 0;
  for (size_t at = 0; at < end; at += first_character(text.substr(at)).bytes) last = at;
  return last > 0 ? last : end;
}

// Where the text has a number next; its end where it has none.
static size_t next_number(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Character character = first_character(text.substr(at));
    if (kind_of(character.code) == Kind::number) break;
    at += character.bytes;
  }
  return at;
}
size_t first_word(std::string_view text, Split split) {
  if (split == Split::kNone) return first_word(text);
  const size_t cut = next_number(text);
  return cut == 0 ? first_character(text).bytes : first_word(text.substr(0, cut));
}

// ---- training ----

Tokenizer Tokenizer::train(std::string_view text, int vocab, const std::function<void(int, int)>& progress) {
  if (vocab < 257 || vocab > 1 << 20)
    throw std::invalid_argument("a vocabulary has 257 to 1048576 tokens, not " + std::to_string(vocab) +
                                ": 256 bytes and <|endoftext|> are in each");
  Tokenizer made;
  for (size_t id = 0; id < 256; ++id) {
    const unsigned char byte = byte_letters().by_id[id];
    made.bytes_.emplace_back(1, static_cast<char>(byte));
    made.of_byte_[byte] = static_cast<int32_t>(id);
  }

  // Each word once, with the times it occurs.
  struct Word {
    std::vector<int32_t> ids;
    int64_t times;
  };
  std::vector<Word> words;
  {
    std::unordered_map<std::string_view, size_t> seen;
    while (!text.empty()) {
      const std::string_view word = text.substr(0, first_word(text));
      text.remove_prefix(word.size());
      const auto [at, fresh] = seen.try_emplace(word, words.size());
      if (fresh) {
        words.push_back({{}, 0});
        for (const char byte : word)
          words.back().ids.push_back(made.of_byte_[static_cast<unsigned char>(byte)]);
      }
      ++words[at->second].times;
    }
  }
  // Of each pair how often it occurs, and in which words it may.
  struct Count {
    int64_t times = 0;
    std::vector<size_t> words;
  };
  std::unordered_map<uint64_t, Count> counts;
  for (size_t w = 0; w < words.size(); ++w) {
    for (size_t i = 1; i < words[w].ids.size(); ++i) {
      Count& count = counts[key(words[w].ids[i - 1], words[w].ids[i])];
      count.times += words[w].times;
      if (count.words.empty() || count.words.back() != w) count.words.push_back(w);
    }
  }
  // The most frequent pair, then the lowest ids. A count that has fallen since it was put in goes back with what it is now.
  using Entry = std::pair<int64_t, uint64_t>;
  const auto later = [](const Entry& a, const Entry& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  };
  std::priority_queue<Entry, std::vector<Entry>, decltype(later)> queue(later);
  for (const auto& [pair, count] : counts) queue.emplace(count.times, pair);

  // Two pairs may make the same bytes, "a" + "bc" and "ab" + "c": then the second is a merge more and no token more.
  std::unordered_map<std::string, int32_t> known;
  for (const std::string& bytes : made.bytes_) known[bytes] = static_cast<int32_t>(known.size());
  const auto wanted = static_cast<size_t>(vocab - 1);
  while (made.bytes_.size() < wanted) {
    if (queue.empty())
      throw std::invalid_argument("the text has pairs for a vocabulary of " +
                                  std::to_string(made.bytes_.size() + 1) + ", not " + std::to_string(vocab) +
                                  ": take a longer text or a smaller vocabulary");
    const auto [times, pair] = queue.top();
    queue.pop();
    const auto found = counts.find(pair);
    if (found == counts.end() || found->second.times <= 0) continue;
    if (found->second.times != times) {
      queue.emplace(found->second.times, pair);
      continue;
    }
    const auto left = static_cast<int32_t>(pair >> 32), right = static_cast<int32_t>(pair & 0xffffffff);
    std::string bytes = made.bytes_[static_cast<size_t>(left)] + made.bytes_[static_cast<size_t>(right)];
    const auto [token, fresh_token] = known.try_emplace(bytes, static_cast<int32_t>(made.bytes_.size()));
    const int32_t id = token->second;
    if (fresh_token) made.bytes_.push_back(std::move(bytes));
    if (made.merges_.try_emplace(pair, Merge{static_cast<int32_t>(made.pairs_.size()), id}).second)
      made.pairs_.emplace_back(left, right);
    const std::vector<size_t> places = std::move(found->second.words);
    counts.erase(found);
    std::unordered_set<uint64_t> grown;
    for (const size_t w : places) {
      std::vector<int32_t>& ids = words[w].ids;
      std::vector<int32_t> merged;
      for (size_t i = 0; i < ids.size(); ++i) {
        const bool here = i + 1 < ids.size() && ids[i] == left && ids[i + 1] == right;
        merged.push_back(here ? id : ids[i]);
        i += here;
      }
      if (merged.size() == ids.size()) continue;  // another merge has taken it apart
      for (size_t i = 1; i < ids.size(); ++i) {
        const auto old = counts.find(key(ids[i - 1], ids[i]));
        if (old != counts.end()) old->second.times -= words[w].times;
      }
      for (size_t i = 1; i < merged.size(); ++i) {
        const uint64_t now = key(merged[i - 1], merged[i]);
        const bool fresh = merged[i - 1] == id || merged[i] == id;
        const auto old = fresh ? counts.try_emplace(now).first : counts.find(now);
        if (old == counts.end()) continue;
        old->second.times += words[w].times;
        if (!fresh) continue;
        grown.insert(now);
        if (old->second.words.empty() || old->second.words.back() != w) old->second.words.push_back(w);
      }
      ids = std::move(merged);
    }
    for (const uint64_t now : grown) queue.emplace(counts[now].times, now);
    const size_t done = made.bytes_.size();
    if (progress && (done % 64 == 0 || done == wanted)) progress(static_cast<int>(done), vocab - 1);
  }
  made.special_[std::string(kEndOfText)] = static_cast<int32_t>(made.bytes_.size());
  made.bytes_.emplace_back();
  return made;
}

// ---- files ----

// Takes the tokens and merges of whichever file, and says what is wrong with them.
class Tokenizer::Maker {
 public:
  // Ids are 0 to size - 1.
  Maker(std::string file, size_t size) : file_(std::move(file)), taken_(size) { made_.bytes_.resize(size); }

  [[noreturn]] void fail(const std::string& what) const { throw FileError(file_ + ": " + what); }
  void set_split(Split split) { made_.split_ = split; }

  // text: in the letters that stand for bytes; of a special one as it is.
  void token(const std::string& text, const Json& value, bool special) {
    const auto dumped = [](const Json& json) {
      return json.dump(-1, ' ', true, Json::error_handler_t::replace);
    };
    const std::string named = "token " + dumped(Json(text));
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= taken_.size())
      fail(named + " has the id " + dumped(value) + ", which is none of 0 to " +
           std::to_string(taken_.size() - 1));
    const size_t id = value.get<size_t>();
    if (taken_[id]) fail(named + " has the id of another, " + std::to_string(id));
    taken_[id] = true;
    if (special) {
      if (!made_.special_.try_emplace(text, static_cast<int32_t>(id)).second) fail(named + " is there twice");
      return;
    }
    std::string& bytes = made_.bytes_[id];
    if (text.empty() || !to_bytes(text, &bytes)) fail(named + " has a character that stands for no byte");
    ids_[bytes] = static_cast<int32_t>(id);
  }
  // All tokens have been taken. all_bytes: each byte has to have one.
  void end_of_tokens(bool all_bytes) {
    for (int b = 0; b < 256; ++b) {
      const auto found = ids_.find(std::string(1, static_cast<char>(b)));
      if (found == ids_.end() && (all_bytes || b == ' ')) fail("has no token for byte " + std::to_string(b));
      made_.of_byte_[b] = found == ids_.end() ? -1 : found->second;
    }
  }
  // left, right: in letters. Throws FileError that begins with `where`.
  void merge(std::string_view left, std::string_view right, const std::string& where) {
    std::string l, r;
    if (!to_bytes(left, &l) || !to_bytes(right, &r)) no_merge(where);
    const auto a = ids_.find(l), b = ids_.find(r), both = ids_.find(l + r);
    if (a == ids_.end() || b == ids_.end() || both == ids_.end())
      throw FileError(where + "merges tokens that " + (file_.ends_with("vocab.json") ? "vocab.json" : "it") +
                      " has not");
    const Merge merge{static_cast<int32_t>(made_.pairs_.size()), both->second};
    if (!made_.merges_.try_emplace(key(a->second, b->second), merge).second)
      throw FileError(where + "has a merge for the second time");
    made_.pairs_.emplace_back(a->second, b->second);
  }
  // The two tokens of "left right".
  void merge(std::string_view line, const std::string& where) {
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos)
      no_merge(where);
    merge(line.substr(0, space), line.substr(space + 1), where);
  }
  Tokenizer done() { return std::move(made_); }

 private:
  [[noreturn]] static void no_merge(const std::string& where) {
    throw FileError(where + "is no merge: two tokens with a space between them");
  }

  std::string file_;
  std::vector<bool> taken_;
  Tokenizer made_;
  std::unordered_map<std::string, int32_t> ids_;
};

Tokenizer Tokenizer::load(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "tokenizer.json")) return load_json(folder / "tokenizer.json");
  const MappedFile words(folder / "vocab.json");
  const Json vocab = parse_json(words.bytes(), words.name(), 1);
  Maker maker(words.name(), vocab.size());
  if (!vocab.is_object()) maker.fail("is no object of tokens");
  for (const auto& [text, value] : vocab.items()) maker.token(text, value, text == kEndOfText);
  maker.end_of_tokens(true);
  const MappedFile file(folder / "merges.txt");
  std::string_view rest = file.bytes();
  for (int number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    maker.merge(line, file.name() + ":" + std::to_string(number) + ": ");
  }
  return maker.done();
}

Tokenizer Tokenizer::load_json(const std::filesystem::path& path) {
  const MappedFile file(path);
  const Json json = parse_json(file.bytes(), file.name(), 8);
  const auto fail = [&](const std::string& what) { throw FileError(file.name() + ": " + what); };
  const auto is = [](const Json& object, const char* name, const Json& wanted) {
    return object.is_object() && object.contains(name) && object[name] == wanted;
  };
  // A part of the file that may be missing or null.
  static const Json kNull;
  const auto part = [](const Json& object, const char* name) -> const Json& {
    return object.is_object() && object.contains(name) ? object[name] : kNull;
  };
  const Json& bpe = part(json, "model");
  if (!is(bpe, "type", "BPE") || !part(bpe, "vocab").is_object() || !part(bpe, "merges").is_array())
    fail("its model is none of the type BPE with a vocab and merges");
  for (const char* name : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"})
    if (const Json& value = part(bpe, name); !value.is_null() && value != "" && value != 0)
      fail(std::string("its model has a ") + name + ", which is not read here");
  if (!part(json, "normalizer").is_null()) fail("has a normalizer, which is not read here");
  const auto shown = [](const Json& value) { return value.dump().substr(0, 200); };

  // The cut: ByteLevel with GPT-2's words, and before it perhaps Digits one by one.
  const Json& cut = part(json, "pre_tokenizer");
  const std::vector<Json> parts = is(cut, "type", "Sequence") && part(cut, "pretokenizers").is_array()
                                      ? part(cut, "pretokenizers").get<std::vector<Json>>()
                                      : std::vector<Json>{cut};
  const auto is_words = [&](const Json& value) {
    return is(value, "type", "ByteLevel") && is(value, "add_prefix_space", false) &&
           (!value.contains("use_regex") || value["use_regex"] == true);
  };
  const auto is_digits = [&](const Json& value) {
    return is(value, "type", "Digits") && is(value, "individual_digits", true);
  };
  const bool digits = parts.size() == 2 && is_digits(parts[0]);
  if (!is_words(parts.back()) || parts.size() != (digits ? 2u : 1u))
    fail(
        "its pre_tokenizer is not read here: ByteLevel without add_prefix_space, or Digits one by one and "
        "then that; it is " +
        shown(cut));

  const Json& added = part(json, "added_tokens");
  if (!added.is_null() && !added.is_array()) fail("its added_tokens are no list");
  size_t size = bpe["vocab"].size();
  std::map<std::string, Json> special;
  for (const Json& token : added) {
    if (!part(token, "content").is_string() || !part(token, "id").is_number_unsigned())
      fail("an added token is none: " + shown(token));
    const auto content = token["content"].get<std::string>();
    if (!special.try_emplace(content, token["id"]).second)
      fail("added token \"" + content + "\" is there twice");
    if (!bpe["vocab"].contains(content)) {
      ++size;
    } else if (bpe["vocab"][content] != token["id"]) {
      fail("added token \"" + content + "\" has another id in the vocabulary");
    }
  }
  Maker maker(file.name(), size);
  maker.set_split(digits ? Split::kDigits : Split::kNone);
  for (const auto& [text, value] : bpe["vocab"].items())
    if (!special.contains(text)) maker.token(text, value, text == kEndOfText);
  for (const auto& [text, value] : special) maker.token(text, value, true);
  maker.end_of_tokens(false);
  size_t number = 0;
  for (const Json& merge : bpe["merges"]) {
    const std::string where = file.name() + ": merge " + std::to_string(number++) + " ";
    if (merge.is_string()) {
      maker.merge(merge.get_ref<const std::string&>(), where);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      maker.merge(merge[0].get_ref<const std::string&>(), merge[1].get_ref<const std::string&>(), where);
    } else {
      throw FileError(where + "is no merge: two tokens");
    }
  }
  return maker.done();
}

void Tokenizer::save(const std::filesystem::path& folder) const {
  if (split_ != Split::kNone || special_.size() > 1)
    throw std::invalid_argument(
        "vocab.json and merges.txt cannot say how this tokenizer cuts a text, or its special tokens");
  nlohmann::ordered_json vocab = nlohmann::ordered_json::object();
  for (int32_t id = 0; id < size(); ++id)
    vocab[id == end_of_text() ? std::string(kEndOfText) : to_letters(bytes(id))] = id;
  std::string merges = "#version: 0.2\n";
  for (const auto& [left, right] : pairs_)
    merges += to_letters(bytes(left)) + " " + to_letters(bytes(right)) + "\n";
  std::filesystem::create_directories(folder);
  write_whole(folder / "merges.txt", merges);
  write_whole(folder / "vocab.json", vocab.dump());
}

// ---- text to ids and back ----

// A word's merges, the lowest rank first and of equal ones the leftmost. A heap, because a word may be a million spaces: each
// of n tokens that are left is looked at when it, or its neighbour, has changed.
void Tokenizer::encode_word(std::string_view word, std::vector<int32_t>* ids) const {
  struct Part {
    int32_t id;  // -1: merged into the one before
    size_t before, after;
  };
  // A byte that has no token is left out.
  std::vector<Part> parts;
  for (const char byte : word)
    if (const int32_t id = of_byte_[static_cast<unsigned char>(byte)]; id >= 0)
      parts.push_back({id, parts.size() - 1, parts.size() + 1});
  const size_t n = parts.size();

  struct Candidate {
    int32_t rank;
    size_t at;
    int32_t left, right, id;
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  std::priority_queue<Candidate> queue;
  const auto look = [&](size_t at) {
    if (at >= n || parts[at].after >= n) return;
    const int32_t left = parts[at].id, right = parts[parts[at].after].id;
    const auto merge = merges_.find(key(left, right));
    if (merge != merges_.end()) queue.push({merge->second.rank, at, left, right, merge->second.id});
  };
  for (size_t i = 0; i + 1 < n; ++i) look(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Part& part = parts[best.at];
    if (part.id != best.left || part.after >= n || parts[part.after].id != best.right) continue;
    parts[part.after].id = -1;
    part.id = best.id;
    part.after = parts[part.after].after;
    if (part.after < n) parts[part.after].before = best.at;
    look(part.before);
    look(best.at);
  }
  for (const Part& part : parts)
    if (part.id >= 0) ids->push_back(part.id);
}

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  // Words that occur again are most of a text.
  constexpr size_t kMostWords = 1 << 16, kLongest = 64;
  std::unordered_map<std::string_view, std::pair<size_t, size_t>> seen;  // where in ids, and how many
  std::string_view piece;  // of the text, up to a number, or a number
  while (!text.empty() || !piece.empty()) {
    if (piece.empty()) {
      const size_t cut = split_ == Split::kNone ? text.size() : next_number(text);
      piece = text.substr(0, cut == 0 ? first_character(text).bytes : cut);
      text.remove_prefix(piece.size());
    }
    const std::string_view word = piece.substr(0, first_word(piece));
    piece.remove_prefix(word.size());
    const auto known = seen.find(word);
    if (known != seen.end()) {
      for (size_t i = 0; i < known->second.second; ++i) ids.push_back(ids[known->second.first + i]);
      continue;
    }
    const size_t begin = ids.size();
    encode_word(word, &ids);
    if (word.size() <= kLongest && seen.size() < kMostWords) seen[word] = {begin, ids.size() - begin};
  }
  return ids;
}

int32_t Tokenizer::special(const std::string& name) const {
  const auto found = special_.find(name);
  return found == special_.end() ? -1 : found->second;
}

std::string_view Tokenizer::bytes(int32_t id) const {
  if (id < 0 || id >= size())
    throw std::out_of_range("token " + std::to_string(id) + " is none of 0 to " + std::to_string(size() - 1));
  return bytes_[static_cast<size_t>(id)];
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) text += bytes(id);
  return text;
}

}  // namespace model
