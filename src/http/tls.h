// Checks the operator's certificate and key before the server starts with them, because libmicrohttpd only
// says that it did not start.
#pragma once

#include <string>

namespace sk::http {

// Throws Error(bad_request) that says what is wrong: not PEM, a key with a password, key and certificate not
// of each other, expired.
void check_tls_pair(const std::string& cert_pem, const std::string& key_pem);

}  // namespace sk::http
