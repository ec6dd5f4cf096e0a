#include "conversations/response_stream.h"

#include <map>

#include "base/error.h"
#include "base/json_reading.h"
#include "base/text.h"
#include "conversations/transcript.h"
#include "http/event_reader.h"

namespace sk::conversations {

namespace {

constexpr int64_t kIndexMax = kMentionsMax;  // index limit of items, parts and annotations

std::optional<size_t> index_in(const Json& event, std::string_view name) {
  auto index = integer_in(event, name).value_or(0);
  if (index < 0 || index > kIndexMax) return std::nullopt;
  return static_cast<size_t>(index);
}

struct Part {
  std::string text;
  bool whole = false;  // a .done event contained the full text
  Json annotations = Json::array();
};

struct Item {
  Json value;  // from .added or .done
  std::map<size_t, Part> parts;
};

bool same_annotation(const Json& one, const Json& other) {
  return text_in(one, "type") == text_in(other, "type") &&
         text_in(one, "file_id") == text_in(other, "file_id") &&
         text_in(one, "filename") == text_in(other, "filename") &&
         integer_in(one, "start_index") == integer_in(other, "start_index");
}

void merge_annotations(Json& into, const Json& more) {
  if (!into.is_array()) into = Json::array();
  if (into.size() + more.size() > 2 * kMentionsMax)
    throw Error(Code::too_large, "a message may mention at most " + std::to_string(kMentionsMax) + " files");
  for (const auto& annotation : more) {
    bool known = false;
    for (const auto& other : into) known = known || same_annotation(annotation, other);
    if (!known) into.push_back(annotation);
  }
}

// Collects events. Ignores events that it cannot read.
class Assembly {
 public:
  void apply(const Json& event) {
    auto type = text_in(event, "type");
    if (type.empty()) return apply_other(event);
    if (field_in(event, "response").is_object()) {
      known_ = true;
      response_ = event["response"];
    }
    if (type.starts_with("response.")) known_ = true;
    if (type == "response.output_item.added" || type == "response.output_item.done") {
      if (auto* item = item_of(event)) item->value = field_in(event, "item");
    } else if (type == "response.output_text.delta" || type == "response.refusal.delta") {
      if (auto* part = part_of(event); part && !part->whole) part->text += text_in(event, "delta");
    } else if (type == "response.output_text.done") {
      if (auto* part = part_of(event)) part->text = text_in(event, "text"), part->whole = true;
    } else if (type == "response.content_part.done") {
      if (auto* part = part_of(event)) {
        const auto& value = field_in(event, "part");
        if (auto text = text_in(value, "text"); !text.empty()) part->text = text, part->whole = true;
        merge_annotations(part->annotations, list_in(value, "annotations"));
      }
    } else if (type == "response.output_text.annotation.added") {
      const auto& annotation = field_in(event, "annotation");
      if (auto* part = part_of(event); part && annotation.is_object())
        merge_annotations(part->annotations, Json::array({annotation}));
    }
  }

  Json finish() {
    if (!known_) {
      throw Error(Code::bad_request, "'events' holds no event of a response")
          .advise(Advice::send_stream_as_it_came)
          .with("field", "events");
    }
    if (message_.is_object()) return message_;
    if (!chat_text_.empty()) return {{"content", chat_text_}};
    Json out = response_.is_object() ? response_ : Json::object();
    Json items = list_in(out, "output");
    for (auto& [index, item] : items_) complete(items, index, item);
    out["output"] = std::move(items);
    return out;
  }

 private:
  Item* item_of(const Json& event) {
    auto index = index_in(event, "output_index");
    return index ? &items_[*index] : nullptr;
  }
  Part* part_of(const Json& event) {
    auto* item = item_of(event);
    auto index = index_in(event, "content_index");
    return item && index ? &item->parts[*index] : nullptr;
  }

  // Events of chat completions and of the Assistants API have no type.
  void apply_other(const Json& event) {
    if (text_in(event, "object") == "thread.message") {
      known_ = true;
      message_ = event;
    }
    for (const auto& choice : list_in(event, "choices")) {
      known_ = true;
      if (integer_in(choice, "index").value_or(0) == 0)
        chat_text_ += text_in(field_in(choice, "delta"), "content");
    }
  }

  static bool is_message(const Json& item) {
    auto type = text_in(item, "type");
    return type.empty() || type == "message";
  }

  // Completes item `index` of the final response with streamed data that it lacks.
  static void complete(Json& items, size_t index, Item& item) {
    bool in_final = index < items.size() && items[index].is_object();
    if (!in_final) {
      Json value = item.value.is_object() ? item.value : Json{{"type", "message"}, {"role", "assistant"}};
      items.push_back(std::move(value));
      index = items.size() - 1;
    }
    auto& value = items[index];
    if (!is_message(value) || item.parts.empty()) return;
    if (!field_in(value, "content").is_array()) value["content"] = Json::array();
    auto& content = value["content"];
    for (auto& [number, part] : item.parts) {
      if (number >= content.size()) {
        content.push_back({{"type", "output_text"}, {"text", part.text}, {"annotations", part.annotations}});
      } else if (content[number].is_object()) {
        auto& known = content[number];
        if (text_in(known, "text").empty() && !known.contains("refusal")) known["text"] = part.text;
        if (field_in(known, "text").is_string()) {
          Json merged = field_in(known, "annotations");
          merge_annotations(merged, part.annotations);
          known["annotations"] = std::move(merged);
        }
      }
    }
  }

  bool known_ = false;
  Json response_, message_;
  std::string chat_text_;
  std::map<size_t, Item> items_;
};

}  // namespace

Json assemble_response(std::string_view text) {
  Assembly assembly;
  http::EventReader reader([&](const http::EventReader::Event& event) {
    if (event.data.empty() || event.data == "[DONE]") return;
    try {
      assembly.apply(parse_json(event.data, "an event"));
    } catch (const Error& error) {
      // A truncated stream ends with an incomplete event.
      if (error.code() != Code::bad_request) throw;
    }
  });
  reader.add(text);
  reader.end();
  return assembly.finish();
}

}  // namespace sk::conversations
