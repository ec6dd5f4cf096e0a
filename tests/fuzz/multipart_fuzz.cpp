// Any bytes as a multipart body, cut anywhere: the parts must not depend on the cuts, and only Error may be
// thrown.
#include <cstdint>
#include <cstdlib>

#include "http/multipart.h"

namespace {

struct Outcome {
  std::string text;  // what came out, in one string that can be compared
  bool failed = false;
};

Outcome parse(std::string_view body, size_t step) {
  Outcome outcome;
  sk::http::MultipartParser parser("XX",
                                   {.begin =
                                        [&](const sk::http::MultipartPart& part) {
                                          outcome.text +=
                                              "<" + part.name + "|" + part.filename.value_or("-") + ">";
                                        },
                                    .data = [&](std::string_view bytes) { outcome.text += bytes; },
                                    .end = [&] { outcome.text += "</>"; }},
                                   {.header_bytes_max = 512, .parts_max = 20});
  try {
    for (size_t at = 0; at < body.size(); at += step) parser.feed(body.substr(at, step));
    parser.finish();
  } catch (const sk::Error&) {
    outcome.failed = true;
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto whole = parse(body, body.size() + 1);
  auto cut = parse(body, data[0] % 17 + 1);
  // A malformed body may have given more or less before its fault was seen; a sound one is always the same.
  if (whole.failed != cut.failed) std::abort();
  if (!whole.failed && whole.text != cut.text) std::abort();
  return 0;
}
