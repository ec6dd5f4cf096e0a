// Sessions and files under LibreChat's ids. Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/common/call.h"
#include "interpreter/copy/attachments.h"
#include "interpreter/types.h"

namespace sk::api::librechat {

// Maps "py", "python", "bash" and so on to Sandkeep's name of the language. Error(bad_request): "Unsupported
// language: x".
std::string language_of(const std::string& name);

// Returns the session with this id, even if deleted. Error(not_found) when the actor has none.
interpreter::SessionInfo need_session(const Call& call, std::string_view id);
// Finds a file of a session by id, even after it was overwritten, renamed or removed by code.
// Error(not_found) when there is none or a client deleted the id; Error(gone) when purged.
workspace::Version need_version(Call& call, const interpreter::SessionInfo& session, std::string_view id);

// Returns whether the session holds uploads that answers must not list: a skill's files.
bool is_read_only(const interpreter::SessionInfo& session);

// A file that a request refers to.
struct FileRef {
  std::string session;  // expected to have 21 characters; not validated
  std::string id;
  std::string name;
};
struct FileRefs {
  std::vector<FileRef> all;
  bool current = false;  // uses the current protocol, with storage_session_id
};
FileRefs read_refs(const Body& body);

// The session in which a request's code runs: the session that it names; else the one of its
// runtime_session_hint; else the most recent session of the files it refers to, so a conversation keeps its
// variables; else a new one.
struct ChosenSession {
  interpreter::SessionInfo session;
  bool fresh = false;
};
ChosenSession choose_session(const Call& call, const Body& body, const FileRefs& refs);

// Ensures that the files of the request are in the session's folder. Returns one result per file, in order.
std::vector<interpreter::Attached> attach(const Call& call, const interpreter::SessionInfo& session,
                                          const FileRefs& refs);

// Returns the path relative to /mnt/data.
std::string name_in(const interpreter::SessionInfo& session, std::string_view path);

}  // namespace sk::api::librechat
