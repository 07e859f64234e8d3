// SPDX-License-Identifier: MIT
#include "serve/chat.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "model/json.h"

namespace serve {
namespace {

namespace fs = std::filesystem;
using model::FileError;
using model::Json;
using model::Tokenizer;
using Ids = std::vector<int32_t>;

// A template without what may differ and says the same: spaces, lines' ends, also those that are written as \\n.
std::string squeezed(std::string_view text) {
  std::string kept;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n') {
      ++i;
    } else if (text[i] == '"') {
      kept += '\'';
    } else if (!(text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r') || text[i] == '-')) {
      kept += text[i];
    }
  }
  return kept;
}

constexpr std::string_view kChatMl =
    "{{'<|im_start|>'+message['role']+''+message['content']+'<|im_end|>'+''}}{%endfor%}"
    "{%ifadd_generation_prompt%}{{'<|im_start|>assistant'}}{%endif%}";
constexpr std::string_view kLoop = "{%formessageinmessages%}";
constexpr std::string_view kSystem = "{%ifloop.firstandmessages[0]['role']!='system'%}{{'<|im_start|>system";
constexpr std::string_view kSystemEnd = "<|im_end|>'}}{%endif%}";
constexpr std::string_view kLlama3 =
    "{%setloop_messages=messages%}{%formessageinloop_messages%}{%setcontent='<|start_header_id|>'+message['"
    "role']+"
    "'<|end_header_id|>'+message['content']|trim+'<|eot_id|>'%}{%ifloop.index0==0%}{%setcontent=bos_token+"
    "content%}"
    "{%endif%}{{content}}{%endfor%}";
constexpr std::string_view kLlama3Ask = "{{'<|start_header_id|>assistant<|end_header_id|>'}}";

// The text between `from` and `to` of a template as it stands there.
std::string between(std::string_view text, std::string_view from, std::string_view to) {
  const size_t begin = text.find(from) + from.size(), end = text.find(to, begin);
  std::string found(text.substr(begin, end - begin));
  for (size_t at; (at = found.find("\\n")) != std::string::npos;) found.replace(at, 2, "\n");
  return found;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1));
}

void add(const Tokenizer& tokenizer, const char* mark, Ids* ids) {
  ids->push_back(tokenizer.special(mark));
}
void add_text(const Tokenizer& tokenizer, const std::string& text, Ids* ids) {
  const Ids more = tokenizer.encode(text);
  ids->insert(ids->end(), more.begin(), more.end());
}

// The folder's template; "" where it has none.
std::string text_of(const fs::path& folder) {
  if (fs::exists(folder / "chat_template.jinja"))
    return std::string(model::MappedFile(folder / "chat_template.jinja").bytes());
  if (!fs::exists(folder / "tokenizer_config.json")) return "";
  const model::MappedFile file(folder / "tokenizer_config.json");
  const Json json = model::parse_json(file.bytes(), file.name(), 8);
  if (!json.is_object() || !json.contains("chat_template")) return "";
  if (!json["chat_template"].is_string()) throw FileError(file.name() + ": its chat_template is no text");
  return json["chat_template"].get<std::string>();
}

}  // namespace

ChatTemplate ChatTemplate::of(const fs::path& folder, const Tokenizer& tokenizer, const std::string& forced) {
  const auto made = [&](const char* name, std::string system, std::initializer_list<const char*> marks) {
    for (const char* mark : marks)
      if (tokenizer.special(mark) < 0)
        throw FileError(folder.string() + ": its tokenizer has no " + mark + ", which conversations in " +
                        name + " need");
    return ChatTemplate(name, std::move(system));
  };
  const auto chatml = [&](std::string system) {
    return made("chatml", std::move(system), {"<|im_start|>", "<|im_end|>"});
  };
  const auto llama3 = [&] {
    return made("llama3", "",
                {"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"});
  };
  if (forced == "plain") return made("plain", "", {});
  if (forced == "chatml") return chatml("");
  if (forced == "llama3") return llama3();
  const std::string text = text_of(folder), all = squeezed(text);
  if (all.empty()) return made("plain", "", {});
  std::string_view rest = all;
  if (rest == std::string(kLlama3) + std::string(kLlama3Ask) ||
      rest == std::string(kLlama3) + "{%ifadd_generation_prompt%}" + std::string(kLlama3Ask) + "{%endif%}")
    return llama3();
  if (rest.starts_with(kLoop)) {
    rest.remove_prefix(kLoop.size());
    if (rest == kChatMl) return chatml("");
    if (rest.starts_with(kSystem)) {
      const size_t end = rest.find(kSystemEnd);
      if (end != std::string_view::npos && rest.substr(end + kSystemEnd.size()) == kChatMl)
        return chatml(trimmed(between(text, "<|im_start|>system", "<|im_end|>")));
    }
  }
  throw FileError(
      folder.string() +
      ": its chat template is none that is known here; --template chatml, llama3 or plain takes one of "
      "these whatever the folder says");
}

void ChatTemplate::say(const Tokenizer& tokenizer, const Message& message, Ids* ids) const {
  if (name_ == "chatml") {
    add(tokenizer, "<|im_start|>", ids);
    add_text(tokenizer, message.role + "\n" + message.content, ids);
    add(tokenizer, "<|im_end|>", ids);
    add_text(tokenizer, "\n", ids);
  } else if (name_ == "llama3") {
    add(tokenizer, "<|start_header_id|>", ids);
    add_text(tokenizer, message.role, ids);
    add(tokenizer, "<|end_header_id|>", ids);
    add_text(tokenizer, "\n\n" + trimmed(message.content), ids);
    add(tokenizer, "<|eot_id|>", ids);
  } else {
    add_text(tokenizer, message.content + "\n", ids);
  }
}
void ChatTemplate::ask(const Tokenizer& tokenizer, Ids* ids) const {
  if (name_ == "chatml") {
    add(tokenizer, "<|im_start|>", ids);
    add_text(tokenizer, "assistant\n", ids);
  } else if (name_ == "llama3") {
    add(tokenizer, "<|start_header_id|>", ids);
    add_text(tokenizer, "assistant", ids);
    add(tokenizer, "<|end_header_id|>", ids);
    add_text(tokenizer, "\n\n", ids);
  }
}

Ids ChatTemplate::encode(const Tokenizer& tokenizer, std::span<const Message> messages) const {
  Ids ids;
  if (name_ == "plain") {
    std::string lines;
    for (const Message& message : messages) lines += message.content + "\n";
    return tokenizer.encode(lines);
  }
  if (name_ == "llama3") add(tokenizer, "<|begin_of_text|>", &ids);
  if (!system_.empty() && (messages.empty() || messages[0].role != "system"))
    say(tokenizer, {"system", system_}, &ids);
  for (const Message& message : messages) say(tokenizer, message, &ids);
  ask(tokenizer, &ids);
  return ids;
}
Ids ChatTemplate::encode_more(const Tokenizer& tokenizer, const Message& message) const {
  Ids ids;
  if (name_ == "chatml") {
    add(tokenizer, "<|im_end|>", &ids);
    add_text(tokenizer, "\n", &ids);
  } else if (name_ == "llama3") {
    add(tokenizer, "<|eot_id|>", &ids);
  }
  say(tokenizer, message, &ids);
  ask(tokenizer, &ids);
  return ids;
}

std::vector<int32_t> ChatTemplate::ends(const Tokenizer& tokenizer) const {
  Ids ids;
  for (const char* mark : {"<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>"})
    if (const int32_t id = tokenizer.special(mark); id >= 0) ids.push_back(id);
  return ids;
}

}  // namespace serve
