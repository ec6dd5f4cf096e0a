// Serializes the domain's values as JSON of OpenAI's API. Answers to deletions are where their routes are.
// The field `link`, the permanent link of the bytes, is an extension. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "api/common/call.h"
#include "api/vendor/given_files.h"
#include "base/json.h"
#include "base/object_writer.h"
#include "interpreter/types.h"
#include "workspace/uploads.h"

namespace sk::api::openai {

// Returns seconds since 1970, OpenAI's format of times.
int64_t unix_s(TimeUs time_us);

Json container_json(const interpreter::SessionInfo& container, TimeUs now_us);
Json container_file_json(const interpreter::SessionInfo& container, const workspace::Version& version,
                         const std::string& base_url);
Json file_json(const GivenFile& file, const std::string& base_url);

// `limit`, `order` and `after`, the parameters of all of OpenAI's lists.
Fields list_fields();
struct ListQuery {
  size_t limit;
  workspace::Order order;
  std::optional<std::string> after;
};
ListQuery list_query(const Call& call, int64_t limit_default, int64_t limit_max);

// Returns {object, data, first_id, last_id, has_more}. `items` may have one more item than the limit, which
// means that there are more.
template <class T, class F>
Json list_json(const std::vector<T>& items, size_t limit, F item_json) {
  Json data = Json::array();
  for (size_t i = 0; i < items.size() && i < limit; ++i) data.push_back(item_json(items[i]));
  Json first = data.empty() ? Json() : data.front().at("id");
  Json last = data.empty() ? Json() : data.back().at("id");
  ObjectWriter out(5);  // a braced list would copy all data
  out.add("object", "list").add("data", std::move(data));
  out.add("first_id", std::move(first)).add("last_id", std::move(last));
  out.add("has_more", items.size() > limit);
  return out.take();
}

}  // namespace sk::api::openai
