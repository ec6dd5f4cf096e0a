// get: downloads files and folders of a workspace.
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "cli/client/download.h"
#include "cli/client/fields.h"
#include "cli/client/listing.h"
#include "cli/client/local_files.h"
#include "cli/client/transfer.h"
#include "cli/client/versions.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"
#include "cli/frame/run.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

struct Download {
  RemoteFile file;
  std::string local;
};

struct FolderHere {
  std::string path;
  uint32_t mode;
};

struct Plan {
  std::vector<Download> files;
  std::vector<FolderHere> folders;  // to create locally, parents first
  uint64_t bytes = 0;
  bool single_file = false;
};

std::string join_local(const std::string& folder, const std::string& name) {
  if (folder.empty() || folder == ".") return name;
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

void add_folder(Plan& plan, Remote& remote, const RemotePath& where, const std::string& local,
                uint32_t mode) {
  plan.folders.push_back({local, mode});
  Query query = {{"folder", where.path}, {"recursive", "true"}};
  for_each_item(remote, remote.url(where, "list"), query, [&](const Json& entry) {
    auto path = text_field(entry, "path");
    if (!where.path.empty() && !path.starts_with(where.path + "/"))
      throw Error(Code::internal, "the server lists '" + path + "' below '" + where.path + "'");
    auto below = std::string_view(path).substr(where.path.empty() ? 0 : where.path.size() + 1);
    auto target = join_local(local, local_path_of(below));
    if (text_field(entry, "kind") == "folder") {
      plan.folders.push_back({target, kept_mode(entry)});
    } else {
      plan.files.push_back({remote_file_of_entry(where, entry), target});
    }
  });
}

// Like cp: puts the entry into the target if that is a folder, else the target is the new name.
void add_entry(Plan& plan, Remote& remote, RemotePath where, const Json& entry, const std::string& target,
               bool into) {
  where.path = text_field(entry, "path");
  auto name =
      where.is_root() ? local_path_of(remote.workspace_of(where)) : local_path_of(last_name(where.path));
  auto local = into ? join_local(target, name) : target;
  if (text_field(entry, "kind") == "folder") {
    add_folder(plan, remote, where, local, kept_mode(entry));
  } else {
    plan.files.push_back({remote_file_of_entry(where, entry), local});
  }
}

// Error(conflict) if two files have the same target, since the second would silently replace the first.
void refuse_twins(const Plan& plan) {
  std::map<std::string_view, std::string_view> sources;
  for (const auto& each : plan.files) {
    auto [at, is_new] = sources.emplace(each.local, each.file.where.path);
    if (is_new) continue;
    throw Error(Code::conflict,
                std::string(at->second) + " and " + each.file.where.path + " would both become " + each.local)
        .hint("Get them one by one, or get the folder that contains them.");
  }
}

Plan make_plan(Remote& remote, const std::vector<std::string>& sources, const std::string& target,
               const std::optional<std::string>& version) {
  Plan plan;
  bool target_is_folder = target.ends_with('/') || is_folder(target);
  if (version) {
    auto where = parse_remote_path(sources.at(0));
    auto local = target_is_folder ? join_local(target, local_path_of(last_name(where.path))) : target;
    plan.files.push_back({remote_file_of_version(where, find_version(remote, where, *version)), local});
  } else {
    for (const auto& source : sources) {
      auto where = parse_remote_path(source);
      auto entries = find_or_glob(remote, where);
      bool into = target_is_folder || sources.size() > 1 || entries.size() > 1;
      for (const auto& entry : entries) add_entry(plan, remote, where, entry, target, into);
    }
  }
  refuse_twins(plan);
  for (const auto& each : plan.files) plan.bytes += each.file.size;
  plan.single_file = plan.files.size() == 1 && plan.folders.empty();
  return plan;
}

// Creates the folders and returns those that did not exist before.
std::vector<FolderHere> make_folders(const Plan& plan) {
  auto make = [](const std::filesystem::path& folder) {
    std::error_code failed;
    bool made = !folder.empty() && std::filesystem::create_directories(folder, failed);
    if (failed) throw local_error("cannot create the folder " + folder.string(), failed.value());
    return made;
  };
  std::vector<FolderHere> out;
  for (const auto& folder : plan.folders)
    if (make(folder.path)) out.push_back(folder);
  for (const auto& each : plan.files) make(std::filesystem::path(each.local).parent_path());
  return out;
}

// Call last; sets the innermost modes first, since nothing can be created in a read-only folder.
void set_modes(const std::vector<FolderHere>& folders) {
  constexpr uint32_t kPlainBits = 0777;
  for (auto at = folders.rbegin(); at != folders.rend(); ++at)
    if (chmod(at->path.c_str(), at->mode & kPlainBits) != 0) throw local_error(at->path, errno);
}

void print_done(const Invocation& call, const Download& each) {
  Json facts = {{"path", each.file.where.path},
                {"local", each.local},
                {"version_id", each.file.version_id},
                {"size", each.file.size},
                {"sha256", each.file.sha256}};
  call.print(facts, printable(each.local) + "  " + human_size(each.file.size));
}

JobsOutcome download_all(const Invocation& call, const Target& target, const Plan& plan,
                         InterruptGuard& interrupt) {
  Progress progress(call.terminal, "get", plan.bytes, plan.files.size());
  bool each_line = plan.single_file || call.json() || call.arguments.has("verbose");
  auto work = [&](Remote& remote, size_t job) {
    const auto& each = plan.files[job];
    download_file(remote, each.file, each.local, interrupt, progress);
    progress.file_done();
    if (each_line) print_done(call, each);
  };
  auto on_failure = [&](size_t, const Error& error) {
    call.terminal.note(describe_error(error, call.json(), call.terminal));
  };
  return run_jobs(plan.files.size(), workers_of(call.arguments), target, work, on_failure);
}

ExitCode get_to_stdout(const Invocation& call, Remote& remote, const std::vector<std::string>& sources,
                       const std::optional<std::string>& version) {
  for (const auto& source : sources) {
    auto where = parse_remote_path(source);
    auto write = [&](std::string_view bytes) { call.terminal.out(bytes); };
    if (version) {
      download_stream(remote, where, text_field(find_version(remote, where, *version), "id"), write);
      continue;
    }
    for (const auto& entry : find_or_glob(remote, where)) {
      where.path = text_field(entry, "path");
      download_stream(remote, where, "", write);
    }
  }
  return ExitCode::ok;
}

ExitCode run_get(Invocation& call) {
  auto sources = call.arguments.positional;
  std::string target = ".";
  if (sources.size() > 1) {
    target = sources.back();
    sources.pop_back();
  }
  auto version = call.arguments.value("version");
  if (version && sources.size() > 1) throw Error(Code::bad_request, "--version is for a single file");
  InterruptGuard interrupt(call.terminal);
  auto remote = connect(call);
  if (target == "-") return get_to_stdout(call, remote, sources, version);

  auto plan = make_plan(remote, sources, target, version);
  auto made_folders = make_folders(plan);
  auto started = std::chrono::steady_clock::now();
  auto outcome = download_all(call, remote.resolved_target(), plan, interrupt);
  set_modes(made_folders);
  auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started).count();
  if (!plan.single_file && !call.json())
    call.terminal.line("got " + std::to_string(outcome.done) + (outcome.done == 1 ? " file, " : " files, ") +
                       human_size(plan.bytes) + (seconds > 0 ? " in " + human_duration(seconds) : ""));
  auto lost = outcome.failed + outcome.not_started;
  if (lost > 0 && !plan.single_file && !call.json())
    call.terminal.note("sandkeep: " + std::to_string(lost) + " of " + std::to_string(plan.files.size()) +
                       " files could not be copied");
  return outcome.exit_code();
}

}  // namespace

Command get_command() {
  return {
      .name = "get",
      .arguments = "PATH… [TARGET]",
      .summary = "copies files and folders to this machine",
      .about =
          "Without a TARGET, copies into the current folder. If TARGET is a folder, or ends in '/', "
          "everything is put into it; otherwise it is the new name; '-' is standard output. PATH may have "
          "wildcards (in quotes): 'data/*.csv'.\n\nEach file is written under a temporary name, checked "
          "against its SHA-256, and only then renamed, with its stored mode and time. New folders get their "
          "stored mode, too.",
      .options = {{"version", 0, "VERSION",
                   "this version of the file: an id (v_…) or a number, as 'sandkeep log' shows them"},
                  kJobsOption,
                  {"verbose", 'v', "", "a line for each file"}},
      .positional_min = 1,
      .examples = {"sandkeep get report.csv", "sandkeep get report.csv --version 2 old.csv",
                   "sandkeep get results backup/", "sandkeep get 'logs/*.txt' -",
                   "sandkeep get team: team-copy"},
      .run = run_get,
  };
}

}  // namespace sk::cli
