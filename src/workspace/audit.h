// Audit files: a journal with its signed checkpoints. An export can be verified without a server.
#pragma once

#include <functional>
#include <string>

#include "base/signing.h"
#include "workspace/journal.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

struct AuditVerdict {
  bool valid = false;
  std::string problem;  // the line number and the problem found there
  int64_t entries = 0, checkpoints = 0;
  TimeUs first_us = 0, last_us = 0;
  std::string public_key;
};

// Any thread. The signing key is in the data folder, mode 0600; every export contains its public key.
class Audit {
 public:
  Audit(KeepContext& context, std::string signing_key_path);

  // Signs the heads of all journals that grew since the last checkpoint; does nothing if none did. Called
  // every few minutes, before an export and at stop.
  void checkpoint();
  // Creates a checkpoint, then writes lines of JSON: header, entries, all checkpoints, seal.
  // Error(forbidden) if the journal is readable only in part. Error(corrupt) if entries are missing.
  void export_to(const ReadableJournal& journal, const std::function<void(std::string_view line)>& sink);
  // Verifies an exported file without a server. If `trusted_key_pem` is not empty, the file must be signed by
  // that key. Throws Error(not_found) when the file cannot be opened; all other problems are in the verdict.
  static AuditVerdict verify_file(const std::string& path, const std::string& trusted_key_pem = "");
  std::string public_key_pem() const;

 private:
  KeepContext& context_;
  SigningKey key_;
};

}  // namespace sk::workspace
