// Permanent links: /k/{version-id}/{name}. A link is private, or signed: anyone who has a signed URL may read
// that one version.
#pragma once

#include "workspace/authority.h"
#include "workspace/keep_context.h"
#include "workspace/types.h"

namespace sk::workspace {

// Any thread.
class Links {
 public:
  explicit Links(KeepContext& context) : context_(context) {}

  // Returns "/k/v_…/report%20final.pdf", the path to append to the server's public address. API answers
  // contain it for every actor that may read the version.
  static std::string path_of(const Version& version);
  static std::string path_of(const Id& version, std::string_view file_path);
  // Returns the same path with "?s=…", which grants access until the workspace's links are revoked.
  std::string signed_path_of(const Authority& authority, const Version& version);
  // Whether `signature` grants access to `version`. Compares in constant time.
  bool opens(const Version& version, std::string_view signature);

 private:
  KeepContext& context_;
};

}  // namespace sk::workspace
