#include "followers/thumbnails.h"

#include <future>

#include "base/error.h"
#include "workspace/file_at.h"

namespace sk::followers {

namespace {

constexpr std::chrono::milliseconds kLookForStop{100};
// Of one message, which may show a thousand images. Further ones are made when they are asked for.
constexpr size_t kImagesInAdvanceMax = 16;

std::string text_of(const Json& object, const char* name) {
  if (!object.is_object()) return {};
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Returns the versions that an event makes visible. None once the message was deleted or its name was erased.
std::vector<Id> shown_by(const workspace::JournalEntry& event, conversations::Conversations& conversations) {
  std::vector<Id> versions;
  if (event.kind == "conversation.capture") {
    if (auto id = Id::from_prefixed(text_of(event.facts, "version_id"), workspace::prefix::version))
      versions.push_back(*id);
    return versions;
  }
  auto authority = workspace::system_authority(event.workspace, workspace::Author(event.actor, ""),
                                               "thumbnails of a message's images are made in advance");
  auto message = conversations.find_message(authority, text_of(event.personal, "conversation"),
                                            text_of(event.personal, "message"));
  if (!message) return versions;
  for (const auto& file : message->files)
    if (file.version) versions.push_back(file.version);
  return versions;
}

// Error(too_many_requests) when too many wait, Error(unavailable) when `stop` is requested meanwhile.
void make_one(interpreter::Interpreter& interpreter, const workspace::Version& version,
              const std::stop_token& stop) {
  auto made =
      std::make_shared<std::promise<void>>();  // shared with the callback, which may come after a stop
  auto done = made->get_future();
  interpreter.make_thumbnail(version,
                             [made](const std::optional<interpreter::Thumbnail>&) { made->set_value(); });
  while (done.wait_for(kLookForStop) != std::future_status::ready)
    if (stop.stop_requested()) throw Error(Code::unavailable, "the server is stopping");
}

}  // namespace

FollowerOptions thumbnail_options() {
  FollowerOptions options;
  options.name = "thumbnails";
  options.keeps = FollowerOptions::Keeps::durable;
  options.begin = Begin::now;
  options.filter.kinds = {"conversation.message", "conversation.capture"};
  // One message of each workspace in turn, so that a long history of one does not delay the others.
  options.batch_max = 1;
  options.delay = std::chrono::milliseconds(500);
  options.attempts_max = 10;
  return options;
}

Follower::OnEvents make_thumbnails(workspace::Keep& keep, conversations::Conversations& conversations,
                                   interpreter::Interpreter& interpreter) {
  return [&](const std::vector<workspace::JournalEntry>& events, const std::stop_token& stop) {
    for (const auto& event : events) {
      size_t made = 0;
      for (const Id& id : shown_by(event, conversations)) {
        auto version = keep.context().db.read(
            [&](catalog::Statements& statements) { return workspace::find_version(statements, id); });
        if (!version || !interpreter.can_have_thumbnail(*version)) continue;
        make_one(interpreter, *version, stop);
        if (++made == kImagesInAdvanceMax) break;
      }
    }
  };
}

}  // namespace sk::followers
