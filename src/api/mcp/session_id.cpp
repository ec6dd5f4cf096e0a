#include "api/mcp/session_id.h"

#include "base/hash.h"
#include "base/signing.h"
#include "base/text.h"

namespace sk::api::mcp {

namespace {

constexpr size_t kRandomBytes = 12;

std::string sign_session(std::string_view facts, std::string_view secret) {
  return to_base64url(hmac_sha256(secret, facts).bytes);
}

}  // namespace

// Ed25519 signatures are deterministic, so the secret is the same after a restart. They require the private
// key.
std::string load_session_secret(const std::string& data_folder) {
  auto key = SigningKey::load_or_make(data_folder + "/mcp.key");
  return sha256(key.sign(as_bytes("sandkeep-mcp-sessions-1"))).raw();
}

std::string make_session_id(const SessionFacts& facts, std::string_view secret) {
  auto text = facts.version + "." + facts.key.hex() + "." + std::to_string(facts.issued_us) + "." +
              random_base64url(kRandomBytes);
  return text + "." + sign_session(text, secret);
}

std::optional<SessionFacts> read_session_id(std::string_view id, std::string_view secret) {
  auto end = id.rfind('.');
  if (end == std::string_view::npos) return std::nullopt;
  auto text = id.substr(0, end);
  if (!equal_constant_time(sign_session(text, secret), id.substr(end + 1))) return std::nullopt;
  auto parts = split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  auto key = Id::from_hex(parts[1]);
  auto issued_us = parse_unsigned(parts[2]);
  if (!key || !issued_us) return std::nullopt;
  return SessionFacts{std::string(parts[0]), *key, static_cast<TimeUs>(*issued_us)};
}

}  // namespace sk::api::mcp
