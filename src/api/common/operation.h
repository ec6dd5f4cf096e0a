// What a route is called, takes and answers: the one description from which requests are checked and the
// OpenAPI document is written.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace sk::api {

// The form of a query parameter or JSON field.
enum class FieldType { text, integer, boolean, time, text_list, object, object_list };

// One query parameter or one field of a JSON body.
struct Field {
  std::string name;
  FieldType type = FieldType::text;
  std::string about;
  bool required = false;
  std::vector<std::string> choices = {};  // for text: nothing else is accepted
};
using Fields = std::vector<Field>;

// An answer of a route; `schema` names a component, or is empty where the body is not JSON.
struct Answer {
  int status = 200;
  std::string about;
  std::string schema = {};
  std::string content_type = "application/json";
};

// Whether a request must say who it comes from.
enum class Auth {
  key,     // Error(unauthorized) without a valid key
  maybe,   // the handler decides
  nobody,  // never looked at
};

// What an operation's request body is, if not JSON fields.
enum class BodyKind { none, json, form, bytes, multipart, bytes_or_multipart };

struct Operation {
  std::string method;
  std::string pattern;  // as the router takes it
  std::string id;       // operationId: snake_case, unique
  std::string tag;
  std::string summary;
  std::string details = {};
  Auth auth = Auth::key;
  Fields query = {};
  BodyKind body_kind = BodyKind::none;
  Fields body = {};
  // The body may be left out when no field is required.
  std::vector<Answer> answers = {};
  std::vector<Code> errors = {};  // beside those that any route can give
  // Takes If-Match, If-None-Match, If-Unmodified-Since, X-Sandkeep-Lock and X-Sandkeep-Fence.
  bool conditional_write = false;
  bool opens_locks = false;  // of these, only X-Sandkeep-Lock and X-Sandkeep-Fence: it changes many things
  bool takes_idempotency_key = false;  // a request that is sent again is not carried out again
  bool hidden = false;                 // for pages and other dialects: checked, but not in the document
  // Other people's clients send more than we know: what is unknown is not refused but named in Call::ignored.
  bool lenient = false;
  bool takes_librechat_token = false;  // LibreChat's signed token may stand in the key's place
  uint64_t body_bytes_max = 0;         // of a body that is read whole; 0: the server's limit for JSON
  std::string key_param = {};  // the path parameter that may hold the key, for clients that send no header
};

// "/api/v1/workspaces/{ws}/files/{path...}" → "/api/v1/workspaces/{ws}/files/{path}", as OpenAPI writes it.
std::string openapi_path(std::string_view pattern);

// The names of the parameters in a pattern, in order.
std::vector<std::string> pattern_params(std::string_view pattern);

// The fields that the JSON body of every write may carry instead of headers.
Fields condition_fields();
// Of these, what opens locks.
Fields lock_fields();
Fields operator+(Fields left, const Fields& right);

// `limit` and `cursor`.
Fields page_fields();

}  // namespace sk::api
