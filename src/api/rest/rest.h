// Our own dialect: JSON under /api/v1, raw bytes where files are meant. One function per resource adds its
// routes.
#pragma once

#include "api/common/routes.h"

namespace sk::api::rest {

inline const std::string kRoot = "/api/v1";
inline const std::string kWorkspaces = kRoot + "/workspaces";
inline const std::string kWorkspace = kWorkspaces + "/{ws}";

void add_server_routes(Routes& routes);        // what this server is, its health and metrics, who is asking
void add_principal_routes(Routes& routes);     // principals and keys
void add_workspace_routes(Routes& routes);     // workspaces and their members
void add_file_routes(Routes& routes);          // reading files, trashing them, their mode and time
void add_upload_routes(Routes& routes);        // PUT of one file, multipart POST of several
void add_listing_routes(Routes& routes);       // entries and lists
void add_change_routes(Routes& routes);        // mkdir, move, copy, restore
void add_batch_routes(Routes& routes);         // several changes in one transaction
void add_version_routes(Routes& routes);       // history
void add_trash_routes(Routes& routes);         // what was deleted
void add_lock_routes(Routes& routes);          // the right to write, for a while
void add_event_routes(Routes& routes);         // the journal as it grows
void add_audit_routes(Routes& routes);         // the journal as a file
void add_upkeep_routes(Routes& routes);        // collect and verify
void add_blob_routes(Routes& routes);          // POST /blob
void add_session_routes(Routes& routes);       // sessions: where code runs
void add_unkept_routes(Routes& routes);        // what sessions could not keep as heads
void add_execution_routes(Routes& routes);     // running code in them
void add_conversation_routes(Routes& routes);  // messages, and the versions they show
void add_backfill_routes(Routes& routes);      // many messages at once

// All of the above; the document at /api/v1/openapi.json is about all operations that `routes` has when it is
// asked for.
void add_routes(Routes& routes);

}  // namespace sk::api::rest
