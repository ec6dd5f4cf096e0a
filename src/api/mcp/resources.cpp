#include "api/mcp/resources.h"

#include "api/mcp/hub.h"
#include "api/mcp/resource_uri.h"
#include "api/mcp/tools/content.h"
#include "base/mutex.h"
#include "base/path.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace {

using workspace::Entry;
using workspace::EntryKind;
using workspace::Version;

constexpr size_t kResourcesPerPage = 100;
// Folders are no resources, and workspaces may be empty: a page ends after so many reads, also without any.
constexpr size_t kReadsPerPage = 200;
constexpr size_t kReadBytesMax = 4 << 20;

[[noreturn]] void throw_not_found(const Turn& turn, const std::string& uri) {
  throw RpcError(turn.era == Era::modern ? rpc_code::invalid_params : rpc_code::resource_not_found,
                 "there is no such resource", {{"uri", uri}});
}

Json resource_json(const Entry& entry) {
  return {{"uri", file_uri(entry.workspace, entry.path)},
          {"name", split_path(entry.path).second},
          {"title", entry.path},
          {"description", "A file, stored with all its versions."},
          {"mimeType", entry.mime},
          {"size", entry.size},
          {"annotations", {{"lastModified", to_iso8601(entry.changed_us)}}}};
}

// "ws_…:cursor in its list".
struct Place {
  std::string workspace, cursor;
};

std::optional<Place> parse_cursor(const Json& cursor) {
  if (cursor.is_null()) return Place{};
  auto text = cursor.is_string() ? cursor.get<std::string>() : std::string();
  auto colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Place{text.substr(0, colon), text.substr(colon + 1)};
}

std::optional<Version> find_version(Turn& turn, const ResourceUri& uri) {
  auto& keep = turn.call.app.keep;
  try {
    if (uri.version) {
      auto version = keep.files().find_version_anywhere(*uri.version);
      bool readable = version && keep.workspaces().may_read(turn.call.actor, version->workspace);
      return readable ? version : std::nullopt;
    }
    auto workspace = turn.call.open_workspace(uri.workspace, workspace::Right::read);
    auto entry = keep.files().find(workspace, uri.path);
    if (!entry || entry->kind != EntryKind::file) return std::nullopt;
    return keep.files().find_version(workspace, entry->head);
  } catch (const Error& error) {
    if (error.code() == Code::not_found || error.code() == Code::gone || error.code() == Code::bad_request)
      return std::nullopt;
    throw;
  }
}

}  // namespace

std::optional<Json> list_resources(Turn& turn) {
  auto place = parse_cursor(field_in(turn.params(), "cursor"));
  if (!place) throw RpcError(rpc_code::invalid_params, "the cursor is not valid");
  Json resources = Json::array();
  if (turn.hub.extension && place->workspace.empty()) resources = turn.hub.extension->resources();
  Json out;
  size_t reads = 0;
  bool here = place->workspace.empty();
  auto& workspaces = turn.call.app.keep.workspaces();
  for (const auto& workspace : workspaces.list(turn.call.actor)) {
    auto id = workspace.id.with_prefix(workspace::prefix::workspace);
    if (!here && id != place->workspace) continue;
    auto authority = workspaces.find_readable(turn.call.actor, workspace.id);
    if (!authority) continue;  // access was removed meanwhile
    workspace::ListOptions options{.folder = {},
                                   .recursive = true,
                                   .glob = {},
                                   .cursor = here ? "" : place->cursor,
                                   .limit = kResourcesPerPage};
    here = true;
    for (bool more = true; more;) {
      if (resources.size() >= kResourcesPerPage || ++reads > kReadsPerPage) {
        out["nextCursor"] = id + ":" + options.cursor;
        break;
      }
      options.limit = kResourcesPerPage - resources.size();
      auto page = turn.call.app.keep.files().list(*authority, options);
      for (const auto& entry : page.items)
        if (entry.kind == EntryKind::file) resources.push_back(resource_json(entry));
      options.cursor = page.next_cursor;
      more = page.has_more;
    }
    if (out.contains("nextCursor")) break;
  }
  if (!here) throw RpcError(rpc_code::invalid_params, "the cursor is not valid");
  out["resources"] = std::move(resources);
  return out;
}

std::optional<Json> list_templates(Turn& turn) {
  Json templates = Json::array();
  templates.push_back({{"uriTemplate", "sandkeep://workspace/{ws}/{+path}"},
                       {"name", "file"},
                       {"title", "The current version of a file"},
                       {"description", "By the workspace's name or id and the path in it."}});
  templates.push_back({{"uriTemplate", "sandkeep://version/{version}"},
                       {"name", "version"},
                       {"title", "One version of a file"},
                       {"description", "Exactly the bytes of the version id. They never change."}});
  if (turn.hub.extension)
    for (auto& extra : turn.hub.extension->templates()) templates.push_back(extra);
  return Json{{"resourceTemplates", std::move(templates)}};
}

std::optional<Json> read_resource(Turn& turn) {
  auto uri = need_text(turn.params(), "uri");
  if (turn.hub.extension)
    if (auto contents = turn.hub.extension->read(uri)) return Json{{"contents", Json::array({*contents})}};
  auto parsed = parse_resource_uri(uri);
  auto version = parsed ? find_version(turn, *parsed) : std::nullopt;
  if (!version) throw_not_found(turn, uri);
  turn.call.note("read", version->path);
  auto bytes = read_whole(turn.call.app.keep.context(), *version, kReadBytesMax);
  Json contents = {{"uri", uri}, {"mimeType", version->mime}};
  bool is_text = is_text_mime(version->mime) && is_utf8(bytes);
  contents[is_text ? "text" : "blob"] = is_text ? bytes : to_base64(as_bytes(bytes));
  return Json{{"contents", Json::array({std::move(contents)})}};
}

std::shared_ptr<ResourceWatch> start_watch(Turn& turn) {
  if (auto watch = turn.session->watch()) return watch;
  std::weak_ptr<LegacySession> weak = turn.session;
  return turn.session->adopt_watch(
      ResourceWatch::start(turn.call.app, {.renew = turn.call.renewer(),
                                           .tell =
                                               [weak](std::string_view method, Json params) {
                                                 if (auto session = weak.lock())
                                                   session->notify(method, std::move(params));
                                               },
                                           // The client gets the reason on its next request.
                                           .on_denied =
                                               [weak] {
                                                 if (auto session = weak.lock()) session->end();
                                               },
                                           .is_wanted =
                                               [weak] {
                                                 auto session = weak.lock();
                                                 return session && session->someone_listens();
                                               }}));
}

std::optional<Json> subscribe_resource(Turn& turn) {
  auto uri = need_text(turn.params(), "uri");
  bool is_extra = turn.hub.extension != nullptr && turn.hub.extension->read(uri);
  auto parsed = parse_resource_uri(uri);
  if (!is_extra && !(parsed && find_version(turn, *parsed))) throw_not_found(turn, uri);
  auto watch = start_watch(turn);
  if (!watch) throw session_is_over();
  watch->subscribe(uri);
  return Json::object();
}

std::optional<Json> unsubscribe_resource(Turn& turn) {
  auto uri = need_text(turn.params(), "uri");
  if (auto watch = turn.session->watch()) watch->unsubscribe(uri);
  return Json::object();
}

std::optional<Json> listen(Turn& turn) {
  const auto& wanted = field_in(turn.params(), "notifications");
  if (!wanted.is_object())
    throw RpcError(rpc_code::invalid_params, "params.notifications must be an object", nullptr, 400);
  if (!turn.takes_events)
    throw RpcError(rpc_code::invalid_request, "this needs 'Accept: text/event-stream'", nullptr, 406);
  // The stream's closure owns the watch, so the watch ends with the connection.
  struct Held {
    Mutex mutex;
    std::shared_ptr<ResourceWatch> watch SK_GUARDED_BY(mutex);
    bool dropped SK_GUARDED_BY(mutex) = false;
    void drop() {
      std::shared_ptr<ResourceWatch> ended;
      MutexLock lock(mutex);
      dropped = true;
      ended.swap(watch);
    }
    // Does not keep a watch that was denied while it started. It refers to this object, so it would never be
    // released.
    void keep(std::shared_ptr<ResourceWatch> started) {
      MutexLock lock(mutex);
      if (!dropped) watch = std::move(started);
    }
  };
  auto held = std::make_shared<Held>();
  auto channel = turn.open_channel([held] { held->drop(); });
  auto tell = [channel, id = turn.message.id](std::string_view method, Json params) {
    params["_meta"]["io.modelcontextprotocol/subscriptionId"] = id;
    channel->notify(method, std::move(params));
  };
  Json honoured = Json::object();
  bool lists = field_in(wanted, "resourcesListChanged") == true;
  if (lists) honoured["resourcesListChanged"] = true;
  auto watch = ResourceWatch::start(turn.call.app, {.renew = turn.call.renewer(),
                                                    .tell = tell,
                                                    .on_denied =
                                                        [channel, held] {
                                                          channel->abandon();
                                                          held->drop();
                                                        },
                                                    .is_wanted = [lists] { return lists; },
                                                    .list_changes = lists});
  for (const auto& uri : field_in(wanted, "resourceSubscriptions")) {
    if (!uri.is_string()) continue;
    auto text = uri.get<std::string>();
    auto parsed = parse_resource_uri(text);
    // A version never changes. Other URIs without a stored file never change either.
    bool can_change = parsed && !parsed->version;
    if (!can_change && !(turn.hub.extension && turn.hub.extension->read(text))) continue;
    try {
      watch->subscribe(text);
      honoured["resourceSubscriptions"].push_back(uri);
    } catch (const Error&) {
      // An unreadable resource cannot be subscribed to. The acknowledgement omits it.
    }
  }
  tell("notifications/subscriptions/acknowledged", {{"notifications", honoured}});
  held->keep(std::move(watch));
  return std::nullopt;
}

}  // namespace sk::api::mcp
