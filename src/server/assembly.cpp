#include "server/assembly.h"

#include <filesystem>
#include <fstream>

#include "api/dialects.h"
#include "base/error.h"
#include "base/log.h"
#include "base/version.h"
#include "blobs/blob_tree.h"

namespace sk::server {

namespace {

// For answers of executions that the stop ended to go out.
constexpr std::chrono::seconds kLastAnswersMost{5};

// A path that cannot be a folder is the operator's to mend, not a bug.
bool prepare_folder(const std::string& path) {
  try {
    blobs::make_directories_durably(path, 0777);
  } catch (const Error& error) {
    throw Error(Code::bad_request, "cannot make the data folder: " + error.message())
        .hint("Choose another with --data DIR.");
  }
  return is_fresh(path);
}

}  // namespace

workspace::KeepOptions keep_options(const Settings& settings) {
  constexpr int64_t kDayS = 86'400;
  workspace::KeepOptions out;
  out.directory = settings.data;
  out.limits = {.quota_default_bytes = settings.quota_default_bytes,
                .file_bytes_max = settings.file_bytes_max,
                .list_max = settings.list_page_max,
                .batch_max = settings.batch_operations_max,
                .lock_ttl_min_s = settings.lock_ttl_min_s,
                .lock_ttl_max_s = settings.lock_ttl_max_s,
                .locks_per_workspace_max = settings.locks_per_workspace_max,
                .disk_reserve_bytes = settings.disk_reserve_bytes,
                .message_text_bytes_max = settings.message_text_bytes_max,
                .message_files_max = settings.message_files_max};
  out.access_log_retention_days = static_cast<int>((settings.access_log_retention_s + kDayS - 1) / kDayS);
  out.group_commit_max = settings.commit_batch_max;
  out.catalog_readers = settings.catalog_readers;
  out.trash_retention_s = settings.trash_retention_s;
  out.collect_interval_s = settings.gc_interval_s;
  out.scrub_interval_s = settings.scrub_interval_s;
  out.scrub_slice_bytes = settings.scrub_slice_bytes;
  out.checkpoint_interval_s = settings.checkpoint_interval_s;
  return out;
}

http::ServerOptions server_options(const Settings& settings, const TlsFiles& tls) {
  http::ServerOptions out;
  out.host = settings.listen.host;
  out.port = settings.listen.port;
  out.tls_cert_pem = tls.cert_pem;
  out.tls_key_pem = tls.key_pem;
  out.public_url = settings.public_url;
  out.trusted_proxies = settings.trusted_proxies;
  out.loop_threads = settings.loop_threads;
  out.worker_threads = settings.worker_threads;
  out.connections_max = settings.connections_max;
  out.connections_per_address_max = settings.connections_per_address_max;
  out.header_bytes_max = settings.header_bytes_max;
  out.idle_timeout_s = static_cast<int>(settings.idle_timeout_s);
  out.event_heartbeat_s = static_cast<int>(settings.event_heartbeat_s);
  out.event_buffer_bytes_max = settings.event_buffer_bytes_max;
  out.cors_origins = settings.cors_origins;
  out.log_requests = settings.log_requests;
  out.error_reply = api::dialect_error_reply;
  out.loggable_path = api::loggable_path;
  return out;
}

interpreter::InterpreterOptions interpreter_options(const Settings& settings) {
  interpreter::InterpreterOptions out;
  // The server's own user must be able to give folders in it to a session's user, and nobody else may look
  // in.
  out.directory = std::filesystem::absolute(settings.data + "/copies").string();
  out.memory_default_bytes = settings.session_memory_default_bytes;
  out.memory_max_bytes = settings.session_memory_max_bytes;
  out.timeout_default_s = settings.execution_timeout_default_s;
  out.timeout_max_s = settings.execution_timeout_max_s;
  out.idle_default_s = settings.session_idle_s;
  out.copy_keep_s = settings.session_copy_keep_s;
  out.output_bytes_max = settings.output_bytes_max;
  out.sessions_max = settings.sessions_max;
  out.file_bytes_max = std::min(settings.file_bytes_max, settings.session_disk_max_bytes);
  out.disk_bytes_max = settings.session_disk_max_bytes;
  out.files_max = settings.session_files_max;
  out.disk_reserve_bytes = settings.disk_reserve_bytes;
  out.sessions_per_principal_max = settings.sessions_per_principal_max;
  out.watched_folders_max = settings.session_watched_folders_max;
  std::ifstream boot(settings.boot_id_file);
  if (!std::getline(boot, out.boot_id))
    log::warn(
        "the id of this boot is unknown; after a crash, working copies are searched instead of believed",
        {{"file", settings.boot_id_file}, {"setting", "boot-id-file"}});
  return out;
}

api::Settings api_settings(const Settings& settings) {
  return {
      .listen = settings.listen,
      .public_url = settings.public_url,
      .cors_origins = settings.cors_origins,
      .json_body_bytes_max = settings.json_body_bytes_max,
      .multipart_parts_max = settings.multipart_parts_max,
      .events_wait_max_s = settings.events_wait_max_s,
      .file_bytes_max = settings.file_bytes_max,
      .list_page_max = settings.list_page_max,
      .batch_operations_max = settings.batch_operations_max,
      .lock_ttl_min_s = settings.lock_ttl_min_s,
      .lock_ttl_max_s = settings.lock_ttl_max_s,
      .lock_wait_max_s = settings.lock_wait_max_s,
      .session_memory_max_bytes = settings.session_memory_max_bytes,
      .execution_timeout_max_s = settings.execution_timeout_max_s,
      .mcp_sessions_max = settings.mcp_sessions_max,
      .mcp_session_idle_s = settings.mcp_session_idle_s,
      .mcp_replay_bytes_max = settings.mcp_replay_bytes_max,
      .mcp_conformance = settings.mcp_conformance,
      .librechat_jwt_key = settings.librechat_jwt_key,
      .librechat_jwt_issuer = settings.librechat_jwt_issuer,
      .librechat_jwt_audience = settings.librechat_jwt_audience,
      .foundry_idle_s = settings.foundry_idle_s,
      .foundry_awake_max_s = settings.foundry_awake_max_s,
      .message_bytes_max = settings.message_bytes_max,
      .bridge_allow_private = settings.bridge_allow_private,
      .bridge_threads = settings.bridge_threads,
      .bridge_attempts_max = settings.bridge_attempts_max,
      .bridge_stall_s = settings.bridge_stall_s,
      .bridge_wait_max_s = settings.bridge_wait_max_s,
  };
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

Assembly::Assembly(const Settings& settings, const Clock& clock)
    : settings_(settings),
      fresh_(prepare_folder(settings.data)),
      keep_(keep_options(settings), clock, metrics_),
      first_key_(ensure_first_key(keep_, settings, fresh_)),
      tls_(prepare_tls(settings, settings.data, clock)),
      listener_(settings.listen.host, settings.listen.port),
      app_(keep_, api_settings(settings), metrics_, std::string(kVersion)),
      server_(std::move(listener_), server_options(settings, tls_), router(), metrics_) {
  keep_.start_background();
}

// Where code cannot run safely, none runs; the files are served all the same.
void Assembly::start_interpreter() {
  if (settings_.sandbox == SandboxMode::off) return;
  sandbox::SandboxHost::Options options;
  options.runtimes = runtimes(settings_);
  options.extra_dirs = settings_.runtime_dirs;
  options.data_root = settings_.data + "/copies";
  options.pool_size = settings_.session_pool_size;
  options.preallocation_bytes_max = settings_.session_disk_max_bytes;
  if (settings_.sandbox == SandboxMode::weak) options.weak = sandbox::WeakSandboxAllowed::by_operator();
  try {
    std::filesystem::create_directories(options.data_root);
    sandboxes_ = std::make_unique<sandbox::SandboxHost>(options, metrics_);
    interpreter_ = std::make_unique<interpreter::Interpreter>(keep_, *sandboxes_,
                                                              interpreter_options(settings_), metrics_);
    interpreter_->recover();
    interpreter_->resume_accepted();
    app_.interpreter = interpreter_.get();
  } catch (const Error& error) {
    interpreter_.reset();
    sandboxes_.reset();
    app_.why_no_sessions = error.message();
    log::error("no code can run here; files are served all the same", {{"why", error.message()}});
  }
}

http::Router Assembly::router() {
  start_interpreter();
  return api::make_router(app_);
}

Assembly::~Assembly() { stop(); }

std::string Assembly::url() const {
  bool is_v6 = settings_.listen.host.find(':') != std::string::npos;
  auto host = is_v6 ? "[" + settings_.listen.host + "]" : settings_.listen.host;
  return (tls_.cert_pem.empty() ? "http://" : "https://") + host + ":" + std::to_string(server_.port());
}

void Assembly::stop() {
  if (interpreter_) interpreter_->close();
  app_.background.close();
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(settings_.drain_timeout_s);
  auto left = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  };
  server_.drain(left());
  if (interpreter_) interpreter_->await_executions(left());
  // Code that still runs is interrupted, and its clients are told so, in their own shape.
  if (interpreter_) interpreter_->end_sessions();
  server_.stop(kLastAnswersMost);
  app_.stop();
  if (interpreter_) interpreter_->stop();
  keep_.stop();
}

}  // namespace sk::server
