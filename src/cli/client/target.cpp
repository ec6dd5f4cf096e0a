#include "cli/client/target.h"

#include "base/address.h"
#include "base/error.h"
#include "base/text.h"

namespace sk::cli {

namespace {

std::string variable(const Environment& environment, std::string_view name) {
  auto at = environment.find(name);
  return at == environment.end() ? std::string() : at->second;
}

std::string first_of(std::string a, std::string b) { return a.empty() ? std::move(b) : std::move(a); }

}  // namespace

std::string default_server_url() { return "http://" + std::string(kDefaultAddress); }

std::string clean_server_url(std::string_view text) {
  auto url = std::string(trim(text));
  if (url.find("://") == std::string::npos) url.insert(0, "http://");
  auto scheme_end = url.find("://");
  auto scheme = ascii_lower(std::string_view(url).substr(0, scheme_end));
  while (url.size() > scheme_end + 3 && url.ends_with('/')) url.pop_back();
  auto rest = std::string_view(url).substr(scheme_end + 3);
  bool odd =
      rest.empty() || rest.front() == '/' || rest.find_first_of(" \t\r\n?#@") != std::string_view::npos;
  if ((scheme != "http" && scheme != "https") || odd)
    throw Error(Code::bad_request, "'" + std::string(text) + "' is not the address of a server")
        .hint("Write it like " + default_server_url() + " or https://keep.example.org.");
  return url;
}

Target choose_target(const Arguments& arguments, const Environment& environment,
                     const std::optional<SavedLogin>& saved) {
  Target out;
  auto named = first_of(arguments.value_or("server", ""), variable(environment, "SANDKEEP_SERVER"));
  auto saved_server = saved && !saved->server.empty() ? clean_server_url(saved->server) : "";
  out.is_guess = named.empty() && saved_server.empty();
  if (!named.empty()) {
    out.server = clean_server_url(named);
  } else {
    out.server = out.is_guess ? default_server_url() : saved_server;
  }

  out.key = first_of(arguments.value_or("key", ""), variable(environment, "SANDKEEP_KEY"));
  out.workspace = first_of(arguments.value_or("workspace", ""), variable(environment, "SANDKEEP_WORKSPACE"));
  out.ca_file = first_of(arguments.value_or("ca-file", ""), variable(environment, "SANDKEEP_CA_FILE"));
  if (saved && out.server == saved_server) {
    // A saved workspace belongs to the saved key: with another key, its name may refer to another workspace.
    if (out.key.empty()) out.workspace = first_of(out.workspace, saved->workspace);
    out.key = first_of(out.key, saved->key);
    out.ca_file = first_of(out.ca_file, saved->ca_file);
  }
  return out;
}

}  // namespace sk::cli
