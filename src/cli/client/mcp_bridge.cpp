#include "cli/client/mcp_bridge.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/json_reading.h"
#include "base/mutex.h"
#include "base/text.h"
#include "cli/client/remote.h"
#include "cli/client/upload.h"
#include "cli/frame/advice_words.h"
#include "cli/frame/progress.h"
#include "http/event_reader.h"

namespace sk::cli {

namespace {

constexpr size_t kThreads = 32, kQueueMax = 10'000;
constexpr int kResumesMax = 100;
constexpr size_t kCancelledMax = 1000;
constexpr std::chrono::milliseconds kPause{500};
constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr int kServerError = -32000, kParseError = -32700;
constexpr int kUnauthorized = 401;

// Encodes text for a header.
std::string header_value(const std::string& text) {
  bool plain = !text.empty() && trim(text) == text &&
               std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  return plain && !text.starts_with("=?base64?") ? text : "=?base64?" + to_base64(as_bytes(text)) + "?=";
}

// Reads an answer piece by piece: one JSON object, or events.
class AnswerReader {
 public:
  explicit AnswerReader(std::function<void(const std::string& id, const std::string& data)> take)
      : take_(std::move(take)), events_([this](const auto& event) { take_(event.id, event.data); }) {}

  void add(std::string_view bytes) {
    if (is_json_ == std::nullopt) {
      auto start = bytes.find_first_not_of(" \r\n\t");
      if (start == std::string_view::npos) return;
      is_json_ = bytes[start] == '{' || bytes[start] == '[';
    }
    if (*is_json_)
      json_ += bytes;
    else
      events_.add(bytes);
  }

  // An event that was cut off is not reported: its stream is resumed.
  void end() {
    if (!json_.empty()) take_("", json_);
  }

 private:
  const std::function<void(const std::string&, const std::string&)> take_;
  http::EventReader events_;
  std::optional<bool> is_json_;  // unknown before the first character
  std::string json_;
};

http::ClientOptions impatient_options(const Target& target) {
  http::ClientOptions options;
  options.ca_file = target.ca_file;
  options.retries_max = 0;
  options.busy_wait_max = std::chrono::minutes(1);  // agents give up later
  return options;
}

// The error for a request that the server may have started and whose answer is lost.
std::string lost_answer(const Json& message, const std::string& why) {
  std::string text = "the connection broke after the request was sent, and its answer is lost";
  if (!why.empty()) text += " (" + why + ")";
  if (field_in(message, "method") != "tools/call") return text + ". Ask again.";
  return text +
         ". It may have run. Before you call it again, check: list_sessions shows the interpreter that was "
         "used last, list_files and activity show what was written.";
}

bool is_below(const std::filesystem::path& file, const std::string& folder) {
  std::error_code failure;
  auto root = std::filesystem::canonical(folder, failure);
  if (failure) return false;
  auto [end, at] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  return end == root.end();
}

}  // namespace

McpBridge::McpBridge(Target target, Terminal& terminal, std::vector<std::string> folders)
    : target_(std::move(target)),
      terminal_(terminal),
      folders_(std::move(folders)),
      pool_(kThreads, kQueueMax) {}

McpBridge::~McpBridge() {
  stopping_ = true;
  pool_.stop();
  if (listener_.joinable()) listener_.join();
}

void McpBridge::write(const Json& message) {
  static Mutex one_line_at_a_time;
  MutexLock lock(one_line_at_a_time);
  terminal_.line(to_text(message));
  terminal_.flush();
}

void McpBridge::fail(const Json& id, int code, const std::string& text) {
  write({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", text}}}});
}

http::Headers McpBridge::headers_for(const Json& message) const {
  http::Headers headers;
  headers.set("Authorization", "Bearer " + target_.key);
  headers.set("Accept", "application/json, text/event-stream");
  headers.set("Content-Type", "application/json");
  headers.set("User-Agent", "sandkeep-mcp");
  const auto& params = field_in(message, "params");
  auto version = text_in(field_in(params, "_meta"), kVersionKey);
  MutexLock lock(mutex_);
  if (!version.empty()) {
    headers.set("MCP-Protocol-Version", version);
    headers.set("Mcp-Method", text_in(message, "method"));
    for (auto name : {"name", "uri", "taskId"})
      if (auto value = text_in(params, name); !value.empty()) headers.set("Mcp-Name", header_value(value));
  } else if (!session_.empty()) {
    headers.set("Mcp-Session-Id", session_);
    headers.set("MCP-Protocol-Version", version_);
  }
  return headers;
}

bool McpBridge::pass_on(Json message, const Json& id) {
  bool is_response = !message.contains("method") && field_in(message, "id") == id;
  auto* tools = is_response && message.contains("result") ? &message["result"] : nullptr;
  if (tools != nullptr && tools->is_object() && tools->contains("tools") && !folders_.empty()) {
    for (auto& tool : (*tools)["tools"])
      if (field_in(tool, "name") == "upload")
        tool["inputSchema"]["properties"]["local_path"] = {
            {"type", "string"},
            {"description", "A file on the user's machine, in a folder that the user allowed."}};
  }
  if (tools != nullptr && tools->is_object() && tools->contains("protocolVersion")) {
    MutexLock lock(mutex_);
    version_ = text_in(*tools, "protocolVersion");
  }
  write(message);
  return is_response;
}

McpBridge::Outcome McpBridge::post(const Json& message) {
  Outcome outcome;
  const auto& id = field_in(message, "id");
  AnswerReader reader([&](const std::string& event_id, const std::string& data) {
    if (!event_id.empty()) outcome.last_event_id = event_id;
    if (data.empty()) return;
    try {
      outcome.answered = pass_on(parse_json(data), id) || outcome.answered;
    } catch (const Error& error) {
      outcome.error = error.message();
    }
  });
  http::Client client(impatient_options(target_));
  http::ClientRequest request;
  request.method = "POST";
  request.url = target_.server + "/mcp";
  request.headers = headers_for(message);
  request.body = to_text(message);
  request.body_sink = [&](std::string_view bytes) {
    reader.add(bytes);
    return true;
  };
  // Curl calls this once a second, even while no data arrives. Closing the connection cancels a request in
  // the newer protocol.
  request.progress = [&](uint64_t sent, uint64_t received) {
    outcome.sent = outcome.sent || sent > 0 || received > 0;
    if (is_cancelled(id)) throw Error(Code::conflict, "the request was cancelled");
  };
  try {
    auto response = client.send(request);
    reader.end();
    outcome.status = response.status;
    if (auto session = response.headers.get("Mcp-Session-Id")) {
      MutexLock lock(mutex_);
      session_ = *session;
    }
    if (response.status >= 400) outcome.error = response.body;
  } catch (const Error& error) {
    outcome.error = error.message();
  }
  return outcome;
}

// Reads the rest of an interrupted stream.
McpBridge::Outcome McpBridge::resume(const Json& id, const std::string& last_event_id) {
  Outcome outcome;
  outcome.last_event_id = last_event_id;
  AnswerReader reader([&](const std::string& event_id, const std::string& data) {
    if (!event_id.empty()) outcome.last_event_id = event_id;
    if (data.empty()) return;
    try {
      outcome.answered = pass_on(parse_json(data), id) || outcome.answered;
    } catch (const Error& error) {
      outcome.error = error.message();
    }
  });
  http::Client client(impatient_options(target_));
  http::ClientRequest request;
  request.url = target_.server + "/mcp";
  request.headers = headers_for(Json::object());
  request.headers.set("Accept", "text/event-stream");
  if (!last_event_id.empty()) request.headers.set("Last-Event-ID", last_event_id);
  request.body_sink = [&](std::string_view bytes) {
    reader.add(bytes);
    return true;
  };
  request.progress = [&](uint64_t, uint64_t) {
    if (stopping_ || is_cancelled(id)) throw Error(Code::conflict, "the caller no longer waits for it");
  };
  try {
    outcome.status = client.send(request).status;
  } catch (const Error& error) {
    outcome.error = error.message();
  }
  return outcome;
}

// Recreates the session with the client's first message after the server lost it, for example by a restart.
bool McpBridge::begin_again() {
  Json message;
  {
    MutexLock lock(mutex_);
    if (initialize_.is_null()) return false;
    session_.clear();
    message = initialize_;
  }
  http::Client client(impatient_options(target_));
  http::ClientRequest request;
  request.method = "POST";
  request.url = target_.server + "/mcp";
  request.headers = headers_for(message);
  request.body = to_text(message);
  try {
    auto response = client.send(request);
    auto session = response.headers.get("Mcp-Session-Id");
    if (response.status != 200 || !session) return false;
    MutexLock lock(mutex_);
    session_ = *session;
    return true;
  } catch (const Error&) {
    return false;
  }
}

void McpBridge::answer(const Json& message) {
  const auto& id = field_in(message, "id");
  auto outcome = post(message);
  if (outcome.status == 404 && !outcome.answered && begin_again()) outcome = post(message);
  // Later attempts to read the rest say nothing about the request itself, which was already sent.
  bool lost = outcome.sent && outcome.status < 400;
  auto broke = outcome.error;
  for (int tries = 0; !outcome.answered && !outcome.last_event_id.empty() && tries < kResumesMax; ++tries) {
    if (is_cancelled(id)) return;
    std::this_thread::sleep_for(kPause);
    auto next = resume(id, outcome.last_event_id);
    if (next.status >= 400) break;
    outcome = std::move(next);
  }
  if (outcome.answered || id.is_null() || outcome.status == 202 || is_cancelled(id)) return;
  if (lost) return fail(id, kServerError, lost_answer(message, broke));
  // Prefer the server's own error if it gave one.
  Json said;
  try {
    said = parse_json(outcome.error);
  } catch (const Error&) {
  }
  auto error = field_in(said, "error");
  if (error.is_object() && outcome.status == kUnauthorized) {
    // The client of the bridge sends no header: it starts the bridge with a key.
    error["message"] = text_in(error, "message") + ". " + key_hint(target_);
    if (error.contains("data") && error["data"].is_object()) error["data"]["hint"] = key_hint(target_);
  }
  if (error.is_object()) return write({{"jsonrpc", "2.0"}, {"id", id}, {"error", error}});
  fail(id, kServerError, outcome.error.empty() ? "the server's answer ended early" : outcome.error);
}

// Forwards messages that the server sends between requests.
void McpBridge::listen() {
  std::string last;
  while (!stopping_) {
    auto outcome = resume(nullptr, last);
    last = outcome.last_event_id;
    if (outcome.status >= 400) {
      last.clear();
      if (outcome.status != 404) return;
    }
    for (int i = 0; i < 10 && !stopping_; ++i) std::this_thread::sleep_for(kPause / 10);
  }
}

bool McpBridge::upload_local(const Json& message) {
  const auto& params = field_in(message, "params");
  const auto& arguments = field_in(params, "arguments");
  if (field_in(message, "method") != "tools/call" || field_in(params, "name") != "upload" || folders_.empty())
    return false;
  if (!field_in(arguments, "local_path").is_string()) return false;
  Json result;
  try {
    std::error_code failure;
    auto local = std::filesystem::canonical(text_in(arguments, "local_path"), failure);
    bool allowed = !failure && std::any_of(folders_.begin(), folders_.end(), [&](const std::string& folder) {
      return is_below(local, folder);
    });
    if (!allowed)
      throw Error(Code::forbidden, "the folders that the user allowed do not contain this file")
          .hint("The user allows folders with: sandkeep mcp --files FOLDER.");
    Remote remote(target_);
    RemotePath where;
    auto path = text_in(arguments, "path");
    // /mnt/data in a session is the folder `data` of the workspace.
    where = parse_remote_path(":" + (path.starts_with("/mnt/data/") ? path.substr(5) : path));
    where.workspace = text_in(arguments, "workspace");
    Progress progress(terminal_, "upload", std::nullopt, 1);
    auto change = upload_file(remote, local.string(), where, {}, progress);
    const auto& version = field_in(change, "version");
    auto text = "Uploaded: [" + text_in(version, "path") + "](" + text_in(version, "link") + ")\n";
    result = {{"content", Json::array({Json{{"type", "text"}, {"text", text}}})},
              {"structuredContent",
               {{"url", field_in(version, "link")},
                {"curl", ""},
                {"path", field_in(version, "path")},
                {"version_id", field_in(version, "id")},
                {"size", field_in(version, "size")}}},
              {"isError", false}};
  } catch (const Error& error) {
    auto text =
        "**" + std::string(info(error.code()).name) + "**: " + error.message() + "\n\n" + hint_of(error);
    result = {{"content", Json::array({Json{{"type", "text"}, {"text", text}}})}, {"isError", true}};
  }
  auto version = field_in(field_in(params, "_meta"), kVersionKey);
  if (!version.is_null()) result["resultType"] = "complete";
  write({{"jsonrpc", "2.0"}, {"id", field_in(message, "id")}, {"result", std::move(result)}});
  return true;
}

void McpBridge::note_cancelled(const Json& message) {
  MutexLock lock(mutex_);
  cancelled_.push_back(field_in(field_in(message, "params"), "requestId"));
  if (cancelled_.size() > kCancelledMax) cancelled_.pop_front();
}

bool McpBridge::is_cancelled(const Json& id) const {
  MutexLock lock(mutex_);
  return !id.is_null() && std::find(cancelled_.begin(), cancelled_.end(), id) != cancelled_.end();
}

void McpBridge::take_line(const std::string& line) {
  if (trim(line).empty()) return;
  Json message;
  try {
    message = parse_json(line, "the line");
  } catch (const Error& error) {
    return fail(nullptr, kParseError, error.message());
  }
  auto method = text_in(message, "method");
  bool is_request = !method.empty() && message.contains("id");
  if (method == "initialize") {
    {
      MutexLock lock(mutex_);
      initialize_ = message;
      session_.clear();
    }
    return answer(message);
  }
  if (method == "notifications/cancelled") note_cancelled(message);
  if (!is_request) {
    post(message);  // notifications and responses stay in order
    if (method == "notifications/initialized" && !listener_.joinable())
      listener_ = std::thread([this] { listen(); });
    return;
  }
  bool taken = pool_.submit([this, message] {
    if (!upload_local(message)) answer(message);
  });
  if (!taken) fail(field_in(message, "id"), kServerError, "too many requests at once");
}

void McpBridge::finish() {
  pool_.stop();
  stopping_ = true;
  // The server then closes the open stream, which ends the thread that reads it.
  http::Client client(impatient_options(target_));
  http::ClientRequest request;
  request.method = "DELETE";
  request.url = target_.server + "/mcp";
  request.headers = headers_for(Json::object());
  try {
    if (request.headers.has("Mcp-Session-Id")) client.send(request);
  } catch (const Error&) {
    // Without a server there is no session to end.
  }
}

}  // namespace sk::cli
