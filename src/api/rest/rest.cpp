#include "api/rest/rest.h"

namespace sk::api::rest {

void add_routes(Routes& routes) {
  add_server_routes(routes);
  add_top_routes(routes);
  add_principal_routes(routes);
  add_workspace_routes(routes);
  add_usage_routes(routes);
  add_file_routes(routes);
  add_upload_routes(routes);
  add_listing_routes(routes);
  add_change_routes(routes);
  add_batch_routes(routes);
  add_version_routes(routes);
  add_trash_routes(routes);
  add_lock_routes(routes);
  add_event_routes(routes);
  add_audit_routes(routes);
  add_upkeep_routes(routes);
  add_blob_routes(routes);
  add_session_routes(routes);
  add_unkept_routes(routes);
  add_execution_routes(routes);
  add_conversation_routes(routes);
  add_backfill_routes(routes);
}

}  // namespace sk::api::rest
