#include "workspace/audit.h"

#include "base/error.h"
#include "workspace/journal_hash.h"

namespace sk::workspace {

namespace {

// The last line covers every byte before it, so that any change is detected, even in data that no chain
// covers.
Json seal_of(const Sha256Stream& seen, const SigningKey& key) {
  Sha256 hash = seen.digest();
  return {
      {"seal",
       {{"sha256", hash.hex()},
        {"signature", to_base64url(as_bytes(key.sign(as_bytes("sandkeep-audit-seal-1\n" + hash.hex()))))}}}};
}

}  // namespace

Audit::Audit(KeepContext& context, std::string signing_key_path)
    : context_(context), key_(SigningKey::load_or_make(signing_key_path)) {}

std::string Audit::public_key_pem() const { return key_.public_key().pem(); }

void Audit::checkpoint() {
  bool any = context_.db.read([&](catalog::Statements& statements) {
    return statements.query("SELECT 1 FROM journals WHERE checkpointed_seq < seq LIMIT 1", {},
                            [](const catalog::Row&) { return false; }) > 0;
  });
  if (!any) return;
  context_.db.write(catalog::Scope::installation(), [&](catalog::Tx& tx) {
    std::vector<std::string> leaves;
    tx.query("SELECT workspace, seq, hash FROM journals WHERE checkpointed_seq < seq", {},
             [&](const catalog::Row& row) {
               leaves.push_back(hash_leaf(row.id(0), row.integer(1), row.hash(2)).hex());
               return true;
             });
    std::sort(leaves.begin(), leaves.end());
    std::string joined;
    for (const auto& leaf : leaves) joined += (joined.empty() ? "" : ",") + leaf;
    struct Last {
      int64_t number;
      Sha256 hash;
    };
    auto last = tx.one("SELECT number, hash FROM checkpoints ORDER BY number DESC LIMIT 1", {},
                       [](const catalog::Row& row) { return Last{row.integer(0), row.hash(1)}; })
                    .value_or(Last{0, Sha256{}});
    TimeUs now_us = tx.now_us();
    std::string text = checkpoint_text(last.number + 1, now_us, last.hash, joined);
    tx.exec(
        "INSERT INTO checkpoints (number, time_us, leaves, previous, hash, signature) VALUES ($1, $2, $3, "
        "$4, $5, $6)",
        {last.number + 1, now_us, joined, last.hash, sha256(text),
         catalog::Param::raw(key_.sign(as_bytes(text)))});
    tx.exec("UPDATE journals SET checkpointed_seq = seq WHERE checkpointed_seq < seq", {});
  });
}

void Audit::export_to(const ReadableJournal& journal,
                      const std::function<void(std::string_view line)>& sink) {
  // A chain can only be verified as a whole.
  if (!journal.path_scope().empty())
    throw Error(Code::forbidden, "only access to the whole workspace can export its journal");
  const Id& workspace = journal.workspace();
  checkpoint();
  Sha256Stream seen;
  auto emit = [&](const Json& value) {
    std::string line = to_text(value) + "\n";
    seen.update(as_bytes(line));
    sink(line);
  };
  emit({{"sandkeep_audit", 1},
        {"journal", workspace.hex()},
        {"exported_at", to_iso8601(context_.clock.now_us())},
        {"public_key", public_key_pem()}});
  // Read in batches, so that a long journal neither fills memory nor keeps a snapshot open while a slow
  // client reads. Entries may be added meanwhile; the export ends at the seq that the first checkpoint
  // covered.
  int64_t end = context_.db.read([&](catalog::Statements& statements) {
    return statements
        .one("SELECT checkpointed_seq FROM journals WHERE workspace = $1", {workspace},
             [](const catalog::Row& row) { return row.integer(0); })
        .value_or(0);
  });
  for (int64_t after = 0; after < end;) {
    std::vector<Json> batch;
    context_.db.read([&](catalog::Statements& statements) {
      statements.query(
          "SELECT seq, time_us, kind, actor, facts, personal, salt, commitment, hash FROM journal WHERE "
          "workspace = $1 AND seq > $2 AND "
          "seq <= $3 ORDER BY seq LIMIT 1000",
          {workspace, after, end}, [&](const catalog::Row& row) {
            batch.push_back({{"entry",
                              {{"seq", row.integer(0)},
                               {"time_us", row.integer(1)},
                               {"kind", row.str(2)},
                               {"actor", row.id(3).hex()},
                               {"facts", row.str(4)},
                               {"personal", row.is_null(5) ? Json() : Json(row.str(5))},
                               {"salt", row.is_null(6) ? Json() : Json(to_hex(as_bytes(row.text(6))))},
                               {"commitment", row.hash(7).hex()},
                               {"hash", row.hash(8).hex()}}}});
            after = row.integer(0);
            return true;
          });
    });
    if (batch.empty())
      throw Error(Code::corrupt, "the journal has a gap after entry " + std::to_string(after));
    for (const Json& line : batch) emit(line);
  }
  auto checkpoints = context_.db.read([&](catalog::Statements& statements) {
    return statements.all(
        "SELECT number, time_us, leaves, previous, hash, signature FROM checkpoints ORDER BY number", {},
        [](const catalog::Row& row) {
          return Json{{"checkpoint",
                       {{"number", row.integer(0)},
                        {"time_us", row.integer(1)},
                        {"leaves", row.str(2)},
                        {"previous", row.hash(3).hex()},
                        {"hash", row.hash(4).hex()},
                        {"signature", to_base64url(as_bytes(row.text(5)))}}}};
        });
  });
  for (const Json& line : checkpoints) emit(line);
  sink(to_text(seal_of(seen, key_)) + "\n");
}

}  // namespace sk::workspace
