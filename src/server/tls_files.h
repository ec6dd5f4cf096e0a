// The certificate that the server shows: the operator's, or one of an authority that is made in the data
// folder.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "server/settings.h"

namespace sk::server {

struct TlsFiles {
  std::string cert_pem, key_pem;  // empty: plain HTTP
  std::string authority_file;     // to trust, where we made it ourselves; else empty
};

// Reads the files that the settings name; for self-signed TLS makes the authority once, and the server's
// certificate whenever it is missing, near its end, or without one of the names that this server now has.
// Throws Error that names the file.
TlsFiles prepare_tls(const Settings& settings, const std::string& data_folder, const Clock& clock);

// The names that clients may use: localhost, this machine's name, what it listens on, and the host of the
// public address.
std::vector<std::string> server_names(const Settings& settings, const std::string& host_name);

}  // namespace sk::server
