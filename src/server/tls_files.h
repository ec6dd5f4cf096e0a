// The server's certificate: the operator's, or one signed by an authority that is created in the data folder.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "server/settings.h"

namespace sk::server {

struct TlsFiles {
  std::string cert_pem, key_pem;  // empty: plain HTTP
  std::string authority_file;     // authority to trust, if created here; else empty
};

// Reads the files named in the settings. For self-signed TLS, creates the authority once. Creates the
// server's certificate if it is missing, expires soon or lacks a current name of this server. Throws Error
// that names the file.
TlsFiles prepare_tls(const Settings& settings, const std::string& data_folder, const Clock& clock);

// Returns the names that clients may use: localhost, the host name, the listening address and the host of the
// public URL.
std::vector<std::string> server_names(const Settings& settings, const std::string& host_name);

}  // namespace sk::server
