// Sessions and files under LibreChat's ids.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/common/call.h"
#include "interpreter/copy/attachments.h"
#include "interpreter/types.h"

namespace sk::api::librechat {

// "py", "python", "bash" and so on → our name of the language. Error(bad_request), "Unsupported language: x".
std::string language_of(const std::string& name);

// The session of that id, also a deleted one. Error(not_found) when the actor has none.
interpreter::SessionInfo need_session(const Call& call, std::string_view id);
// The file of a session by its id, whatever became of it since: overwritten, renamed, removed by code.
// Error(not_found), also for an id that a client deleted; Error(gone) once purged.
workspace::Version need_version(Call& call, const interpreter::SessionInfo& session, std::string_view id);

// Whether a session holds uploads that code must not answer with: a skill's files.
bool is_read_only(const interpreter::SessionInfo& session);

// A file that a request refers to.
struct FileRef {
  std::string session;  // 21 characters, or anything: it comes from outside
  std::string id;
  std::string name;
};
struct FileRefs {
  std::vector<FileRef> all;
  bool current = false;  // written as the current protocol has it, with storage_session_id
};
FileRefs read_refs(const Body& body);

// Where a request's code is to run: the session that it names; else the one behind its runtime_session_hint;
// else the one that the files it refers to came out of, so that a conversation goes on with its variables;
// else a new one.
struct Place {
  interpreter::SessionInfo session;
  bool fresh = false;
};
Place choose_session(const Call& call, const Body& body, const FileRefs& refs);

// The files that the request refers to, in the session's folder.
std::vector<interpreter::Attached> attach(const Call& call, const interpreter::SessionInfo& session,
                                          const FileRefs& refs);

// Relative to /mnt/data.
std::string name_in(const interpreter::SessionInfo& session, std::string_view path);

}  // namespace sk::api::librechat
