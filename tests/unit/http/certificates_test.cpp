#include "http/certificates.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sk::http {
namespace {

constexpr TimeUs kNow = 1'900'000'000 * kSecondUs;
constexpr TimeUs kDay = 86'400 * kSecondUs;
const std::vector<std::string> kNames = {"localhost", "keep.example.org", "127.0.0.1", "::1"};

TEST(Certificates, AServerCertificateServesItsNamesAndAddressesUntilItEnds) {
  auto authority = make_authority("Test authority", kNow, 3650);
  auto server = make_server_certificate(authority, kNames, kNow, 90);
  EXPECT_TRUE(certificate_serves(server.cert_pem, authority.cert_pem, kNames, kNow, kNow + 89 * kDay));
  EXPECT_FALSE(certificate_serves(server.cert_pem, authority.cert_pem, kNames, kNow, kNow + 91 * kDay));
  EXPECT_FALSE(certificate_serves(server.cert_pem, authority.cert_pem, kNames, kNow - 2 * kDay, kNow));
}

TEST(Certificates, ANameThatIsNotInTheCertificateIsNotServed) {
  auto authority = make_authority("Test authority", kNow, 3650);
  auto server = make_server_certificate(authority, kNames, kNow, 90);
  for (std::string other : {"other.example.org", "127.0.0.2", "sub.localhost"}) {
    std::vector<std::string> names = {other};
    EXPECT_FALSE(certificate_serves(server.cert_pem, authority.cert_pem, names, kNow, kNow)) << other;
  }
}

TEST(Certificates, AnotherAuthorityDoesNotVerifyIt) {
  auto authority = make_authority("Test authority", kNow, 3650);
  auto other = make_authority("Test authority", kNow, 3650);
  auto server = make_server_certificate(authority, kNames, kNow, 90);
  EXPECT_FALSE(certificate_serves(server.cert_pem, other.cert_pem, kNames, kNow, kNow));
}

TEST(Certificates, WhatIsNoCertificateServesNothing) {
  auto authority = make_authority("Test authority", kNow, 3650);
  EXPECT_FALSE(certificate_serves("", authority.cert_pem, kNames, kNow, kNow));
  EXPECT_FALSE(certificate_serves("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                                  authority.cert_pem, kNames, kNow, kNow));
}

TEST(Certificates, AnAuthorityWhoseKeyIsAnothersIsRefused) {
  auto authority = make_authority("Test authority", kNow, 3650);
  authority.key_pem = make_authority("Test authority", kNow, 3650).key_pem;
  try {
    make_server_certificate(authority, kNames, kNow, 90);
    FAIL() << "it was used";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::corrupt);
  }
}

TEST(Certificates, ANameCannotInjectAnother) {
  auto authority = make_authority("Test authority", kNow, 3650);
  std::vector<std::string> names = {"a.example.org,DNS:b.example.org"};
  try {
    make_server_certificate(authority, names, kNow, 90);
    FAIL() << "it was signed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_request);
  }
}

}  // namespace
}  // namespace sk::http
