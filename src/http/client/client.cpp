#include "http/client/client.h"

#include <curl/curl.h>

#include <cerrno>
#include <mutex>
#include <random>
#include <system_error>
#include <thread>

#include "base/text.h"
#include "http/address.h"

namespace sk::http {

namespace {

constexpr size_t kBodyBytesMax = 256 << 20;  // of a response kept in memory
constexpr long kBufferBytes = 512 << 10;
constexpr std::chrono::milliseconds kBackoffFirst{100};
constexpr std::chrono::seconds kRetryAfterMax{10};

struct EasyDeleter {
  void operator()(CURL* easy) const { ::curl_easy_cleanup(easy); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { ::curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

bool is_encrypted(std::string_view url) { return ascii_lower(url.substr(0, 6)) == "https:"; }

// State of one attempt at a request, shared with curl's callbacks.
struct Attempt {
  const ClientRequest& request;
  CURL* easy;
  ClientResponse response;
  size_t body_at = 0;           // offset into request.body
  bool body_touched = false;    // part of the body was read
  bool answer_touched = false;  // part of the response was passed to the sink
  bool refused = false;         // the sink aborted the transfer
  bool forbidden = false;       // the address is not public
  std::exception_ptr failure = nullptr;
};

// Runs `step` and stores its exception, because exceptions must not cross curl's C frames. It is rethrown
// after the transfer.
template <class Step>
auto guarded(Attempt& attempt, decltype(std::declval<Step>()()) on_failure, Step step) {
  try {
    return step();
  } catch (...) {
    attempt.failure = std::current_exception();
    return on_failure;
  }
}

size_t on_header(char* data, size_t, size_t size, void* self) {
  auto& attempt = *static_cast<Attempt*>(self);
  std::string_view line(data, size);
  if (line.starts_with("HTTP/"))
    attempt.response.headers = {};  // keep only those of the final response, after 100 Continue and redirects
  auto colon = line.find(':');
  if (colon != std::string_view::npos)
    attempt.response.headers.add(std::string(trim(line.substr(0, colon))),
                                 std::string(trim(line.substr(colon + 1))));
  return size;
}

size_t on_answer(char* data, size_t, size_t size, void* self) {
  auto& attempt = *static_cast<Attempt*>(self);
  return guarded(attempt, size_t{CURL_WRITEFUNC_ERROR}, [&]() -> size_t {
    long status = 0;
    ::curl_easy_getinfo(attempt.easy, CURLINFO_RESPONSE_CODE, &status);
    if (attempt.request.body_sink && status >= 200 && status < 300) {
      attempt.answer_touched = true;
      attempt.refused = !attempt.request.body_sink({data, size});
      return attempt.refused ? size_t{CURL_WRITEFUNC_ERROR} : size;
    }
    if (attempt.response.body.size() + size > kBodyBytesMax)
      throw Error(Code::too_large, "the answer is larger than " + human_size(kBodyBytesMax));
    attempt.response.body.append(data, size);
    return size;
  });
}

size_t on_body_wanted(char* out, size_t, size_t size, void* self) {
  auto& attempt = *static_cast<Attempt*>(self);
  return guarded(attempt, size_t{CURL_READFUNC_ABORT}, [&]() -> size_t {
    attempt.body_touched = true;
    if (attempt.request.body_source) return attempt.request.body_source({out, size});
    size_t count = std::min(size, attempt.request.body.size() - attempt.body_at);
    attempt.request.body.copy(out, count, attempt.body_at);
    attempt.body_at += count;
    return count;
  });
}

// Called when curl must send the body again, such as on a kept-alive connection that the server has just
// closed.
int on_body_rewound(void* self, curl_off_t offset, int origin) {
  auto& attempt = *static_cast<Attempt*>(self);
  if (offset != 0 || origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  if (!attempt.request.body_source) {
    attempt.body_at = 0;
    return CURL_SEEKFUNC_OK;
  }
  if (!attempt.request.rewind_body) return CURL_SEEKFUNC_CANTSEEK;
  return guarded(attempt, int{CURL_SEEKFUNC_FAIL}, [&]() -> int {
    attempt.request.rewind_body();
    return CURL_SEEKFUNC_OK;
  });
}

int on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent) {
  auto& attempt = *static_cast<Attempt*>(self);
  return guarded(attempt, 1, [&]() -> int {
    attempt.request.progress(static_cast<uint64_t>(sent), static_cast<uint64_t>(received));
    return 0;
  });
}

// Checks the address that is actually connected to, so a name that resolves differently the second time
// cannot bypass the check.
curl_socket_t on_socket_wanted(void* self, curlsocktype, curl_sockaddr* address) {
  auto& attempt = *static_cast<Attempt*>(self);
  if (!is_public_address(&address->addr)) {
    attempt.forbidden = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

template <class T>
void set(CURL* easy, CURLoption option, T value) {
  auto status = ::curl_easy_setopt(easy, option, value);
  SK_CHECK(status == CURLE_OK, std::string("curl option: ") + ::curl_easy_strerror(status));
}

// Returns the URL for display, without the password and the query, which may be secret.
std::string shown(std::string_view url) {
  std::string text(url.substr(0, url.find_first_of("?#")));
  auto host = text.find("://");
  auto at = text.find('@');
  auto slash = host == std::string::npos ? std::string::npos : text.find('/', host + 3);
  if (host != std::string::npos && at != std::string::npos && (slash == std::string::npos || at < slash))
    text.erase(host + 3, at - host - 2);
  return text;
}

bool repeatable(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" || method == "OPTIONS";
}

bool never_connected(CURLcode code) {
  return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
         code == CURLE_COULDNT_RESOLVE_PROXY;
}

bool broke_off(CURLcode code) {
  return code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
         code == CURLE_PARTIAL_FILE;
}

}  // namespace

struct Client::Impl {
  explicit Impl(ClientOptions client_options);

  CURLcode perform(Attempt& attempt);
  void set_body(Attempt& attempt);
  HeaderList header_list(const ClientRequest& request);
  bool worth_retrying(const Attempt& attempt, CURLcode code) const;
  static bool is_busy(const Attempt& attempt, CURLcode code);
  bool rewind(const Attempt& attempt) const;
  std::chrono::milliseconds pause_before(int retry, const Attempt& attempt, CURLcode code);
  [[noreturn]] void explain(const Attempt& attempt, CURLcode code);

  const ClientOptions options;
  std::unique_ptr<CURL, EasyDeleter> easy;
  std::array<char, CURL_ERROR_SIZE> detail{};
  std::minstd_rand jitter{std::random_device()()};
};

Client::Impl::Impl(ClientOptions client_options) : options(std::move(client_options)) {
  static std::once_flag once;  // curl's global state must be initialized once per process
  std::call_once(once, [] { ::curl_global_init(CURL_GLOBAL_DEFAULT); });
  easy.reset(::curl_easy_init());
  SK_CHECK(easy != nullptr, "curl_easy_init");
}

HeaderList Client::Impl::header_list(const ClientRequest& request) {
  HeaderList list;
  auto append = [&](const std::string& line) {
    auto* longer = ::curl_slist_append(list.get(), line.c_str());
    SK_CHECK(longer != nullptr, "out of memory");
    [[maybe_unused]] auto* same = list.release();
    list.reset(longer);
  };
  for (const auto& [name, value] : request.headers.all()) {
    if ((name + value).find_first_of("\r\n") != std::string::npos)
      throw Error(Code::bad_request, "the header " + name + " contains a line break");
    append(value.empty() ? name + ";" : name + ": " + value);
  }
  if (!request.headers.has("Content-Type")) append("Content-Type:");  // prevents curl's default form type
  if (!request.headers.has("User-Agent")) append("User-Agent: sandkeep");
  return list;
}

void Client::Impl::set_body(Attempt& attempt) {
  const auto& request = attempt.request;
  bool streamed = static_cast<bool>(request.body_source);
  bool has_body = streamed || !request.body.empty() || request.method == "POST" || request.method == "PUT" ||
                  request.method == "PATCH";
  if (request.method == "HEAD") {
    set(easy.get(), CURLOPT_NOBODY, 1L);
  } else if (has_body) {
    set(easy.get(), CURLOPT_UPLOAD, 1L);
    set(easy.get(), CURLOPT_READFUNCTION, &on_body_wanted);
    set(easy.get(), CURLOPT_READDATA, &attempt);
    set(easy.get(), CURLOPT_SEEKFUNCTION, &on_body_rewound);
    set(easy.get(), CURLOPT_SEEKDATA, &attempt);
    set(easy.get(), CURLOPT_UPLOAD_BUFFERSIZE, kBufferBytes);
    auto size = streamed ? request.body_size : std::optional<uint64_t>(request.body.size());
    set(easy.get(), CURLOPT_INFILESIZE_LARGE, size ? static_cast<curl_off_t>(*size) : curl_off_t{-1});
  }
  set(easy.get(), CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

CURLcode Client::Impl::perform(Attempt& attempt) {
  const auto& request = attempt.request;
  auto* handle = easy.get();
  ::curl_easy_reset(handle);  // resets options only; connections stay open
  detail.fill('\0');
  auto headers = header_list(request);
  bool follow = options.redirects_max > 0 && (request.method == "GET" || request.method == "HEAD");
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_ERRORBUFFER, detail.data());
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  // An https request must not be redirected to http, so its headers and response stay encrypted.
  set(handle, CURLOPT_REDIR_PROTOCOLS_STR, is_encrypted(request.url) ? "https" : "http,https");
  set(handle, CURLOPT_URL, request.url.c_str());
  set(handle, CURLOPT_HTTPHEADER, headers.get());
  set(handle, CURLOPT_FOLLOWLOCATION, follow ? 1L : 0L);
  set(handle, CURLOPT_MAXREDIRS, static_cast<long>(options.redirects_max));
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
  set(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(options.total_timeout.count()));
  set(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.stall_timeout.count()));
  set(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  // Best effort: refused while the buffer of a transfer that failed early still exists.
  ::curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, kBufferBytes);
  set(handle, CURLOPT_HEADERFUNCTION, &on_header);
  set(handle, CURLOPT_HEADERDATA, &attempt);
  set(handle, CURLOPT_WRITEFUNCTION, &on_answer);
  set(handle, CURLOPT_WRITEDATA, &attempt);
  if (options.public_addresses_only) {
    set(handle, CURLOPT_OPENSOCKETFUNCTION, &on_socket_wanted);
    set(handle, CURLOPT_OPENSOCKETDATA, &attempt);
    set(handle, CURLOPT_PROXY, "");
  }
  if (request.progress) {
    set(handle, CURLOPT_NOPROGRESS, 0L);
    set(handle, CURLOPT_XFERINFOFUNCTION, &on_progress);
    set(handle, CURLOPT_XFERINFODATA, &attempt);
  }
  // Replaces only the CA file. The system's certificate folder is still searched.
  if (!options.ca_file.empty()) set(handle, CURLOPT_CAINFO, options.ca_file.c_str());
  if (options.insecure_tls) {
    set(handle, CURLOPT_SSL_VERIFYPEER, 0L);
    set(handle, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  set_body(attempt);
  auto code = ::curl_easy_perform(handle);
  long status = 0;
  ::curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  attempt.response.status = static_cast<int>(status);
  return code;
}

bool Client::Impl::worth_retrying(const Attempt& attempt, CURLcode code) const {
  if (attempt.failure || attempt.refused || attempt.answer_touched || attempt.forbidden) return false;
  if (never_connected(code)) return true;
  if (!repeatable(attempt.request.method)) return false;
  int status = attempt.response.status;
  if (code == CURLE_OK) return status == 429 || status == 502 || status == 503 || status == 504;
  return broke_off(code);
}

bool Client::Impl::is_busy(const Attempt& attempt, CURLcode code) {
  return !attempt.refused && (code == CURLE_OK || code == CURLE_SEND_ERROR) &&
         attempt.response.status == 429 && attempt.response.headers.get("Retry-After").has_value();
}

// Returns false when the body cannot be sent again.
bool Client::Impl::rewind(const Attempt& attempt) const {
  if (!attempt.request.body_source || !attempt.body_touched) return true;
  if (!attempt.request.rewind_body) return false;
  attempt.request.rewind_body();
  return true;
}

std::chrono::milliseconds Client::Impl::pause_before(int retry, const Attempt& attempt, CURLcode code) {
  if (code == CURLE_OK) {
    auto asked = parse_unsigned(attempt.response.headers.get("Retry-After").value_or(""));
    if (asked)
      return std::min<std::chrono::milliseconds>(std::chrono::seconds(std::min<uint64_t>(*asked, 3600)),
                                                 kRetryAfterMax);
  }
  auto base = kBackoffFirst * (1 << std::min(retry, 6));
  return base + std::chrono::milliseconds(
                    std::uniform_int_distribution<int>(0, static_cast<int>(base.count()))(jitter));
}

void Client::Impl::explain(const Attempt& attempt, CURLcode code) {
  auto url = shown(attempt.request.url);
  long system_errno = 0;
  ::curl_easy_getinfo(easy.get(), CURLINFO_OS_ERRNO, &system_errno);
  curl_off_t connected_us = 0;
  ::curl_easy_getinfo(easy.get(), CURLINFO_CONNECT_TIME_T, &connected_us);
  std::string reason = detail[0] != '\0' ? detail.data() : ::curl_easy_strerror(code);
  if (attempt.forbidden)
    throw Error(Code::forbidden, "the host of " + url + " is not on the public internet");
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
      if (long redirects = 0;
          ::curl_easy_getinfo(easy.get(), CURLINFO_REDIRECT_COUNT, &redirects) == CURLE_OK && redirects > 0)
        throw Error(Code::unavailable,
                    url + " redirects to an address that is not followed: it begins with " +
                        (is_encrypted(url) ? "no https://" : "neither http:// nor https://"));
      [[fallthrough]];
    case CURLE_URL_MALFORMAT:
      throw Error(Code::bad_request, "'" + url + "' is not an address that begins with http:// or https://");
    case CURLE_COULDNT_RESOLVE_HOST:
      throw Error(Code::unavailable, "cannot find the host of " + url + ": " + reason);
    case CURLE_COULDNT_CONNECT: {
      if (system_errno == ECONNREFUSED)
        throw Error(Code::unavailable, "cannot connect to " + url + ": connection refused");
      auto why = system_errno != 0 ? std::system_category().message(static_cast<int>(system_errno)) : reason;
      throw Error(Code::unavailable, "cannot connect to " + url + ": " + why);
    }
    case CURLE_OPERATION_TIMEDOUT:
      if (connected_us == 0)
        throw Error(Code::unavailable, "cannot connect to " + url + ": no answer in time");
      throw Error(Code::unavailable, url + " took too long: " + reason);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      throw Error(Code::unavailable, "the certificate of " + url + " is not trusted: " + reason)
          .advise(Advice::trust_certificate);
    case CURLE_TOO_MANY_REDIRECTS:
      throw Error(Code::unavailable,
                  url + " redirects more than " + std::to_string(options.redirects_max) + " times");
    case CURLE_PARTIAL_FILE:
      throw Error(Code::unavailable, "the answer of " + url + " broke off before its end");
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      throw Error(Code::unavailable, url + " closed the connection without an answer: " + reason);
    default:
      throw Error(Code::unavailable, "no answer from " + url + ": " + reason);
  }
}

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Client::~Client() = default;

ClientResponse Client::send(const ClientRequest& request) {
  std::chrono::milliseconds waited{0};
  for (int retry = 0;; ++retry) {
    Attempt attempt{.request = request, .easy = impl_->easy.get(), .response = {}};
    auto code = impl_->perform(attempt);
    if (attempt.failure) std::rethrow_exception(attempt.failure);
    auto pause = impl_->pause_before(retry, attempt, code);
    bool may_retry = retry < impl_->options.retries_max && impl_->worth_retrying(attempt, code);
    bool may_wait =
        !may_retry && impl_->is_busy(attempt, code) && waited + pause <= impl_->options.busy_wait_max;
    if ((may_retry || may_wait) && impl_->rewind(attempt)) {
      if (may_wait && waited.count() == 0 && impl_->options.on_busy) impl_->options.on_busy();
      if (may_wait) waited += pause;
      std::this_thread::sleep_for(pause);
      continue;
    }
    if (attempt.refused)
      throw Error(Code::unavailable, "the download of " + shown(request.url) + " was stopped");
    // A server that refuses an upload midway responds and closes; that response counts.
    bool answered_early = code == CURLE_SEND_ERROR && attempt.response.status >= 400;
    if (code != CURLE_OK && !answered_early) impl_->explain(attempt, code);
    return std::move(attempt.response);
  }
}

}  // namespace sk::http
