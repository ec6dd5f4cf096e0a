#include "http/tls.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

#include "base/error.h"

namespace sk::http {

namespace {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<&::EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<&::X509_free>>;
using Memory = std::unique_ptr<BIO, Freer<&::BIO_free_all>>;

Memory reader(const std::string& text) {
  return Memory(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

}  // namespace

void check_tls_pair(const std::string& cert_pem, const std::string& key_pem) {
  Certificate certificate(::PEM_read_bio_X509(reader(cert_pem).get(), nullptr, nullptr, nullptr));
  if (!certificate) throw Error(Code::bad_request, "The TLS certificate is not in PEM form.");
  std::string no_password;  // prevents OpenSSL from prompting on the terminal
  Key key(::PEM_read_bio_PrivateKey(reader(key_pem).get(), nullptr, nullptr, no_password.data()));
  if (!key) throw Error(Code::bad_request, "The TLS key is not in PEM form, or it has a password.");
  if (::X509_check_private_key(certificate.get(), key.get()) != 1)
    throw Error(Code::bad_request, "The TLS key does not belong to the certificate.");
  if (::X509_cmp_current_time(X509_get0_notAfter(certificate.get())) < 0)
    throw Error(Code::bad_request, "The TLS certificate has expired.");
}

}  // namespace sk::http
