// Writes a JSON object field by field, for the answers that are made most often.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace sk {

// A braced list of fields costs a handful of allocations for each, and copies all of them whenever the object
// grows; this costs one for those that need it. Each name may be given once: nobody looks.
class ObjectWriter {
 public:
  explicit ObjectWriter(size_t field_count) { fields().reserve(field_count); }

  ObjectWriter& add(std::string_view name, Json value) {
    fields().emplace_back(std::string(name), std::move(value));
    return *this;
  }

  Json take() { return std::move(object_); }

 private:
  Json::object_t& fields() { return object_.get_ref<Json::object_t&>(); }

  Json object_ = Json::object();
};

}  // namespace sk
