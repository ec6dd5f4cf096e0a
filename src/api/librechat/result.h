// The answer to an execution, in the shape that both generations of LibreChat read. Any thread.
#pragma once

#include "api/librechat/session.h"
#include "base/json.h"

namespace sk::api::librechat {

// The parts of the request that the answer needs.
struct Asked {
  interpreter::SessionInfo session;
  bool fresh = false;    // the session was created for this request
  bool current = false;  // the client understands `inherited`
  std::vector<interpreter::Attached> attached;
  FileRefs refs;                // parallel to `attached`
  std::vector<bool> read_only;  // parallel to `attached`: never listed in the answer
};

// Chooses the session and attaches the files of the request. Throws Error.
Asked prepare(const Call& call, const Body& body);

// Returns {session_id, stdout, stderr, files, …}.
Json result_json(const interpreter::Execution& execution, const Asked& asked, const std::string& base_url);

}  // namespace sk::api::librechat
