#include "workspace/uploads.h"

#include <map>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/text.h"
#include "workspace/blob_ledger.h"
#include "workspace/change_run.h"
#include "workspace/content.h"
#include "workspace/mime.h"

namespace sk::workspace {

namespace {

constexpr std::string_view kUpload = "upload_";
constexpr std::string_view kPart = "part_";
constexpr size_t kReadBytes = 1 << 20;

#define SK_UPLOAD_COLUMNS                                                                                 \
  "id, workspace, filename, detail, mime, size, status, version, created_us, expires_us, "                \
  "(SELECT COALESCE(SUM(p.size), 0) FROM upload_parts p WHERE p.upload = u.id AND p.start IS NOT NULL), " \
  "completion"

UploadInfo read_upload(const catalog::Row& row) {
  UploadInfo upload;
  upload.id = row.id(0);
  upload.workspace = row.id(1);
  upload.wanted.filename = row.str(2);
  upload.wanted.detail = Json::parse(row.text(3));
  upload.wanted.mime = row.str(4);
  if (row.integer(5) >= 0) upload.wanted.size = static_cast<uint64_t>(row.integer(5));
  upload.status = row.str(6);
  upload.version = row.id(7);
  upload.created_us = row.integer(8);
  upload.expires_us = row.integer(9);
  upload.wanted.life_s = (upload.expires_us - upload.created_us) / kSecondUs;
  upload.received = static_cast<uint64_t>(row.integer(10));
  upload.completion = row.str(11);
  return upload;
}

Error no_such_upload(const Id& id) {
  return Error(Code::not_found, "there is no upload " + id.with_prefix(kUpload));
}

UploadInfo need_upload(catalog::Statements& statements, const Authority& authority, const Id& id,
                       TimeUs now_us) {
  auto found = statements.one("SELECT " SK_UPLOAD_COLUMNS
                              " FROM uploads u WHERE id = $1 AND owner = $2 AND workspace = $3",
                              {id, authority.actor().principal(), authority.workspace_id()}, read_upload);
  if (!found) throw no_such_upload(id);
  if (found->status == "pending" && found->expires_us <= now_us) found->status = "expired";
  return *found;
}

UploadInfo need_pending(catalog::Statements& statements, const Authority& authority, const Id& id,
                        TimeUs now_us) {
  auto upload = need_upload(statements, authority, id, now_us);
  if (upload.status != "pending")
    throw Error(Code::bad_request, "the upload is " + upload.status + " and accepts no more parts")
        .advise(Advice::create_other_upload);
  return upload;
}

// Appended bytes come first, in order.
std::vector<UploadPart> parts_of(catalog::Statements& statements, const Id& upload) {
  return statements.all(
      "SELECT id, size, sha256, created_us, start FROM upload_parts WHERE upload = $1 "
      "ORDER BY CASE WHEN start IS NULL THEN 1 ELSE 0 END, start, id",
      {upload}, [](const catalog::Row& row) {
        UploadPart part{row.id(0), static_cast<uint64_t>(row.integer(1)), row.hash(2), row.integer(3), {}};
        if (auto start = row.maybe_integer(4)) part.start = static_cast<uint64_t>(*start);
        return part;
      });
}

void drop_parts(ChangeRun& run, const Id& upload) {
  for (const auto& part : parts_of(run.tx(), upload))
    run.shrink(BlobLedger::drop(run.tx(), run.workspace(), part.sha256));
  run.tx().exec("DELETE FROM upload_parts WHERE upload = $1", {upload});
}

void check_append(const UploadInfo& upload, uint64_t offset, uint64_t size) {
  if (offset != upload.received)
    throw Error(Code::conflict, "the next byte of this upload is " + std::to_string(upload.received))
        .with("offset", static_cast<int64_t>(upload.received));
  if (upload.wanted.size && offset + size > *upload.wanted.size)
    throw Error(Code::bad_request, "these bytes end at " + std::to_string(offset + size) + ", but only " +
                                       std::to_string(*upload.wanted.size) + " were announced");
}

// Does nothing if the upload has already ended.
void end_upload(ChangeRun& run, const Id& upload, std::string_view status) {
  auto ended =
      run.tx().exec("UPDATE uploads SET status = $2 WHERE id = $1 AND status = 'pending'", {upload, status});
  if (ended == 1) drop_parts(run, upload);
}

// Error(bad_request) if the parts do not have the announced size.
void check_total(const std::vector<UploadPart>& parts, const std::optional<uint64_t>& size) {
  uint64_t total = 0;
  for (const auto& part : parts) total += part.size;
  if (size && total != *size)
    throw Error(Code::bad_request, "the parts have " + std::to_string(total) + " bytes together, but " +
                                       std::to_string(*size) + " were announced")
        .with("field", "part_ids");
}

// Returns the parts that a completion names, in that order, or all that was appended. Error(bad_request) if
// one is missing.
std::vector<UploadPart> chosen_parts(const std::vector<UploadPart>& parts,
                                     const std::optional<std::vector<Id>>& wanted) {
  std::map<Id, const UploadPart*> by_id;
  std::vector<UploadPart> chosen;
  for (const auto& part : parts) {
    by_id.emplace(part.id, &part);
    if (!wanted && part.start) chosen.push_back(part);
  }
  if (!wanted) return chosen;
  std::set<Id> named;
  for (const Id& id : *wanted) {
    // A quota counts a part once, however often it is in the file.
    if (!named.insert(id).second)
      throw Error(Code::bad_request, "the part " + id.with_prefix(kPart) + " is named twice")
          .with("field", "part_ids");
    auto found = by_id.find(id);
    if (found == by_id.end())
      throw Error(Code::bad_request, "the upload has no part " + id.with_prefix(kPart))
          .with("field", "part_ids");
    chosen.push_back(*found->second);
  }
  return chosen;
}

// Identifies the parts that an upload is completed with.
std::string fingerprint(const Uploads::Completion& wanted) {
  std::string all = wanted.parts ? "parts" : "appended";
  for (const Id& part : wanted.parts.value_or(std::vector<Id>{})) all += part.raw();
  return sha256(all).hex();
}

// The stored record of a completion: the fingerprint of its parts and the MD5 of the file.
std::string completion_text(const Uploads::Completion& wanted, const std::string& md5) {
  return fingerprint(wanted) + " " + to_hex(as_bytes(md5));
}

// A client that did not receive the answer asks again and gets the same answer, with or without an MD5.
// Error(conflict) if it now asks for other parts or bytes, since the file does not hold them.
void check_repeated(const UploadInfo& completed, const Uploads::Completion& wanted) {
  if (completed.completion.empty()) return;
  auto words = split(completed.completion, ' ');
  bool same_parts = words.front() == fingerprint(wanted);
  if (same_parts && (!wanted.md5 || words.back() == to_hex(as_bytes(*wanted.md5)))) return;
  throw Error(Code::conflict, same_parts ? "the upload is completed already, and its file has another MD5"
                                         : "the upload is completed already, with other parts")
      .advise(Advice::create_other_upload)
      .with("field", same_parts ? "md5" : "part_ids");
}

// Joins parts into one content. Almost all chunks of the parts recur in it, except at the boundaries, so
// little is written.
class Joiner {
 public:
  Joiner(KeepContext& context, const std::function<bool()>& go_on)
      : context_(context), go_on_(go_on), intake_(context) {}

  void add(const UploadPart& part) {
    ContentReader reader(context_, part.sha256, 0, part.size);
    while (auto piece = reader.next()) {
      if (!go_on_()) throw Error(Code::unavailable, "the completion was stopped before its end");
      if (!piece->file) {
        write(as_bytes(piece->bytes));
        continue;
      }
      for (uint64_t done = 0; done < piece->size;) {
        auto room = std::span(buffer_).first(std::min<uint64_t>(buffer_.size(), piece->size - done));
        size_t got = read_at(piece->file->get(), room, piece->offset + done, "a blob");
        if (got == 0) throw Error(Code::corrupt, "a stored blob is shorter than recorded");
        write(Bytes(buffer_).first(got));
        done += got;
      }
    }
  }

  struct Joined {
    Content content;
    std::string md5;  // 16 bytes
  };
  // Error(bad_request) if the bytes do not have the expected MD5.
  Joined finish(const std::optional<std::string>& expected) {
    auto md5 = md5_.digest();
    if (expected && *expected != md5)
      throw Error(Code::bad_request, "the bytes do not have the MD5 that was announced").with("field", "md5");
    return {intake_.finish(), std::move(md5)};
  }

 private:
  void write(Bytes bytes) {
    md5_.update(bytes);
    intake_.write(bytes);
  }

  KeepContext& context_;
  const std::function<bool()>& go_on_;
  Intake intake_;
  Md5Stream md5_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kReadBytes);
};

Joiner::Joined join_parts(KeepContext& context, const std::vector<UploadPart>& parts,
                          const Uploads::Completion& wanted, const std::function<bool()>& go_on) {
  Joiner joiner(context, go_on);
  for (const auto& part : parts) joiner.add(part);
  return joiner.finish(wanted.md5);
}

}  // namespace

UploadInfo Uploads::create(const Authority& authority, NewUpload wanted) {
  authority.need(Right::write);
  if (wanted.size && *wanted.size > context_.limits.file_bytes_max)
    throw Error(Code::too_large, "a file may have at most " + human_size(context_.limits.file_bytes_max))
        .with("field", "bytes")
        .with("limit_bytes", static_cast<int64_t>(context_.limits.file_bytes_max));
  UploadInfo upload;
  upload.id = context_.ids.next();
  upload.workspace = authority.workspace_id();
  upload.wanted = std::move(wanted);
  upload.status = "pending";
  upload.created_us = context_.clock.now_us();
  upload.expires_us = upload.created_us + upload.wanted.life_s * kSecondUs;
  context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    if (upload.wanted.size && upload.wanted.quota == NewUpload::Quota::announced)
      Intake::check_announced(tx, upload.workspace, *upload.wanted.size);
    auto [pending, first_expiry_us] = *tx.one(
        "SELECT count(*), coalesce(min(expires_us), 0) FROM uploads WHERE owner = $1 AND status = 'pending' "
        "AND expires_us > $2",
        {authority.actor().principal(), upload.created_us},
        [](const catalog::Row& row) { return std::pair(row.integer(0), row.integer(1)); });
    if (pending >= kUploadsPendingMax)
      throw Error(Code::too_many_requests, "you have " + std::to_string(pending) + " unfinished uploads")
          .retry_in(seconds_until(first_expiry_us, upload.created_us))
          .advise(Advice::end_some_uploads);
    tx.exec(
        "INSERT INTO uploads (id, workspace, filename, detail, mime, size, status, version, created_us, "
        "expires_us, owner) VALUES ($1, $2, $3, $4, $5, $6, $7, NULL, $8, $9, $10)",
        {upload.id, upload.workspace, upload.wanted.filename, to_text(upload.wanted.detail),
         upload.wanted.mime, upload.wanted.size ? static_cast<int64_t>(*upload.wanted.size) : -1,
         upload.status, upload.created_us, upload.expires_us, authority.actor().principal()});
  });
  return upload;
}

Id Uploads::workspace_of(const Actor& actor, const Id& upload) {
  auto found = context_.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT workspace FROM uploads WHERE id = $1 AND owner = $2",
                          {upload, actor.principal()}, [](const catalog::Row& row) { return row.id(0); });
  });
  bool in_scope = found && (!actor.only_workspace() || *actor.only_workspace() == *found);
  if (!in_scope) throw no_such_upload(upload);
  return *found;
}

UploadInfo Uploads::get(const Authority& authority, const Id& upload) {
  authority.need(Right::write);
  return context_.db.read([&](catalog::Statements& statements) {
    return need_upload(statements, authority, upload, context_.clock.now_us());
  });
}

UploadPart Uploads::add_part(const Authority& authority, const Id& upload, const Content& content) {
  UploadPart part;
  store(authority, upload, content, part);
  return part;
}

UploadInfo Uploads::append(const Authority& authority, const Id& upload, uint64_t offset,
                           const Content& content) {
  UploadPart part;
  part.start = offset;
  store(authority, upload, content, part);
  return get(authority, upload);
}

void Uploads::store(const Authority& authority, const Id& upload, const Content& content, UploadPart& part) {
  authority.need(Right::write);
  part.id = context_.ids.next();
  part.size = content.size();
  part.sha256 = content.hash();
  part.created_us = context_.clock.now_us();
  auto recorder = BlobLedger::recorder(context_.blobs, {&content.written()});
  auto unneeded = context_.db.write_after(recorder, authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    auto pending = need_pending(tx, authority, upload, tx.now_us());
    if (part.start) check_append(pending, *part.start, part.size);
    auto parts = *tx.one("SELECT count(*) FROM upload_parts WHERE upload = $1", {upload},
                         [](const catalog::Row& row) { return row.integer(0); });
    if (static_cast<size_t>(parts) >= kUploadPartsMax)
      throw Error(Code::bad_request, "an upload has at most " + std::to_string(kUploadPartsMax) + " parts")
          .advise(Advice::send_larger_parts)
          .with("part_bytes_max", static_cast<int64_t>(kUploadPartBytesMax));
    ChangeRun run(tx, context_, authority);
    auto added = BlobLedger::add(tx, pending.workspace, content.written(), part.created_us);
    run.grow(added.grew_bytes);
    tx.exec(
        "INSERT INTO upload_parts (upload, id, sha256, size, created_us, start) VALUES ($1, $2, $3, $4, $5, "
        "$6)",
        {upload, part.id, part.sha256, part.size, part.created_us, part.start});
    return std::move(added.unneeded);
  });
  content.written().commit();
  for (const auto& location : unneeded) context_.blobs.remove(location);
}

UploadInfo Uploads::complete(const Authority& authority, const Id& id, const Completion& wanted,
                             const std::function<bool()>& go_on) {
  auto found = get(authority, id);
  if (found.status == "completed") {
    check_repeated(found, wanted);
    return found;
  }
  auto [upload, parts] = context_.db.read([&](catalog::Statements& statements) {
    auto pending = need_pending(statements, authority, id, context_.clock.now_us());
    auto chosen = chosen_parts(parts_of(statements, id), wanted.parts);
    check_total(chosen, pending.wanted.size);
    return std::pair(pending, chosen);
  });
  PutChange put;
  std::string md5;
  try {
    auto joined = join_parts(context_, parts, wanted, go_on);
    put.content = std::move(joined.content);
    md5 = std::move(joined.md5);
  } catch (const Error& error) {
    // Missing parts mean that the upload ended in the meantime.
    if (error.code() == Code::gone)
      context_.db.read([&](catalog::Statements& statements) {
        need_pending(statements, authority, id, context_.clock.now_us());
      });
    throw;
  }
  put.path = wanted.place;
  put.conditions = wanted.conditions;
  put.mime_found = upload.wanted.mime.empty();
  put.mime = put.mime_found ? guess_mime(put.path, put.content.head_bytes(), context_.type_of_bytes)
                            : upload.wanted.mime;
  const Change change = std::move(put);
  const Content& content = std::get<PutChange>(change).content;
  std::vector<std::string> unneeded;
  bool was_done = false;
  auto recorder = BlobLedger::recorder(context_.blobs, {&content.written()});
  auto done = context_.db.write_after(recorder, authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    auto current = need_upload(tx, authority, id, tx.now_us());
    was_done = current.status == "completed";  // by a call made at the same time
    if (was_done) {
      check_repeated(current, wanted);
      return current;
    }
    auto pending = need_pending(tx, authority, id, tx.now_us());
    // Bytes that were appended since are not in the file.
    if (!wanted.parts && pending.received != content.size())
      throw Error(Code::conflict, "bytes were appended while the upload was being completed");
    ChangeRun run(tx, context_, authority);
    // The parts go first, so that they and the file do not count twice against the quota.
    end_upload(run, id, "completed");
    auto result = run.run(change);
    tx.exec("UPDATE uploads SET version = $2, completion = $3 WHERE id = $1",
            {id, result.version->id, completion_text(wanted, md5)});
    if (wanted.also) wanted.also(tx, {result});
    unneeded = std::move(run.unneeded());
    pending.status = "completed";
    pending.version = result.version->id;
    return pending;
  });
  if (was_done) return done;
  content.written().commit();
  for (const auto& location : unneeded) context_.blobs.remove(location);
  return done;
}

UploadInfo Uploads::cancel(const Authority& authority, const Id& upload) {
  authority.need(Right::write);
  return context_.db.write(authority.scope(), [&](catalog::Tx& tx) {
    check_still_holds(tx, authority, Right::write);
    auto known = need_upload(tx, authority, upload, tx.now_us());
    if (known.status == "cancelled") return known;
    auto pending = need_pending(tx, authority, upload, tx.now_us());
    ChangeRun run(tx, context_, authority);
    end_upload(run, upload, "cancelled");
    pending.status = "cancelled";
    return pending;
  });
}

void Uploads::expire() {
  constexpr size_t kAtOnceMax = 100;
  TimeUs now_us = context_.clock.now_us();
  auto over = context_.db.read([&](catalog::Statements& statements) {
    return statements.all("SELECT " SK_UPLOAD_COLUMNS
                          " FROM uploads u WHERE status = 'pending' AND expires_us <= $1 LIMIT $2",
                          {now_us, kAtOnceMax}, read_upload);
  });
  Actor nobody;
  for (const auto& upload : over) {
    context_.db.write(catalog::Scope::workspace(upload.workspace), [&](catalog::Tx& tx) {
      ChangeRun run(tx, context_, nobody, upload.workspace);
      end_upload(run, upload.id, "expired");
    });
  }
}

}  // namespace sk::workspace
