// put: uploads local files and folders to a workspace.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>

#include "base/mutex.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/client/fields.h"
#include "cli/client/local_files.h"
#include "cli/client/transfer.h"
#include "cli/client/upload.h"
#include "cli/commands/commands.h"
#include "cli/frame/columns.h"
#include "cli/frame/progress.h"
#include "cli/frame/run.h"
#include "cli/frame/when.h"

namespace sk::cli {

namespace {

// The transfer that the arguments describe.
struct Plan {
  RemotePath target;  // all files go to its workspace
  LocalTree tree;
  uint64_t bytes = 0;
  bool single_file = false;
};

// "." and ".." have no name: their contents go into the target.
bool has_own_name(const std::string& source) {
  auto name = last_name(std::string_view(source).substr(0, source.find_last_not_of('/') + 1));
  return !name.empty() && name != "." && name != "..";
}

std::string own_name(const std::string& source) {
  auto trimmed = std::string_view(source).substr(0, source.find_last_not_of('/') + 1);
  return escape_name(last_name(trimmed));
}

std::string octal(uint32_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", mode);
  return text;
}

// Like cp: puts sources into the target if that is a folder, else the target is the new name.
bool goes_into(Remote& remote, const RemotePath& target, size_t source_count) {
  if (target.as_folder || source_count > 1) return true;
  auto entry = find_entry(remote, target);
  return entry && text_field(*entry, "kind") == "folder";
}

void add_source(Plan& plan, const std::string& source, bool into) {
  auto path =
      into && has_own_name(source) ? join_remote(plan.target.path, own_name(source)) : plan.target.path;
  if (is_folder(source)) {
    auto tree = walk_folder(source, path);
    auto move_to = [](auto& from, auto& to) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    move_to(tree.files, plan.tree.files);
    // The contents of "." go into another folder, which keeps its own mode.
    if (!has_own_name(source) && !tree.folders.empty() && tree.folders.front().remote == path)
      tree.folders.front().mode.reset();
    move_to(tree.folders, plan.tree.folders);
    move_to(tree.skipped, plan.tree.skipped);
    return;
  }
  auto file = open_local(source);
  plan.tree.files.push_back({source, clean_file_path(path), facts_of(file, source).size});
}

Plan make_plan(Remote& remote, const std::vector<std::string>& words) {
  Plan plan;
  auto sources = words;
  plan.target.as_folder = true;
  if (words.size() > 1) {
    plan.target = parse_remote_path(words.back());
    sources.pop_back();
  }
  bool into = goes_into(remote, plan.target, sources.size());
  for (const auto& source : sources) add_source(plan, source, into);
  for (const auto& file : plan.tree.files) plan.bytes += file.size;
  plan.single_file = sources.size() == 1 && !is_folder(sources[0]);
  return plan;
}

std::string outcome_word(const Json& result) {
  if (flag_field(result, "unchanged")) return "unchanged";
  if (flag_field(result, "created")) return "new";
  return "version " + std::to_string(number_field(object_field(result, "version"), "number"));
}

void print_result(const Invocation& call, const Json& result) {
  const auto& version = object_field(result, "version");
  auto path = text_field(object_field(result, "entry"), "path");
  call.print(result, printable(path) + "  " + outcome_word(result) + "  " +
                         human_size(number_field(version, "size")) + "  " + text_field(version, "link"));
  if (flag_field(result, "diverged"))
    call.terminal.note("sandkeep: " + printable(path) +
                       " has diverged: another client wrote it since your base; both versions are kept");
}

// Counts and prints results. Any thread.
class Tally {
 public:
  Tally(const Invocation& call, bool each) : call_(call), each_(each) {}

  void add(const Json& result) {
    MutexLock guard(mutex_);
    ++files_;
    if (flag_field(result, "unchanged")) ++unchanged_;
    if (flag_field(result, "created")) ++created_;
    if (each_ || call_.json() || flag_field(result, "diverged")) print_result(call_, result);
  }

  std::string summary(uint64_t bytes, int64_t seconds) const {
    MutexLock guard(mutex_);
    auto out = "put " + std::to_string(files_) + (files_ == 1 ? " file, " : " files, ") + human_size(bytes);
    if (seconds > 0) out += " in " + human_duration(seconds);
    out += ": " + std::to_string(created_) + " new, " + std::to_string(files_ - created_ - unchanged_) +
           " new versions, " + std::to_string(unchanged_) + " unchanged";
    return out;
  }

 private:
  const Invocation& call_;
  const bool each_;
  mutable Mutex mutex_;
  size_t files_ SK_GUARDED_BY(mutex_) = 0;
  size_t created_ SK_GUARDED_BY(mutex_) = 0;
  size_t unchanged_ SK_GUARDED_BY(mutex_) = 0;
};

UploadOptions upload_options(const Invocation& call, Remote& remote, const RemotePath& where) {
  return {write_conditions(call, remote, where), call.arguments.value_or("base", ""),
          call.arguments.value_or("type", "")};
}

// Sends changes as one batch, which the server applies in one transaction. Returns their results.
Json apply_changes(Remote& remote, const RemotePath& where, Json changes, const WriteConditions& conditions) {
  for (auto& change : changes) {
    if (!conditions.lock_tokens.empty()) change["lock_tokens"] = conditions.lock_tokens;
    if (conditions.fence) change["fence"] = *conditions.fence;
  }
  auto answer = remote.call("POST", remote.url(where, "batch"), {}, Json{{"changes", std::move(changes)}});
  return list_field(answer, "items");
}

// Creates the folders that no file created, and sets the modes of all.
void keep_some_folders(Remote& remote, const RemotePath& where, std::span<const LocalFolder> folders,
                       const WriteConditions& conditions) {
  Json makes = Json::array();
  for (const auto& folder : folders) {
    makes.push_back({{"op", "mkdir"}, {"path", folder.remote}});
    if (folder.mode) makes.back()["mode"] = octal(*folder.mode);
  }
  auto results = apply_changes(remote, where, std::move(makes), conditions);
  Json sets = Json::array();
  for (size_t i = 0; i < folders.size() && i < results.size(); ++i) {
    auto kept = text_field(object_field(results[i], "entry"), "mode");
    if (folders[i].mode && octal(*folders[i].mode) != kept)
      sets.push_back({{"op", "set"}, {"path", folders[i].remote}, {"mode", octal(*folders[i].mode)}});
  }
  if (!sets.empty()) apply_changes(remote, where, std::move(sets), conditions);
}

void keep_folders(Remote& remote, const Plan& plan, const WriteConditions& conditions) {
  std::span<const LocalFolder> left = plan.tree.folders;
  if (left.empty()) return;
  // A batch with long paths must also fit into one request.
  constexpr int64_t kAtOnceMost = 100;
  auto at_once = static_cast<size_t>(remote.limit("batch_operations_max", kAtOnceMost));
  while (!left.empty()) {
    auto count = std::min(at_once, left.size());
    keep_some_folders(remote, plan.target, left.first(count), conditions);
    left = left.subspan(count);
  }
}

ExitCode put_stdin(const Invocation& call) {
  const auto& words = call.arguments.positional;
  if (words.size() != 2)
    throw Error(Code::bad_request, "'put -' needs the path to write to: sandkeep put - PATH");
  auto where = parse_remote_path(words[1]);
  if (where.as_folder)
    throw Error(Code::bad_request, "'" + words[1] + "' is a folder; 'put -' needs the path of a file");
  auto remote = connect(call);
  Json result;
  {
    Progress progress(call.terminal, "put", std::nullopt, 1);
    result =
        upload_stream(remote, call.terminal.in_fd(), where, upload_options(call, remote, where), progress);
  }
  print_result(call, result);
  return ExitCode::ok;
}

void check_single(const Invocation& call, const Plan& plan) {
  if (plan.single_file) return;
  for (auto name : {"if-match", "base", "type"})
    if (call.arguments.has(name))
      throw Error(Code::bad_request, "--" + std::string(name) + " is for a single file");
}

JobsOutcome upload_all(const Invocation& call, Remote& own_remote, const Plan& plan, Tally& tally) {
  Progress progress(call.terminal, "put", plan.bytes, plan.tree.files.size());
  auto options = upload_options(call, own_remote, plan.target);
  auto work = [&](Remote& remote, size_t job) {
    const auto& file = plan.tree.files[job];
    auto where = plan.target;
    where.path = file.remote;
    tally.add(upload_file(remote, file.path, where, options, progress));
    progress.file_done();
  };
  auto on_failure = [&](size_t job, const Error& error) {
    auto named = error.about(plan.tree.files[job].path);
    call.terminal.note(describe_error(named, call.json(), call.terminal));
  };
  return run_jobs(plan.tree.files.size(), workers_of(call.arguments), own_remote.resolved_target(), work,
                  on_failure);
}

ExitCode run_put(Invocation& call) {
  if (call.positional(0) == "-") return put_stdin(call);
  InterruptGuard interrupt(call.terminal);
  auto remote = connect(call);
  auto plan = make_plan(remote, call.arguments.positional);
  check_single(call, plan);
  for (const auto& skipped : plan.tree.skipped)
    call.terminal.note(call.json() ? to_text({{"skipped", skipped}})
                                   : "sandkeep: skipped " + printable(skipped));

  auto started = std::chrono::steady_clock::now();
  Tally tally(call, plan.single_file || call.arguments.has("verbose"));
  auto outcome = upload_all(call, remote, plan, tally);
  if (!outcome.first_failure) keep_folders(remote, plan, write_conditions(call, remote, plan.target));
  auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started).count();
  if (!plan.single_file && !call.json()) call.terminal.line(tally.summary(plan.bytes, seconds));
  auto lost = outcome.failed + outcome.not_started;
  if (lost > 0 && !plan.single_file && !call.json())
    call.terminal.note("sandkeep: " + std::to_string(lost) + " of " + std::to_string(plan.tree.files.size()) +
                       " files could not be stored");
  if (outcome.first_failure) return outcome.exit_code();
  return plan.tree.skipped.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

Command put_command() {
  return {
      .name = "put",
      .arguments = "SOURCE… [TARGET]",
      .summary = "stores files and folders of this machine",
      .about =
          "One SOURCE without a TARGET is stored in the root of the workspace, under its own name. If TARGET "
          "is a folder, or ends in '/', the sources are put into it; otherwise it is the new name. '-' as "
          "SOURCE reads standard input.\n\nEvery overwrite creates a new version, unless the bytes are the "
          "same. Files keep their mode and time. Folders, even empty ones, keep their mode. Links to files "
          "are read as files. Links to folders, devices and sockets are skipped and reported, with exit code "
          "1.",
      .options = with_write_options({
          {"if-new", 0, "", "only if the path does not exist"},
          {"base", 0, "VERSION",
           "the version that your change is based on; if another client wrote since, the file is marked "
           "diverged"},
          {"type", 0, "MIME", "the content type; otherwise the server detects it"},
          kJobsOption,
          {"verbose", 'v', "", "a line for each file"},
      }),
      .positional_min = 1,
      .examples = {"sandkeep put report.csv", "sandkeep put report.csv reports/q1.csv",
                   "sandkeep put results archive/", "tar c logs | sandkeep put - backups/logs.tar"},
      .run = run_put,
  };
}

}  // namespace sk::cli
