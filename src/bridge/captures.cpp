#include "bridge/captures.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "workspace/mime.h"

namespace sk::bridge {

namespace {

using conversations::Captured;
using conversations::ShownState;
using conversations::WhyNot;

Captured failed(WhyNot why, std::string explanation) {
  return {ShownState::not_captured, why, std::move(explanation), std::nullopt};
}

Captured from(const Fetched& fetched) {
  switch (fetched.outcome) {
    case Fetched::Outcome::missing:
      return {ShownState::missing, WhyNot::none, fetched.explanation, std::nullopt};
    case Fetched::Outcome::gone:
      return failed(WhyNot::gone, fetched.explanation);
    case Fetched::Outcome::denied:
      return failed(WhyNot::denied, fetched.explanation);
    default:
      return failed(WhyNot::cannot_tell, fetched.explanation);
  }
}

// Writes a fetched file into the blob store.
class ContentSink final : public ByteSink {
 public:
  ContentSink(workspace::KeepContext& context, uint64_t bytes_max)
      : context_(context), bytes_max_(bytes_max) {}

  void begin() override { intake_.emplace(context_, workspace::IntakeOptions{.size_max = bytes_max_}); }
  void write(std::string_view bytes) override { intake_->write(bytes); }
  bool holds_image() const {
    return workspace::guess_mime("", intake_->head_bytes(), context_.type_of_bytes).starts_with("image/");
  }
  workspace::Content finish() { return intake_->finish(); }

 private:
  workspace::KeepContext& context_;
  const uint64_t bytes_max_;
  std::optional<workspace::Intake> intake_;
};

WantedFile wanted_of(const conversations::ShownFile& file, const RemoteSource& source) {
  WantedFile out;
  out.container = file.container.empty() ? source.container : file.container;
  out.file_id = file.file_id;
  if (file.name != file.file_id) out.name = file.name;
  if (file.link) out.paths = conversations::paths_meant(file.link->address);
  out.url = file.address;
  return out;
}

// Returns the target path: the conversation's folder, then the folders of the container.
std::string path_for(const conversations::Message& message, const conversations::ShownFile& file,
                     const std::string& found_path) {
  auto folder = conversations::Conversations::folder_of(message.conversation_name);
  auto below = found_path;
  if (below.empty() && file.link) {
    auto paths = conversations::paths_meant(file.link->address);
    if (!paths.empty()) below = paths.front();
  }
  // Prefer the name that the message shows, which is decoded and has its extension.
  auto name = file.name.empty() ? std::string("file") : file.name;
  if (name == file.file_id && !below.empty()) name = split_path(below).second;
  auto place = split_path(below).first;
  try {
    return clean_file_path(join_path(join_path(folder, place), name));
  } catch (const Error&) {
    return join_path(folder, message.name + "-" + std::to_string(file.seq));
  }
}

// Settles with the server's authority, so that no file stays pending if the sender's key is revoked during
// the fetch.
workspace::Authority to_settle(const workspace::Authority& given) {
  return workspace::system_authority(given.workspace_id(), given.author(),
                                     "a fetched file's state is recorded also when its key ended meanwhile");
}

// Leaves a thread to others wherever there are several.
FairQueue::Limits pool_limits(const CapturesOptions& options) {
  size_t leaving_one = std::max<size_t>(options.threads, 2) - 1;
  return {.running_per_key_max = std::clamp<size_t>(options.threads_per_principal_max, 1, leaving_one),
          .waiting_per_key_max = options.queue_per_principal_max,
          .waiting_max = options.queue_max};
}

}  // namespace

Captures::Captures(workspace::Keep& keep, conversations::Conversations& conversations,
                   CapturesOptions options)
    : keep_(keep),
      conversations_(conversations),
      options_(std::move(options)),
      pool_(options_.threads, pool_limits(options_)) {}

Captures::~Captures() { stop(); }

void Captures::stop() {
  stop_.stop();
  pool_.stop();
}

void Captures::start(Job job) {
  auto shared = std::make_shared<const Job>(std::move(job));
  if (pool_.submit(shared->authority.actor().principal(), [this, shared] { run(shared, 0); })) return;
  give_up(*shared, "too many messages were waiting for their files: store the message again");
  throw Error(Code::too_many_requests, "too many messages are waiting for their files")
      .advise(Advice::store_message_again);
}

void Captures::run(const std::shared_ptr<const Job>& job, size_t number) {
  bool has_more = number + 1 < job->messages.size();
  try {
    if (number < job->messages.size()) capture_message(*job, job->messages[number]);
  } catch (const std::exception& error) {
    // The catalog failed; the next start settles the files that are still pending.
    log::error("files of a message could not be captured", {{"error", error.what()}});
    has_more = false;
  }
  if (!has_more) return job->done();
  // Also while the pool stops: this thread then runs the rest, whose files are settled at once.
  pool_.submit_always(job->authority.actor().principal(), [this, job, number] { run(job, number + 1); });
}

void Captures::capture_message(const Job& job, const conversations::Message& message) {
  Patience patience(stop_, options_.message_time_max);
  std::unique_ptr<Upstream> upstream, web;
  std::map<std::string, Captured> known;  // fetches each file once
  for (const auto& file : message.files) {
    if (file.state != ShownState::pending) continue;
    auto& origin = file.address.empty() ? upstream : web;
    if (!origin)
      origin = file.address.empty() ? open_upstream(job.source, options_.remote, patience)
                                    : open_web(job.source, options_.remote, patience);
    auto wanted = wanted_of(file, job.source);
    auto identity = wanted.url.empty() ? wanted.container + "\n" + wanted.file_id : wanted.url;
    for (const auto& path : wanted.paths) identity += "\n" + path;
    auto done = known.find(identity);
    bool is_named = !wanted.container.empty() || !wanted.url.empty();
    if (done == known.end() || !is_named) {
      auto captured = patience.is_over()
                          ? failed(WhyNot::cannot_tell, "it exceeded the time limit for fetching")
                          : capture(job, message, file, *origin);
      done = known.insert_or_assign(identity, std::move(captured)).first;
    }
    conversations_.settle(to_settle(job.authority), message, file.seq, done->second);
  }
}

Captured Captures::capture(const Job& job, const conversations::Message& message,
                           const conversations::ShownFile& file, Upstream& upstream) {
  try {
    ContentSink sink(keep_.context(), options_.file_bytes_max);
    auto fetched = upstream.fetch(wanted_of(file, job.source), sink);
    if (fetched.outcome != Fetched::Outcome::ok) return from(fetched);
    // Some servers send an error page with a success status.
    if (!file.address.empty() && file.kind == conversations::Mention::Kind::image && !sink.holds_image())
      return failed(WhyNot::cannot_tell, "the content at its address is not an image");
    workspace::PutChange change;
    change.path = path_for(message, file, fetched.path);
    change.keep_when_locked = true;
    change.source = {"import",
                     {{"conversation", message.conversation_name},
                      {"message", message.name},
                      {"container", file.container},
                      {"file_id", file.file_id},
                      {"host", origin_of_url(file.address.empty() ? job.source.base_url : file.address)}}};
    change.content = sink.finish();
    // If a folder has this path, store the file beside it under a name unique to this message.
    auto retry = change;
    try {
      auto result = keep_.files().apply_one(job.authority, std::move(change));
      return {ShownState::kept, WhyNot::none, "", result.version};
    } catch (const Error& error) {
      if (error.code() != Code::conflict) throw;
      auto [folder, name] = split_path(retry.path);
      retry.path = join_path(folder, message.name + "-" + std::to_string(file.seq) + "-" + name);
      auto result = keep_.files().apply_one(job.authority, std::move(retry));
      return {ShownState::kept, WhyNot::none, "", result.version};
    }
  } catch (const Error& error) {
    // Over the quota or disk full: the message can be stored again when there is space.
    return failed(WhyNot::cannot_tell, "it could not be kept: " + error.message());
  }
}

void Captures::give_up(const Job& job, const std::string& why) {
  for (const auto& message : job.messages) {
    for (const auto& file : message.files) {
      if (file.state == ShownState::pending)
        conversations_.settle(to_settle(job.authority), message, file.seq, failed(WhyNot::cannot_tell, why));
    }
  }
}

}  // namespace sk::bridge
