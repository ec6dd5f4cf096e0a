// The first key of a server: the operator's own, or one that is made on the first start and kept in the data
// folder.
#pragma once

#include <optional>
#include <string>

#include "server/settings.h"
#include "workspace/keep.h"

namespace sk::server {

struct FirstKey {
  std::optional<std::string> made;  // the secret, when it was made just now: shown once
  std::string file;                 // where it is kept; empty when the operator chose it or removed the file
};

// The key is on disk before the catalog knows it, so that no crash leaves a server that nobody can open.
FirstKey ensure_first_key(workspace::Keep& keep, const Settings& settings);

}  // namespace sk::server
