// log: lists the versions of a file, newest first.
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/client/versions.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

std::string marks_of(const Json& version) {
  std::string out = flag_field(version, "is_head") ? "current" : "";
  if (version.contains("complete") && !flag_field(version, "complete"))
    out += out.empty() ? "incomplete" : ", incomplete";
  return out;
}

void add_row(Table& table, const Json& version) {
  table.add({{std::to_string(number_field(version, "number")), Style::bold},
             text_field(version, "id"),
             human_size(number_field(version, "size")),
             {local_second(text_field(version, "created_at")), Style::dim},
             printable(text_field(object_field(version, "author"), "name")),
             {printable(text_field(object_field(version, "source"), "kind")), Style::dim},
             {marks_of(version), Style::green}});
}

ExitCode run_log(Invocation& call) {
  auto remote = connect(call);
  const auto& word = call.positional(0);
  RemotePath where;
  Query query;
  if (is_file_id(word)) {
    query.emplace_back("file_id", word);
  } else {
    where = parse_remote_path(word);
    if (where.is_root()) throw Error(Code::bad_request, "'log' needs the path of a file");
  }
  auto most = call.arguments.number("limit", 1, 1'000'000'000);
  if (most) query.emplace_back("limit", std::to_string(std::min<uint64_t>(*most, 1000)));

  Table table({Align::right, Align::left, Align::right, Align::left, Align::left, Align::left, Align::left});
  uint64_t count = 0;
  // Fetch no more pages than requested.
  struct Enough {};
  try {
    for_each_item(remote, remote.url_with_path(where, "versions"), query, [&](const Json& version) {
      if (most && count == *most) throw Enough{};
      ++count;
      if (call.json()) {
        call.terminal.line(to_text(version));
      } else {
        add_row(table, version);
      }
    });
  } catch (const Enough&) {
    // The requested number of versions is complete.
  }
  table.print(call.terminal);
  return ExitCode::ok;
}

}  // namespace

Command log_command() {
  return {
      .name = "log",
      .arguments = "PATH|FILE_ID",
      .summary = "lists the versions of a file, newest first",
      .about =
          "Shows number, version id, size, time (local), author and source. Name a file in the trash by its "
          "id (f_…), which 'sandkeep trash ls' shows.",
      .options = {{"limit", 'n', "N", "maximum number of versions"}},
      .positional_min = 1,
      .positional_max = 1,
      .examples = {"sandkeep log report.csv", "sandkeep log -n 5 team:plan.md"},
      .run = run_log,
  };
}

}  // namespace sk::cli
