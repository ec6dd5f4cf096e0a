#include "api/openai/shapes.h"

#include "api/vendor/containers.h"
#include "base/path.h"
#include "workspace/links.h"

namespace sk::api::openai {

namespace {

// Formats the memory limit as "4g"; in MiB when it is not a whole number of GiB.
std::string memory_text(uint64_t bytes) {
  constexpr uint64_t kGiB = 1ull << 30, kMiB = 1ull << 20;
  if (bytes % kGiB == 0) return std::to_string(bytes / kGiB) + "g";
  return std::to_string(bytes / kMiB) + "m";
}

}  // namespace

int64_t unix_s(TimeUs time_us) { return time_us / kSecondUs; }

Json container_json(const interpreter::SessionInfo& container, TimeUs now_us) {
  Json out = {{"id", container.id.with_prefix(kContainerPrefix)},
              {"object", "container"},
              {"name", container.name},
              {"created_at", unix_s(container.created_us)},
              {"status", is_expired(container, now_us) ? "expired" : "running"},
              {"last_active_at", unix_s(container.active_us)}};
  if (container.idle_s > 0)
    out["expires_after"] = {{"anchor", "last_active_at"}, {"minutes", (container.idle_s + 59) / 60}};
  out["memory_limit"] = memory_text(container.memory_bytes);
  out["network_policy"] = {{"type", "disabled"}};
  return out;
}

Json container_file_json(const interpreter::SessionInfo& container, const workspace::Version& version,
                         const std::string& base_url) {
  ObjectWriter out(8);
  out.add("id", version.id.with_prefix(kContainerFilePrefix));
  out.add("object", "container.file");
  out.add("container_id", container.id.with_prefix(kContainerPrefix));
  out.add("created_at", unix_s(version.created_us));
  out.add("bytes", version.size);
  out.add("path", path_in_container(container, version));
  out.add("source", version.source.kind == "execution" ? "assistant" : "user");
  out.add("link", base_url + workspace::Links::path_of(version));
  return out.take();
}

Json file_json(const GivenFile& file, const std::string& base_url) {
  const auto& version = file.version;
  Json out = {{"id", version.id.with_prefix(kFilePrefix)},
              {"object", "file"},
              {"bytes", version.size},
              {"created_at", unix_s(version.created_us)},
              {"filename", split_path(version.path).second},
              {"purpose", file.purpose},
              {"status", "processed"}};
  if (file.expires_us) out["expires_at"] = unix_s(*file.expires_us);
  out["link"] = base_url + workspace::Links::path_of(version);
  return out;
}

Fields list_fields() {
  return {{.name = "limit", .type = FieldType::integer, .about = "Maximum number of items."},
          {.name = "order", .about = "Order by creation time. Default: `desc`.", .choices = {"asc", "desc"}},
          {.name = "after", .about = "The id of the last item of the previous page."}};
}

ListQuery list_query(const Call& call, int64_t limit_default, int64_t limit_max) {
  auto limit = within(call.query.integer("limit").value_or(limit_default), 1, limit_max, "limit");
  bool ascending = call.query.text("order").value_or("desc") == "asc";
  return {static_cast<size_t>(limit),
          ascending ? workspace::Order::oldest_first : workspace::Order::newest_first,
          call.query.text("after")};
}

}  // namespace sk::api::openai
