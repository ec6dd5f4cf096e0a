#include "bridge/captures.h"

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

constexpr size_t kHeadBytesMax = 4096;
constexpr uint64_t kRoomCheckBytes = 4 << 20;

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

// A file on its way into the store.
class ContentSink final : public ByteSink {
 public:
  ContentSink(workspace::Files& files, uint64_t bytes_max) : files_(files), bytes_max_(bytes_max) {}

  void begin() override {
    writer_ = files_.begin_content();
    head_.clear();
    checked_at_ = 0;
  }
  void write(std::string_view bytes) override {
    if (bytes.size() > bytes_max_ - std::min(bytes_max_, writer_->size()))
      throw Error(Code::too_large, "a file may have at most " + human_size(bytes_max_));
    if (writer_->size() >= checked_at_ + kRoomCheckBytes) {
      files_.check_room();
      checked_at_ = writer_->size();
    }
    if (head_.size() < kHeadBytesMax) head_.append(bytes.substr(0, kHeadBytesMax - head_.size()));
    writer_->write(as_bytes(bytes));
  }
  bool holds_image() const { return workspace::guess_mime("", head_).starts_with("image/"); }
  void finish_into(workspace::PutChange& change) {
    change.content = std::make_shared<blobs::Written>(writer_->finish());
    change.head_bytes = std::move(head_);
  }

 private:
  workspace::Files& files_;
  const uint64_t bytes_max_;
  std::unique_ptr<blobs::Writer> writer_;
  std::string head_;
  uint64_t checked_at_ = 0;
};

WantedFile wanted_of(const conversations::ShownFile& file, const Source& source) {
  WantedFile out;
  out.container = file.container.empty() ? source.container : file.container;
  out.file_id = file.file_id;
  if (file.name != file.file_id) out.name = file.name;
  if (file.link) out.paths = conversations::paths_meant(file.link->address);
  out.url = file.address;
  return out;
}

// In the conversation's folder, below the same folders as in the container.
std::string path_for(const conversations::Message& message, const conversations::ShownFile& file,
                     const std::string& found_path) {
  auto folder = conversations::Conversations::folder_of(message.conversation_name);
  auto below = found_path;
  if (below.empty() && file.link) {
    auto paths = conversations::paths_meant(file.link->address);
    if (!paths.empty()) below = paths.front();
  }
  // The name that the message shows wins: it is the decoded one, with its extension.
  auto name = file.name.empty() ? std::string("file") : file.name;
  if (name == file.file_id && !below.empty()) name = split_path(below).second;
  auto place = split_path(below).first;
  try {
    return clean_file_path(join_path(join_path(folder, place), name));
  } catch (const Error&) {
    return join_path(folder, message.name + "-" + std::to_string(file.seq));
  }
}

// A file must not stay pending because the sender's key was revoked while it was fetched.
workspace::Authority to_settle(const workspace::Authority& given) {
  return workspace::system_authority(given.workspace_id(), given.actor(),
                                     "a fetched file's state is recorded also when its key ended meanwhile");
}

}  // namespace

Captures::Captures(workspace::Keep& keep, conversations::Conversations& conversations,
                   CapturesOptions options)
    : keep_(keep),
      conversations_(conversations),
      options_(std::move(options)),
      pool_(options_.threads, options_.queue_max) {}

Captures::~Captures() { stop(); }

void Captures::stop() {
  stop_.stop();
  pool_.stop();
}

void Captures::start(Job job) {
  auto shared = std::make_shared<Job>(std::move(job));
  if (pool_.submit([this, shared] { run(*shared); })) return;
  give_up(*shared, "too many messages were waiting for their files: store the message again");
  throw Error(Code::too_many_requests, "too many messages are waiting for their files")
      .advise(Advice::store_message_again);
}

void Captures::run(const Job& job) {
  try {
    for (const auto& message : job.messages) capture_message(job, message);
  } catch (const std::exception& error) {
    // The catalog failed; what is still pending is ended by the next start.
    log::error("files of a message could not be captured", {{"error", error.what()}});
  }
  job.done();
}

void Captures::capture_message(const Job& job, const conversations::Message& message) {
  Patience patience(stop_, options_.message_time_max);
  std::unique_ptr<Upstream> upstream, web;
  std::map<std::string, Captured> known;  // the same file is fetched once
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
      auto captured = patience.is_over() ? failed(WhyNot::cannot_tell, "the time for it ran out")
                                         : capture(job, message, file, *origin);
      done = known.insert_or_assign(identity, std::move(captured)).first;
    }
    conversations_.settle(to_settle(job.authority), message, file.seq, done->second);
  }
}

Captured Captures::capture(const Job& job, const conversations::Message& message,
                           const conversations::ShownFile& file, Upstream& upstream) {
  try {
    ContentSink sink(keep_.files(), options_.file_bytes_max);
    auto fetched = upstream.fetch(wanted_of(file, job.source), sink);
    if (fetched.outcome != Fetched::Outcome::ok) return from(fetched);
    // A page that says why there is none comes as a success at times.
    if (!file.address.empty() && file.kind == conversations::Mention::Kind::image && !sink.holds_image())
      return failed(WhyNot::cannot_tell, "what lies at its address is no image");
    workspace::PutChange change;
    change.path = path_for(message, file, fetched.path);
    change.keep_when_locked = true;
    change.source = {"import",
                     {{"conversation", message.conversation_name},
                      {"message", message.name},
                      {"container", file.container},
                      {"file_id", file.file_id},
                      {"host", origin_of_url(file.address.empty() ? job.source.base_url : file.address)}}};
    sink.finish_into(change);
    // A folder in the way: beside it, under a name that only this message has.
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
    // Over the quota, or the disk is full: it can be stored again once there is room.
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
