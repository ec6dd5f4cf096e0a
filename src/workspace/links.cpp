#include "workspace/links.h"

#include "base/path.h"

namespace sk::workspace {

namespace {

constexpr size_t kSignatureBytes = 24;

std::optional<std::string> secret_of(KeepContext& context, const Id& workspace) {
  return context.db.read([&](catalog::Statements& statements) {
    return statements.one("SELECT link_secret FROM workspaces WHERE id = $1", {workspace},
                          [](const catalog::Row& row) { return row.str(0); });
  });
}

std::string sign(std::string_view secret, const Id& version) {
  auto mac = hmac_sha256(secret, "link:" + version.hex());
  return to_base64url(Bytes(mac.bytes).first(kSignatureBytes));
}

}  // namespace

std::string Links::path_of(const Id& version, std::string_view file_path) {
  return "/k/" + version.with_prefix(prefix::version) + "/" + percent_encode(split_path(file_path).second);
}

std::string Links::path_of(const Version& version) { return path_of(version.id, version.path); }

std::string Links::signed_path_of(const Authority& authority, const Version& version) {
  authority.need_at(Right::read, version.path);
  return path_of(version) +
         "?s=" + sign(secret_of(context_, authority.workspace_id()).value_or(""), version.id);
}

bool Links::opens(const Version& version, std::string_view signature) {
  auto secret = secret_of(context_, version.workspace);
  return secret && equal_constant_time(sign(*secret, version.id), signature);
}

}  // namespace sk::workspace
