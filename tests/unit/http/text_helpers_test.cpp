// Content-Disposition, forwarded addresses, request heads, gzip: the small pure parts.
#include <gtest/gtest.h>
#include <zlib.h>
#include "support/property.h"

#include "base/text.h"
#include "http/content_disposition.h"
#include "http/forwarded.h"
#include "http/gzip.h"
#include "http/request_head.h"

namespace sk::http {
namespace {

TEST(ContentDisposition, NamesPlainFilesPlainly) {
  EXPECT_EQ(content_disposition(Disposition::show, "plot.png"), "inline; filename=\"plot.png\"");
  EXPECT_EQ(content_disposition(Disposition::download, ""), "attachment");
}

TEST(ContentDisposition, NamesOtherFilesTwice) {
  EXPECT_EQ(content_disposition(Disposition::download, "räka \"1\".txt"),
            "attachment; filename=\"r_ka _1_.txt\"; filename*=UTF-8''r%C3%A4ka%20%221%22.txt");
  EXPECT_EQ(content_disposition(Disposition::download, "a\r\nSet-Cookie: x"),
            "attachment; filename=\"a__Set-Cookie: x\"; filename*=UTF-8''a%0D%0ASet-Cookie%3A%20x");
}

TEST(ContentDisposition, GivesAnyNameBackAndNeverBreaksTheLine) {
  bool holds = test::check_property("round trip", [](const std::string& raw) {
    auto header = content_disposition(Disposition::download, raw);
    RC_ASSERT(header.find_first_of("\r\n") == std::string::npos);
    auto parsed = parse_content_disposition(header);
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(parsed->type == "attachment");
    if (is_utf8(raw) && !raw.empty()) RC_ASSERT(parsed->params.at("filename") == raw);
  });
  EXPECT_TRUE(holds);
}

Headers headers_of(const std::vector<std::pair<std::string, std::string>>& fields) {
  Headers headers;
  for (const auto& [name, value] : fields) headers.add(name, value);
  return headers;
}

Forwarded resolve(const std::vector<std::string>& trusted, const std::string& peer, const Headers& headers,
                  const std::string& url = "") {
  return resolve_forwarded(TrustedProxies(trusted),
                           {.peer_address = peer, .public_url = url, .scheme = "http"}, headers);
}

TEST(Forwarded, TrustsNoProxyByDefault) {
  auto headers = headers_of({{"Host", "real:8080"},
                             {"X-Forwarded-For", "6.6.6.6"},
                             {"X-Forwarded-Host", "evil"},
                             {"X-Forwarded-Proto", "https"}});
  auto result = resolve({}, "1.2.3.4", headers);
  EXPECT_EQ(result.remote_address, "1.2.3.4");
  EXPECT_EQ(result.base_url, "http://real:8080");
}

TEST(Forwarded, TrustsProxiesUpToTheFirstUntrustedAddress) {
  auto headers = headers_of({{"Host", "inner"},
                             {"X-Forwarded-For", "6.6.6.6, 9.9.9.9"},
                             {"X-Forwarded-For", "10.1.2.3"},
                             {"X-Forwarded-Host", "files.example.org"},
                             {"X-Forwarded-Proto", "https"}});
  auto result = resolve({"10.0.0.0/8"}, "10.0.0.1", headers);
  EXPECT_EQ(result.remote_address, "9.9.9.9");
  EXPECT_EQ(result.base_url, "https://files.example.org");
}

TEST(Forwarded, ReadsPortsBracketsAndBothFamilies) {
  EXPECT_EQ(resolve({"::1"}, "::1", headers_of({{"X-Forwarded-For", "[2001:db8::7]:443"}})).remote_address,
            "2001:db8::7");
  EXPECT_EQ(resolve({"2001:db8::/32"}, "2001:db8::1", headers_of({{"X-Forwarded-For", "4.4.4.4:99"}}))
                .remote_address,
            "4.4.4.4");
  EXPECT_EQ(resolve({"127.0.0.1"}, "127.0.0.1", headers_of({{"X-Forwarded-For", "garbage"}})).remote_address,
            "127.0.0.1");
  EXPECT_FALSE(TrustedProxies({"2001:db8::/33"}).contains("2001:db8:8000::1"));
  EXPECT_TRUE(TrustedProxies({"192.168.1.0/25"}).contains("192.168.1.127"));
  EXPECT_FALSE(TrustedProxies({"192.168.1.0/25"}).contains("192.168.1.128"));
}

TEST(Forwarded, PrefersThePublicUrl) {
  EXPECT_EQ(resolve({}, "1.2.3.4", headers_of({{"Host", "x"}}), "https://files.example.org/").base_url,
            "https://files.example.org");
}

TEST(Forwarded, BuildsNoAddressFromAnInvalidHost) {
  for (auto host : {"a b", "<script>", "x/y", "a:99999", "a:", "[::1", "-", ""}) {
    bool fine = std::string(host) == "-";
    EXPECT_EQ(resolve({}, "1.2.3.4", headers_of({{"Host", host}})).base_url.empty(), !fine) << host;
  }
  EXPECT_TRUE(is_host("[::1]:80"));
}

TEST(Forwarded, RefusesProxiesThatAreNoAddresses) {
  for (auto text : {"proxy.local", "10.0.0.0/33", "1.2.3", "::/129", "10.0.0.0/x", ""})
    EXPECT_THROW(TrustedProxies({text}), Error) << text;
}

Code framing_error(const std::vector<std::pair<std::string, std::string>>& fields,
                   const char* version = "HTTP/1.1") {
  try {
    parse_framing(headers_of(fields), version);
  } catch (const Error& error) {
    return error.code();
  }
  return Code::internal;
}

TEST(Framing, RefusesWhatTwoParsersCouldReadDifferently) {
  EXPECT_EQ(framing_error({{"Host", "a"}, {"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}}),
            Code::bad_request);
  EXPECT_EQ(framing_error({{"Host", "a"}, {"Content-Length", "5"}, {"Content-Length", "6"}}),
            Code::bad_request);
  EXPECT_EQ(framing_error({{"Host", "a"}, {"Content-Length", "5"}, {"Content-Length", "5"}}),
            Code::bad_request);
  EXPECT_EQ(framing_error({{"Host", "a"}, {"Content-Length", "-5"}}), Code::bad_request);
  EXPECT_EQ(framing_error({{"Host", "a"}, {"Content-Length", "5, 5"}}), Code::bad_request);
  EXPECT_EQ(framing_error({{"Host", "a"}, {"Transfer-Encoding", "gzip"}}), Code::not_implemented);
  EXPECT_EQ(
      framing_error({{"Host", "a"}, {"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}}),
      Code::not_implemented);
  EXPECT_EQ(framing_error({{"Host", "a"}, {"Host", "b"}}), Code::bad_request);
  EXPECT_EQ(framing_error({}), Code::bad_request);
  EXPECT_EQ(framing_error({}, "HTTP/1.0"), Code::internal);
}

TEST(Framing, SaysHowTheBodyIsDelimited) {
  EXPECT_EQ(parse_framing(headers_of({{"Host", "a"}, {"Content-Length", "5"}}), "HTTP/1.1").length, 5u);
  auto chunked = parse_framing(
      headers_of({{"Host", "a"}, {"Transfer-Encoding", "Chunked"}, {"Expect", "100-Continue"}}), "HTTP/1.1");
  EXPECT_TRUE(chunked.chunked && chunked.has_body() && chunked.expects_continue);
}

TEST(Target, IsSplitAndDecoded) {
  Request request;
  request.method = "GET";
  request.target = "http://proxy.example/a%20b?x=%2B+1&&y";
  parse_target(request);
  EXPECT_EQ(request.path, "/a%20b");
  EXPECT_EQ(request.query_value("x"), "+ 1");
  EXPECT_EQ(request.query_value("y"), "");
  EXPECT_EQ(request.query_value("z"), std::nullopt);
}

TEST(Target, MustBeAPathWithSoundEscapes) {
  for (auto target : {"", "x", "*", "?a", "ftp://x/y", "/?x=%", "/?%zz", "/?a=%00"}) {
    Request request;
    request.method = "GET";
    request.target = target;
    bool fine = request.target == "?a";  // "http://host?a" loses its authority to this
    try {
      parse_target(request);
      EXPECT_TRUE(fine) << target;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_request) << target;
    }
  }
}

TEST(RequestId, IsTakenFromTheClientOnlyWhenHarmless) {
  EXPECT_EQ(harmless_request_id(headers_of({{"X-Request-Id", "abc-1.2_Z"}})), "abc-1.2_Z");
  for (const auto& id :
       {std::string(), std::string("a b"), std::string("x\ny"), std::string(65, 'x'), std::string("a\"b")})
    EXPECT_EQ(harmless_request_id(headers_of({{"X-Request-Id", id}})), std::nullopt) << id;
}

TEST(Gzip, IsUsedWhereTheClientWantsIt) {
  EXPECT_TRUE(accepts_gzip("gzip"));
  EXPECT_TRUE(accepts_gzip("deflate, gzip;q=0.5"));
  EXPECT_TRUE(accepts_gzip("*"));
  EXPECT_FALSE(accepts_gzip(""));
  EXPECT_FALSE(accepts_gzip("br"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0"));
  EXPECT_FALSE(accepts_gzip("*;q=0"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0.000, *"));
}

TEST(Gzip, IsNotForFilesRangesAndSmallReplies) {
  std::string text(5000, 'x');
  EXPECT_TRUE(worth_gzip(Reply::text(text)));
  EXPECT_TRUE(worth_gzip(Reply::text(text, "application/json")));
  EXPECT_FALSE(worth_gzip(Reply::text("short")));
  EXPECT_FALSE(worth_gzip(Reply::text(text, "image/png")));
  for (auto name : {"ETag", "Content-Range", "Content-Encoding", "Content-Disposition"}) {
    auto reply = Reply::text(text);
    reply.headers.set(name, "x");
    EXPECT_FALSE(worth_gzip(reply)) << name;
  }
}

std::string gunzip(const std::string& data, size_t size) {
  std::string out(size, '\0');
  z_stream stream{};
  EXPECT_EQ(::inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  ::inflateEnd(&stream);
  return out;
}

TEST(Gzip, CanBeUndone) {
  bool holds = test::check_property(
      "round trip", [](const std::string& text) { RC_ASSERT(gunzip(gzip(text), text.size()) == text); });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace sk::http
