#include "workspace/journal.h"

#include "base/error.h"
#include "base/path.h"
#include "workspace/feed.h"
#include "workspace/journal_hash.h"

namespace sk::workspace {

namespace {

JournalEntry read_journal_entry(const catalog::Row& row) {
  JournalEntry entry;
  entry.workspace = row.id(0);
  entry.seq = row.integer(1);
  entry.time_us = row.integer(2);
  entry.kind = row.str(3);
  entry.actor = row.id(4);
  entry.facts = Json::parse(row.text(5));
  entry.personal = row.is_null(6) ? Json() : Json::parse(row.text(6));
  entry.hash = row.hash(7);
  return entry;
}

constexpr std::array kPathNames = {"path", "from", "to"};

// Removes the paths outside of `scope` from the entry. Returns false if none is left: the entry does not
// concern the scope.
bool keep_scope(JournalEntry& entry, const std::string& scope) {
  if (scope.empty()) return true;
  if (!entry.personal.is_object()) return false;
  bool any = false;
  for (const char* name : kPathNames) {
    auto found = entry.personal.find(name);
    if (found == entry.personal.end()) continue;
    bool is_covered = found->is_string() && is_within(found->get_ref<const std::string&>(), scope);
    if (!is_covered) entry.personal.erase(found);
    any = any || is_covered;
  }
  return any;
}

bool matches_kind(std::string_view kind, const EventFilter& filter) {
  if (filter.kinds.empty()) return true;
  for (const auto& wanted : filter.kinds)
    if (wanted.ends_with('*') ? kind.starts_with(std::string_view(wanted).substr(0, wanted.size() - 1))
                              : kind == wanted)
      return true;
  return false;
}

// The rest of the filter, for an entry of a kind that matches.
bool matches(const JournalEntry& entry, const EventFilter& filter) {
  if (filter.actor && entry.actor != *filter.actor) return false;
  if (filter.path_prefix.empty()) return true;
  if (!entry.personal.is_object()) return filter.and_above;
  for (const char* name : kPathNames) {
    auto found = entry.personal.find(name);
    if (found == entry.personal.end() || !found->is_string()) continue;
    const auto& path = found->get_ref<const std::string&>();
    if (is_within(path, filter.path_prefix) || (filter.and_above && is_within(filter.path_prefix, path)))
      return true;
  }
  return false;
}

}  // namespace

ReadableJournal::ReadableJournal(const Authority& authority)
    : workspace_(authority.workspace_id()), path_scope_(authority.path_scope()) {
  authority.need_in_scope(Right::read);
}

ReadableJournal ReadableJournal::of_server(const Actor& administrator) {
  if (!administrator.is_admin())
    throw Error(Code::forbidden, "only an administrator may read the server's journal");
  if (administrator.only_workspace()) throw Error(Code::forbidden, "this key is bound to one workspace");
  return {};
}

ReadableJournal ReadableJournal::of_server(SystemReason) { return {}; }

int64_t Journal::append(catalog::Tx& tx, KeepContext& context, const Id& workspace, const Author& author,
                        std::string_view kind, const Json& facts, const Json& personal,
                        const FileRows& rows) {
  struct Head {
    int64_t seq;
    Sha256 hash;
  };
  auto head =
      tx.one("SELECT seq, hash FROM journals WHERE workspace = $1", {workspace}, [](const catalog::Row& row) {
          return Head{row.integer(0), row.hash(1)};
        }).value_or(Head{0, Sha256{}});
  std::array<std::byte, 16> salt;
  fill_random(salt);
  JournalLine line;
  line.previous = head.hash;
  line.workspace = workspace;
  line.seq = head.seq + 1;
  line.time_us = tx.change_us();
  line.kind = kind;
  line.actor = author.principal;
  line.facts = to_text(facts);
  std::string personal_text = to_text(personal);
  line.commitment = commit_to(as_text(salt), personal_text);
  Sha256 hash = hash_line(line);
  tx.exec(
      "INSERT INTO journal (workspace, seq, time_us, kind, actor, facts, personal, salt, commitment, hash) "
      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
      {workspace, line.seq, line.time_us, kind, author.principal, line.facts, personal_text,
       catalog::Param::raw(as_text(salt)), line.commitment, hash});
  tx.exec(
      "INSERT INTO journals (workspace, seq, hash, checkpointed_seq, time_us) VALUES ($1, $2, $3, 0, $4) "
      "ON CONFLICT (workspace) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, time_us = "
      "excluded.time_us",
      {workspace, line.seq, hash, line.time_us});
  count_records(tx, workspace, RecordKind::journal,
                {static_cast<int64_t>(kind.size() + line.facts.size() + personal_text.size()) + kRowBytes, 1},
                rows);
  tx.after_commit([&feed = context.feed, workspace] { feed.notify(workspace); });
  return line.seq;
}

Events Journal::events(const ReadableJournal& journal, int64_t after, size_t limit,
                       const EventFilter& filter) {
  limit = std::min(limit, context_.limits.list_max);
  // Limit the scan, so that a selective filter does not read the whole journal in one call. The cursor marks
  // the progress.
  const int64_t scan_max = static_cast<int64_t>(limit) * 20 + 1000;
  Events events;
  events.cursor = after;
  context_.db.read([&](catalog::Statements& statements) {
    statements.query(
        "SELECT workspace, seq, time_us, kind, actor, facts, personal, hash FROM journal WHERE workspace = "
        "$1 AND seq > $2 "
        "ORDER BY seq LIMIT $3",
        {journal.workspace(), after, scan_max + 1}, [&](const catalog::Row& row) {
          if (events.items.size() == limit || row.integer(1) > after + scan_max) {
            events.has_more = true;
            return false;
          }
          events.cursor = row.integer(1);
          // Parses no JSON of an entry that a follower skips.
          if (!matches_kind(row.text(3), filter)) return true;
          JournalEntry entry = read_journal_entry(row);
          if (keep_scope(entry, journal.path_scope()) && matches(entry, filter))
            events.items.push_back(std::move(entry));
          return true;
        });
  });
  return events;
}

int64_t Journal::head_seq(const ReadableJournal& journal) {
  return context_.db.read([&](catalog::Statements& statements) {
    return statements
        .one("SELECT seq FROM journals WHERE workspace = $1", {journal.workspace()},
             [](const catalog::Row& row) { return row.integer(0); })
        .value_or(0);
  });
}

bool Journal::exists(catalog::Statements& statements, const Id& workspace) {
  return statements.exists("SELECT 1 FROM journals WHERE workspace = $1", {workspace});
}

std::vector<JournalHead> Journal::heads(const std::optional<Id>& after, size_t limit) {
  auto take = [](const catalog::Row& row) { return JournalHead{row.id(0), row.integer(1)}; };
  return context_.db.read([&](catalog::Statements& statements) {
    return after ? statements.all(
                       "SELECT workspace, seq FROM journals WHERE workspace > $1 ORDER BY workspace LIMIT $2",
                       {*after, limit}, take)
                 : statements.all("SELECT workspace, seq FROM journals ORDER BY workspace LIMIT $1", {limit},
                                  take);
  });
}

int64_t Journal::erase_personal(const Actor& actor, const Id& principal) {
  if (!actor.is_admin() || !actor.may_write())
    throw Error(Code::forbidden, "only an administrator may erase personal data");
  return context_.db.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    const std::string named = "%\"" + principal.with_prefix(prefix::principal) + "\"%";
#define SK_ERASED "personal IS NOT NULL AND kind <> 'journal.erase' AND (actor = $1 OR facts LIKE $2)"
    auto erased = tx.all(
        "SELECT workspace, CAST(sum(octet_length(personal)) AS BIGINT) FROM journal WHERE " SK_ERASED
        " GROUP BY workspace",
        {principal, named}, [](const catalog::Row& row) { return std::pair(row.id(0), row.integer(1)); });
    for (const auto& [workspace, bytes] : erased)
      count_records(tx, workspace, RecordKind::journal, {-bytes, 0});
    auto count =
        tx.exec("UPDATE journal SET personal = NULL, salt = NULL WHERE " SK_ERASED, {principal, named});
    append(tx, context_, Id{}, actor, "journal.erase",
           {{"principal_id", principal.with_prefix(prefix::principal)}, {"entries", count}}, Json::object());
    return static_cast<int64_t>(count);
  });
}

}  // namespace sk::workspace
