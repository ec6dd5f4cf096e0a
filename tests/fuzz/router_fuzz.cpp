// Any text as a path: it matches or not, or is refused with Error(bad_request); a match binds all its
// parameters, without a NUL.
#include <cstdint>
#include <cstdlib>

#include "http/server.h"

namespace {

sk::http::Router make_router() {
  sk::http::Router router;
  auto nothing = [](sk::http::Request&) { return sk::http::Reply::empty(); };
  for (auto pattern : {"/", "/a", "/a/{x}", "/a/{x}/b", "/a/b/{rest...}", "/{x}/{y}/{z}", "/files/{path...}"})
    router.add("GET", pattern, nothing);
  router.add("PUT", "/files/{path...}", nothing);
  return router;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto router = make_router();
  std::string path(reinterpret_cast<const char*>(data), size);
  for (const auto& candidate : {path, "/" + path, "/a/" + path, "/files/" + path}) {
    try {
      auto match = router.match("GET", candidate);
      if (!match.route) continue;
      for (const auto& [name, value] : match.params)
        if (value.find('\0') != std::string::npos) std::abort();
    } catch (const sk::Error& error) {
      if (error.code() != sk::Code::bad_request) std::abort();
    }
  }
  return 0;
}
