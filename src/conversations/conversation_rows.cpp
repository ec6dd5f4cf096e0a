#include "conversations/conversation_rows.h"

#include <array>

#include "base/json_reading.h"

namespace sk::conversations {

namespace {

constexpr std::array<std::string_view, 4> kStates = {"kept", "pending", "missing", "not_captured"};
constexpr std::array<std::string_view, 4> kReasons = {"", "gone", "denied", "cannot_tell"};

template <class Enum, size_t N>
Enum from_name(const std::array<std::string_view, N>& names, std::string_view text, Enum otherwise) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return otherwise;
}

Json link_json(const SandboxLink& link) {
  return {{"form", static_cast<int>(link.form)},
          {"range", {link.outer_start, link.start, link.end, link.outer_end}},
          {"label", link.label},
          {"address", link.address}};
}

std::optional<SandboxLink> link_from(const Json& json) {
  const auto& range = list_in(json, "range");
  if (range.size() != 4) return std::nullopt;
  SandboxLink link;
  link.form = static_cast<SandboxLink::Form>(integer_in(json, "form").value_or(0));
  link.outer_start = range[0].get<size_t>();
  link.start = range[1].get<size_t>();
  link.end = range[2].get<size_t>();
  link.outer_end = range[3].get<size_t>();
  link.label = text_in(json, "label");
  link.address = text_in(json, "address");
  return link;
}

std::string detail_of(const ShownFile& file) {
  Json detail = {{"kind", static_cast<int>(file.kind)}, {"name", file.name}};
  if (!file.container.empty()) detail["container"] = file.container;
  if (!file.file_id.empty()) detail["file_id"] = file.file_id;
  if (!file.explanation.empty()) detail["explanation"] = file.explanation;
  if (file.link) {
    auto link = *file.link;
    // The bytes of an image are already stored as a file.
    if (link.address.size() > 64 && link.address.starts_with("data:")) link.address.resize(64);
    detail["link"] = link_json(link);
  }
  return to_text(detail);
}

ShownFile read_shown_file(const catalog::Row& row) {
  ShownFile file;
  file.seq = row.integer(0);
  file.state = from_name(kStates, row.text(1), ShownState::not_captured);
  file.why = from_name(kReasons, row.text(2), WhyNot::cannot_tell);
  file.version = row.id(3);
  file.file = row.id(4);
  auto detail = Json::parse(row.text(5));
  file.kind = static_cast<Mention::Kind>(integer_in(detail, "kind").value_or(0));
  file.name = text_in(detail, "name");
  file.container = text_in(detail, "container");
  file.file_id = text_in(detail, "file_id");
  file.explanation = text_in(detail, "explanation");
  file.link = link_from(field_in(detail, "link"));
  return file;
}

std::optional<Id> id_or_null(const Id& id) { return id ? std::optional(id) : std::nullopt; }

}  // namespace

std::string_view name_of(ShownState state) { return kStates[static_cast<size_t>(state)]; }
std::string_view name_of(WhyNot why) { return kReasons[static_cast<size_t>(why)]; }

Conversation read_conversation(const catalog::Row& row) {
  Conversation out;
  out.id = row.id(0);
  out.workspace = row.id(1);
  out.name = row.str(2);
  out.title = row.str(3);
  out.created_us = row.integer(4);
  out.changed_us = row.integer(5);
  out.message_count = row.integer(6);
  return out;
}

Message read_message(const catalog::Row& row) {
  Message out;
  out.id = row.id(0);
  out.conversation = row.id(1);
  out.conversation_name = row.str(2);
  out.name = row.str(3);
  out.role = row.str(4);
  out.order_us = row.integer(5);
  out.stored_us = row.integer(6);
  out.author = row.id(7);
  out.text = row.str(8);
  auto detail = Json::parse(row.text(9));
  out.response_id = text_in(detail, "response_id");
  out.model = text_in(detail, "model");
  out.time_us = integer_in(detail, "made_us").value_or(out.order_us);
  return out;
}

std::string message_detail(const Message& message) {
  Json detail = {{"response_id", message.response_id}, {"model", message.model}};
  if (message.time_us != message.order_us) detail["made_us"] = message.time_us;
  return to_text(detail);
}

std::vector<ShownFile> read_shown_files(catalog::Statements& statements, const Id& message) {
  return statements.all(
      "SELECT seq, state, reason, version, file, detail FROM message_files WHERE message = $1 ORDER BY seq",
      {message}, read_shown_file);
}

std::string origin_of(const ShownFile& file) {
  // A web address identifies the file without a container.
  if (file.file_id.find("://") != std::string::npos) return file.file_id;
  if (file.container.empty()) return {};
  if (!file.file_id.empty()) return file.container + "\n" + file.file_id;
  auto paths = file.link ? paths_meant(file.link->address) : std::vector<std::string>();
  return paths.empty() ? std::string() : file.container + "\n/mnt/data/" + paths.front();
}

std::optional<Id> kept_from_origin(catalog::Statements& statements, const Id& workspace,
                                   const std::string& origin) {
  if (origin.empty()) return std::nullopt;
  return statements.one(
      "SELECT version FROM message_files WHERE workspace = $1 AND origin = $2 AND state = 'kept' "
      "ORDER BY message DESC LIMIT 1",
      {workspace, origin}, [](const catalog::Row& row) { return row.id(0); });
}

void write_shown_files(catalog::Tx& tx, const Id& node, const Id& workspace, const Id& message,
                       const std::vector<ShownFile>& files) {
  tx.exec("DELETE FROM message_files WHERE message = $1", {message});
  for (const auto& file : files) {
    tx.exec(
        "INSERT INTO message_files (message, seq, workspace, state, reason, version, file, origin, detail, "
        "node) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        {message, file.seq, workspace, name_of(file.state), name_of(file.why), id_or_null(file.version),
         id_or_null(file.file), origin_of(file), detail_of(file), node});
  }
}

void update_shown_file(catalog::Tx& tx, const Id& message, const ShownFile& file) {
  tx.exec(
      "UPDATE message_files SET state = $3, reason = $4, version = $5, file = $6, detail = $7 "
      "WHERE message = $1 AND seq = $2",
      {message, file.seq, name_of(file.state), name_of(file.why), id_or_null(file.version),
       id_or_null(file.file), detail_of(file)});
}

workspace::Amount size_of_message(catalog::Statements& statements, const Id& message) {
  return statements
      .one("SELECT bytes FROM message_sizes WHERE message = $1", {message},
           [](const catalog::Row& row) { return workspace::Amount{row.integer(0), 1}; })
      .value_or(workspace::Amount{});
}

workspace::Amount size_of_conversation(catalog::Statements& statements, const Id& conversation) {
  return statements
      .one("SELECT bytes FROM conversation_sizes WHERE conversation = $1", {conversation},
           [](const catalog::Row& row) { return workspace::Amount{row.integer(0), 0}; })
      .value_or(workspace::Amount{});
}

}  // namespace sk::conversations
