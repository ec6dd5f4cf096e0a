#include "http/certificates.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

#include "base/error.h"
#include "base/hash.h"

namespace sk::http {

namespace {

template <auto free_function>
struct Free {
  template <class T>
  void operator()(T* object) const {
    free_function(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Cert = std::unique_ptr<X509, Free<X509_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Number = std::unique_ptr<BIGNUM, Free<BN_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;

// Throws Error(internal) when OpenSSL fails. Failures here are bugs or lack of memory, never caused by input.
void need(bool done, std::string_view what) {
  if (done) return;
  char text[256];
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  throw Error(Code::internal, "cannot create a certificate: " + std::string(what) + ": " + text);
}

bool is_address(const std::string& name) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), bytes) == 1 || inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

Key make_key() {
  Key key(EVP_EC_gen("P-256"));
  need(key != nullptr, "key");
  return key;
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

std::string to_pem(X509* cert) {
  Bio bio(BIO_new(BIO_s_mem()));
  need(PEM_write_bio_X509(bio.get(), cert) == 1, "PEM");
  return text_of(bio.get());
}

std::string to_pem(EVP_PKEY* key) {
  Bio bio(BIO_new(BIO_s_mem()));
  need(PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1, "PEM");
  return text_of(bio.get());
}

Cert cert_from_pem(const std::string& pem) {
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Cert(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

Key key_from_pem(const std::string& pem) {
  Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return Key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
}

void set_random_serial(X509* cert) {
  std::array<std::byte, 16> bytes;
  fill_random(bytes);
  bytes[0] &= std::byte{0x7F};  // serial numbers must be positive
  Number number(BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr));
  need(number != nullptr && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(cert)) != nullptr,
       "serial number");
}

void add_extension(X509* cert, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  need(extension != nullptr && X509_add_ext(cert, extension.get(), -1) == 1, value);
}

// Creates a certificate with everything but extensions and signature.
Cert begin_certificate(EVP_PKEY* key, const std::string& name, TimeUs now_us, int days) {
  Cert cert(X509_new());
  need(cert != nullptr, "certificate");
  need(X509_set_version(cert.get(), X509_VERSION_3) == 1, "version");
  set_random_serial(cert.get());
  auto now = static_cast<time_t>(now_us / kSecondUs);
  // Start one day in the past, for clients whose clocks are slow.
  need(X509_time_adj_ex(X509_getm_notBefore(cert.get()), -1, 0, &now) != nullptr, "start");
  need(X509_time_adj_ex(X509_getm_notAfter(cert.get()), days, 0, &now) != nullptr, "end");
  need(X509_set_pubkey(cert.get(), key) == 1, "public key");
  const auto* bytes = reinterpret_cast<const unsigned char*>(name.data());
  auto* subject = X509_get_subject_name(cert.get());
  need(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, bytes, static_cast<int>(name.size()), -1,
                                  0) == 1,
       "name");
  return cert;
}

std::string alternative_names(std::span<const std::string> names) {
  std::string out;
  for (const auto& name : names) {
    // The text uses OpenSSL's extension syntax, in which a comma starts another entry.
    bool plain =
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:") ==
        std::string::npos;
    if (name.empty() || !plain)
      throw Error(Code::bad_request, "'" + name + "' is not a host name or address");
    out += (out.empty() ? "" : ",") + std::string(is_address(name) ? "IP:" : "DNS:") + name;
  }
  return out;
}

bool names_match(X509* cert, std::span<const std::string> names) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return is_address(name) ? X509_check_ip_asc(cert, name.c_str(), 0) == 1
                            : X509_check_host(cert, name.data(), name.size(), 0, nullptr) == 1;
  });
}

}  // namespace

Certificate make_authority(const std::string& name, TimeUs now_us, int days) {
  auto key = make_key();
  auto cert = begin_certificate(key.get(), name, now_us, days);
  need(X509_set_issuer_name(cert.get(), X509_get_subject_name(cert.get())) == 1, "issuer");
  add_extension(cert.get(), cert.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(cert.get(), cert.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(cert.get(), cert.get(), NID_subject_key_identifier, "hash");
  need(X509_sign(cert.get(), key.get(), EVP_sha256()) > 0, "signature");
  return {to_pem(cert.get()), to_pem(key.get())};
}

Certificate make_server_certificate(const Certificate& authority, std::span<const std::string> names,
                                    TimeUs now_us, int days) {
  auto issuer = cert_from_pem(authority.cert_pem);
  auto issuer_key = key_from_pem(authority.key_pem);
  if (issuer == nullptr || issuer_key == nullptr ||
      X509_check_private_key(issuer.get(), issuer_key.get()) != 1)
    throw Error(Code::corrupt, "the authority's certificate and key are damaged or do not match");
  SK_CHECK(!names.empty());
  auto key = make_key();
  // The common name is for display and has at most 64 characters. Programs check the alternative names.
  auto cert = begin_certificate(key.get(), names[0].substr(0, 64), now_us, days);
  need(X509_set_issuer_name(cert.get(), X509_get_subject_name(issuer.get())) == 1, "issuer");
  add_extension(cert.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
  add_extension(cert.get(), issuer.get(), NID_key_usage, "critical,digitalSignature");
  add_extension(cert.get(), issuer.get(), NID_ext_key_usage, "serverAuth");
  add_extension(cert.get(), issuer.get(), NID_subject_key_identifier, "hash");
  add_extension(cert.get(), issuer.get(), NID_authority_key_identifier, "keyid:always");
  add_extension(cert.get(), issuer.get(), NID_subject_alt_name, alternative_names(names));
  need(X509_sign(cert.get(), issuer_key.get(), EVP_sha256()) > 0, "signature");
  return {to_pem(cert.get()), to_pem(key.get())};
}

bool certificate_serves(const std::string& cert_pem, const std::string& authority_pem,
                        std::span<const std::string> names, TimeUs now_us, TimeUs until_us) {
  auto cert = cert_from_pem(cert_pem);
  auto authority = cert_from_pem(authority_pem);
  ERR_clear_error();
  if (cert == nullptr || authority == nullptr) return false;
  auto now = static_cast<time_t>(now_us / kSecondUs);
  auto until = static_cast<time_t>(until_us / kSecondUs);
  for (auto* each : {cert.get(), authority.get()})
    if (X509_cmp_time(X509_get0_notBefore(each), &now) >= 0 ||
        X509_cmp_time(X509_get0_notAfter(each), &until) <= 0)
      return false;
  bool is_signed = X509_verify(cert.get(), X509_get0_pubkey(authority.get())) == 1;
  ERR_clear_error();
  return is_signed && names_match(cert.get(), names);
}

}  // namespace sk::http
