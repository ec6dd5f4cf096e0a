#include "bridge/upstream.h"

#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "bridge/azure_upstream.h"
#include "bridge/openai_upstream.h"
#include "bridge/web_upstream.h"

namespace sk::bridge {

namespace {

bool is_token(std::string_view key) {
  return key.starts_with("eyJ") && key.find('.') != std::string_view::npos;
}

http::Headers credentials_of(const RemoteSource& source) {
  http::Headers headers;
  // Foundry expects keys in a separate header, and Entra tokens as Bearer.
  if (source.kind == SourceKind::foundry && !is_token(source.key)) {
    headers.add("api-key", source.key);
  } else {
    headers.add("Authorization", "Bearer " + source.key);
  }
  return headers;
}

// Removes the prefix of files that were uploaded to an OpenAI container: at least 16 hexadecimal digits (32
// as documented). Models omit it.
std::string_view without_upload_prefix(std::string_view name) {
  constexpr size_t kDigitsMin = 16;
  size_t digits = 0;
  while (digits < name.size() && std::isxdigit(static_cast<unsigned char>(name[digits])) != 0) ++digits;
  bool has_prefix = digits >= kDigitsMin && digits + 1 < name.size() && name[digits] == '-';
  return has_prefix ? name.substr(digits + 1) : name;
}

bool is_at(const ListedFile& file, const std::string& path) {
  if (file.path == path) return true;
  auto [folder, name] = split_path(file.path);
  auto short_name = without_upload_prefix(name);
  return short_name != name && join_path(folder, short_name) == path;
}

}  // namespace

const ListedFile* find_meant(const WantedFile& wanted, const std::vector<ListedFile>& listed) {
  for (const auto& file : listed)
    if (!wanted.file_id.empty() && file.id == wanted.file_id) return &file;
  for (const auto& path : wanted.paths)
    for (const auto& file : listed)
      if (file.path == path) return &file;
  const ListedFile* found = nullptr;
  for (const auto& file : listed) {
    bool fits = std::any_of(wanted.paths.begin(), wanted.paths.end(),
                            [&](const std::string& path) { return is_at(file, path); });
    if (wanted.paths.empty() && !wanted.name.empty())
      fits = without_upload_prefix(split_path(file.path).second) == wanted.name ||
             split_path(file.path).second == wanted.name;
    if (!fits) continue;
    if (found) return nullptr;  // ambiguous
    found = &file;
  }
  return found;
}

Fetched::Outcome verdict_on(const RemoteAnswer& answer) {
  if (answer.ok()) return Fetched::Outcome::ok;
  switch (answer.status) {
    case 401:
    case 403:
      return Fetched::Outcome::denied;
    case 404:
    case 410:
      return Fetched::Outcome::gone;
    case 400:
      // OpenAI reports "Container is expired." as a bad request.
      return ascii_lower(answer.problem).find("expired") != std::string::npos ? Fetched::Outcome::gone
                                                                              : Fetched::Outcome::cannot_tell;
    default:
      return Fetched::Outcome::cannot_tell;
  }
}

std::vector<std::string> foundry_endpoints(const std::string& base_url) {
  std::vector<std::string> out;
  auto add = [&](std::string url) {
    for (const auto& known : out) {
      if (known == url) return;
    }
    out.push_back(std::move(url));
  };
  bool complete = base_url.ends_with("/openai/v1") || base_url.ends_with("/protocols/openai");
  if (complete) add(base_url);
  auto projects = base_url.find("/api/projects/");
  if (projects != std::string::npos) {
    auto end = base_url.find('/', projects + std::string_view("/api/projects/").size());
    add(base_url.substr(0, end) + "/openai/v1");
    add(base_url.substr(0, projects) + "/openai/v1");
  } else if (!complete) {
    add(base_url + "/openai/v1");
  }
  return out;
}

std::unique_ptr<Upstream> open_web(const RemoteSource& source, const RemoteOptions& options,
                                   Patience& patience) {
  return std::make_unique<WebUpstream>(
      options.allow_private ? PlainHttp::allowed : PlainHttp::refused,
      std::make_unique<RemoteServer>(options, source.base_url, credentials_of(source), source.key, patience));
}

std::unique_ptr<Upstream> open_upstream(const RemoteSource& source, const RemoteOptions& options,
                                        Patience& patience) {
  auto remote =
      std::make_unique<RemoteServer>(options, source.base_url, credentials_of(source), source.key, patience);
  switch (source.kind) {
    case SourceKind::azure:
      return std::make_unique<AzureUpstream>(source.base_url, std::move(remote));
    case SourceKind::foundry:
      return std::make_unique<OpenAiUpstream>(foundry_endpoints(source.base_url), std::move(remote));
    case SourceKind::openai:
      break;
  }
  return std::make_unique<OpenAiUpstream>(std::vector<std::string>{source.base_url}, std::move(remote));
}

}  // namespace sk::bridge
