#include "bridge/openai_upstream.h"

#include "base/error.h"
#include "base/json_reading.h"
#include "base/text.h"
#include "conversations/sandbox_links.h"

namespace sk::bridge {

namespace {

using Outcome = Fetched::Outcome;

constexpr size_t kPagesMax = 1000;

// Agent endpoints and the project endpoint that its toolbox uses require a version in every call.
bool wants_version(const std::string& url) {
  if (url.find("/protocols/openai") != std::string::npos) return true;
  return url.find("/api/projects/") != std::string::npos && url.find("/openai/v1") == std::string::npos;
}

std::string with_query(const std::string& url, const std::string& query) {
  std::string all = wants_version(url) ? "api-version=v1" : "";
  if (!all.empty() && !query.empty()) all += '&';
  all += query;
  return all.empty() ? url : url + "?" + all;
}

// Maps "/mnt/data/a/b.csv" to "a/b.csv".
std::string below_data(const std::string& path) {
  auto paths = conversations::paths_meant("sandbox:" + path);
  return paths.empty() ? path.substr(path.find_last_of('/') + 1) : paths.front();
}

std::string file_url(const std::string& endpoint, const std::string& container, const std::string& file_id) {
  auto folder = container.empty() ? endpoint : endpoint + "/containers/" + percent_encode(container);
  return folder + "/files/" + percent_encode(file_id);
}

// Keeps the failure to report: a refusal before an unclear answer, and that before absence.
void consider(Fetched& best, const Fetched& other, bool is_first) {
  auto rank = [](Outcome outcome) {
    return outcome == Outcome::ok            ? 0
           : outcome == Outcome::denied      ? 1
           : outcome == Outcome::cannot_tell ? 2
                                             : 3;
  };
  if (is_first || rank(other.outcome) < rank(best.outcome)) best = other;
}

}  // namespace

Fetched OpenAiUpstream::fetch(const WantedFile& wanted, ByteSink& sink) {
  Fetched first;
  bool by_id = !wanted.file_id.empty();
  if (by_id) {
    first = fetch_by_id(wanted, sink);
    if (first.outcome == Outcome::ok) return first;
  }
  if (wanted.container.empty()) {
    if (!by_id) first.explanation = "the container of the link is unknown";
    return first;
  }
  return fetch_by_listing(wanted, first, sink);
}

Fetched OpenAiUpstream::fetch_content(const std::string& endpoint, const std::string& container,
                                      const std::string& file_id, ByteSink& sink) {
  auto url = file_url(endpoint, container, file_id) + "/content";
  auto answer = remote_->get(with_query(url, ""), &sink);
  return {verdict_on(answer), answer.problem, ""};
}

// Returns the path or name of a file that was cited without a name; empty if unknown.
std::string OpenAiUpstream::find_path(const std::string& endpoint, const std::string& container,
                                      const std::string& file_id) {
  auto answer = remote_->get(with_query(file_url(endpoint, container, file_id), ""));
  if (!answer.ok()) return {};
  try {
    auto json = parse_json(answer.body, "the file");
    auto path = text_in(json, "path");
    return path.empty() ? text_in(json, "filename") : below_data(path);
  } catch (const Error&) {
    return {};
  }
}

Fetched OpenAiUpstream::fetch_by_id(const WantedFile& wanted, ByteSink& sink) {
  // Ids of the Files API belong to no container.
  bool stands_alone = !wanted.file_id.starts_with("cfile_");
  Fetched best;
  for (size_t i = 0; i < endpoints_.size(); ++i) {
    auto container = stands_alone ? std::string() : wanted.container;
    auto got = fetch_content(endpoints_[i], container, wanted.file_id, sink);
    if (got.outcome == Outcome::ok) {
      if (wanted.name.empty()) got.path = find_path(endpoints_[i], container, wanted.file_id);
      return got;
    }
    consider(best, got, i == 0);
  }
  return best;
}

Fetched OpenAiUpstream::fetch_by_listing(const WantedFile& wanted, const Fetched& first, ByteSink& sink) {
  const auto& listing = listing_of(wanted.container);
  // A file that is not found by its own URL may still exist. Only the listing tells whether the container is
  // gone.
  if (!listing.files) return first.outcome == Outcome::denied ? first : listing.failure;
  const auto* found = find_meant(wanted, *listing.files);
  if (found == nullptr) {
    if (wanted.file_id.empty() && listing.is_whole)
      return {Outcome::missing, "the container does not have this file", ""};
    if (first.outcome == Outcome::denied) return first;
    if (!listing.is_whole) return listing.failure;
    return {Outcome::gone, "the container no longer has this file", ""};
  }
  auto again = fetch_content(listing.endpoint, wanted.container, found->id, sink);
  again.path = found->path;
  if (again.outcome == Outcome::gone) {
    // The file is listed but not found, so its state is unknown.
    again.outcome = Outcome::cannot_tell;
    again.explanation = "the container lists it, but asked for its content, " + again.explanation;
  }
  return again;
}

const OpenAiUpstream::Listing& OpenAiUpstream::listing_of(const std::string& container) {
  auto known = listings_.find(container);
  if (known == listings_.end()) known = listings_.emplace(container, list(container)).first;
  return known->second;
}

OpenAiUpstream::Listing OpenAiUpstream::list(const std::string& container) {
  Listing out;
  bool is_first = true;
  auto try_at = [&](const std::string& url, const std::string& endpoint) {
    Fetched failure;
    out.files = list_at(url, failure);
    if (out.files) out.endpoint = endpoint;
    if (!out.files) consider(out.failure, failure, is_first);
    if (out.files && !failure.explanation.empty()) out.failure = failure, out.is_whole = false;
    is_first = false;
    return out.files.has_value();
  };
  for (const auto& endpoint : endpoints_) {
    if (try_at(endpoint + "/containers/" + percent_encode(container) + "/files", endpoint)) return out;
  }
  // The form of the toolbox: the project's URL without "/openai/v1".
  for (const auto& endpoint : endpoints_) {
    auto project = endpoint.find("/openai/v1");
    if (endpoint.find("/api/projects/") == std::string::npos || project == std::string::npos) continue;
    auto home = endpoint.substr(0, project);
    if (try_at(home + "/containers/" + percent_encode(container) + "/files", home)) return out;
  }
  return out;
}

// Reads all pages. Stops if a server repeats the same page: the list then has a failure, too, and proves
// nothing about files that it does not name.
std::optional<std::vector<ListedFile>> OpenAiUpstream::list_at(const std::string& url, Fetched& failure) {
  std::vector<ListedFile> files;
  std::string after;
  for (size_t page = 0; page < kPagesMax; ++page) {
    std::string query = "limit=100";
    if (!after.empty()) query += "&after=" + percent_encode(after);
    auto answer = remote_->get(with_query(url, query));
    if (!answer.ok()) {
      failure = {verdict_on(answer), answer.problem, ""};
      return std::nullopt;
    }
    Json json;
    try {
      json = parse_json(answer.body, "the list");
    } catch (const Error&) {
      failure = {Outcome::cannot_tell, "its list of files cannot be read", ""};
      return std::nullopt;
    }
    std::string last;
    const auto& data = json.contains("data") ? list_in(json, "data") : list_in(json, "value");
    for (const auto& item : data) {
      auto path = text_in(item, "path");
      for (const char* name : {"filename", "name"}) path = path.empty() ? text_in(item, name) : path;
      last = text_in(item, "id");
      if (!last.empty()) files.push_back({last, below_data(path)});
    }
    const auto& more = field_in(json, "has_more");
    if (!more.is_boolean() || !more.get<bool>()) return files;
    after = std::exchange(last, after);
    if (after.empty() || last == after) break;
  }
  failure = {Outcome::cannot_tell, "its list of files does not end", ""};
  return files;
}

}  // namespace sk::bridge
