// Sandkeep's own dialect: JSON under /api/v1, raw bytes for files. Each function adds the routes of one
// resource.
#pragma once

#include "api/common/routes.h"

namespace sk::api::rest {

inline const std::string kRoot = "/api/v1";
inline const std::string kWorkspaces = kRoot + "/workspaces";
inline const std::string kWorkspace = kWorkspaces + "/{ws}";

void add_server_routes(Routes& routes);        // server information, health, metrics, current principal
void add_top_routes(Routes& routes);           // what the server does now
void add_principal_routes(Routes& routes);     // principals and keys
void add_workspace_routes(Routes& routes);     // workspaces and their members
void add_usage_routes(Routes& routes);         // what counts for which quota and limit
void add_file_routes(Routes& routes);          // reading files, trashing them, their mode and time
void add_upload_routes(Routes& routes);        // PUT of one file, multipart POST of several
void add_listing_routes(Routes& routes);       // entries and lists
void add_change_routes(Routes& routes);        // mkdir, move, copy, restore
void add_batch_routes(Routes& routes);         // several changes in one transaction
void add_version_routes(Routes& routes);       // history
void add_trash_routes(Routes& routes);         // deleted files and folders
void add_lock_routes(Routes& routes);          // exclusive write access for a limited time
void add_event_routes(Routes& routes);         // the journal as it grows
void add_audit_routes(Routes& routes);         // the journal as a signed file
void add_upkeep_routes(Routes& routes);        // collect and verify
void add_blob_routes(Routes& routes);          // POST /blob
void add_session_routes(Routes& routes);       // sessions, in which code runs
void add_unkept_routes(Routes& routes);        // files that sessions could not keep as heads
void add_execution_routes(Routes& routes);     // running code in sessions
void add_conversation_routes(Routes& routes);  // messages and the versions they show
void add_backfill_routes(Routes& routes);      // many messages at once

// Adds all of the above. The document at /api/v1/openapi.json describes all operations that `routes` has at
// the time of the request.
void add_routes(Routes& routes);

}  // namespace sk::api::rest
