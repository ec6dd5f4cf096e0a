#include "api/vendor/given_files.h"

#include <algorithm>

#include "base/error.h"
#include "base/path.h"
#include "workspace/workspace_rows.h"

namespace sk::api {

namespace {

using workspace::Order;
using workspace::read_version;

constexpr size_t kDueAtOnceMax = 1'000;

std::string default_purpose(const workspace::Version& version) {
  return std::string(version.source.kind == "execution" ? kOutputPurpose : kPlainPurpose);
}

#define SK_GIVEN_LIST(FIRST, NEXT) \
  SK_VERSION_LIST(FIRST, NEXT)     \
  NEXT(purpose, "f.purpose")       \
  NEXT(expires_us, "f.expires_us")
#define SK_GIVEN_COLUMNS SK_COLUMN_TEXT(SK_GIVEN_LIST)
SK_COLUMN_NAMES(GivenColumn, SK_GIVEN_LIST);

GivenFile read_given(const catalog::Row& row) {
  GivenFile file;
  file.version = read_version(row);
  file.purpose =
      row.is_null(GivenColumn::purpose) ? default_purpose(file.version) : row.str(GivenColumn::purpose);
  file.expires_us = row.maybe_integer(GivenColumn::expires_us);
  return file;
}

// The end of a list in descending order: ids are compared as bytes.
Id greatest_id() {
  Id id;
  id.bytes.fill(std::byte{0xff});
  return id;
}

struct Step {
  const GivenQuery& query;
  Id workspace;
  TimeUs now_us;
};

// Files with an explicit purpose. Their number is limited by what users upload, so sorting is cheap.
#define SK_GIVEN_WHERE                                                                \
  " FROM purposes f JOIN entries e ON e.id = f.file JOIN versions v ON v.id = e.head" \
  " LEFT JOIN principals p ON p.id = v.author"                                        \
  " WHERE f.workspace = $1 AND ($2 = '' OR f.purpose = $2) AND e.trashed_us IS NULL"  \
  " AND (f.expires_us IS NULL OR f.expires_us > $3)"

std::vector<GivenFile> given_step(catalog::Statements& statements, const Step& step) {
  const auto& query = step.query;
  if (query.order == Order::oldest_first)
    return statements.all("SELECT " SK_GIVEN_COLUMNS SK_GIVEN_WHERE " AND v.id > $4 ORDER BY v.id LIMIT $5",
                          {step.workspace, query.purpose, step.now_us, query.after, query.limit}, read_given);
  return statements.all(
      "SELECT " SK_GIVEN_COLUMNS SK_GIVEN_WHERE " AND v.id < $4 ORDER BY v.id DESC LIMIT $5",
      {step.workspace, query.purpose, step.now_us, query.after ? query.after : greatest_id(), query.limit},
      read_given);
}

// Files written by executions. An index holds exactly these versions in id order.
#define SK_WRITTEN_WHERE                                                 \
  " FROM " SK_VERSION_TABLES                                             \
  " LEFT JOIN purposes f ON f.file = v.file"                             \
  " WHERE v.workspace = $1 AND v.source = 'execution' AND e.head = v.id" \
  " AND e.trashed_us IS NULL AND f.file IS NULL"

std::vector<GivenFile> written_step(catalog::Statements& statements, const Step& step) {
  const auto& query = step.query;
  if (query.order == Order::oldest_first)
    return statements.all("SELECT " SK_GIVEN_COLUMNS SK_WRITTEN_WHERE " AND v.id > $2 ORDER BY v.id LIMIT $3",
                          {step.workspace, query.after, query.limit}, read_given);
  return statements.all("SELECT " SK_GIVEN_COLUMNS SK_WRITTEN_WHERE
                        " AND v.id < $2 ORDER BY v.id DESC LIMIT $3",
                        {step.workspace, query.after ? query.after : greatest_id(), query.limit}, read_given);
}

void forget_purpose(catalog::Tx& tx, const Id& file) {
  tx.exec("DELETE FROM purposes WHERE file = $1", {file});
}

}  // namespace

GivenFiles::GivenFiles(workspace::Keep& keep) : keep_(keep) {
  keep.context().on_purge.emplace_back(forget_purpose);
}

std::string GivenFiles::place_for(std::string_view name) {
  auto base = split_path(name).second;
  if (base.empty() || base == "." || base == "..")
    throw Error(Code::bad_request, "the file has no name").with("field", "file");
  std::string place = "uploads/";
  place.append(to_iso8601(keep_.context().clock.now_us()), 0, 10);
  // The last twelve digits of an id are random.
  place.append("/").append(keep_.context().ids.next().hex().substr(20)).append("/").append(base);
  return clean_file_path(place);
}

std::optional<GivenFile> GivenFiles::find(const workspace::Actor& actor, const Id& id) {
  return keep_.context().db.read([&](catalog::Statements& statements) -> std::optional<GivenFile> {
    auto version = workspace::Retractions::find(statements, actor, id);
    if (!version) return std::nullopt;
    GivenFile file{.version = std::move(*version), .purpose = {}, .expires_us = {}};
    file.purpose = default_purpose(file.version);
    statements.query("SELECT purpose, expires_us FROM purposes WHERE file = $1", {file.version.file},
                     [&](const catalog::Row& row) {
                       file.purpose = row.str(0);
                       file.expires_us = row.maybe_integer(1);
                       return false;
                     });
    if (file.expires_us && *file.expires_us <= keep_.context().clock.now_us()) return std::nullopt;
    return file;
  });
}

std::vector<GivenFile> GivenFiles::list(const workspace::Actor& actor, const GivenQuery& query) {
  std::vector<GivenFile> result;
  auto workspaces = keep_.workspaces().list(actor);
  keep_.context().db.read([&](catalog::Statements& statements) {
    for (const auto& workspace : workspaces) {
      Step step{query, workspace.id, keep_.context().clock.now_us()};
      auto add = [&](std::vector<GivenFile> files) {
        std::move(files.begin(), files.end(), std::back_inserter(result));
      };
      add(given_step(statements, step));
      if (query.purpose.empty() || query.purpose == kOutputPurpose) add(written_step(statements, step));
    }
  });
  bool oldest_first = query.order == Order::oldest_first;
  std::sort(result.begin(), result.end(), [&](const GivenFile& a, const GivenFile& b) {
    return oldest_first ? a.version.id < b.version.id : b.version.id < a.version.id;
  });
  if (result.size() > query.limit) result.resize(query.limit);
  return result;
}

size_t GivenFiles::retract_due() {
  auto& context = keep_.context();
  struct Due {
    Id file, workspace;
  };
  auto due = context.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT file, workspace FROM purposes WHERE expires_us <= $1 LIMIT $2",
                          {context.clock.now_us(), kDueAtOnceMax},
                          [](const catalog::Row& row) { return Due{row.id(0), row.id(1)}; });
  });
  size_t done = 0;
  for (const auto& [file, workspace] : due) {
    try {
      keep_.retractions().retract_file(
          workspace, file, "the time that its uploader gave a file is over", [&](catalog::Tx& tx) {
            // Restoring the file from the trash then keeps it without an expiry.
            tx.exec("UPDATE purposes SET expires_us = NULL WHERE file = $1", {file});
          });
      ++done;
    } catch (const Error& error) {
      if (error.code() != Code::locked) throw;  // retried later; find() hides the file until then
    }
  }
  return done;
}

void GivenFiles::give(catalog::Tx& tx, const workspace::Entry& entry, const Purpose& purpose) {
  tx.exec(
      "INSERT INTO purposes (file, workspace, purpose, expires_us) VALUES ($1, $2, $3, $4) ON CONFLICT "
      "(file) "
      "DO UPDATE SET purpose = excluded.purpose, expires_us = excluded.expires_us",
      {entry.id, entry.workspace, purpose.name, purpose.expires_us});
}

}  // namespace sk::api
