#include "sandbox/host.h"

#include <fcntl.h>

#include <algorithm>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "sandbox/seccomp_policy.h"

namespace sk::sandbox {

void require_layers(const Report& report, const std::optional<WeakSandboxAllowed>& weak) {
  if (report.complete()) return;
  std::string missing = report.missing();
  if (!report.possible() || !weak)
    throw Error(Code::unavailable, "the sandbox lacks: " + missing).advise(Advice::complete_sandbox);
  log::warn("THE SANDBOX IS WEAK: code runs without layers that protect this machine from it",
            {{"missing", missing}});
}

void require_exact_limits(const Report& report, const std::optional<ApproximateLimitsAllowed>& approximate) {
  if (report.limits_are_exact) return;
  if (!approximate)
    throw Error(
        Code::unavailable,
        "no control groups limit memory and processes here, so no code runs: the server needs a group "
        "that is delegated to it, or the setting limits=approximate")
        .advise(Advice::ask_operator);
  log::warn(
      "APPROXIMATE LIMITS: a watcher and resource limits bound memory and processes of code; use control "
      "groups "
      "where others' code runs ('sandkeep doctor' shows how)");
}

uint64_t default_sessions_memory(uint64_t memory_bytes) {
  uint64_t others = std::max<uint64_t>(1ull << 30, memory_bytes / 8);
  return memory_bytes / 2 < others ? memory_bytes / 2 : memory_bytes - others;
}

PreparedHost prepare_host(SandboxHost::Options options, Privileges privileges) {
  while (options.data_root.ends_with('/')) options.data_root.pop_back();
  auto cgroups = std::make_unique<const CgroupTree>(CgroupTree::find());
  Findings findings = examine_host(*cgroups, options.data_root);
  std::string filter =
      compile_seccomp_policy({.uncounted_memory = !(findings.layer_bits & SK_LAYER_MEMORY_WATCH),
                              .preallocation_bytes_max = options.preallocation_bytes_max,
                              .counts_refusals = true});
  std::vector<LauncherPlan> plans;
  for (const auto& runtime : options.runtimes)
    plans.push_back({.layers = findings.layer_bits,
                     .runtime_root = runtime.root,
                     .python = runtime.python,
                     .data_root = options.data_root,
                     .extra_dirs = options.extra_dirs,
                     .ids = findings.ids,
                     .filter = filter});
  // After the control groups: the helper and what it starts stay in the server's own group.
  auto privileged = privileges == Privileges::kept ? privileged_here(std::move(plans))
                                                   : privileged_helper(std::move(plans));
  return {std::move(options), std::move(cgroups), std::move(findings), std::move(privileged)};
}

SandboxHost::SandboxHost(Options options, Metrics& metrics)
    : SandboxHost(prepare_host(std::move(options), Privileges::kept), metrics) {}

SandboxHost::SandboxHost(PreparedHost prepared, Metrics& metrics)
    : options_(std::move(prepared.options)),
      metrics_(metrics),
      cgroups_(std::move(prepared.cgroups)),
      findings_(std::move(prepared.findings)),
      privileged_(std::move(prepared.privileged)),
      sessions_memory_max_(options_.sessions_memory_max_bytes
                               ? options_.sessions_memory_max_bytes
                               : default_sessions_memory(cgroups_->memory_bytes())),
      ids_(findings_.ids) {
  SK_CHECK(!options_.runtimes.empty());
  require_layers(findings_.report, options_.weak);
  require_exact_limits(findings_.report, options_.approximate);
  cgroups_->limit_memory(sessions_memory_max_);
  nursery_of("");
}

SandboxHost::~SandboxHost() = default;

Report SandboxHost::doctor(const std::string& data_root) {
  auto cgroups = CgroupTree::find();
  return examine_host(cgroups, data_root).report;
}

std::string SandboxHost::need_runtime(const std::string& name) const {
  if (name.empty()) return options_.runtimes.front().name;
  std::string names;
  for (const auto& runtime : options_.runtimes) {
    if (runtime.name == name) return name;
    names.append(names.empty() ? "" : ", ").append(runtime.name);
  }
  throw Error(Code::bad_request, "there is no runtime '" + name + "'; this server has: " + names)
      .with("field", "runtime");
}

bool SandboxHost::wait_ready(int timeout_ms) { return nursery_of("").wait_ready(timeout_ms); }

std::unique_ptr<Session> SandboxHost::start(const SessionSpec& spec) {
  if (findings_.has_project_quotas) {
    try {
      Fd folder = open_file(spec.data_dir, O_RDONLY | O_DIRECTORY);
      privileged_->limit_folder(folder.get(), {spec.limits.disk_bytes_max, spec.limits.disk_files_max});
    } catch (const Error& error) {
      // Such as quotas that were switched off since the start. The disk guard limits every session.
      log::warn("a session's disk quota could not be set", {{"error", error.message()}});
    }
  }
  return nursery_of(spec.runtime).start(spec);
}

Nursery& SandboxHost::nursery_of(const std::string& runtime) {
  MutexLock lock(mutex_);
  for (const auto& candidate : options_.runtimes) {
    if (candidate.name != runtime && !runtime.empty()) continue;
    auto& nursery = nurseries_[candidate.name];
    if (nursery) return *nursery;
    Nursery::Options options;
    options.plan = static_cast<size_t>(&candidate - options_.runtimes.data());
    options.pool_size = &candidate == &options_.runtimes.front() ? options_.pool_size : 0;
    options.zygote_forks_max = options_.zygote_forks_max;
    options.zygote_age_max_s = options_.zygote_age_max_s;
    nursery = std::make_unique<Nursery>(std::move(options),
                                        Nursery::Shared{findings_, *cgroups_, ids_, metrics_, *privileged_});
    return *nursery;
  }
  throw Error(Code::not_found, "there is no runtime '" + runtime + "'");
}

}  // namespace sk::sandbox
