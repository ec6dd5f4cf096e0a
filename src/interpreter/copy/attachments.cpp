#include "interpreter/copy/attachments.h"

#include <set>

#include "base/error.h"
#include "base/path.h"

namespace sk::interpreter {

namespace {

using workspace::Authority;
using workspace::Entry;
using workspace::OnExisting;
using workspace::Version;

// One call of attach().
class Run {
 public:
  Run(workspace::Keep& keep, const SessionInfo& session, Authority target)
      : keep_(keep), session_(session), target_(std::move(target)) {}

  Attached attach(const Attachment& wanted) {
    std::string path = join_path(session_.folder, clean_file_path(wanted.as));
    Attached out{wanted.version, "", ""};
    try {
      // Also finds files in the trash and files of deleted sessions, but no file whose id its owner revoked.
      auto version = keep_.retractions().find(target_.actor(), wanted.version);
      if (!version) throw Error(Code::not_found, "there is no such file");
      if (!is_own(*version))
        out.path = place(*version, path);
      else if (keep_.files().find(target_, version->path))
        out.path = version->path;
      taken_.insert(out.path);
    } catch (const Error& error) {
      out.problem = "'" + wanted.as + "' could not be put into /mnt/data: " + error.sentence();
    }
    return out;
  }

 private:
  bool is_own(const Version& version) const {
    return version.workspace == session_.workspace && is_within(version.path, session_.folder);
  }

  std::string place(const Version& version, const std::string& path) {
    if (auto earlier = remembered(version.id); earlier && keep_.files().find(target_, *earlier))
      return *earlier;
    auto existing = keep_.files().find(target_, path);
    std::string where = path;
    if (!existing || !has_held(*existing, version)) where = copy(version, path, existing);
    remember(version.id, where);
    return where;
  }

  std::string copy(const Version& version, const std::string& path, const std::optional<Entry>& existing) {
    bool aside = existing && (existing->kind == workspace::EntryKind::folder || taken_.contains(path));
    workspace::CopyChange change;
    change.from_workspace = version.workspace;
    change.from_version = version.id;
    change.to = path;
    change.on_existing = aside ? OnExisting::rename : OnExisting::replace;
    change.detail = {{"session_id", session_.id.with_prefix(workspace::prefix::session)}};
    return keep_.files().apply_one(target_, std::move(change)).entry.path;
  }

  // Whether the file holds these bytes, or held them before code changed them.
  bool has_held(const Entry& entry, const Version& version) {
    constexpr size_t kVersionsMax = 1000;
    if (entry.kind != workspace::EntryKind::file) return false;
    if (entry.sha256 == version.sha256) return true;
    if (taken_.contains(entry.path)) return false;
    for (const auto& earlier : keep_.files().versions(target_, entry.id, "", kVersionsMax).items)
      if (earlier.sha256 == version.sha256) return true;
    return false;
  }

  std::optional<std::string> remembered(const Id& version) {
    return keep_.context().db.read([&](catalog::Statements& statements) {
      return statements.one("SELECT path FROM session_attachments WHERE session = $1 AND version = $2",
                            {session_.id, version}, [](const catalog::Row& row) { return row.str(0); });
    });
  }

  void remember(const Id& version, const std::string& path) {
    keep_.context().db.write(session_.key().scope(), [&](catalog::Tx& tx) {
      check_still_holds(tx, target_, workspace::Right::write);
      tx.exec(
          "INSERT INTO session_attachments (session, version, path) VALUES ($1, $2, $3) "
          "ON CONFLICT (session, version) DO UPDATE SET path = excluded.path",
          {session_.id, version, path});
    });
  }

  workspace::Keep& keep_;
  const SessionInfo& session_;
  const Authority target_;
  std::set<std::string> taken_;  // names used by earlier requests of this call
};

}  // namespace

std::vector<Attached> Attachments::attach(const workspace::Authority& authority, const SessionInfo& session,
                                          const std::vector<Attachment>& wanted) {
  std::vector<Attached> out;
  if (wanted.empty()) return out;
  SK_CHECK(session.workspace == authority.workspace_id());
  authority.need(workspace::Right::write);
  Run run(keep_, session, authority);
  for (const auto& one : wanted) out.push_back(run.attach(one));
  return out;
}

}  // namespace sk::interpreter
