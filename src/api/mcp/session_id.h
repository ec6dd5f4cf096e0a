// The id of a legacy session (Mcp-Session-Id): it says what it takes to go on with the session after a
// restart of the server, and is signed, so that only this server can have said it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/id.h"

namespace sk::api::mcp {

struct SessionFacts {
  std::string version;   // of the protocol
  Id key;                // that began it
  TimeUs issued_us = 0;  // when
};

// Returns the secret that signs session ids. The first call creates its file in the data folder.
std::string load_session_secret(const std::string& data_folder);

// Each is another one, also for the same facts.
std::string make_session_id(const SessionFacts& facts, std::string_view secret);
// nullopt for what was not made with that secret.
std::optional<SessionFacts> read_session_id(std::string_view id, std::string_view secret);

}  // namespace sk::api::mcp
