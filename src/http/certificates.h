// Certificates of one's own, for `--tls self-signed`: an authority, and what it signs for this server. Values
// in PEM; where they are kept is the caller's business.
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

// An authority that may sign for servers and nothing else, valid from a day ago for `days`.
Certificate make_authority(const std::string& name, TimeUs now_us, int days);

// A certificate for these names (host names and addresses), signed by the authority. `cert_pem` is the
// server's alone; the authority's is what clients have.
Certificate make_server_certificate(const Certificate& authority, std::span<const std::string> names,
                                    TimeUs now_us, int days);

// Whether the certificate was signed by that authority, holds for all the names, and is valid now and until
// `until_us`. False also for what is no certificate.
bool certificate_serves(const std::string& cert_pem, const std::string& authority_pem,
                        std::span<const std::string> names, TimeUs now_us, TimeUs until_us);

}  // namespace sk::http
