// Audit files: a journal with its signed checkpoints, and their check without a server.
#pragma once

#include <functional>
#include <string>

#include "base/signing.h"
#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

struct AuditVerdict {
  bool valid = false;
  std::string problem;  // which line, and what is wrong there
  int64_t entries = 0, checkpoints = 0;
  TimeUs first_us = 0, last_us = 0;
  std::string public_key;
};

// Any thread. The signing key lives in the data folder, mode 0600; its public half is in every export.
class Audit {
 public:
  Audit(Ground& ground, std::string signing_key_path);

  // Signs the heads of all chains, if any changed since the last time. Called every few minutes, before an
  // export and at stop.
  void checkpoint();
  // Lines of JSON: header, entries of one workspace's (or, for zero, the server's) journal, checkpoints.
  // Checkpoints first.
  void export_to(const Id& workspace, const std::function<void(std::string_view line)>& sink);
  // Offline. With `trusted_key` the file must be signed by it.
  static AuditVerdict verify_file(const std::string& path, const std::string& trusted_key_pem = "");
  std::string public_key_pem() const;

 private:
  Ground& ground_;
  SigningKey key_;
};

}  // namespace sk::workspace
