// The id of a legacy session (Mcp-Session-Id). It contains all that is needed to continue the session after a
// restart. It is signed, so only this server can create it. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/id.h"

namespace sk::api::mcp {

struct SessionFacts {
  std::string version;  // of the protocol
  Id key;               // that started the session
  TimeUs issued_us = 0;
};

// Returns the secret that signs session ids. The first call creates its file in the data folder.
std::string load_session_secret(const std::string& data_folder);

// Returns a different id on every call, even for the same facts.
std::string make_session_id(const SessionFacts& facts, std::string_view secret);
// Returns nullopt when the id was not made with that secret.
std::optional<SessionFacts> read_session_id(std::string_view id, std::string_view secret);

}  // namespace sk::api::mcp
