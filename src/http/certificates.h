// Creates certificates for `--tls self-signed`: a certificate authority, and a server certificate that it
// signs. Certificates are PEM values; the caller stores them. Pure functions except for random numbers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/clock.h"

namespace sk::http {

struct Certificate {
  std::string cert_pem;
  std::string key_pem;  // ECDSA P-256
};

// Creates an authority that may only sign server certificates. Valid for `days`, starting one day in the
// past.
Certificate make_authority(const std::string& name, TimeUs now_us, int days);

// Creates a certificate for these host names and addresses, signed by the authority. `cert_pem` contains only
// the server's certificate; clients already have the authority's. Throws Error(bad_request) for an invalid
// name.
Certificate make_server_certificate(const Certificate& authority, std::span<const std::string> names,
                                    TimeUs now_us, int days);

// Returns whether the certificate is signed by the authority, covers all names, and is valid from now until
// `until_us`. Returns false for text that is not a certificate.
bool certificate_serves(const std::string& cert_pem, const std::string& authority_pem,
                        std::span<const std::string> names, TimeUs now_us, TimeUs until_us);

}  // namespace sk::http
