#include "conversations/transcript.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/json_reading.h"
#include "base/path.h"
#include "base/text.h"
#include "conversations/data_uri.h"
#include "conversations/response_stream.h"

namespace sk::conversations {

namespace {

using Kind = Mention::Kind;

// A cited file of an annotation. The range is in bytes of the whole text.
struct Annotation {
  std::string container, file_id, name;
  std::optional<std::pair<size_t, size_t>> range;
};

// Maps code point indexes to byte offsets. Stores every 256th offset, so that many annotations of a long text
// are cheap.
class CharacterOffsets {
 public:
  explicit CharacterOffsets(std::string_view text) : text_(text) {
    for (size_t at = 0; at < text.size(); ++at) {
      if (begins(at) && count_++ % kStep == 0) every_.push_back(at);
    }
  }

  // nullopt beyond the end of the text.
  std::optional<size_t> of(int64_t index) const {
    if (index < 0 || index > count_) return std::nullopt;
    if (index == count_) return text_.size();
    size_t at = every_[static_cast<size_t>(index / kStep)];
    for (int64_t left = index % kStep; left > 0; --left) {
      do ++at;
      while (!begins(at));
    }
    return at;
  }

 private:
  static constexpr int64_t kStep = 256;
  bool begins(size_t at) const { return (static_cast<unsigned char>(text_[at]) & 0xc0) != 0x80; }

  const std::string_view text_;
  int64_t count_ = 0;
  std::vector<size_t> every_;
};

bool is_sandbox_address(std::string_view text) { return ascii_lower(text.substr(0, 8)) == "sandbox:"; }

class Reader {
 public:
  Transcript finish() {
    join_links();
    return std::move(out_);
  }
  Transcript& out() { return out_; }

  void read_item(const Json& item) {
    if (!item.is_object()) return;
    auto type = text_in(item, "type");
    note_container(text_in(item, "container_id"));
    if (item.contains("environment")) note_container(text_in(item["environment"], "container_id"));
    if (type == "code_interpreter_call") return read_outputs(list_in(item, "outputs"));
    if (type == "image_generation_call") return read_generated(item);
    bool is_message = type == "message" || (type.empty() && item.contains("content"));
    if (is_message) read_message(item);
  }

  void read_message(const Json& message) {
    if (auto role = text_in(message, "role"); !role.empty()) out_.role = role;
    if (const auto& content = field_in(message, "content"); content.is_string())
      append_text(content.get<std::string>(), Json::array());
    for (const auto& part : list_in(message, "content")) read_part(part);
    for (const auto& attachment : list_in(message, "attachments")) {
      if (auto id = text_in(attachment, "file_id"); !id.empty())
        out_.mentions.push_back({.kind = Kind::attachment, .file_id = id});
    }
  }

  void append_text(const std::string& text, const Json& annotations) {
    if (!out_.text.empty() && !text.empty()) out_.text += "\n\n";
    size_t base = out_.text.size();
    // Text that is not UTF-8 can be neither stored nor shown.
    out_.text += is_utf8(text) ? text : escape_name(text);
    if (!annotations.is_array() || annotations.empty()) return;
    if (annotations_.size() + annotations.size() > kMentionsMax) throw_too_many();
    const std::string part = out_.text.substr(base);
    CharacterOffsets offsets(part);
    for (const auto& annotation : annotations) read_annotation(annotation, part, offsets, base);
  }

 private:
  void read_part(const Json& part) {
    if (!part.is_object()) return;
    if (part.contains("_meta")) note_container(text_in(part["_meta"], "container_id"));
    const auto& text = field_in(part, "text");
    if (text.is_string()) return append_text(text.get<std::string>(), field_in(part, "annotations"));
    if (text.is_object()) return append_text(text_in(text, "value"), field_in(text, "annotations"));
    if (auto refusal = text_in(part, "refusal"); !refusal.empty()) return append_text(refusal, {});
    if (part.contains("image_file")) {
      if (auto id = text_in(part["image_file"], "file_id"); !id.empty())
        out_.mentions.push_back({.kind = Kind::image, .file_id = id});
    }
    const auto& image = field_in(part, "image_url");
    add_address(Kind::image, image.is_string() ? image.get<std::string>() : text_in(image, "url"));
    auto type = text_in(part, "type");
    if (type == "input_file" || type == "input_image") {
      auto kind = type == "input_image" ? Kind::image : Kind::attachment;
      if (auto id = text_in(part, "file_id"); !id.empty())
        out_.mentions.push_back({.kind = kind, .file_id = id, .name = text_in(part, "filename")});
      add_data(text_in(part, "file_data"), text_in(part, "filename"));
      add_address(kind, text_in(part, "file_url"), text_in(part, "filename"));
    }
  }

  [[noreturn]] static void throw_too_many() {
    throw Error(Code::too_large, "a message may mention at most " + std::to_string(kMentionsMax) + " files");
  }

  void read_annotation(const Json& annotation, std::string_view part, const CharacterOffsets& offsets,
                       size_t base) {
    auto type = text_in(annotation, "type");
    if (type != "container_file_citation" && type != "file_path") return;
    Annotation out;
    out.container = text_in(annotation, "container_id");
    out.file_id = text_in(annotation, "file_id");
    out.name = text_in(annotation, "filename");
    // The form of the Assistants API.
    if (out.file_id.empty()) out.file_id = text_in(field_in(annotation, "file_path"), "file_id");
    note_container(out.container);
    auto start = offsets.of(integer_in(annotation, "start_index").value_or(-1));
    auto end = offsets.of(integer_in(annotation, "end_index").value_or(-1));
    if (start && end && *start < *end && is_sandbox_address(part.substr(*start, *end - *start)))
      out.range = {base + *start, base + *end};
    if (auto written = text_in(annotation, "text"); out.name.empty() && is_sandbox_address(written))
      out.name = name_meant(written);
    annotations_.push_back(std::move(out));
  }

  void read_outputs(const Json& outputs) {
    for (const auto& output : outputs) add_address(Kind::image, text_in(output, "url"));
  }

  void read_generated(const Json& item) {
    auto result = text_in(item, "result");
    if (result.empty()) return;
    auto format = text_in(item, "output_format");
    add_data("data:image/" + (format.empty() ? "png" : format) + ";base64," + result);
  }

  // Every kind of address becomes a mention, so that none is dropped silently.
  void add_address(Kind kind, const std::string& url, const std::string& name = "") {
    if (url.empty()) return;
    if (ascii_lower(url.substr(0, 5)) == "data:") return add_data(url, name);
    if (!is_sandbox_address(url)) return add_web(kind, url, name);
    SandboxLink link;
    link.address = url;
    out_.mentions.push_back({.kind = kind, .link = std::move(link)});
  }

  // The stored part of a web address omits its query, which may be a signature. An address that is too long
  // is not stored.
  void add_web(Kind kind, const std::string& url, const std::string& name) {
    constexpr size_t kShownBytesMax = 1000;
    auto shown = url.substr(0, url.find_first_of("?#"));
    Mention mention{.kind = kind, .name = name, .elsewhere = url};
    if (mention.name.empty()) mention.name = shown.substr(shown.find_last_of('/') + 1);
    if (mention.name.empty()) mention.name = kind == Kind::image ? "image" : "file";
    if (auto own = shown.find("/k/"); own != std::string::npos) {
      // It may be a permanent link of this server.
      auto id = shown.substr(own + 3);
      mention.file_id = id.substr(0, id.find('/'));
    }
    bool is_ours = mention.file_id.starts_with("v_");
    if (!is_ours) mention.file_id = shown.size() <= kShownBytesMax ? shown : std::string();
    // Addresses that differ only in the query are different files.
    if (!is_ours && shown.size() < url.size()) mention.file_id += "#" + sha256(url).hex().substr(0, 8);
    out_.mentions.push_back(std::move(mention));
  }

  void add_data(const std::string& uri, const std::string& name = "") {
    if (ascii_lower(uri.substr(0, 5)) != "data:") return;
    out_.mentions.push_back({.kind = Kind::image, .name = name, .data_uri = uri});
  }

  void note_container(const std::string& container) {
    auto& all = out_.containers;
    if (!container.empty() && std::find(all.begin(), all.end(), container) == all.end())
      all.push_back(container);
  }

  // Assigns annotations to links by position in the text, then by equal path, then by name if that is
  // unambiguous. Other links are matched by path.
  void join_links() {
    std::vector<Mention> links;
    auto found = find_sandbox_links(out_.text);
    if (found.size() + out_.mentions.size() > kMentionsMax) throw_too_many();
    for (auto& link : found) {
      bool is_data = ascii_lower(link.address.substr(0, 5)) == "data:";
      Mention mention{.kind = link.form == SandboxLink::Form::image ? Kind::image : Kind::link};
      if (is_data) mention.data_uri = link.address;
      mention.link = std::move(link);
      links.push_back(std::move(mention));
    }
    std::vector<bool> used(annotations_.size(), false);
    if (!annotations_.empty()) {
      auto open = join_by_place(links, used);
      join_by_name(open, used);
    }
    for (size_t i = 0; i < annotations_.size(); ++i) {
      const auto& note = annotations_[i];
      bool known = used[i] || (note.file_id.empty() && note.name.empty());
      for (const auto& link : links) known = known || (!note.file_id.empty() && link.file_id == note.file_id);
      if (!known)
        links.push_back({.kind = Kind::citation,
                         .container = note.container,
                         .file_id = note.file_id,
                         .name = note.name});
    }
    out_.mentions.insert(out_.mentions.begin(), std::make_move_iterator(links.begin()),
                         std::make_move_iterator(links.end()));
    drop_repeated();
  }

  // A link without an annotation so far.
  struct OpenLink {
    Mention* mention;
    std::vector<std::string> paths;  // that it may refer to
  };

  // Yields an annotation if all that were seen agree, and none if they differ.
  class OnlyOne {
   public:
    void see(size_t annotation, const std::vector<Annotation>& all) {
      if (!index_) index_ = annotation;
      const auto &a = all[*index_], &b = all[annotation];
      is_doubtful_ = is_doubtful_ || a.file_id != b.file_id || a.container != b.container;
    }
    std::optional<size_t> get() const { return is_doubtful_ ? std::nullopt : index_; }

   private:
    std::optional<size_t> index_;
    bool is_doubtful_ = false;
  };

  // Returns the links without an annotation.
  std::vector<OpenLink> join_by_place(std::vector<Mention>& links, std::vector<bool>& used) {
    std::vector<OpenLink> open;
    std::map<std::string, OnlyOne> by_path;
    for (auto& mention : links) {
      if (!mention.data_uri.empty()) continue;
      auto at = annotation_at(*mention.link);
      if (at) take(mention, *at, used);
      auto paths = paths_meant(mention.link->address);
      if (paths.empty()) continue;
      if (at) by_path[paths.front()].see(*at, annotations_);
      if (!at) open.push_back({&mention, std::move(paths)});
    }
    std::erase_if(open, [&](const OpenLink& link) {
      auto same = by_path.find(link.paths.front());
      auto only = same == by_path.end() ? std::nullopt : same->second.get();
      if (only) take(*link.mention, *only, used);
      return only.has_value();
    });
    return open;
  }

  std::optional<size_t> annotation_at(SandboxLink& link) const {
    for (size_t i = 0; i < annotations_.size(); ++i) {
      const auto& range = annotations_[i].range;
      if (!range || range->first != link.start) continue;
      // The annotation gives the end of a bare address that contains spaces.
      if (link.form == SandboxLink::Form::bare) {
        link.end = link.outer_end = range->second;
        link.address = out_.text.substr(link.start, link.end - link.start);
      }
      return i;
    }
    return std::nullopt;
  }

  // Annotations contain only the last part of the path, so "x.csv" may be a/x.csv or b/x.csv. A name matches
  // only if exactly one cited file and one linked path have it.
  void join_by_name(const std::vector<OpenLink>& open, std::vector<bool>& used) {
    std::map<std::string, OnlyOne> by_name;
    for (size_t i = 0; i < annotations_.size(); ++i) {
      if (!used[i] && !annotations_[i].name.empty()) by_name[annotations_[i].name].see(i, annotations_);
    }
    if (by_name.empty()) return;
    auto cited = [&](const OpenLink& link) {
      for (const auto& path : link.paths) {
        for (const auto& name : {path, split_path(path).second})
          if (auto found = by_name.find(name); found != by_name.end()) return found;
      }
      return by_name.end();
    };
    std::map<std::string, std::set<std::string>> paths_of_name;
    for (const auto& link : open) {
      if (auto found = cited(link); found != by_name.end())
        paths_of_name[found->first].insert(link.paths.front());
    }
    for (const auto& link : open) {
      auto found = cited(link);
      if (found == by_name.end() || paths_of_name[found->first].size() > 1) continue;
      if (auto only = found->second.get()) take(*link.mention, *only, used);
    }
  }

  void take(Mention& mention, size_t annotation, std::vector<bool>& used) {
    const auto& note = annotations_[annotation];
    mention.container = note.container;
    mention.file_id = note.file_id;
    mention.name = note.name;
    used[annotation] = true;
  }

  // A file that is cited twice outside the text is one attachment.
  void drop_repeated() {
    std::vector<Mention> kept;
    for (auto& mention : out_.mentions) {
      bool again = !mention.link && !mention.file_id.empty() &&
                   std::any_of(kept.begin(), kept.end(), [&](const Mention& other) {
                     return other.file_id == mention.file_id && other.container == mention.container &&
                            other.elsewhere == mention.elsewhere;
                   });
      if (!again) kept.push_back(std::move(mention));
    }
    out_.mentions = std::move(kept);
  }

  Transcript out_;
  std::vector<Annotation> annotations_;
};

void read_head(Reader& reader, const Json& response) {
  auto& out = reader.out();
  out.response_id = text_in(response, "id");
  out.model = text_in(response, "model");
  out.completed_us = unix_time_in(response, "completed_at");
  out.created_us = unix_time_in(response, "created_at");
  if (!out.created_us) out.created_us = unix_time_in(response, "created");
}

}  // namespace

std::string Mention::shown_name() const {
  if (link && !paths_meant(link->address).empty()) return name_meant(link->address);
  // A remote name may be a path; use its last part, so that it cannot leave the folder.
  for (const auto& text : {name, file_id}) {
    auto last = text.substr(text.find_last_of('/') + 1);
    if (!last.empty() && last != "." && last != "..") return escape_name(last);
    if (link && data_uri.empty()) return name_meant(link->address);
  }
  return data_uri.empty() ? "file" : "";
}

Transcript read_plain_text(std::string text) {
  Reader reader;
  reader.append_text(text, {});
  return reader.finish();
}

Transcript read_response(const Json& response) {
  Reader reader;
  reader.out().role = "assistant";
  if (response.is_array()) {
    for (const auto& item : response) reader.read_item(item);
    return reader.finish();
  }
  bool known = false;
  if (response.is_object()) {
    read_head(reader, response);
    if (field_in(response, "output").is_array()) {
      for (const auto& item : response["output"]) reader.read_item(item);
      known = true;
    } else if (field_in(response, "choices").is_array()) {
      for (const auto& choice : list_in(response, "choices")) {
        reader.read_message(field_in(choice, "message"));
        break;  // the other choices are alternatives
      }
      known = true;
    } else if (response.contains("content") || response.contains("output_text")) {
      if (response.contains("content")) reader.read_message(response);
      if (!response.contains("content")) reader.append_text(text_in(response, "output_text"), {});
      known = true;
    }
  }
  if (!known) {
    throw Error(Code::bad_request, "'response' has neither 'output' nor 'content' nor 'choices'")
        .advise(Advice::send_response_as_it_came)
        .with("field", "response");
  }
  return reader.finish();
}

Transcript read_event_stream(std::string_view text) { return read_response(assemble_response(text)); }

}  // namespace sk::conversations
