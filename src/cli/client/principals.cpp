#include "cli/client/principals.h"

#include "base/id.h"
#include "cli/client/fields.h"

namespace sk::cli {

std::string principal_id(Remote& remote, const std::string& id_or_name) {
  if (Id::from_prefixed(id_or_name, prefix::principal)) return id_or_name;
  std::string found;
  try {
    for_each_item(remote, "/api/v1/principals", {}, [&](const Json& principal) {
      if (text_field(principal, "name") == id_or_name) found = text_field(principal, "id");
    });
  } catch (const Error& error) {
    if (error.code() != Code::forbidden) throw;
    throw Error(Code::forbidden, "only administrators may look up the name '" + id_or_name + "'")
        .hint("Ask the principal for its id, which 'sandkeep whoami' shows, and use that.");
  }
  if (found.empty())
    throw Error(Code::not_found, "there is no principal '" + id_or_name + "'")
        .hint("List the principals: 'sandkeep principal ls'.");
  return found;
}

}  // namespace sk::cli
