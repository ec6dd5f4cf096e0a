// Serializes the domain's values as JSON of Sandkeep's own API. Only this file knows these shapes;
// docs/rest.md and the schemas describe them. Pure functions; any thread.
#pragma once

#include <string>

#include "base/json.h"
#include "base/object_writer.h"
#include "identity/access.h"
#include "workspace/audit.h"
#include "workspace/files.h"
#include "workspace/journal.h"
#include "workspace/types.h"
#include "workspace/upkeep.h"

namespace sk::api {

// `base_url` is the prefix of generated links: request.base_url.
Json entry_json(const workspace::Entry& entry, const std::string& base_url);
Json version_json(const workspace::Version& version, const std::string& base_url);
Json change_json(const workspace::ChangeResult& result, const std::string& base_url);
Json purge_json(const workspace::PurgeResult& result, const std::string& base_url);
Json workspace_json(const workspace::Workspace& workspace);
Json principal_json(const identity::Principal& principal);
Json key_json(const identity::KeyInfo& key);
Json lock_json(const workspace::Lock& lock);
Json event_json(const workspace::JournalEntry& entry);

std::string_view role_name(workspace::Right right);
std::string mode_text(uint32_t mode);
// Returns null for nullopt.
Json time_json(std::optional<TimeUs> time_us);

// Returns {items, has_more, next_cursor} for a page; `item_json` serializes one item.
template <class T, class F>
Json page_json(const workspace::Page<T>& page, F item_json) {
  Json items = Json::array();
  for (const auto& item : page.items) items.push_back(item_json(item));
  ObjectWriter out(3);  // a braced list would copy all items
  out.add("items", std::move(items)).add("has_more", page.has_more);
  out.add("next_cursor", page.has_more ? Json(page.next_cursor) : Json(nullptr));
  return out.take();
}

// The same for complete lists.
template <class T, class F>
Json list_json(const std::vector<T>& all, F item_json) {
  return page_json(workspace::Page<T>{.items = all, .has_more = false, .next_cursor = ""}, item_json);
}

}  // namespace sk::api
