// The fields of the changes that a client can request, and their conversion to the domain's changes: alone,
// or as part of a batch. Any thread.
#pragma once

#include "api/common/call.h"
#include "workspace/files.h"

namespace sk::api::rest {

// Without the condition fields.
Fields mkdir_fields();
Fields move_fields();
Fields copy_fields();
Fields restore_version_fields();
Fields set_fields();

// `body` was validated against the fields above. `conditions` come from the body or its headers.
workspace::MkdirChange mkdir_change(const Body& body, workspace::Conditions conditions);
workspace::MoveChange move_change(const Body& body, workspace::Conditions conditions);
// Opens the other workspace for reading, if the body names one.
workspace::CopyChange copy_change(Call& call, const Body& body, workspace::Conditions conditions);
workspace::RestoreVersionChange restore_version_change(const Body& body, workspace::Conditions conditions);
workspace::SetModeChange set_change(std::string path, const Body& body, workspace::Conditions conditions);

workspace::OnExisting parse_on_existing(const std::optional<std::string>& text);

// Returns 201 for a new entry, otherwise 200, with the ETag of a file.
http::Reply change_reply(const Call& call, const workspace::ChangeResult& result);

}  // namespace sk::api::rest
