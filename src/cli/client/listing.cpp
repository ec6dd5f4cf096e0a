#include "cli/client/listing.h"

#include "base/error.h"
#include "cli/client/fields.h"

namespace sk::cli {

void for_each_match(Remote& remote, const RemotePath& where,
                    const std::function<void(const Json& entry)>& take) {
  auto glob = split_glob(where.path);
  Query query = {{"folder", glob.folder}, {"glob", glob.pattern}};
  if (glob.across_folders) query.emplace_back("recursive", "true");
  for_each_item(remote, remote.url(where, "list"), query, take);
}

std::vector<Json> find_or_glob(Remote& remote, const RemotePath& where) {
  if (split_glob(where.path).pattern.empty()) return {get_entry(remote, where)};
  // A name may contain wildcard characters.
  if (auto entry = find_entry(remote, where)) return {*entry};
  std::vector<Json> out;
  for_each_match(remote, where, [&](const Json& entry) { out.push_back(entry); });
  if (out.empty()) throw Error(Code::not_found, "nothing matches '" + where.path + "'");
  return out;
}

}  // namespace sk::cli
