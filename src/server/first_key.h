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

// Whether the folder holds nothing yet but, perhaps, its settings. Asked before the keep fills it.
bool is_fresh(const std::string& data_folder);

// The key is on disk before the catalog knows it, so that no crash leaves a server that nobody can open.
// `fresh` is what is_fresh() said before the keep was opened.
FirstKey ensure_first_key(workspace::Keep& keep, const Settings& settings, bool fresh);

}  // namespace sk::server
