// Validates the operator's certificate and key before the server starts, because libmicrohttpd does not
// report why it fails to start.
#pragma once

#include <string>

namespace sk::http {

// Throws Error(bad_request) with the reason: not PEM, a key with a password, a key that does not match the
// certificate, or an expired certificate.
void check_tls_pair(const std::string& cert_pem, const std::string& key_pem);

}  // namespace sk::http
