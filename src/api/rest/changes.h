// The fields of the changes that a client can ask for, and how they become the domain's changes: alone, or as
// one of a batch.
#pragma once

#include "api/common/call.h"
#include "workspace/files.h"

namespace sk::api::rest {

// Without the fields for conditions.
Fields mkdir_fields();
Fields move_fields();
Fields copy_fields();
Fields restore_version_fields();
Fields set_fields();

// `body` was checked against the fields above; `conditions` are what it or its headers carry.
workspace::MkdirChange mkdir_change(const Body& body, workspace::Conditions conditions);
workspace::MoveChange move_change(const Body& body, workspace::Conditions conditions);
// Opens the other workspace for reading, if one is named.
workspace::CopyChange copy_change(Call& call, const Body& body, workspace::Conditions conditions);
workspace::RestoreVersionChange restore_version_change(const Body& body, workspace::Conditions conditions);
workspace::SetModeChange set_change(std::string path, const Body& body, workspace::Conditions conditions);

workspace::OnExisting parse_on_existing(const std::optional<std::string>& text);

// 201 for what is new, else 200, with the ETag of a file.
http::Reply change_reply(const Call& call, const workspace::ChangeResult& result);

}  // namespace sk::api::rest
