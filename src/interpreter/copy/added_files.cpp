#include "interpreter/copy/added_files.h"

#include "base/error.h"
#include "base/path.h"

namespace sk::interpreter {

namespace {

struct Wanted {
  std::string asked;
  workspace::CopyChange copy;
};

Wanted find_wanted(workspace::Keep& keep, const workspace::Authority& into, const SessionInfo& session,
                   const AddedFile& file) {
  // A limited authority stands for a part of one workspace, not for all that its actor may read.
  if (!file.workspace.empty() && into.is_limited()) throw workspace::no_such_workspace(file.workspace);
  auto from = file.workspace.empty() ? into : keep.workspaces().open(into.actor(), file.workspace);
  Wanted out;
  std::string name;
  out.copy.from_workspace = from.workspace_id();
  if (file.version) {
    auto version = keep.files().find_version(from, *file.version);
    if (!version)
      throw Error(Code::not_found,
                  "there is no version " + file.version->with_prefix(workspace::prefix::version));
    // Found by its version alone, which also finds files in the trash.
    out.copy.from_version = version->id;
    name = split_path(version->path).second;
    out.asked = file.version->with_prefix(workspace::prefix::version);
  } else {
    out.copy.from = keep.files().get(from, clean_file_path(file.path)).path;
    name = split_path(out.copy.from).second;
    out.asked = file.path;
  }
  if (!file.as.empty()) name = file.as;
  out.copy.to = join_path(session.folder, clean_file_path(name));
  out.copy.on_existing = workspace::OnExisting::rename;
  out.copy.conditions = file.conditions;
  out.copy.detail = {{"session_id", session.id.with_prefix(workspace::prefix::session)}};
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> add_files(workspace::Keep& keep,
                                                           const workspace::Authority& into,
                                                           const SessionInfo& session,
                                                           const std::vector<AddedFile>& files) {
  if (files.empty()) return {};
  if (files.size() > kAddedFilesMax)
    throw Error(Code::bad_request,
                "at most " + std::to_string(kAddedFilesMax) + " files can be added at once")
        .advise(Advice::name_their_folder);
  std::vector<std::pair<std::string, std::string>> added;
  std::vector<workspace::Change> changes;
  for (const auto& file : files) {
    Wanted wanted = find_wanted(keep, into, session, file);
    added.emplace_back(std::move(wanted.asked), "");
    changes.emplace_back(std::move(wanted.copy));
  }
  auto results = keep.files().apply(into, std::move(changes));
  for (size_t i = 0; i < results.size(); ++i) added[i].second = results[i].entry.path;
  return added;
}

}  // namespace sk::interpreter
