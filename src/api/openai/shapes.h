// The domain's values as the JSON of OpenAI's API; the only place that knows these shapes. Fields of our own:
// `link`, the permanent address of the bytes.
#pragma once

#include <string>
#include <vector>

#include "api/common/call.h"
#include "base/json.h"
#include "base/object_writer.h"
#include "interpreter/types.h"
#include "workspace/purposes.h"
#include "workspace/uploads.h"

namespace sk::api::openai {

// Seconds since 1970, as OpenAI writes times.
int64_t unix_s(TimeUs time_us);

Json container_json(const interpreter::SessionInfo& container, TimeUs now_us);
Json container_file_json(const interpreter::SessionInfo& container, const workspace::Version& version,
                         const std::string& base_url);
Json file_json(const workspace::GivenFile& file, const std::string& base_url);

// `limit`, `order`, `after`, as all lists of OpenAI take them.
Fields list_fields();
struct ListQuery {
  size_t limit;
  workspace::Order order;
  std::optional<std::string> after;
};
ListQuery list_query(const Call& call, int64_t limit_default, int64_t limit_max);

// {object, data, first_id, last_id, has_more}. `items` may have one more than the limit: that is how the
// caller learnt that there are more.
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
