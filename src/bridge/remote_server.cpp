#include "bridge/remote_server.h"

#include <random>

#include "base/error.h"
#include "base/json.h"
#include "base/json_reading.h"
#include "base/text.h"
#include "bridge/source.h"

namespace sk::bridge {

namespace {

constexpr size_t kBodyBytesMax = 16 << 20;
constexpr uint64_t kErrorBytesMax = 4 << 20;
constexpr size_t kProblemBytesMax = 300;
constexpr int kRedirectsMax = 5;

// Thrown through the HTTP client when the job's time ends.
struct OutOfTime {};

// Thrown through the HTTP client when a body exceeds its limit. Another attempt would only download it again.
struct TooLong {
  std::string problem;
};

http::ClientOptions client_options(const RemoteOptions& options) {
  http::ClientOptions out;
  out.connect_timeout = std::chrono::milliseconds(10'000);
  out.stall_timeout = options.stall;
  out.redirects_max = 0;
  out.retries_max = 0;
  out.public_addresses_only = !options.allow_private;
  return out;
}

bool is_momentary(int status) {
  return status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Resolves a Location header, which may be only a path. Returns an empty string for other relative forms.
std::string resolve(const std::string& from, const std::string& location) {
  if (location.find("://") != std::string::npos) return location;
  auto origin = origin_of_url(from);
  if (location.starts_with("//")) return origin.substr(0, origin.find(':') + 1) + location;
  return location.starts_with('/') ? origin + location : std::string();
}

std::chrono::milliseconds with_jitter(std::chrono::milliseconds time) {
  static thread_local std::minstd_rand random{std::random_device()()};
  auto half = std::max<int64_t>(time.count() / 2, 1);
  return time + std::chrono::milliseconds(std::uniform_int_distribution<int64_t>(0, half)(random));
}

// Returns the message of an API error in any of the common shapes.
std::string message_in(const std::string& body) {
  if (body.empty() || body.size() > (64 << 10)) return {};
  try {
    auto json = parse_json(body, "an error");
    if (!json.is_object()) return {};
    const Json& error = json.contains("error") ? json["error"] : json;
    if (error.is_string()) return error.get<std::string>();
    return text_in(error, "message");
  } catch (const Error&) {
    // Usually an HTML page of a proxy.
  }
  return {};
}

}  // namespace

bool may_follow(std::string_view origin, const std::string& url, const RemoteOptions& options) {
  if (origin_of_url(url).empty()) return false;
  bool downgraded = origin.starts_with("https:") && !url.starts_with("https:");
  return !downgraded || options.allow_private;
}

RemoteServer::RemoteServer(RemoteOptions options, const std::string& base_url, http::Headers credentials,
                           std::string secret, Patience& patience)
    : options_(options),
      origin_(origin_of_url(base_url)),
      credentials_(std::move(credentials)),
      secret_(std::move(secret)),
      patience_(patience),
      client_(client_options(options)) {}

RemoteAnswer RemoteServer::get(const std::string& url, ByteSink* sink) {
  auto pause = options_.first_pause;
  for (int number = 1;; ++number) {
    auto tried = attempt(url, sink);
    if (!tried.worth_another || number >= options_.attempts_max) return std::move(tried.answer);
    auto wait = std::min<std::chrono::milliseconds>(std::max(with_jitter(pause), tried.asked_pause),
                                                    options_.longest_pause);
    if (!patience_.pause(wait)) return std::move(tried.answer);
    pause *= 2;
  }
}

// Sends one request and follows its redirects. Credentials are sent to their own host only.
RemoteServer::Attempt RemoteServer::attempt(std::string url, ByteSink* sink) {
  Attempt out;
  try {
    for (int redirects = 0; redirects <= kRedirectsMax; ++redirects) {
      auto response = send(url, sink);
      out.answer.status = response.status;
      out.answer.body = std::move(response.body);
      if (!is_redirect(response.status)) {
        if (out.answer.ok()) return out;
        response.body = out.answer.body;
        out.answer.problem = explain(response);
        out.worth_another = is_momentary(response.status);
        auto asked = parse_unsigned(trim(response.headers.get("Retry-After").value_or("")));
        if (asked) out.asked_pause = std::chrono::seconds(std::min<uint64_t>(*asked, 3600));
        return out;
      }
      url = resolve(url, response.headers.get("Location").value_or(""));
      if (!may_follow(origin_, url, options_)) break;
    }
    out.answer.problem = "it redirects to an address that may not be called";
  } catch (const OutOfTime&) {
    out.answer = {0, "", "it exceeded the time limit for fetching"};
  } catch (const TooLong& error) {
    out.answer = {0, "", error.problem};
  } catch (const Error& error) {
    bool of_network = error.code() == Code::unavailable;
    if (!of_network && error.code() != Code::forbidden && error.code() != Code::bad_request) throw;
    out.answer = {0, "", without_secret(error.message())};
    out.worth_another = of_network;
  }
  return out;
}

http::ClientResponse RemoteServer::send(const std::string& url, ByteSink* sink) {
  http::ClientRequest request;
  request.url = url;
  if (origin_of_url(url) == origin_) request.headers = credentials_;
  request.headers.set("Accept", "*/*");
  uint64_t taken = 0;
  request.progress = [&](uint64_t, uint64_t received) {
    if (patience_.is_over()) throw OutOfTime{};
    // Bytes that body_sink did not receive are an error text, which needs no more than this.
    if (received > taken + kErrorBytesMax) throw TooLong{"its error message does not end"};
  };
  std::string body;
  if (sink) sink->begin();
  request.body_sink = [&](std::string_view bytes) {
    taken += bytes.size();
    if (sink) {
      sink->write(bytes);
    } else {
      if (body.size() + bytes.size() > kBodyBytesMax)
        throw TooLong{"its answer is larger than " + human_size(kBodyBytesMax)};
      body += bytes;
    }
    return true;
  };
  auto response = client_.send(request);
  if (!body.empty()) response.body = std::move(body);
  return response;
}

std::string RemoteServer::explain(const http::ClientResponse& response) const {
  auto out = "it answered " + std::to_string(response.status);
  auto message = message_in(response.body);
  if (!message.empty()) out += ": " + message;
  return without_secret(std::move(out));
}

std::string RemoteServer::without_secret(std::string text) const {
  for (size_t at; !secret_.empty() && (at = text.find(secret_)) != std::string::npos;)
    text.replace(at, secret_.size(), "…");
  if (text.size() <= kProblemBytesMax) return text;
  size_t end = kProblemBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace sk::bridge
