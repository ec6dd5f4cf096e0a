// Permanent links: /k/{version-id}/{name}, private, or signed so that whoever holds the URL may read that one
// version.
#pragma once

#include "workspace/authority.h"
#include "workspace/ground.h"
#include "workspace/types.h"

namespace sk::workspace {

// Any thread.
class Links {
 public:
  explicit Links(Ground& ground) : ground_(ground) {}

  // "/k/v_…/report%20final.pdf": the path part, to put behind the server's public address. Answers mint it
  // for whoever may read.
  static std::string path_of(const Version& version);
  static std::string path_of(const Id& version, std::string_view file_path);
  // The same with "?s=…": the capability, valid until the workspace's links are revoked.
  std::string signed_path_of(const Authority& authority, const Version& version);
  // Whether `signature` opens `version`; constant time.
  bool opens(const Version& version, std::string_view signature);

 private:
  Ground& ground_;
};

}  // namespace sk::workspace
