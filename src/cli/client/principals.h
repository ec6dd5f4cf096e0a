// Finds principals by name, for administrators.
#pragma once

#include <string>

#include "cli/client/remote.h"

namespace sk::cli {

// Returns the id of the principal that a user named by its id or its name. Asks the server for a name.
// Error(not_found) if there is none with that name, Error(forbidden) if the key may not look names up.
std::string principal_id(Remote& remote, const std::string& id_or_name);

}  // namespace sk::cli
