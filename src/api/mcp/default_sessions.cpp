#include "api/mcp/default_sessions.h"

#include "api/mcp/tool.h"

namespace sk::api::mcp {

namespace {

constexpr std::string_view kLabel = "mcp";
constexpr size_t kSessionsPerPage = 200;
constexpr size_t kKnownMax = 100'000;

// Searches from the newest session on, because recently used sessions are more likely to match.
Id find_labelled(interpreter::Interpreter& interpreter, const workspace::Actor& actor, const Id& workspace,
                 const std::string& name) {
  interpreter::SessionQuery query;
  query.limit = kSessionsPerPage;
  for (;;) {
    auto page = interpreter.list(actor, query);
    for (const auto& session : page) {
      if (session.workspace == workspace && session.status != interpreter::SessionStatus::deleted &&
          field_in(session.labels, kLabel) == name)
        return session.id;
    }
    if (page.size() < kSessionsPerPage) return {};
    query.after = page.back().id;
  }
}

bool is_there(interpreter::Interpreter& interpreter, const workspace::Actor& actor, const Id& session) {
  try {
    return interpreter.get(actor, session).status != interpreter::SessionStatus::deleted;
  } catch (const Error& error) {
    if (error.code() == Code::not_found || error.code() == Code::gone) return false;
    throw;
  }
}

}  // namespace

Id DefaultSessions::find_or_create(interpreter::Interpreter& interpreter,
                                   const workspace::Authority& authority, const std::string& name) {
  const auto& actor = authority.actor();
  Key key(actor.principal(), authority.workspace_id(), name);
  if (auto session = known(key); session && is_there(interpreter, actor, session)) return session;
  MutexLock lock(making_);
  auto session = find_labelled(interpreter, actor, authority.workspace_id(), name);
  if (!session) {
    interpreter::NewSession wanted;
    wanted.name = "mcp " + name;
    wanted.folder = std::string(kCodeFolder);
    wanted.labels = {{std::string(kLabel), name}};
    session = interpreter.create(authority, wanted).id;
  }
  MutexLock known_lock(mutex_);
  if (known_.size() >= kKnownMax) known_.clear();
  known_[key] = session;
  return session;
}

Id DefaultSessions::known(const Key& key) {
  MutexLock lock(mutex_);
  auto found = known_.find(key);
  return found == known_.end() ? Id{} : found->second;
}

}  // namespace sk::api::mcp
