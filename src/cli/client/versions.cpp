#include "cli/client/versions.h"

#include "base/error.h"
#include "base/id.h"
#include "base/text.h"
#include "cli/client/fields.h"

namespace sk::cli {

bool is_version_id(std::string_view text) { return Id::from_prefixed(text, "v_").has_value(); }

bool is_file_id(std::string_view text) { return Id::from_prefixed(text, "f_").has_value(); }

namespace {

Error no_such_version(const RemotePath& where, const std::string& text) {
  return Error(Code::not_found, where.path + " has no version " + text)
      .hint("'sandkeep log " + where.path + "' lists its versions.");
}

std::optional<Json> find_by_number(Remote& remote, const RemotePath& where, uint64_t number) {
  Query query;
  for (;;) {
    // Newest first: the version is usually on the first page.
    auto page = remote.call("GET", remote.url_with_path(where, "versions"), query);
    for (const auto& version : list_field(page, "items"))
      if (number_field(version, "number") == number) return version;
    if (!flag_field(page, "has_more")) return std::nullopt;
    query = {{"cursor", text_field(page, "next_cursor")}};
  }
}

}  // namespace

Json find_version(Remote& remote, const RemotePath& where, const std::string& text) {
  if (is_version_id(text)) {
    auto version = remote.call("GET", remote.url(where, "version") + "/" + percent_encode(text));
    if (text_field(version, "path") != where.path) throw no_such_version(where, text);
    return version;
  }
  auto number = parse_unsigned(text);
  if (!number)
    throw Error(Code::bad_request, "'" + text + "' is neither a version id (v_…) nor a version's number")
        .hint("'sandkeep log " + where.path + "' lists its versions.");
  auto version = find_by_number(remote, where, *number);
  if (!version) throw no_such_version(where, text);
  return *version;
}

}  // namespace sk::cli
