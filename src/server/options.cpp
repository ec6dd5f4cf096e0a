#include "server/options.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "api/dialects.h"
#include "base/log.h"

namespace sk::server {

namespace {

constexpr int64_t kDayS = 86'400;

std::string copies_folder(const Settings& settings) { return settings.data + "/copies"; }

// Returns "" if the boot id is unknown.
std::string boot_id(const std::string& file) {
  std::ifstream boot(file);
  std::string id;
  if (!std::getline(boot, id))
    log::warn("the id of this boot is unknown; after a crash, working copies are not trusted",
              {{"file", file}, {"setting", "boot-id-file"}});
  return id;
}

std::vector<sandbox::Runtime> runtimes(const Settings& settings) {
  std::vector<sandbox::Runtime> out = {sandbox::Runtime{}};
  for (const auto& item : settings.runtime) {
    auto equals = item.find('=');
    if (equals == std::string::npos)
      out.front().root = item;
    else
      out.push_back({.name = item.substr(0, equals), .root = item.substr(equals + 1)});
  }
  return out;
}

}  // namespace

workspace::KeepOptions keep_options(const Settings& settings, workspace::TypeOfBytes type_of_bytes) {
  return {
      .directory = settings.data,
      .limits = {.quota_default_bytes = settings.quota_default_bytes,
                 .principal_quota_bytes = settings.principal_quota_bytes,
                 .workspaces_per_principal_max = settings.workspaces_per_principal_max,
                 .keys_per_principal_max = settings.keys_per_principal_max,
                 .sessions_kept_per_principal_max = settings.sessions_kept_per_principal_max,
                 .file_bytes_max = settings.file_bytes_max,
                 .list_max = settings.list_page_max,
                 .list_scan_max = settings.list_scan_max,
                 .batch_max = settings.batch_operations_max,
                 .changed_entries_max = settings.changed_entries_max,
                 .lock_ttl_min_s = settings.lock_ttl_min_s,
                 .lock_ttl_max_s = settings.lock_ttl_max_s,
                 .locks_per_workspace_max = settings.locks_per_workspace_max,
                 .disk_reserve_bytes = settings.disk_reserve_bytes,
                 .message_text_bytes_max = settings.message_text_bytes_max,
                 .message_files_max = settings.message_files_max},
      .access_log_retention_days = static_cast<int>((settings.access_log_retention_s + kDayS - 1) / kDayS),
      .access_log_bytes_max = settings.access_log_bytes_max,
      .group_commit_max = settings.commit_batch_max,
      .catalog_readers = settings.catalog_readers,
      .trash_retention_s = settings.trash_retention_s,
      .collect_interval_s = settings.gc_interval_s,
      .scrub_interval_s = settings.scrub_interval_s,
      .scrub_slice_bytes = settings.scrub_slice_bytes,
      .checkpoint_interval_s = settings.checkpoint_interval_s,
      .type_of_bytes = std::move(type_of_bytes),
  };
}

http::ServerOptions http_options(const Settings& settings, const TlsFiles& tls) {
  return {
      .host = settings.listen.host,
      .port = settings.listen.port,
      .tls_cert_pem = tls.cert_pem,
      .tls_key_pem = tls.key_pem,
      .hsts = !settings.tls_cert.empty(),
      .public_url = settings.public_url,
      .trusted_proxies = settings.trusted_proxies,
      .loop_threads = settings.loop_threads,
      .worker_threads = settings.worker_threads,
      .connections_max = settings.connections_max,
      .connections_per_address_max = settings.connections_per_address_max,
      .address_rate = http::rate_options(settings.rate_address_per_s, settings.rate_address_burst),
      .header_bytes_max = settings.header_bytes_max,
      .idle_timeout_s = static_cast<int>(settings.idle_timeout_s),
      .body_memory_bytes_max = settings.body_memory_bytes_max,
      .reply_memory_bytes_max = settings.reply_memory_bytes_max,
      .body_pace = {.bytes_per_s_min = settings.body_bytes_per_s_min,
                    .time_max = std::chrono::seconds(settings.body_time_max_s)},
      .event_heartbeat_s = static_cast<int>(settings.event_heartbeat_s),
      .event_buffer_bytes_max = settings.event_buffer_bytes_max,
      .log_requests = settings.log_requests,
      .cors_origins = settings.cors_origins,
      .loggable_path = api::loggable_path,
      .error_reply = api::dialect_error_reply,
  };
}

sandbox::SandboxHost::Options sandbox_options(const Settings& settings) {
  sandbox::SandboxHost::Options out;
  out.runtimes = runtimes(settings);
  out.extra_dirs = settings.runtime_dirs;
  out.data_root = copies_folder(settings);
  out.pool_size = settings.session_pool_size;
  out.preallocation_bytes_max = settings.session_disk_max_bytes;
  if (settings.sandbox == SandboxMode::weak) out.weak = sandbox::WeakSandboxAllowed::by_operator();
  if (settings.limits == LimitsMode::approximate)
    out.approximate = sandbox::ApproximateLimitsAllowed::by_operator();
  out.sessions_memory_max_bytes = settings.sessions_memory_max_bytes;
  return out;
}

interpreter::InterpreterOptions interpreter_options(const Settings& settings) {
  return {
      // Absolute, because the server's user assigns folders below it to a session's user.
      .directory = std::filesystem::absolute(copies_folder(settings)).string(),
      .memory_default_bytes = settings.session_memory_default_bytes,
      .memory_max_bytes = settings.session_memory_max_bytes,
      .io_bytes_per_s = settings.session_io_bytes_per_s,
      .background_time_max_s = settings.background_time_max_s,
      .timeout_default_s = settings.execution_timeout_default_s,
      .timeout_max_s = settings.execution_timeout_max_s,
      .idle_default_s = settings.session_idle_s,
      .copy_keep_s = settings.session_copy_keep_s,
      .output_bytes_max = settings.output_bytes_max,
      .output_memory_bytes = settings.output_memory_bytes,
      .copy_memory_bytes = settings.copy_memory_bytes,
      .list_bytes_max = settings.list_page_bytes_max,
      .file_bytes_max = std::min(settings.file_bytes_max, settings.session_disk_max_bytes),
      .disk_bytes_max = settings.session_disk_max_bytes,
      .files_max = settings.session_files_max,
      .disk_reserve_bytes = settings.disk_reserve_bytes,
      .session_disk_reserve_bytes = settings.session_disk_reserve_bytes,
      .sessions_max = settings.sessions_max,
      .sessions_per_principal_max = settings.sessions_per_principal_max,
      .queue_max = settings.session_queue_max,
      .watched_folders_max = settings.session_watched_folders_max,
      .threads = settings.session_threads,
      .threads_per_principal_max = settings.session_threads_per_principal_max,
      .boot_id = boot_id(settings.boot_id_file),
  };
}

api::DialectSettings api_settings(const Settings& settings) {
  uint64_t streams_max = settings.streams_per_principal_max;
  if (streams_max == 0) streams_max = std::max<uint64_t>(settings.connections_max / 4, 1);
  return {
      .listen = settings.listen,
      .public_url = settings.public_url,
      .cors_origins = settings.cors_origins,
      .connections_max = settings.connections_max,
      .streams_per_principal_max = streams_max,
      .rate_key_per_s = settings.rate_key_per_s,
      .rate_key_burst = settings.rate_key_burst,
      .rate_principal_per_s = settings.rate_principal_per_s,
      .rate_principal_burst = settings.rate_principal_burst,
      .wrong_keys_per_min = settings.wrong_keys_per_min,
      .json_body_bytes_max = settings.json_body_bytes_max,
      .multipart_parts_max = settings.multipart_parts_max,
      .events_wait_max_s = settings.events_wait_max_s,
      .file_bytes_max = settings.file_bytes_max,
      .list_page_max = settings.list_page_max,
      .batch_operations_max = settings.batch_operations_max,
      .lock_ttl_min_s = settings.lock_ttl_min_s,
      .lock_ttl_max_s = settings.lock_ttl_max_s,
      .lock_wait_max_s = settings.lock_wait_max_s,
      .sessions_per_principal_max = settings.sessions_per_principal_max,
      .session_memory_max_bytes = settings.session_memory_max_bytes,
      .execution_timeout_max_s = settings.execution_timeout_max_s,
      .mcp_sessions_max = settings.mcp_sessions_max,
      .mcp_sessions_per_principal_max = settings.mcp_sessions_per_principal_max,
      .mcp_session_idle_s = settings.mcp_session_idle_s,
      .mcp_replay_bytes_max = settings.mcp_replay_bytes_max,
      .mcp_memory_bytes_max = settings.mcp_memory_bytes_max,
      .librechat_jwt_key = settings.librechat_jwt_key,
      .librechat_jwt_issuer = settings.librechat_jwt_issuer,
      .librechat_jwt_audience = settings.librechat_jwt_audience,
      .librechat_jwt_life_max_s = settings.librechat_jwt_life_max_s,
      .foundry_idle_s = settings.foundry_idle_s,
      .foundry_awake_max_s = settings.foundry_awake_max_s,
      .message_bytes_max = settings.message_bytes_max,
      .bridge_allow_private = settings.bridge_allow_private,
      .bridge_threads = settings.bridge_threads,
      .bridge_threads_per_principal_max = settings.bridge_threads_per_principal_max,
      .bridge_attempts_max = settings.bridge_attempts_max,
      .bridge_stall_s = settings.bridge_stall_s,
      .bridge_wait_max_s = settings.bridge_wait_max_s,
  };
}

}  // namespace sk::server
