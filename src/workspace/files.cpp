#include "workspace/files.h"

#include "base/error.h"
#include "base/path.h"
#include "workspace/blob_ledger.h"
#include "workspace/change_run.h"
#include "workspace/lock_check.h"
#include "workspace/mime.h"
#include "workspace/spelling.h"
#include "workspace/workspace_rows.h"

namespace sk::workspace {

namespace {

// A page of entries with very long paths ends early.
constexpr size_t kListPathBytesMax = 1 << 20;
// A list with a pattern reads at least this many entries at once, since few of them may match.
constexpr size_t kListStepMin = 500;
// Comparing a pattern takes time with the product of its length and the path's. An entry whose product is
// larger than this counts like several.
constexpr size_t kMatchBytesOfOne = 1024;

void clean(PutChange& change) { change.path = clean_file_path(change.path); }
void clean(MkdirChange& change) { change.path = clean_file_path(change.path); }
void clean(MoveChange& change) {
  change.from = clean_file_path(change.from), change.to = clean_file_path(change.to);
}
void clean(CopyChange& change) {
  if (!change.from.empty() || !change.from_version) change.from = clean_file_path(change.from);
  change.to = clean_file_path(change.to);
}
void clean(TrashChange& change) { change.path = clean_file_path(change.path); }
void clean(RestoreVersionChange&) {}
void clean(SetModeChange& change) { change.path = clean_file_path(change.path); }

std::optional<Entry> find_exactly(catalog::Statements& statements, const Id& workspace,
                                  std::string_view path) {
  auto [parent, name] = split_path(path);
  return statements.one(
      "SELECT " SK_ENTRY_COLUMNS
      " FROM entries e WHERE e.workspace = $1 AND e.parent = $2 AND e.name = $3 AND e.trashed_us IS NULL",
      {workspace, parent, name}, read_entry);
}

// Looks up the path as written, then in the other Unicode normal form.
std::optional<Entry> find_spelled(catalog::Statements& statements, const Id& workspace,
                                  std::string_view path) {
  auto found = find_exactly(statements, workspace, path);
  if (found) return found;
  auto other = other_spelling(path);
  return other ? find_exactly(statements, workspace, *other) : found;
}

std::string encode_cursor(std::string_view parent, std::string_view name) {
  return to_base64url(as_bytes(std::string(parent) + '\0' + std::string(name)));
}

std::pair<std::string, std::string> decode_cursor(std::string_view cursor) {
  auto text = from_base64url(cursor);
  auto zero = text ? text->find('\0') : std::string::npos;
  if (zero == std::string::npos)
    throw Error(Code::bad_request, "the cursor is not valid").advise(Advice::begin_without_cursor);
  return {text->substr(0, zero), text->substr(zero + 1)};
}

int64_t decode_number(std::string_view cursor) {
  auto number = parse_unsigned(cursor);
  if (!number || *number > (1ull << 62))
    throw Error(Code::bad_request, "the cursor is not valid").advise(Advice::begin_without_cursor);
  return static_cast<int64_t>(*number);
}

// A page that is followed by another one, which begins after the entry (parent, name).
Page<Entry> ending_after(Page<Entry> page, const std::pair<std::string, std::string>& last) {
  page.has_more = true;
  page.next_cursor = encode_cursor(last.first, last.second);
  return page;
}

// Compares the entries of one page with its pattern. Without a pattern, every entry is wanted.
class ListFilter {
 public:
  // The pattern outlives the filter.
  ListFilter(std::string_view glob, size_t compared_max) : glob_(glob), compared_max_(compared_max) {}

  // Whether as many entries were compared as one page may compare.
  bool is_spent() const { return compared_ >= compared_max_; }
  bool wants(std::string_view path, const std::string& folder) {
    if (glob_.empty()) return true;
    if (!folder.empty()) path.remove_prefix(folder.size() + 1);
    compared_ += 1 + glob_.size() * path.size() / kMatchBytesOfOne;
    return glob_match(glob_, path);
  }

 private:
  const std::string_view glob_;
  const size_t compared_max_;
  size_t compared_ = 0;
};

// Runs one query of a listing: entries after (parent, name) in the order of the path index.
std::vector<Entry> list_step(catalog::Statements& statements, const Id& workspace, const std::string& folder,
                             bool recursive, const std::pair<std::string, std::string>& after, size_t count) {
  if (!recursive)
    return statements.all(
        "SELECT " SK_ENTRY_COLUMNS
        " FROM entries e WHERE e.workspace = $1 AND e.parent = $2 AND e.name > $3 AND e.trashed_us IS NULL "
        "ORDER BY e.name LIMIT $4",
        {workspace, folder, after.second, count}, read_entry);
  if (folder.empty())
    return statements.all(
        "SELECT " SK_ENTRY_COLUMNS
        " FROM entries e WHERE e.workspace = $1 AND (e.parent, e.name) > ($2, $3) AND e.trashed_us IS NULL "
        "ORDER BY e.parent, e.name LIMIT $4",
        {workspace, after.first, after.second, count}, read_entry);
  Below range(folder);
  return statements.all(
      "SELECT " SK_ENTRY_COLUMNS
      " FROM entries e WHERE e.workspace = $1 AND (e.parent, e.name) > ($2, $3) AND e.parent >= $4 AND "
      "e.parent < $6 AND (e.parent = $4 OR e.parent >= $5) AND e.trashed_us IS NULL ORDER BY e.parent, "
      "e.name LIMIT $7",
      {workspace, after.first, after.second, range.exact, range.from, range.to, count}, read_entry);
}

catalog::Database::Before recorder_of(KeepContext& context, const std::vector<Change>& changes) {
  std::vector<blobs::Written*> contents;
  for (const Change& change : changes)
    if (auto put = std::get_if<PutChange>(&change)) contents.push_back(&put->content.written());
  return BlobLedger::recorder(context.blobs, std::move(contents));
}

}  // namespace

void Files::prepare(const Authority& authority, std::vector<Change>& changes) {
  authority.need_in_scope(Right::write);
  if (changes.size() > context_.limits.batch_max)
    throw Error(Code::too_large,
                "a batch holds at most " + std::to_string(context_.limits.batch_max) + " changes")
        .advise(Advice::send_several_batches);
  for (Change& change : changes) {
    std::visit([](auto& one) { clean(one); }, change);
    // Detect the type before the transaction, so that other writers do not wait for it.
    if (auto* put = std::get_if<PutChange>(&change); put != nullptr && put->mime.empty())
      put->mime = guess_mime(put->path, put->content.head_bytes(), context_.type_of_bytes),
      put->mime_found = true;
  }
}

std::vector<ChangeResult> Files::apply(const Authority& authority, std::vector<Change> changes,
                                       const Also& also) {
  prepare(authority, changes);
  std::vector<std::string> unneeded;
  auto results =
      context_.db.write_after(recorder_of(context_, changes), authority.scope(), [&](catalog::Tx& tx) {
        check_still_holds(tx, authority, Right::write);
        ChangeRun run(tx, context_, authority);
        std::vector<ChangeResult> made;
        made.reserve(changes.size());
        for (size_t i = 0; i < changes.size(); ++i) {
          try {
            made.push_back(run.run(changes[i]));
          } catch (Error& error) {
            if (changes.size() > 1) error.with("change", static_cast<int64_t>(i));
            throw;
          }
        }
        if (also) also(tx, made);
        unneeded = std::move(run.unneeded());
        return made;
      });
  for (Change& change : changes)
    if (auto put = std::get_if<PutChange>(&change)) put->content.written().commit();
  for (const auto& location : unneeded) context_.blobs.remove(location);
  return results;
}

std::vector<Files::Applied> Files::apply_each(const Authority& authority, std::vector<Change> changes,
                                              const AlsoEach& also) {
  prepare(authority, changes);
  // Catalog errors: the transaction is lost or its state is unknown.
  auto concerns_all = [](const Error& error) {
    return error.code() == Code::internal || error.code() == Code::disk_full ||
           error.code() == Code::corrupt || error.code() == Code::unavailable;
  };
  std::vector<std::string> unneeded;
  auto results =
      context_.db.write_after(recorder_of(context_, changes), authority.scope(), [&](catalog::Tx& tx) {
        check_still_holds(tx, authority, Right::write);
        ChangeRun run(tx, context_, authority);
        run.ignore_record_quota();
        std::vector<Applied> applied(changes.size());
        for (size_t i = 0; i < changes.size(); ++i) {
          size_t unneeded_before = run.unneeded().size();
          try {
            tx.attempt([&] { applied[i].result = run.run(changes[i]); });
          } catch (const Error& error) {
            if (concerns_all(error)) throw;
            applied[i].result.reset();
            applied[i].refused = error;
            run.unneeded().resize(unneeded_before);
          }
        }
        if (also) also(tx, applied);
        unneeded = std::move(run.unneeded());
        return applied;
      });
  for (size_t i = 0; i < changes.size(); ++i)
    if (auto put = std::get_if<PutChange>(&changes[i]); put != nullptr && results[i].result)
      put->content.written().commit();
  for (const auto& location : unneeded) context_.blobs.remove(location);
  return results;
}

ChangeResult Files::apply_one(const Authority& authority, Change change) {
  std::vector<Change> changes;
  changes.push_back(std::move(change));
  return std::move(apply(authority, std::move(changes))[0]);
}

void Files::check_put(const Authority& authority, std::string_view path, const Conditions& conditions) {
  authority.need_in_scope(Right::write);
  std::string wanted = clean_file_path(path);
  authority.need_at(Right::write, wanted);
  context_.db.read([&](catalog::Statements& statements) {
    auto entry = find_exactly(statements, authority.workspace_id(), wanted);
    ChangeRun::check_conditions(statements, wanted, entry, conditions);
    LockCheck(statements, authority.workspace_id(), context_.clock.now_us())
        .check(wanted, entry ? Touches::content : Touches::subtree, conditions);
  });
}

std::optional<Entry> Files::find(const Authority& authority, std::string_view path) {
  authority.need_in_scope(Right::read);
  std::string wanted = clean_path(path);
  if (wanted.empty() && !authority.is_limited()) {
    Entry root;
    root.workspace = authority.workspace_id();
    root.kind = EntryKind::folder;
    root.mode = 0755;
    root.created_us = root.changed_us = root.mtime_us = authority.workspace().created_us;
    return root;
  }
  auto found = context_.db.read([&](catalog::Statements& statements) {
    return find_spelled(statements, authority.workspace_id(), wanted);
  });
  return found && authority.covers(found->path) ? found : std::nullopt;
}

Entry Files::get(const Authority& authority, std::string_view path) {
  auto found = find(authority, path);
  if (found) return *found;
  std::string wanted = clean_path(path);
  auto [parent, name] = split_path(wanted);
  struct InTrash {
    TimeUs trashed_us;
    Id root;
    std::string root_path;
  };
  auto trashed = context_.db.read([&](catalog::Statements& statements) {
    return statements.one(
        "SELECT e.trashed_us, r.id, r.parent, r.name FROM entries e JOIN entries r ON r.id = e.trash_root "
        "WHERE e.workspace = $1 AND e.trashed_us IS NOT NULL AND e.parent = $2 AND e.name = $3 "
        "ORDER BY e.trashed_us DESC LIMIT 1",
        {authority.workspace_id(), parent, name}, [](const catalog::Row& row) {
          return InTrash{row.integer(0), row.id(1), join_path(row.text(2), row.text(3))};
        });
  });
  if (trashed && authority.covers(wanted) && authority.covers(trashed->root_path)) {
    std::string root = trashed->root.with_prefix(prefix::file);
    Error in_trash(Code::not_found,
                   quoted_path(wanted) + " was moved to the trash at " + to_iso8601(trashed->trashed_us));
    in_trash.with("trashed_file_id", root).advise(Advice::restore_from_trash);
    if (trashed->root_path != wanted)
      in_trash.with_paths("trashed_path", Sentence::of_path(trashed->root_path))
          .advise(Advice::restore_folder_from_trash);
    throw in_trash;
  }
  // The system's authority may know the workspace by its id only.
  const auto& workspace = authority.workspace().name;
  throw Error(Code::not_found, "there is nothing at " + quoted_path(wanted) +
                                   (workspace.empty() ? "" : " in the workspace '" + workspace + "'"));
}

std::optional<Entry> Files::find_by_id(const Authority& authority, const Id& file) {
  authority.need_in_scope(Right::read);
  auto found = context_.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT " SK_ENTRY_COLUMNS " FROM entries e WHERE e.id = $1 AND e.workspace = $2",
                          {file, authority.workspace_id()}, read_entry);
  });
  return found && authority.covers(found->path) ? found : std::nullopt;
}

Page<Entry> Files::list(const Authority& authority, const ListOptions& options) {
  authority.need_in_scope(Right::read);
  constexpr size_t kGlobBytesMax = 1024;
  if (options.glob.size() > kGlobBytesMax)
    throw Error(Code::bad_request, "a pattern may have at most " + std::to_string(kGlobBytesMax) + " bytes");
  std::string folder = clean_path(options.folder);
  size_t limit = std::clamp<size_t>(options.limit, 1, context_.limits.list_max);
  std::pair<std::string, std::string> after{folder, ""};
  if (!options.cursor.empty()) after = decode_cursor(options.cursor);
  auto no_folder = [&] { return Error(Code::not_found, "there is no folder " + quoted_path(folder)); };
  if (folder.empty() && authority.is_limited()) throw no_folder();
  auto find_folder = [&](catalog::Statements& statements) {
    auto entry = find_spelled(statements, authority.workspace_id(), folder);
    if (!entry || !authority.covers(entry->path)) throw no_folder();
    if (entry->kind != EntryKind::folder)
      throw Error(Code::bad_request, quoted_path(folder) + " is a file, not a folder");
    if (folder != entry->path && options.cursor.empty()) after.first = entry->path;
    folder = entry->path;
  };
  Page<Entry> page;
  ListFilter filter(options.glob, context_.limits.list_scan_max);
  size_t path_bytes = 0;
  bool is_first = true;
  const size_t step_max = options.glob.empty() ? limit + 1 : std::max(limit + 1, kListStepMin);
  for (;;) {
    // Matching takes long, and the catalog's readers are few: it holds none of them.
    auto step = context_.db.read([&](catalog::Statements& statements) {
      if (std::exchange(is_first, false) && !folder.empty()) find_folder(statements);
      return list_step(statements, authority.workspace_id(), folder, options.recursive, after, step_max);
    });
    for (Entry& entry : step) {
      if (filter.is_spent()) return ending_after(std::move(page), after);
      bool is_wanted = filter.wants(entry.path, folder);
      bool is_full = page.items.size() == limit || path_bytes > kListPathBytesMax;
      if (is_wanted && is_full) return ending_after(std::move(page), after);
      after = split_path(entry.path);
      if (!is_wanted) continue;
      path_bytes += entry.path.size();
      page.items.push_back(std::move(entry));
    }
    if (step.size() < step_max) return page;
  }
}

#define SK_HEADS                                                                                             \
  "SELECT " SK_VERSION_COLUMNS                                                                               \
  " FROM entries e JOIN versions v ON v.id = e.head LEFT JOIN principals p ON p.id = v.author "              \
  "WHERE e.workspace = $1 AND e.kind = 0 AND e.trashed_us IS NULL AND e.parent >= $2 AND e.parent < $4 AND " \
  "(e.parent = $2 OR e.parent >= $3)"

std::vector<Version> Files::heads(const Authority& authority, const HeadQuery& query) {
  authority.need_in_scope(Right::read);
  Below range(clean_path(query.folder));
  if (!authority.covers(range.exact)) return {};
  if (range.exact.empty()) {
    // Everything is below the root. The end of the range is greater than any name of 255 bytes.
    range.from = "";
    range.to.clear();
    for (size_t i = 0; i <= kNameBytesMax; ++i) range.to += "\xf4\x8f\xbf\xbf";
  }
  Id after = query.after;
  if (!after && query.order == Order::newest_first) after.bytes.fill(std::byte{0xff});
  return context_.db.read([&](catalog::Statements& statements) {
    return query.order == Order::newest_first
               ? statements.all(
                     SK_HEADS " AND e.head < $5 ORDER BY e.head DESC LIMIT $6",
                     {authority.workspace_id(), range.exact, range.from, range.to, after, query.limit},
                     read_version)
               : statements.all(
                     SK_HEADS " AND e.head > $5 ORDER BY e.head LIMIT $6",
                     {authority.workspace_id(), range.exact, range.from, range.to, after, query.limit},
                     read_version);
  });
}

Page<Version> Files::versions(const Authority& authority, const Id& file, std::string_view cursor,
                              size_t limit) {
  authority.need_in_scope(Right::read);
  limit = std::clamp<size_t>(limit, 1, context_.limits.list_max);
  int64_t before = cursor.empty() ? INT64_MAX : decode_number(cursor);
  Page<Version> page;
  page.items = context_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES
                          " WHERE v.file = $1 AND v.workspace = $2 AND v.number < $3 "
                          "ORDER BY v.number DESC LIMIT $4",
                          {file, authority.workspace_id(), before, limit + 1}, read_version);
  });
  // All versions have the current path of their file.
  if (!page.items.empty() && !authority.covers(page.items.front().path)) return {};
  if (page.items.size() > limit) {
    page.items.pop_back();
    page.has_more = true;
    page.next_cursor = std::to_string(page.items.back().number);
  }
  return page;
}

std::optional<Version> Files::find_version(const Authority& authority, const Id& version) {
  authority.need_in_scope(Right::read);
  auto found = find_version_anywhere(version);
  bool is_covered = found && found->workspace == authority.workspace_id() && authority.covers(found->path);
  return is_covered ? found : std::nullopt;
}

std::optional<Version> Files::find_version_anywhere(const Id& version) {
  return context_.db.read([&](catalog::Statements& statements) {
    auto found = statements.one("SELECT " SK_VERSION_COLUMNS " FROM " SK_VERSION_TABLES " WHERE v.id = $1",
                                {version}, read_version);
    if (found) return found;
    auto purged_us = statements.one("SELECT purged_us FROM purged_versions WHERE id = $1", {version},
                                    [](const catalog::Row& row) { return row.integer(0); });
    if (purged_us)
      throw Error(Code::gone, "this version was purged at " + to_iso8601(*purged_us))
          .with("purged_at", to_iso8601(*purged_us));
    return std::optional<Version>();
  });
}

}  // namespace sk::workspace
