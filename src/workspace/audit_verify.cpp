// Verifies an audit file offline: the seal over all bytes, the chain of entries and the commitments of the
// personal parts. Also verifies the chain and signatures of the checkpoints. The last checkpoint that names
// this journal must name its last entry.
#include <fcntl.h>

#include <fstream>

#include "base/error.h"
#include "workspace/audit.h"
#include "workspace/journal_hash.h"

namespace sk::workspace {

namespace {

struct Problem {
  std::string text;
};

[[noreturn]] void reject(int64_t line, std::string_view what) {
  throw Problem{"line " + std::to_string(line) + ": " + std::string(what)};
}

Sha256 hash_field(const Json& object, const char* name, int64_t line) {
  auto hash = Sha256::from_hex(object.at(name).get<std::string>());
  if (!hash) reject(line, std::string(name) + " is not a hash");
  return *hash;
}

class Verifier {
 public:
  explicit Verifier(const std::string& trusted_key_pem) : trusted_(trusted_key_pem) {}

  void line(int64_t number, const std::string& text) {
    if (sealed_) reject(number, "there is something after the seal");
    Json value;
    try {
      value = Json::parse(text);
      // Accept only the exact text of the exporter: one spelling per value.
      if (to_text(value) != text) reject(number, "the line differs from its exported form");
      if (number == 1)
        header(value);
      else if (value.contains("entry"))
        entry(number, value.at("entry"));
      else if (value.contains("checkpoint"))
        checkpoint(number, value.at("checkpoint"));
      else if (value.contains("seal"))
        seal(number, value.at("seal"));
      else
        reject(number, "the line is of an unknown kind");
    } catch (const Json::exception&) {
      reject(number, "the line is not an audit line");
    }
    seen_.update(as_bytes(text + "\n"));
  }

  AuditVerdict end() {
    if (!sealed_) throw Problem{"the file has no seal: its end is missing"};
    if (verdict_.entries > 0 && covered_seq_ != verdict_.entries)
      throw Problem{"no checkpoint covers the last entry: entries were added or removed at the end"};
    verdict_.valid = true;
    return verdict_;
  }

 private:
  void header(const Json& value) {
    if (value.at("sandkeep_audit") != 1)
      reject(1, "the file is not an audit file of a format that this program knows");
    auto id = Id::from_hex(value.at("journal").get<std::string>());
    verdict_.public_key = value.at("public_key").get<std::string>();
    key_ = PublicKey::from_pem(verdict_.public_key);
    if (!id || !key_) reject(1, "the header is damaged");
    journal_ = *id;
    if (!trusted_.empty()) {
      auto trusted = PublicKey::from_pem(trusted_);
      if (!trusted) throw Problem{"the trusted key is not an Ed25519 public key in PEM"};
      if (trusted->raw() != key_->raw()) reject(1, "the file is signed by another key than the trusted one");
    }
  }

  void entry(int64_t number, const Json& value) {
    JournalLine line;
    line.previous = head_;
    line.workspace = journal_;
    line.seq = value.at("seq").get<int64_t>();
    line.time_us = value.at("time_us").get<int64_t>();
    std::string kind = value.at("kind").get<std::string>();
    line.kind = kind;
    auto actor = Id::from_hex(value.at("actor").get<std::string>());
    if (!actor) reject(number, "actor is not an id");
    line.actor = *actor;
    line.facts = value.at("facts").get<std::string>();
    line.commitment = hash_field(value, "commitment", number);
    if (line.seq != verdict_.entries + 1)
      reject(number, "entry " + std::to_string(verdict_.entries + 1) + " is missing");
    if (!value.at("personal").is_null()) {
      auto salt = from_hex(value.at("salt").get<std::string>());
      if (!salt || commit_to(*salt, value.at("personal").get<std::string>()) != line.commitment)
        reject(number, "the personal part was changed");
    }
    head_ = hash_line(line);
    if (head_ != hash_field(value, "hash", number)) reject(number, "the entry was changed, or one before it");
    leaves_[hash_leaf(journal_, line.seq, head_).hex()] = line.seq;
    if (++verdict_.entries == 1) verdict_.first_us = line.time_us;
    verdict_.last_us = line.time_us;
  }

  void checkpoint(int64_t number, const Json& value) {
    int64_t count = value.at("number").get<int64_t>();
    std::string leaves = value.at("leaves").get<std::string>();
    std::string text = checkpoint_text(count, value.at("time_us").get<int64_t>(),
                                       hash_field(value, "previous", number), leaves);
    if (count != verdict_.checkpoints + 1 || hash_field(value, "previous", number) != last_checkpoint_)
      reject(number, "a checkpoint is missing");
    last_checkpoint_ = sha256(text);
    auto signature = from_base64url(value.at("signature").get<std::string>());
    if (last_checkpoint_ != hash_field(value, "hash", number) || !signature ||
        !key_->verify(as_bytes(text), *signature))
      reject(number, "the checkpoint was changed");
    ++verdict_.checkpoints;
    for (auto leaf : split(leaves, ',')) {
      auto found = leaves_.find(std::string(leaf));
      if (found == leaves_.end()) continue;
      if (found->second <= covered_seq_) reject(number, "the checkpoint goes back");
      covered_seq_ = found->second;
    }
  }

  void seal(int64_t number, const Json& value) {
    Sha256 hash = seen_.digest();
    auto signature = from_base64url(value.at("signature").get<std::string>());
    if (hash != hash_field(value, "sha256", number) || !signature ||
        !key_->verify(as_bytes("sandkeep-audit-seal-1\n" + hash.hex()), *signature))
      reject(number, "the seal does not match: the file was changed");
    if (value.size() != 2) reject(number, "the seal was changed");
    sealed_ = true;
  }

  const std::string trusted_;
  AuditVerdict verdict_;
  std::optional<PublicKey> key_;
  Id journal_;
  Sha256 head_, last_checkpoint_;
  Sha256Stream seen_;
  std::map<std::string, int64_t> leaves_;
  int64_t covered_seq_ = 0;
  bool sealed_ = false;
};

}  // namespace

AuditVerdict Audit::verify_file(const std::string& path, const std::string& trusted_key_pem) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Code::not_found, "cannot open " + path);
  Verifier verifier(trusted_key_pem);
  AuditVerdict verdict;
  try {
    std::string text;
    int64_t number = 0;
    while (std::getline(file, text)) {
      if (file.eof()) throw Problem{"the last line is incomplete: the file was truncated"};
      verifier.line(++number, text);
    }
    if (number == 0) throw Problem{"the file is empty"};
    return verifier.end();
  } catch (const Problem& problem) {
    verdict.problem = problem.text;
    return verdict;
  }
}

}  // namespace sk::workspace
