// Reads the growing journal: pages, long polls, and resumable server-sent events.
#include "api/common/shapes.h"
#include "api/rest/errors.h"
#include "api/rest/rest.h"
#include "base/object_writer.h"
#include "base/path.h"
#include "base/text.h"
#include "followers/tail.h"

namespace sk::api::rest {

namespace {

using followers::Tail;
using http::Reply;
using workspace::EventFilter;
using workspace::Events;
using workspace::ReadableJournal;

// The number of events that a stream reads at once. A small number lets streams share the background threads
// fairly. It also fits into the smallest buffer that an operator can configure.
constexpr size_t kStreamPortion = 50;
constexpr size_t kUnsentBytesMax = 16 << 10;

Json events_json(const Events& events) {
  Json items = Json::array();
  for (const auto& entry : events.items) items.push_back(event_json(entry));
  ObjectWriter out(3);
  out.add("items", std::move(items)).add("cursor", events.cursor).add("has_more", events.has_more);
  return out.take();
}

// Throws unless the actor may still read the journal.
ReadableJournal journal_for(App& app, const workspace::Actor& actor, const Id& workspace) {
  if (!workspace) return ReadableJournal::of_server(actor);
  return app.keep.workspaces().open(actor, workspace.with_prefix(workspace::prefix::workspace));
}

// Calls the owner's methods of the same names for as long as it exists. The right to read the journal is
// checked again on every read.
template <class Owner>
Tail::Calls calls_of(Call& call, const Id& workspace, const std::shared_ptr<Owner>& owner) {
  std::weak_ptr<Owner> weak = owner;
  return {.before =
              [weak] {
                auto strong = weak.lock();
                return strong ? strong->before() : Tail::Next::end;
              },
          .journal = [&app = call.app, renew = call.renewer(),
                      workspace] { return journal_for(app, renew(), workspace); },
          .on_events =
              [weak](const Events& events) {
                auto strong = weak.lock();
                return strong ? strong->on_events(events) : Tail::Next::end;
              },
          .on_error =
              [weak](const Error& error) {
                if (auto strong = weak.lock()) strong->on_error(error);
              }};
}

// A long poll. The closures of its Deferred own it, so it ends with the connection.
class EventPoll {
 public:
  EventPoll(const Call& call, int64_t after) : empty_until_(after) {
    request_.request_id = call.request.request_id;
  }

  static Reply start(Call& call, std::shared_ptr<EventPoll> self, Tail::Options wanted,
                     std::chrono::milliseconds wait) {
    auto deferred = std::make_shared<http::Deferred>(
        wait, [self] { return self->at_deadline(); }, [self] {}, std::function<void()>(), http::AtStop::end);
    self->deferred_ = deferred;
    auto calls = calls_of(call, wanted.workspace, self);
    self->tail_ = Tail::start(call.app.keep, call.app.background, std::move(wanted), std::move(calls));
    return Reply::deferred(std::move(deferred));
  }

  Tail::Next before() {
    auto deferred = deferred_.lock();
    return !deferred || deferred->done() ? Tail::Next::end : Tail::Next::go_on;
  }

  Tail::Next on_events(const Events& events) {
    if (events.items.empty()) {
      empty_until_ = events.cursor;
      return Tail::Next::go_on;
    }
    if (auto deferred = deferred_.lock()) deferred->complete(Reply::json(events_json(events)));
    return Tail::Next::end;
  }

  void on_error(const Error& error) {
    if (auto deferred = deferred_.lock()) deferred->complete(error_reply(request_, error));
  }

 private:
  // A read that found events too late to send them may run at the same time. The client's next poll must find
  // these again, so the answer does not use the tail's cursor, which is behind them.
  Reply at_deadline() {
    return Reply::json(events_json({.items = {}, .cursor = empty_until_, .has_more = false}));
  }

  http::Request request_;  // the part that an error reply needs
  std::weak_ptr<http::Deferred> deferred_;
  std::atomic<int64_t> empty_until_;  // there was no event up to this position
  std::shared_ptr<Tail> tail_;
};

// An event stream. The stream's closure owns it, so it ends with the connection.
class EventFollower {
 public:
  static Reply start(Call& call, std::shared_ptr<EventFollower> self, Tail::Options wanted) {
    auto stream = std::make_shared<http::EventStream>([self] {}, http::AtStop::end);
    self->stream_ = stream;
    auto calls = calls_of(call, wanted.workspace, self);
    self->tail_ = Tail::start(call.app.keep, call.app.background, std::move(wanted), std::move(calls));
    return Reply::events(std::move(stream));
  }

  // Reads no more than a slow client takes: the backlog may be much longer than the buffer for it.
  Tail::Next before() {
    auto stream = stream_.lock();
    if (!stream || stream->closed()) return Tail::Next::end;
    return stream->unsent_bytes() > kUnsentBytesMax ? Tail::Next::later : Tail::Next::go_on;
  }

  Tail::Next on_events(const Events& events) {
    auto stream = stream_.lock();
    if (!stream) return Tail::Next::end;
    for (const auto& entry : events.items) {
      if (!stream->send({std::to_string(entry.seq), entry.kind, to_text(event_json(entry))}))
        return Tail::Next::end;
    }
    return Tail::Next::go_on;
  }

  // The right to read was revoked. The client gets the reason when it reconnects.
  void on_error(const Error&) {
    if (auto stream = stream_.lock()) stream->close();
  }

 private:
  std::weak_ptr<http::EventStream> stream_;
  std::shared_ptr<Tail> tail_;
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
int64_t start_of(Call& call, const ReadableJournal& journal, bool stream) {
  if (auto last = call.request.headers.get("Last-Event-ID"); stream && last && !last->empty()) {
    return parse_cursor(*last, "Last-Event-ID");
  }
  auto after = call.query.text("after").value_or("0");
  return after == "now" ? call.app.keep.journal().head_seq(journal) : parse_cursor(after, "after");
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

Reply answer_events(Call& call, const ReadableJournal& journal) {
  bool stream = call.wants_stream();
  const auto& settings = call.app.settings;
  Tail::Options wanted{.workspace = journal.workspace(),
                       .after = start_of(call, journal, stream),
                       .filter = filter_of(call),
                       .batch_max = call.limit(settings.list_page_max)};
  auto wait_s = within(call.query.integer("wait").value_or(0), 0, settings.events_wait_max_s, "wait");
  call.note("list", "events");

  if (stream) {
    call.hold_connection();
    wanted.batch_max = kStreamPortion;
    return EventFollower::start(call, std::make_shared<EventFollower>(), std::move(wanted));
  }
  auto events = call.app.keep.journal().events(journal, wanted.after, wanted.batch_max, wanted.filter);
  bool nothing_yet = events.items.empty() && wait_s > 0;
  if (!nothing_yet) return Reply::json(events_json(events));
  call.hold_connection();
  wanted.after = events.cursor;
  auto poll = std::make_shared<EventPoll>(call, wanted.after);
  return EventPoll::start(call, std::move(poll), std::move(wanted), std::chrono::seconds(wait_s));
}

Fields event_query() {
  return {
      {.name = "after", .about = "Only events after this number. Default: 0. `now` returns only new events."},
      {.name = "wait", .type = FieldType::integer, .about = "Seconds to wait if there is no event yet."},
      {.name = "limit", .type = FieldType::integer, .about = "Maximum number of events."},
      {.name = "kinds",
       .about = "Only these kinds, separated by commas; `lock.*` means all that begin with `lock.`."},
      {.name = "path", .about = "Only events at or below this path."},
      {.name = "actor", .about = "Only events caused by this principal."},
  };
}

Operation event_operation(std::string pattern, std::string id, std::string summary) {
  return {.method = "GET",
          .pattern = std::move(pattern),
          .id = std::move(id),
          .tag = "events",
          .summary = std::move(summary),
          .details =
              "With `Accept: text/event-stream` the answer is a stream of server-sent events that lasts "
              "until the client disconnects: `id` is the event's number, `event` its kind, `data` the event; "
              "`Last-Event-ID` resumes.",
          .query = event_query(),
          .answers = {{200, "Events, oldest first; pass `cursor` as the next `after`.", "EventPage"}},
          .errors = {Code::forbidden, Code::not_found, Code::too_many_requests}};
}

}  // namespace

void add_event_routes(Routes& routes) {
  routes.add(event_operation(kWorkspace + "/events", "list_events",
                             "Returns the events of a workspace, past and new"),
             [](Call& call) { return answer_events(call, call.open_workspace()); });
  routes.add(
      event_operation(kRoot + "/events", "list_server_events",
                      "Returns the server's own journal (principals, keys, workspaces); for administrators"),
      [](Call& call) {
        call.need_admin();
        return answer_events(call, ReadableJournal::of_server(call.actor));
      });
}

}  // namespace sk::api::rest
