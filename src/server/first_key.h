// The first key of a server: chosen by the operator, or created on the first start and stored in the data
// folder.
#pragma once

#include <optional>
#include <string>

#include "server/settings.h"
#include "workspace/keep.h"

namespace sk::server {

struct FirstKey {
  std::optional<std::string> made;  // the secret, if it was created by this call; shown once
  std::string file;                 // its file; empty if the operator chose the key or deleted the file
};

// Creates or finds the first key. The key is on disk before it is in the catalog, so that no crash leaves a
// server without a usable key. Error(corrupt) if the file is empty.
FirstKey ensure_first_key(workspace::Keep& keep, const Settings& settings);

}  // namespace sk::server
