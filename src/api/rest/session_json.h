// Serializes sessions and executions as JSON of Sandkeep's own API. Pure functions; any thread.
#pragma once

#include "api/common/call.h"
#include "interpreter/types.h"

namespace sk::api::rest {

Id session_id(const Call& call);
Id execution_id(const Call& call);

// Reads `files` of a new session or execution.
std::vector<interpreter::AddedFile> added_files(const Body& body, const workspace::Conditions& conditions);
Field added_files_field();
Json session_json(const interpreter::SessionInfo& session);
// `version_id` and `link` are null for a refused file.
Json unkept_json(const interpreter::Unkept& item, const std::string& base_url);
Json kept_json(const interpreter::KeptFile& file, const std::string& base_url);
// Contains the first 1,000 kept files. `kept_more` says whether …/kept has more.
Json execution_json(const interpreter::Execution& execution, const std::string& base_url);

}  // namespace sk::api::rest
