#include "conversations/conversation_match.h"

#include <algorithm>

#include "base/error.h"
#include "base/path.h"
#include "conversations/conversation_rows.h"
#include "conversations/data_uri.h"
#include "workspace/file_at.h"

namespace sk::conversations {

namespace {

std::optional<Id> own_version(std::string_view text) {
  for (std::string_view prefix : {"cfile_", "file-", "v_"}) {
    if (auto id = Id::from_prefixed(text, prefix)) return id;
  }
  return std::nullopt;
}

void keep(ShownFile& out, const Version& version) {
  out.state = ShownState::kept;
  out.why = WhyNot::none;
  out.explanation.clear();
  out.version = version.id;
  out.file = version.file;
  if (out.name.empty() || out.name == out.file_id) out.name = split_path(version.path).second;
}

void not_captured(ShownFile& out, WhyNot why, std::string explanation) {
  out.state = ShownState::not_captured;
  out.why = why;
  out.explanation = std::move(explanation);
}

// Whether the address goes on into the sentence, so that a shorter one may be meant.
bool may_be_shorter(const SandboxLink& link) {
  bool is_in_text = link.form == SandboxLink::Form::bare || link.form == SandboxLink::Form::quoted;
  return is_in_text && link.end - link.start == link.address.size();
}

// Returns the address of a link, then the shorter ones that it may mean.
std::vector<std::string> addresses_meant(const SandboxLink& link) {
  std::vector<std::string> out = {link.address};
  if (!may_be_shorter(link)) return out;
  for (auto& shorter : shorter_addresses(link.address)) out.push_back(std::move(shorter));
  return out;
}

// Whether a link that was stored earlier is this one. The stored address may be a shorter one.
bool is_same(const std::optional<SandboxLink>& stored, const std::optional<SandboxLink>& link) {
  if (!stored || !link) return !stored == !link;
  auto meant = addresses_meant(*link);
  return std::find(meant.begin(), meant.end(), stored->address) != meant.end();
}

void shorten(SandboxLink& link, const std::string& address) {
  if (address.size() == link.address.size()) return;
  link.address = address;
  link.end = link.outer_end = link.start + address.size();
}

}  // namespace

MentionMatcher::MentionMatcher(KeepContext& context, Files& files, Workspaces& workspaces,
                               Circumstances circumstances)
    : context_(context), files_(files), workspaces_(workspaces), given_(std::move(circumstances)) {}

ShownFile MentionMatcher::match(const Mention& mention) {
  ShownFile out;
  out.kind = mention.kind;
  out.name = mention.shown_name();
  out.container = mention.container;
  out.file_id = mention.file_id;
  out.link = mention.link;
  looked_ = false;
  auto containers = containers_for(mention);
  if (!containers.empty() && mention.data_uri.empty()) out.container = containers.front();
  if (!mention.data_uri.empty()) {
    keep_data(mention, out);
  } else if (!mention.elsewhere.empty()) {
    if (!by_id(out)) match_web(mention, out);
  } else if (!from_before(mention, out) && !by_id(out) && !by_origin_or_path(mention, out)) {
    give_up(out);
  }
  return out;
}

ShownFile MentionMatcher::match_named(const std::string& name) {
  ShownFile out;
  out.kind = Mention::Kind::attachment;
  if (own_version(name)) {
    out.file_id = name;
    if (by_id(out)) {
      out.name = out.name.empty() ? name : out.name;
      return out;
    }
    throw Error(Code::not_found, "there is no version " + name + ", or you may not read it");
  }
  auto entry = files_.get(given_.authority, clean_file_path(name));
  auto version = files_.find_version(given_.authority, entry.head);
  if (!version) throw Error(Code::bad_request, "a message shows files, and " + name + " is a folder");
  keep(out, *version);
  return out;
}

// A version found when the message was first stored stays mapped, even if the path changed since.
bool MentionMatcher::from_before(const Mention& mention, ShownFile& out) const {
  for (const auto& known : given_.before) {
    bool same = known.state == ShownState::kept && known.file_id == mention.file_id &&
                is_same(known.link, mention.link) &&
                (mention.container.empty() || known.container == mention.container) &&
                (mention.link || !mention.file_id.empty() || known.name == out.name);
    if (!same) continue;
    out.state = ShownState::kept;
    out.container = known.container;
    out.version = known.version;
    out.file = known.file;
    if (out.link) {
      out.name = known.name;
      shorten(*out.link, known.link->address);
    }
    return true;
  }
  return false;
}

// A web address is fetched if the message has a source, like all remote files.
void MentionMatcher::match_web(const Mention& mention, ShownFile& out) {
  if (from_before(mention, out) || by_origin(out)) return;
  if (given_.wanted.has_source) {
    out.address = mention.elsewhere;
    out.state = ShownState::pending;
    out.explanation = "it is being fetched";
  } else {
    not_captured(out, WhyNot::cannot_tell,
                 "it is at a web address, which is fetched only for a message with a 'source'");
  }
}

void MentionMatcher::keep_data(const Mention& mention, ShownFile& out) {
  auto data = parse_data_uri(mention.data_uri);
  if (!data) return not_captured(out, WhyNot::cannot_tell, "the data URI cannot be read");
  auto plain = given_.wanted.name + "-image-" + std::to_string(++images_) + extension_of(data->mime);
  auto name = mention.name.empty() ? plain : mention.shown_name();
  out.name = name;
  workspace::PutChange change;
  change.path = join_path(Conversations::folder_of(given_.wanted.conversation), name);
  change.mime = data->mime;
  change.keep_when_locked = true;
  change.source = {"import", {{"conversation", given_.wanted.conversation}, {"message", given_.wanted.name}}};
  workspace::Intake intake(context_);
  intake.write(data->bytes);
  change.content = intake.finish();
  auto result = files_.apply_one(given_.authority, std::move(change));
  keep(out, *result.version);
}

bool MentionMatcher::may_read(const Id& workspace) {
  auto known = readable_.find(workspace);
  if (known == readable_.end())
    known = readable_.emplace(workspace, workspaces_.may_read(given_.authority.actor(), workspace)).first;
  return known->second;
}

bool MentionMatcher::by_id(ShownFile& out) {
  auto id = own_version(out.file_id);
  if (!id) return false;
  try {
    auto version = files_.find_version_anywhere(*id);
    if (!version || !may_read(version->workspace)) return false;
    keep(out, *version);
    return true;
  } catch (const Error& error) {
    if (error.code() != Code::gone) throw;
    not_captured(out, WhyNot::gone, error.message());
    return true;
  }
}

// Finds a copy that was fetched for another message of this workspace. Skipped if the file can be fetched
// again, since the remote file may have changed.
bool MentionMatcher::by_origin(ShownFile& out) {
  if (given_.wanted.has_source) return false;
  auto version = context_.db.read([&](catalog::Statements& statements) {
    return kept_from_origin(statements, given_.authority.workspace_id(), origin_of(out));
  });
  if (!version) return false;
  try {
    auto found = files_.find_version_anywhere(*version);
    if (!found || !may_read(found->workspace)) return false;
    keep(out, *found);
    return true;
  } catch (const Error& error) {
    if (error.code() != Code::gone) throw;
    return false;
  }
}

// An id names exactly one file. A path in a session of this server is looked up there. A path elsewhere is
// known only from earlier messages.
bool MentionMatcher::by_origin_or_path(const Mention& mention, ShownFile& out) {
  if (!out.file_id.empty()) return by_origin(out) || by_path(mention, out);
  return by_path(mention, out) || (!looked_ && by_origin(out));
}

std::optional<SessionFolder> MentionMatcher::place_of(const std::string& container) {
  auto known = places_.find(container);
  if (known != places_.end()) return known->second;
  auto place = given_.find_place ? given_.find_place(container) : std::nullopt;
  if (place && !may_read(place->workspace)) place.reset();
  return places_.emplace(container, place).first->second;
}

// Returns the containers that may hold a mention's file, most likely first.
std::vector<std::string> MentionMatcher::containers_for(const Mention& mention) const {
  std::vector<std::string> out;
  auto add = [&](const std::string& container) {
    if (!container.empty() && std::find(out.begin(), out.end(), container) == out.end())
      out.push_back(container);
  };
  add(mention.container);
  if (!out.empty()) return out;
  add(given_.wanted.container);
  const auto& named = given_.wanted.transcript.containers;
  for (auto at = named.rbegin(); at != named.rend(); ++at) add(*at);
  if (out.empty()) add(given_.earlier_container);
  return out;
}

bool MentionMatcher::by_path(const Mention& mention, ShownFile& out) {
  std::vector<std::string> addresses;
  if (mention.link) addresses = addresses_meant(*mention.link);
  if (!mention.name.empty() && (!mention.link || paths_meant(mention.link->address).empty()))
    addresses = {"sandbox:/mnt/data/" + mention.name};
  if (addresses.empty()) return false;  // an id without a path
  for (const auto& container : containers_for(mention)) {
    auto place = place_of(container);
    if (!place) continue;
    looked_ = true;
    for (const auto& address : addresses) {
      auto found = find_at(*place, address);
      if (!found) continue;
      out.container = container;
      if (mention.link && addresses.front() == mention.link->address) {
        shorten(*out.link, address);
        out.name = split_path(found->path).second;  // not "report.csv#top"
      }
      keep(out, found->version);
      return true;
    }
  }
  return false;
}

std::optional<MentionMatcher::Found> MentionMatcher::find_at(const SessionFolder& place,
                                                             const std::string& address) {
  for (const auto& path : paths_meant(address)) {
    auto version = context_.db.read([&](catalog::Statements& statements) {
      return workspace::version_at(statements, place.workspace, join_path(place.folder, path),
                                   given_.time_us);
    });
    if (version) return Found{std::move(*version), path};
  }
  return std::nullopt;
}

void MentionMatcher::give_up(ShownFile& out) const {
  // The search of a session of this server proves that the file did not exist.
  if (looked_) {
    out.state = ShownState::missing;
    out.explanation = "there was no such file when the message was made";
    return;
  }
  if (given_.wanted.has_source) {
    out.state = ShownState::pending;
    out.explanation = "it is being fetched";
    return;
  }
  not_captured(out, WhyNot::cannot_tell,
               out.container.empty() && out.file_id.empty()
                   ? "the session of the link is unknown: name it as 'session'"
                   : "it is not a file of this server: name the place to fetch it from as 'source'");
}

}  // namespace sk::conversations
