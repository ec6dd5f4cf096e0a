// The description of a route: name, input and answers. Requests are validated against it, and the OpenAPI
// document is generated from it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace sk::api {

// The type of a query parameter or JSON field.
enum class FieldType { text, integer, boolean, time, text_list, object, object_list };

// One query parameter or one field of a JSON body.
struct Field {
  std::string name;
  FieldType type = FieldType::text;
  std::string about;
  bool required = false;
  std::vector<std::string> choices = {};  // for text: the only accepted values
};
using Fields = std::vector<Field>;

// A possible answer of a route. `schema` names a component; it is empty for a body that is not JSON.
struct Answer {
  int status = 200;
  std::string about;
  std::string schema = {};
  std::string content_type = "application/json";
};

// Whether a request must authenticate.
enum class Auth {
  key,     // Error(unauthorized) without a valid key
  maybe,   // the handler decides
  nobody,  // credentials are ignored
};

// The kind of request body.
enum class BodyKind { none, json, form, bytes, multipart, bytes_or_multipart };

struct Operation {
  std::string method;
  std::string pattern;  // in the router's syntax
  std::string id;       // operationId: snake_case, unique
  std::string tag;
  std::string summary;
  std::string details = {};
  Auth auth = Auth::key;
  Fields query = {};
  BodyKind body_kind = BodyKind::none;
  // An empty body is accepted when no field is required.
  Fields body = {};
  std::vector<Answer> answers = {};
  std::vector<Code> errors = {};  // besides those that any route can return
  // Accepts If-Match, If-None-Match, If-Unmodified-Since, X-Sandkeep-Lock and X-Sandkeep-Fence.
  bool conditional_write = false;
  // Accepts only X-Sandkeep-Lock and X-Sandkeep-Fence, for operations that change many things.
  bool opens_locks = false;
  bool takes_idempotency_key = false;  // a repeated request is not executed again
  bool hidden = false;                 // for pages and other dialects: validated, but not in the document
  // Accepts unknown fields and lists them in Call::ignored, because clients of other vendors send more than
  // Sandkeep supports.
  bool lenient = false;
  bool takes_librechat_token = false;  // accepts LibreChat's signed token instead of a key
  bool answers_at_once = false;        // waits for nothing, so that it answers while all workers are busy
  bool health_check = false;           // never limited in its rate
  uint64_t body_bytes_max = 0;         // of a body that is read completely; 0: the server's limit for JSON
  // The path parameter that may hold the key, for clients that cannot send a header.
  std::string key_param = {};
};

// Converts a pattern to OpenAPI's syntax: "/api/v1/workspaces/{ws}/files/{path...}" →
// "/api/v1/workspaces/{ws}/files/{path}".
std::string openapi_path(std::string_view pattern);

// Returns the names of the parameters in a pattern, in order.
std::vector<std::string> pattern_params(std::string_view pattern);

// The fields that the JSON body of every write may have instead of headers.
Fields condition_fields();
// The subset of condition_fields() that concerns locks.
Fields lock_fields();
Fields operator+(Fields left, const Fields& right);

// `limit` and `cursor`.
Fields page_fields();

}  // namespace sk::api
