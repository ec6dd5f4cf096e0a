#include "bridge/azure_upstream.h"

#include "base/text.h"
#include "workspace/path.h"

namespace sk::bridge {

namespace {

using Outcome = Fetched::Outcome;

std::string query_of(std::string_view version, const std::string& identifier) {
  return "?api-version=" + std::string(version) + "&identifier=" + percent_encode(identifier);
}

// The generation that answers so does not know the call; the other may.
bool is_unknown_call(const RemoteAnswer& answer) {
  return answer.status == 400 || answer.status == 404 || answer.status == 405 || answer.status == 501;
}

}  // namespace

Fetched AzureUpstream::fetch(const WantedFile& wanted, ByteSink& sink) {
  if (wanted.container.empty())
    return {Outcome::cannot_tell,
            "nothing says which session the link belongs to: name it as 'source.container'", ""};
  auto paths = wanted.paths;
  if (paths.empty() && !wanted.name.empty()) paths.push_back(wanted.name);
  Fetched best{Outcome::missing, "the message names no file", ""};
  for (const auto& path : paths) {
    best = fetch_path(wanted.container, path, sink);
    best.path = path;
    if (best.outcome != Outcome::gone) return best;
  }
  // A session that expired comes back empty under its identifier, so that absence proves no invention.
  if (best.outcome == Outcome::gone) best.explanation = "the session has no such file, or not any more";
  return best;
}

Fetched AzureUpstream::fetch_path(const std::string& identifier, const std::string& path, ByteSink& sink) {
  auto [folder, name] = workspace::split_path(path);
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

}  // namespace sk::bridge
