// ls: lists folders and files.
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/client/listing.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

// Returns the mode as "drwxr-xr-x".
std::string mode_letters(const Json& entry, bool is_folder) {
  auto octal = text_field(entry, "mode");
  std::string out = is_folder ? "d" : "-";
  auto digits = std::string_view(octal).substr(octal.size() > 3 ? octal.size() - 3 : 0);
  for (char digit : digits) {
    int bits = digit - '0';
    out += (bits & 4) != 0 ? 'r' : '-';
    out += (bits & 2) != 0 ? 'w' : '-';
    out += (bits & 1) != 0 ? 'x' : '-';
  }
  return out;
}

// Prints entries as they arrive, or collects them as table rows.
class Printer {
 public:
  // Shows names relative to `folder`.
  Printer(const Invocation& call, std::string folder) : call_(call), folder_(std::move(folder)) {}

  void add(const Json& entry) {
    if (call_.json()) {
      call_.terminal.line(to_text(entry));
      return;
    }
    bool is_folder = text_field(entry, "kind") == "folder";
    auto name = printable(shown_name(entry)) + (is_folder ? "/" : "");
    if (call_.arguments.has("names")) {
      call_.terminal.line(name);
      return;
    }
    auto versions = is_folder ? "" : "v" + std::to_string(number_field(entry, "version_count"));
    auto mark = flag_field(entry, "diverged") ? std::string("diverged") : std::string();
    table_.add({{mode_letters(entry, is_folder), Style::dim},
                {versions, Style::dim},
                is_folder ? "" : human_size(number_field(entry, "size")),
                {local_minute(text_field(entry, "changed_at")), Style::dim},
                {name, is_folder ? Style::blue : Style::plain},
                {mark, Style::yellow}});
  }

  void finish() { table_.print(call_.terminal); }

 private:
  std::string shown_name(const Json& entry) const {
    auto path = text_field(entry, "path");
    return folder_.empty() || !path.starts_with(folder_ + "/") ? path : path.substr(folder_.size() + 1);
  }

  const Invocation& call_;
  const std::string folder_;
  Table table_{{Align::left, Align::right, Align::right, Align::left, Align::left, Align::left}};
};

void list_folder(const Invocation& call, Remote& remote, const RemotePath& where) {
  Printer printer(call, where.path);
  Query query = {{"folder", where.path}};
  if (call.arguments.has("recursive")) query.emplace_back("recursive", "true");
  for_each_item(remote, remote.url(where, "list"), query, [&](const Json& entry) { printer.add(entry); });
  printer.finish();
}

void list_matches(const Invocation& call, Remote& remote, const RemotePath& where) {
  Printer printer(call, "");
  size_t count = 0;
  auto take = [&](const Json& entry) {
    printer.add(entry);
    ++count;
  };
  auto glob = split_glob(where.path);
  if (call.arguments.has("recursive") && !glob.across_folders) {
    // Match a pattern without folders in every folder below.
    Query query = {{"folder", glob.folder}, {"glob", glob.pattern}, {"recursive", "true"}};
    for_each_item(remote, remote.url(where, "list"), query, take);
  } else {
    for_each_match(remote, where, take);
  }
  printer.finish();
  if (count == 0) throw Error(Code::not_found, "nothing matches '" + where.path + "'");
}

void list_one(const Invocation& call, Remote& remote, const std::string& word) {
  auto where = parse_remote_path(word);
  bool is_pattern = !split_glob(where.path).pattern.empty();
  // A name may contain wildcard characters.
  auto entry = is_pattern ? find_entry(remote, where) : std::optional(get_entry(remote, where));
  if (!entry) {
    list_matches(call, remote, where);
  } else if (text_field(*entry, "kind") == "folder") {
    list_folder(call, remote, where);
  } else {
    Printer printer(call, "");
    printer.add(*entry);
    printer.finish();
  }
}

ExitCode run_ls(Invocation& call) {
  auto remote = connect(call);
  auto words = call.arguments.positional;
  if (words.empty()) words.emplace_back("");
  for (const auto& word : words) {
    if (words.size() > 1 && !call.json() && !call.arguments.has("names"))
      call.terminal.line(call.terminal.paint_out(Style::bold, printable(word) + ":"));
    list_one(call, remote, word);
  }
  return ExitCode::ok;
}

}  // namespace

Command ls_command() {
  return {
      .name = "ls",
      .arguments = "[PATH…]",
      .summary = "lists files and folders",
      .about =
          "Shows mode, number of versions, size, and time of the last change (local). PATH may have "
          "wildcards (in quotes): '*.csv', 'data/**/*.csv'. A file that two clients changed from the same "
          "base is marked 'diverged'.",
      .options = {{"recursive", 'r', "", "everything below, with paths"},
                  {"names", '1', "", "names only, one per line"}},
      .examples = {"sandkeep ls", "sandkeep ls -r data", "sandkeep ls 'data/*.csv'", "sandkeep ls team:"},
      .run = run_ls,
  };
}

}  // namespace sk::cli
