#include "bridge/azure_upstream.h"

#include "base/error.h"
#include "base/json_reading.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::bridge {

namespace {

using Outcome = Fetched::Outcome;

constexpr size_t kListPagesMax = 1000;
constexpr std::string_view kData = "/mnt/data";

// Maps "/mnt/data/a/b.csv" and "a/b.csv" to "a/b.csv".
std::string below_mount(std::string path) {
  if (path.starts_with(kData)) path.erase(0, kData.size());
  while (path.starts_with('/')) path.erase(0, 1);
  return path;
}

// Returns the path of a listed file of either API generation; empty for a folder.
std::string path_of(const Json& item) {
  const auto& older = field_in(item, "properties");
  if (older.is_object()) return below_mount(text_in(older, "filename"));
  if (ascii_lower(text_in(item, "type")) == "directory" || text_in(item, "name").empty()) return {};
  return below_mount(text_in(item, "directory") + "/" + text_in(item, "name"));
}

std::string query_of(std::string_view version, const std::string& identifier) {
  return "?api-version=" + std::string(version) + "&identifier=" + percent_encode(identifier);
}

// Whether this API generation does not know the call; the other generation may.
bool is_unknown_call(const RemoteAnswer& answer) {
  return answer.status == 400 || answer.status == 404 || answer.status == 405 || answer.status == 501;
}

}  // namespace

Fetched AzureUpstream::fetch(const WantedFile& wanted, ByteSink& sink) {
  if (wanted.container.empty())
    return {Outcome::cannot_tell, "the session of the link is unknown: name it as 'source.container'", ""};
  auto paths = wanted.paths;
  if (paths.empty() && !wanted.name.empty()) paths.push_back(wanted.name);
  Fetched best{Outcome::missing, "the message names no file", ""};
  for (const auto& path : paths) {
    best = fetch_path(wanted.container, path, sink);
    best.path = path;
    if (best.outcome != Outcome::gone) break;
  }
  bool is_settled = best.outcome == Outcome::ok || best.outcome == Outcome::denied || paths.empty();
  if (auto listed = is_settled ? std::string() : find_in_list(wanted); !listed.empty()) {
    auto again = fetch_path(wanted.container, listed, sink);
    again.path = listed;
    if (again.outcome == Outcome::gone) {
      // The file is listed but not found, so its state is unknown.
      again.outcome = Outcome::cannot_tell;
      again.explanation = "the session lists it, but asked for its content, " + again.explanation;
    }
    return again;
  }
  // An expired session returns empty under its identifier, so absence does not prove that the link was
  // invented.
  if (best.outcome == Outcome::gone)
    best.explanation = "the session does not have this file, or no longer has it";
  return best;
}

Fetched AzureUpstream::fetch_path(const std::string& identifier, const std::string& path, ByteSink& sink) {
  auto [folder, name] = split_path(path);
  auto newer = base_url_ + "/files/" + percent_encode(name) + "/content" +
               query_of("2025-02-02-preview", identifier) +
               "&path=" + percent_encode(folder.empty() ? "/mnt/data" : "/mnt/data/" + folder);
  auto answer = remote_->get(newer, &sink);
  if (!answer.ok() && is_unknown_call(answer)) {
    auto older = base_url_ + "/files/content/" + percent_encode_path(path) +
                 query_of("2024-02-02-preview", identifier);
    auto other = remote_->get(older, &sink);
    if (other.ok() || !is_unknown_call(other)) answer = std::move(other);
    if (!answer.ok() && is_unknown_call(answer)) answer.status = 404;
  }
  return {verdict_on(answer), answer.problem, ""};
}

// Returns the file's path in the session's listing; empty if it is not listed.
std::string AzureUpstream::find_in_list(const WantedFile& wanted) {
  const auto* found = find_meant(wanted, listing_of(wanted.container));
  return found == nullptr ? std::string() : found->path;
}

const std::vector<ListedFile>& AzureUpstream::listing_of(const std::string& identifier) {
  auto known = listings_.find(identifier);
  if (known != listings_.end()) return known->second;
  std::vector<ListedFile> files;
  auto newer = base_url_ + "/files" + query_of("2025-10-02-preview", identifier) +
               "&path=" + percent_encode(kData) + "&recursive=true";
  if (!list_at(newer, files))
    list_at(base_url_ + "/files" + query_of("2024-02-02-preview", identifier), files);
  return listings_.emplace(identifier, std::move(files)).first->second;
}

// Reads all pages up to the first failure. Returns false if the first page failed.
bool AzureUpstream::list_at(std::string url, std::vector<ListedFile>& files) {
  for (size_t page = 0; page < kListPagesMax; ++page) {
    auto answer = remote_->get(url);
    if (!answer.ok()) return page > 0;
    Json json;
    try {
      json = parse_json(answer.body, "the list");
    } catch (const Error&) {
      return page > 0;
    }
    for (const auto& item : list_in(json, "value"))
      if (auto path = path_of(item); !path.empty()) files.push_back({"", std::move(path)});
    auto next = text_in(json, "nextLink");
    // A link to another host would be requested without the key and fail.
    if (next.empty() || next == url || origin_of_url(next) != origin_of_url(base_url_)) return true;
    url = std::move(next);
  }
  return true;
}

}  // namespace sk::bridge
