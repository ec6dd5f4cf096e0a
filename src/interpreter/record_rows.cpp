#include "interpreter/record_rows.h"

namespace sk::interpreter {

namespace {

// The catalog of a newer server may name reasons that this one does not know.
UnkeptReason reason_named(std::string_view name) {
  return unkept_reason_from(name).value_or(UnkeptReason::error);
}

Json pairs_to_json(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json list = Json::array();
  for (const auto& [from, to] : pairs) list.push_back({{"from", from}, {"to", to}});
  return list;
}

std::vector<std::pair<std::string, std::string>> pairs_from(const Json& list) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& item : list) pairs.emplace_back(item.at("from"), item.at("to"));
  return pairs;
}

}  // namespace

SessionInfo read_session(const catalog::Row& row) {
  using Column = SessionColumn;
  SessionInfo session;
  session.id = row.id(Column::id);
  session.workspace = row.id(Column::workspace);
  session.folder = row.str(Column::folder);
  session.name = row.str(Column::name);
  session.owner = row.id(Column::owner);
  session.memory_bytes = static_cast<uint64_t>(row.integer(Column::memory_bytes));
  session.timeout_s = row.integer(Column::timeout_s);
  session.idle_s = row.integer(Column::idle_s);
  session.runtime = row.str(Column::runtime);
  session.environment = Json::parse(row.text(Column::environment));
  session.labels = Json::parse(row.text(Column::labels));
  session.execution_count = row.integer(Column::execution_count);
  session.created_us = row.integer(Column::created_us);
  session.active_us = row.integer(Column::active_us);
  session.deleted_us = row.maybe_integer(Column::deleted_us);
  session.awake_max_s = row.integer(Column::awake_max_s);
  session.epoch = row.integer(Column::epoch);
  session.woke_us = row.maybe_integer(Column::woke_us);
  session.status = session.deleted_us ? SessionStatus::deleted : SessionStatus::asleep;
  return session;
}

namespace {

// Where a stored sentence names paths, as [begin, size, begin, size, …]; absent where it names none.
constexpr const char* kMarks = "marks";

void add_marks(Json& out, const Sentence& sentence) {
  for (const auto& mark : sentence.marks()) {
    out[kMarks].push_back(mark.begin);
    out[kMarks].push_back(mark.size);
  }
}

Sentence sentence_from(const Json& json, const char* text) {
  std::vector<Sentence::Mark> marks;
  auto numbers = json.value(kMarks, std::vector<size_t>());
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) marks.push_back({numbers[i], numbers[i + 1]});
  return {json.value(text, ""), marks};
}

Outputs outputs_stored(const Json& json) {
  Outputs outputs = outputs_from(json);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (auto* note = std::get_if<NoteOutput>(&outputs[i])) note->text = sentence_from(json[i], "text");
  return outputs;
}

}  // namespace

Json stored_outputs(const Outputs& outputs) {
  Json list = to_json(outputs);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (const auto* note = std::get_if<NoteOutput>(&outputs[i])) add_marks(list[i], note->text);
  return list;
}

Json detail_of(const Execution& execution) {
  Json not_kept = Json::array();
  for (const auto& item : execution.files.not_kept) {
    not_kept.push_back(
        {{"path", item.path}, {"reason", name_of(item.reason)}, {"message", item.message.text()}});
    add_marks(not_kept.back(), item.message);
  }
  Json detail = {{"woke", execution.woke},
                 {"message", execution.message},
                 {"folders", execution.files.folders},
                 {"renamed", pairs_to_json(execution.files.renamed)},
                 {"deleted", execution.files.deleted},
                 {"left_out", execution.files.left_out},
                 {"not_kept", not_kept},
                 {"added", pairs_to_json(execution.added)},
                 {"timings", execution.timings}};
  if (execution.exit_code) detail["exit_code"] = *execution.exit_code;
  return detail;
}

Execution read_execution(const catalog::Row& row) {
  using Column = ExecutionColumn;
  Execution execution;
  execution.id = row.id(Column::id);
  execution.session = row.id(Column::session);
  execution.number = row.integer(Column::number);
  execution.author = row.id(Column::author);
  execution.language = row.str(Column::language);
  execution.code = row.str(Column::code);
  execution.status = execution_status_from(row.text(Column::status)).value_or(ExecutionStatus::done);
  if (!row.text(Column::outcome).empty())
    execution.outcome = outcome_from(row.text(Column::outcome)).value_or(Outcome::crash);
  execution.created_us = row.integer(Column::created_us);
  execution.started_us = row.integer(Column::started_us);
  execution.ended_us = row.integer(Column::ended_us);
  Json detail = Json::parse(row.text(Column::detail));
  execution.message = detail.value("message", "");
  execution.woke = detail.value("woke", false);
  if (auto outputs = detail.find("outputs"); outputs != detail.end())
    execution.outputs = outputs_stored(*outputs);
  else if (!row.is_null(Column::outputs))
    execution.outputs = outputs_stored(Json::parse(row.text(Column::outputs)));
  execution.timings = detail.value("timings", Json::object());
  if (detail.contains("exit_code")) execution.exit_code = detail["exit_code"].get<int>();
  execution.files.folders = detail.value("folders", std::vector<std::string>());
  execution.files.deleted = detail.value("deleted", std::vector<std::string>());
  execution.files.left_out = detail.value("left_out", size_t{0});
  execution.files.renamed = pairs_from(detail.value("renamed", Json::array()));
  execution.added = pairs_from(detail.value("added", Json::array()));
  for (const auto& item : detail.value("not_kept", Json::array()))
    execution.files.not_kept.push_back({item.at("path"), reason_named(item.at("reason").get<std::string>()),
                                        sentence_from(item, "message"), false});
  return execution;
}

Unkept read_unkept(const catalog::Row& row) {
  return {row.str(UnkeptColumn::path),
          unkept_from(row.text(UnkeptColumn::what)).value_or(Unkept::What::recovered),
          reason_named(row.text(UnkeptColumn::reason)),
          row.str(UnkeptColumn::message),
          row.id(UnkeptColumn::version),
          row.integer(UnkeptColumn::only_copy) != 0};
}

}  // namespace sk::interpreter
