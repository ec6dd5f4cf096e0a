// Reads the growing journal: pages, long polls, and resumable server-sent events.
#include "api/common/shapes.h"
#include "api/rest/errors.h"
#include "api/rest/rest.h"
#include "base/object_writer.h"
#include "base/path.h"
#include "base/text.h"
#include "followers/watch.h"

namespace sk::api::rest {

namespace {

using http::Reply;
using workspace::EventFilter;
using workspace::Events;

// The number of events that a stream reads at once. A small number lets streams share the background threads
// fairly. It also fits into the smallest buffer that an operator can configure.
constexpr size_t kStreamPortion = 50;
constexpr size_t kUnsentBytesMax = 16 << 10;
constexpr std::chrono::milliseconds kReaderPause{20};

struct Wanted {
  Id workspace;  // zero: the server's journal
  int64_t after = 0;
  size_t limit = 0;
  EventFilter filter;
};

Json events_json(const Events& events) {
  Json items = Json::array();
  for (const auto& entry : events.items) items.push_back(event_json(entry));
  ObjectWriter out(3);
  out.add("items", std::move(items)).add("cursor", events.cursor).add("has_more", events.has_more);
  return out.take();
}

// The state that polls and streams share: the position in the journal, and the right to read it. The right is
// checked again on every read.
class Reader {
 public:
  Reader(Call& call, Wanted wanted) : app_(call.app), renew_(call.renewer()), wanted_(std::move(wanted)) {}

  // Returns the events after the position where the last call stopped.
  Events next(size_t limit) {
    check_right();
    auto events = app_.keep.journal().events(wanted_.workspace, wanted_.after, limit, wanted_.filter);
    wanted_.after = events.cursor;
    return events;
  }

  int64_t cursor() const { return wanted_.after; }
  size_t limit() const { return wanted_.limit; }
  const Id& workspace() const { return wanted_.workspace; }
  App& app() { return app_; }

 private:
  void check_right() {
    auto actor = renew_();
    if (wanted_.workspace) {
      app_.keep.workspaces().open(actor, wanted_.workspace.with_prefix(workspace::prefix::workspace));
    } else if (!actor.is_admin()) {
      throw Error(Code::forbidden, "only an administrator may read the server's journal");
    }
  }

  App& app_;
  const std::function<workspace::Actor()> renew_;
  Wanted wanted_;
};

// A long poll. The closures of its Deferred own it, so it ends with the connection.
class EventPoll : public std::enable_shared_from_this<EventPoll> {
 public:
  EventPoll(Call& call, Reader reader) : reader_(std::move(reader)), empty_until_(reader_.cursor()) {
    request_.request_id = call.request.request_id;
  }

  static Reply start(std::shared_ptr<EventPoll> self, std::chrono::milliseconds wait) {
    auto deferred = std::make_shared<http::Deferred>(
        wait, [self] { return self->at_deadline(); }, [self] {}, std::function<void()>(), http::AtStop::end);
    self->deferred_ = deferred;
    auto& app = self->reader_.app();
    std::lock_guard lock(self->mutex_);  // the first callback may come before watch_ is set
    self->watch_.emplace(app.keep.feed(), app.background, self->reader_.workspace(),
                         [weak = self->weak_from_this()] {
                           if (auto strong = weak.lock()) strong->look();
                         });
    self->watch_->poke();
    return Reply::deferred(std::move(deferred));
  }

 private:
  void look() {
    auto deferred = deferred_.lock();
    if (!deferred || deferred->done()) return;
    std::lock_guard lock(mutex_);
    try {
      auto events = reader_.next(reader_.limit());
      if (!events.items.empty()) {
        deferred->complete(Reply::json(events_json(events)));
        return;
      }
      empty_until_ = events.cursor;
      if (events.has_more) watch_->poke();
    } catch (const Error& error) {
      deferred->complete(error_reply(request_, error));
    }
  }

  // May wait for a look() that found events too late to send them. The client's next poll must find these
  // again, so the answer does not use the reader's cursor, which is behind them.
  Reply at_deadline() {
    std::lock_guard lock(mutex_);
    return Reply::json(events_json({.items = {}, .cursor = empty_until_, .has_more = false}));
  }

  http::Request request_;  // the part that an error reply needs
  std::weak_ptr<http::Deferred> deferred_;
  std::mutex mutex_;
  Reader reader_;                          // guarded by mutex_
  int64_t empty_until_;                    // guarded by mutex_: there was no event up to this position
  std::optional<followers::Watch> watch_;  // guarded by mutex_
};

// An event stream. The stream's closure owns it, so it ends with the connection.
class EventFollower : public std::enable_shared_from_this<EventFollower> {
 public:
  explicit EventFollower(Reader reader) : reader_(std::move(reader)) {}

  static Reply start(std::shared_ptr<EventFollower> self) {
    auto stream = std::make_shared<http::EventStream>([self] {}, http::AtStop::end);
    self->stream_ = stream;
    auto& app = self->reader_.app();
    std::lock_guard lock(self->mutex_);  // the first callback may come before watch_ is set
    self->watch_.emplace(app.keep.feed(), app.background, self->reader_.workspace(),
                         [weak = self->weak_from_this()] {
                           if (auto strong = weak.lock()) strong->pump();
                         });
    self->watch_->poke();
    return Reply::events(std::move(stream));
  }

 private:
  void pump() {
    auto stream = stream_.lock();
    if (!stream || stream->closed()) return;
    std::lock_guard lock(mutex_);
    if (stream->unsent_bytes() > kUnsentBytesMax) return wait_for_reader();
    try {
      auto events = reader_.next(kStreamPortion);
      for (const auto& entry : events.items) {
        if (!stream->send({std::to_string(entry.seq), entry.kind, to_text(event_json(entry))})) return;
      }
      if (events.has_more) watch_->poke();
    } catch (const Error&) {
      // The right to read was revoked. The client gets the reason when it reconnects.
      stream->close();
    }
  }

  // Waits before reading more: the backlog may be much longer than the buffer for one slow reader.
  void wait_for_reader() {
    reader_.app().background.run_after(kReaderPause, [weak = weak_from_this()] {
      if (auto strong = weak.lock()) strong->watch_->poke();
    });
  }

  std::weak_ptr<http::EventStream> stream_;
  std::mutex mutex_;
  Reader reader_;                          // guarded by mutex_
  std::optional<followers::Watch> watch_;  // guarded by mutex_
};

int64_t parse_cursor(const std::string& text, std::string_view label) {
  auto number = parse_unsigned(text);
  if (!number || *number > INT64_MAX) {
    throw Error(Code::bad_request, std::string(label) + " must be an event's number, or 'now'");
  }
  return static_cast<int64_t>(*number);
}

// Returns the position from which to read. A reconnecting stream sends Last-Event-ID, which overrides `after`
// in its URL.
int64_t start_of(Call& call, const Id& workspace, bool stream) {
  if (auto last = call.request.headers.get("Last-Event-ID"); stream && last && !last->empty()) {
    return parse_cursor(*last, "Last-Event-ID");
  }
  auto after = call.query.text("after").value_or("0");
  return after == "now" ? call.app.keep.journal().head_seq(workspace) : parse_cursor(after, "after");
}

EventFilter filter_of(const Call& call) {
  EventFilter filter;
  auto kinds = call.query.text("kinds").value_or("");
  for (auto kind : split(kinds, ',')) {
    if (auto text = trim(kind); !text.empty()) filter.kinds.emplace_back(text);
  }
  filter.path_prefix = clean_path(call.query.text("path").value_or(""));
  if (auto actor = call.query.text("actor"))
    filter.actor = parse_id(*actor, workspace::prefix::principal, "actor");
  return filter;
}

Reply answer_events(Call& call, const Id& workspace) {
  bool stream = call.wants_stream();
  const auto& settings = call.app.settings;
  Wanted wanted{.workspace = workspace,
                .after = start_of(call, workspace, stream),
                .limit = call.limit(settings.list_page_max),
                .filter = filter_of(call)};
  auto wait_s = within(call.query.integer("wait").value_or(0), 0, settings.events_wait_max_s, "wait");
  call.note("list", "events");

  Reader reader(call, std::move(wanted));
  if (stream) return EventFollower::start(std::make_shared<EventFollower>(std::move(reader)));
  auto events = reader.next(reader.limit());
  bool nothing_yet = events.items.empty() && wait_s > 0;
  if (!nothing_yet) return Reply::json(events_json(events));
  return EventPoll::start(std::make_shared<EventPoll>(call, std::move(reader)), std::chrono::seconds(wait_s));
}

Fields event_query() {
  return {
      {.name = "after", .about = "Events after this number; 0 unless given, `now` for new ones only."},
      {.name = "wait",
       .type = FieldType::integer,
       .about = "Seconds to wait for the first event, if there is none yet."},
      {.name = "limit", .type = FieldType::integer, .about = "How many events at most."},
      {.name = "kinds",
       .about = "Only these kinds, separated by commas; `lock.*` stands for all that begin so."},
      {.name = "path", .about = "Only events about this path and what is below it."},
      {.name = "actor", .about = "Only what this principal did."},
  };
}

Operation event_operation(std::string pattern, std::string id, std::string summary) {
  return {
      .method = "GET",
      .pattern = std::move(pattern),
      .id = std::move(id),
      .tag = "events",
      .summary = std::move(summary),
      .details =
          "With `Accept: text/event-stream` the answer is a stream of server-sent events that goes on until "
          "the client "
          "leaves: `id` is the event's number, `event` its kind, `data` the event; `Last-Event-ID` resumes.",
      .query = event_query(),
      .answers = {{200, "Events, oldest first; pass `cursor` as the next `after`.", "EventPage"}},
      .errors = {Code::forbidden, Code::not_found}};
}

}  // namespace

void add_event_routes(Routes& routes) {
  routes.add(event_operation(kWorkspace + "/events", "list_events",
                             "What happened in a workspace, and what happens next"),
             [](Call& call) { return answer_events(call, call.open_workspace().workspace_id()); });
  routes.add(event_operation(kRoot + "/events", "list_server_events",
                             "The server's own journal: principals, keys, workspaces; for administrators"),
             [](Call& call) {
               call.need_admin();
               return answer_events(call, Id{});
             });
}

}  // namespace sk::api::rest
