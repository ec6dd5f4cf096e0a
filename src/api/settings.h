// The settings that dialects read. The names are those of the settings table, which belongs to src/server: it
// has the defaults and fills every field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/address.h"

namespace sk::api {

struct DialectSettings {
  Address listen;
  std::string public_url;
  std::vector<std::string> cors_origins;

  uint64_t connections_max;
  uint64_t streams_per_principal_max;  // at least 1
  uint64_t rate_key_per_s;
  uint64_t rate_key_burst;
  uint64_t rate_principal_per_s;
  uint64_t rate_principal_burst;
  uint64_t wrong_keys_per_min;

  uint64_t json_body_bytes_max;
  uint64_t multipart_parts_max;
  int64_t events_wait_max_s;

  uint64_t file_bytes_max;
  uint64_t list_page_max;
  uint64_t batch_operations_max;
  int64_t lock_ttl_min_s;
  int64_t lock_ttl_max_s;
  int64_t lock_wait_max_s;

  uint64_t sessions_per_principal_max;
  uint64_t session_memory_max_bytes;
  int64_t execution_timeout_max_s;

  uint64_t mcp_sessions_max;
  uint64_t mcp_sessions_per_principal_max;
  int64_t mcp_session_idle_s;
  uint64_t mcp_replay_bytes_max;
  uint64_t mcp_memory_bytes_max;

  std::string librechat_jwt_key;
  std::string librechat_jwt_issuer;
  std::string librechat_jwt_audience;
  int64_t librechat_jwt_life_max_s;

  int64_t foundry_idle_s;
  int64_t foundry_awake_max_s;

  uint64_t message_bytes_max;
  bool bridge_allow_private;
  uint64_t bridge_threads;
  uint64_t bridge_threads_per_principal_max;
  uint64_t bridge_attempts_max;
  int64_t bridge_stall_s;
  int64_t bridge_wait_max_s;
};

}  // namespace sk::api
