#include "api/common/repeats.h"

#include "base/error.h"
#include "base/text.h"

namespace sk::api {

void read_idempotency_key(const http::Headers& headers, interpreter::NewExecution& wanted) {
  auto key = headers.get("Idempotency-Key");
  if (!key) return;
  wanted.idempotency_key = trim(*key);
  if (wanted.idempotency_key.empty()) throw Error(Code::bad_request, "Idempotency-Key is empty");
}

void read_openai_repeat(const http::Headers& headers, interpreter::NewExecution& wanted) {
  read_idempotency_key(headers, wanted);
  auto count = headers.get("x-stainless-retry-count");
  wanted.repeated = count && parse_unsigned(trim(*count)).value_or(0) > 0;
}

}  // namespace sk::api
