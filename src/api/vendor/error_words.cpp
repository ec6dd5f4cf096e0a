#include "api/vendor/error_words.h"

#include "api/common/advice_words.h"
#include "base/path.h"

namespace sk::api {

std::string mounted_path(std::string_view folder, std::string_view path) {
  if (!is_within(path, folder)) return std::string(path);
  std::string mounted = "/mnt/data";
  if (folder.empty() && !path.empty()) mounted += '/';
  return mounted.append(path.substr(folder.size()));
}

PathNaming mounted_paths(std::string folder) {
  return [folder = std::move(folder)](std::string_view path) { return mounted_path(folder, path); };
}

Error with_mounted_paths(const http::Request& request, const Error& error) {
  if (!request.mounted_folder) return error;
  return error.in_terms_of(mounted_paths(*request.mounted_folder));
}

std::string vendor_hint(const http::Request& request, const Error& error) {
  if (error.advice() == Advice::send_valid_key && !request.headers.get("Authorization"))
    for (auto name : {"X-API-Key", "api-key", "x-ms-apikey"})
      if (request.headers.get(name)) return "Send a valid key in the header '" + std::string(name) + "'.";
  return hint_for(Audience::vendor, error);
}

}  // namespace sk::api
