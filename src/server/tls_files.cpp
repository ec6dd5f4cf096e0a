#include "server/tls_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "http/certificates.h"
#include "http/tls.h"

namespace sk::server {

namespace {

namespace fs = std::filesystem;

constexpr int kAuthorityDays = 3650;
constexpr int kServerDays = 397;  // browsers reject certificates with a longer validity
constexpr int64_t kRenewBeforeUs = 30ll * 86'400 * kSecondUs;

std::string read_pem(const std::string& path, std::string_view setting) {
  try {
    return read_file(path, 1 << 20);
  } catch (const Error& error) {
    throw Error(Code::bad_request, std::string(setting) + ": " + error.message())
        .hint("Check the path and its permissions.");
  }
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// Returns "keep.example.org" for "https://keep.example.org:8443/x".
std::string host_of(std::string_view url) {
  auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return "";
  auto rest = url.substr(scheme + 3);
  rest = rest.substr(0, rest.find('/'));
  if (rest.starts_with('[')) return std::string(rest.substr(1, rest.find(']') - 1));
  return std::string(rest.substr(0, rest.find(':')));
}

http::Certificate load_authority(const std::string& folder, const Clock& clock) {
  auto cert_file = folder + "/ca.pem";
  auto key_file = folder + "/ca.key";
  std::error_code ignored;
  if (fs::exists(cert_file, ignored) && fs::exists(key_file, ignored))
    return {read_file(cert_file), read_file(key_file)};
  auto made =
      http::make_authority("Sandkeep on " + host_name().substr(0, 40), clock.now_us(), kAuthorityDays);
  write_file_durably(key_file, made.key_pem, 0600);
  write_file_durably(cert_file, made.cert_pem, 0644);
  log::info("created a certificate authority", {{"file", cert_file}});
  return made;
}

std::string read_if_there(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) ? read_file(path) : "";
}

TlsFiles self_signed(const Settings& settings, const std::string& data_folder, const Clock& clock) {
  auto folder = data_folder + "/tls";
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) throw system_error("cannot make " + folder, errno);
  auto authority = load_authority(folder, clock);
  auto names = server_names(settings, host_name());
  auto cert_file = folder + "/server.pem";
  auto key_file = folder + "/server.key";
  http::Certificate server{read_if_there(cert_file), read_if_there(key_file)};
  auto now_us = clock.now_us();
  bool good = !server.key_pem.empty() && http::certificate_serves(server.cert_pem, authority.cert_pem, names,
                                                                  now_us, now_us + kRenewBeforeUs);
  if (!good) {
    server = http::make_server_certificate(authority, names, now_us, kServerDays);
    // Remove the old certificate first, so that it never remains beside a new key. Without a certificate,
    // both are created again.
    unlink(cert_file.c_str());
    write_file_durably(key_file, server.key_pem, 0600);
    write_file_durably(cert_file, server.cert_pem, 0644);
    log::info("made a certificate", {{"file", cert_file}});
  }
  return {server.cert_pem, server.key_pem, folder + "/ca.pem"};
}

}  // namespace

std::vector<std::string> server_names(const Settings& settings, const std::string& host_name) {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
  auto is_any = [](const std::string& host) { return host == "0.0.0.0" || host == "::"; };
  for (const auto& name : {host_name, settings.listen.host, host_of(settings.public_url)})
    if (!name.empty() && !is_any(name) && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  return names;
}

TlsFiles prepare_tls(const Settings& settings, const std::string& data_folder, const Clock& clock) {
  if (settings.tls == Tls::self_signed) return self_signed(settings, data_folder, clock);
  if (settings.tls_cert.empty()) return {};
  TlsFiles files{read_pem(settings.tls_cert, "tls_cert"), read_pem(settings.tls_key, "tls_key"), ""};
  http::check_tls_pair(files.cert_pem, files.key_pem);  // fail before anything starts
  return files;
}

}  // namespace sk::server
