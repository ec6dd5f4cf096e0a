// Builds a JSON object field by field, for the most frequent responses.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace sk {

// A braced initializer list makes several allocations per field and copies all fields whenever the object
// grows. ObjectWriter reserves space once and then allocates only for fields that need it. Does not check for
// duplicate names.
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
