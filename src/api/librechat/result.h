// The answer to an execution, as both generations of LibreChat read it.
#pragma once

#include "api/librechat/session.h"
#include "base/json.h"

namespace sk::api::librechat {

// What the answer needs to know of the request.
struct Asked {
  interpreter::SessionInfo session;
  bool fresh = false;    // the session was made for it
  bool current = false;  // the client knows `inherited`
  std::vector<interpreter::Attached> attached;
  FileRefs refs;                // beside `attached`, in the same order
  std::vector<bool> read_only;  // likewise: never to be answered with
};

// Reads where to run, brings the files in.
Asked prepare(const Call& call, const Body& body);

// {session_id, stdout, stderr, files, …}.
Json result_json(const interpreter::Execution& execution, const Asked& asked, const std::string& base_url);

}  // namespace sk::api::librechat
