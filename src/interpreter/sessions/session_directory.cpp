#include "interpreter/sessions/session_directory.h"

#include "interpreter/records.h"

namespace sk::interpreter {

std::optional<SessionInfo> SessionDirectory::find(const workspace::Actor& actor, const Id& session) const {
  return interpreter_.find(actor, session);
}

Error no_session(const Id& session) {
  return Error(Code::not_found, "there is no session " + session.with_prefix(workspace::prefix::session))
      .advise(Advice::list_sessions);
}

// Belongs to every interpreter; defined here because of the error that it throws.
SessionInfo Interpreter::get(const workspace::Actor& actor, const Id& session) {
  auto found = find(actor, session);
  if (!found) throw no_session(session);
  return *found;
}

SessionInfo SessionDirectory::get(const workspace::Actor& actor, const Id& session) const {
  return interpreter_.get(actor, session);
}

workspace::Authority SessionDirectory::authority_over(const workspace::Actor& actor,
                                                      const Id& session) const {
  auto found = find(actor, session);
  return keep_.workspaces().standing(actor, found ? found->workspace : Id{});
}

SessionInfo SessionDirectory::need_own(const workspace::Authority& authority, const Id& session) const {
  auto info = get(authority.actor(), session);
  if (!is_of(info, authority)) throw no_session(session);
  return info;
}

workspace::Page<Unkept> SessionDirectory::unkept(const workspace::Authority& authority, const Id& session,
                                                 std::string_view cursor, size_t limit) const {
  need_own(authority, session);
  Records::UnkeptPlace after;
  if (!cursor.empty()) {
    size_t slash = cursor.find('/');
    after.what = unkept_from(cursor.substr(0, slash));
    if (slash == std::string_view::npos || !after.what)
      throw Error(Code::bad_request, "the cursor is not valid").with("field", "cursor");
    after.path = cursor.substr(slash + 1);
  }
  workspace::Page<Unkept> page;
  page.items = Records(keep_.context()).unkept(session, after, limit + 1);
  if (page.items.size() > limit) {
    page.items.resize(limit);
    page.has_more = true;
    page.next_cursor = std::string(name_of(page.items.back().what)) + "/" + page.items.back().path;
  }
  return page;
}

size_t SessionDirectory::dismiss_unkept(const workspace::Authority& authority, const Id& session,
                                        const std::optional<std::string>& path) const {
  refuse_read_only(authority, "change the list of unkept files");
  auto info = need_own(authority, session);
  Records records(keep_.context());
  size_t count = 0;
  bool is_listed = false, is_refused = false;
  for (const auto& item : records.unkept(session)) {
    if (path && item.path != *path) continue;
    is_listed = true;
    if (item.what == Unkept::What::refused)
      is_refused = true;
    else
      count += records.forget_unkept(authority, info, item) ? 1 : 0;
  }
  if (path && !is_listed)
    throw Error(Code::not_found, quoted_path(*path) + " is not among the session's unkept files")
        .with("path", *path);
  if (path && is_refused && count == 0)
    throw Error(Code::conflict, quoted_path(*path) + " was refused, so its bytes exist only in the session")
        .advise(Advice::retry_or_delete_file)
        .with("path", *path);
  return count;
}

DeletedRecords SessionDirectory::delete_records(const workspace::Authority& authority,
                                                const RecordFilter& filter) const {
  authority.need(workspace::Right::own);
  interpreter_.forget_finished(authority.workspace_id(), filter.ended_before_us);
  return interpreter::delete_records(keep_.context(), authority, filter);
}

std::vector<SessionInfo> SessionDirectory::list(const workspace::Actor& actor,
                                                const SessionQuery& query) const {
  return interpreter_.list(actor, query);
}

void refuse_read_only(const workspace::Authority& authority, const std::string& what) {
  if (!authority.actor().may_write()) throw Error(Code::forbidden, "a read-only key cannot " + what);
}

void need_write(const workspace::Authority& authority) {
  authority.need_in_scope(workspace::Right::read);
  authority.need_in_scope(workspace::Right::write);
}

std::vector<KeptFile> kept_page(const std::optional<Execution>& execution, int64_t after, size_t limit) {
  if (!execution) throw Error(Code::not_found, "the session has no such execution");
  const auto& kept = execution->files.kept;
  auto count = static_cast<int64_t>(kept.size());
  auto from = std::clamp<int64_t>(after, 0, count);
  auto to = limit < kept.size() ? std::min(count, from + static_cast<int64_t>(limit)) : count;
  return {kept.begin() + from, kept.begin() + to};
}

Error deleted_error() {
  return Error(Code::gone, "the session was deleted").advise(Advice::create_other_session);
}

}  // namespace sk::interpreter
