#include "http/multipart.h"

#include <gtest/gtest.h>
#include "support/property.h"

namespace sk::http {
namespace {

struct Part {
  std::string name;
  std::optional<std::string> filename;
  std::string type;
  std::string data;
  bool operator==(const Part&) const = default;
};

void showValue(const Part& part, std::ostream& out) {
  out << part.name << "=" << part.data.size() << " bytes";
}

// Feeds `body` cut at `cuts` (each a length).
std::vector<Part> parse(const std::string& boundary, std::string_view body,
                        const std::vector<size_t>& cuts = {},
                        MultipartParser::Limits limits = {.parts_max = 100}) {
  std::vector<Part> parts;
  bool open = false;
  MultipartParser parser(boundary,
                         {.begin =
                              [&](const MultipartPart& part) {
                                EXPECT_FALSE(open);
                                open = true;
                                parts.push_back({part.name, part.filename, part.content_type, {}});
                              },
                          .data =
                              [&](std::string_view bytes) {
                                EXPECT_TRUE(open);
                                EXPECT_FALSE(bytes.empty());
                                parts.back().data += bytes;
                              },
                          .end =
                              [&] {
                                EXPECT_TRUE(open);
                                open = false;
                              }},
                         limits);
  for (size_t cut : cuts) {
    auto size = std::min(cut, body.size());
    parser.feed(body.substr(0, size));
    body.remove_prefix(size);
  }
  parser.feed(body);
  parser.finish();
  EXPECT_FALSE(open);
  return parts;
}

std::string simple_body() {
  return "preamble to ignore\r\n"
         "--XX\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nuser_data\r\n"
         "--XX  \r\nContent-Disposition: form-data; name=\"file\"; filename=\"a b.txt\"\r\nContent-Type: "
         "text/plain\r\n\r\nline 1\r\n--X not yet\r\n\r\n"
         "\r\n--XX\r\nContent-Disposition: form-data; name=empty\r\n\r\n\r\n"
         "--XX\r\nContent-Disposition: form-data; name=none\r\n\r\n"
         "--XX--\r\nepilogue --XX to ignore";
}

std::vector<Part> simple_parts() {
  return {{"purpose", std::nullopt, "", "user_data"},
          {"file", "a b.txt", "text/plain", "line 1\r\n--X not yet\r\n\r\n"},
          {"empty", std::nullopt, "", ""},
          {"none", std::nullopt, "", ""}};
}

TEST(Multipart, ReadsPartsWithTheirNamesAndBytes) { EXPECT_EQ(parse("XX", simple_body()), simple_parts()); }

TEST(Multipart, DoesNotCareWhereTheBodyIsCutInTwo) {
  auto body = simple_body();
  for (size_t i = 0; i <= body.size(); ++i)
    EXPECT_EQ(parse("XX", body, {i}), simple_parts()) << "cut at " << i;
}

TEST(Multipart, ReadsABodyByteByByte) {
  auto body = simple_body();
  EXPECT_EQ(parse("XX", body, std::vector<size_t>(body.size(), 1)), simple_parts());
}

std::string build(const std::string& boundary,
                  const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string body;
  for (const auto& [name, data] : parts)
    body +=
        "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + data + "\r\n";
  return body + "--" + boundary + "--\r\n";
}

TEST(Multipart, GivesTheSamePartsHoweverItIsSplit) {
  bool holds = test::check_property("random splitting", [] {
    // An alphabet that is rich in near-delimiters.
    auto piece = rc::gen::container<std::string>(rc::gen::elementOf(std::string("\r\n-Bb0 ")));
    auto data = *rc::gen::container<std::vector<std::string>>(piece);
    auto cuts = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, 9));
    const std::string boundary = "B0b";
    std::vector<std::pair<std::string, std::string>> parts;
    std::vector<Part> expected;
    for (const auto& text : data) {
      RC_PRE(("\r\n" + text).find("\r\n--" + boundary) == std::string::npos);
      parts.emplace_back("n" + std::to_string(parts.size()), text);
      expected.push_back({parts.back().first, std::nullopt, "", text});
    }
    RC_ASSERT(parse(boundary, build(boundary, parts), cuts) == expected);
  });
  EXPECT_TRUE(holds);
}

std::optional<std::string> filename_of(const std::string& disposition) {
  auto parts = parse("XX", "--XX\r\nContent-Disposition: " + disposition + "\r\n\r\nx\r\n--XX--");
  return parts.at(0).filename;
}

TEST(Multipart, UnderstandsHowClientsWriteFileNames) {
  EXPECT_EQ(filename_of("form-data; name=f; filename=\"räksmörgås.txt\""), "räksmörgås.txt");
  EXPECT_EQ(filename_of("form-data; name=f; filename=\"x\"; filename*=UTF-8''r%C3%A4ka.txt"), "räka.txt");
  EXPECT_EQ(filename_of("form-data; name=f; filename*=iso-8859-1'en'%E4.txt; filename=\"x\""), "ä.txt");
  EXPECT_EQ(filename_of("form-data; name=f; filename=\"say \\\"hi\\\".txt\""), "say \"hi\".txt");
  EXPECT_EQ(filename_of("form-data; name=f; filename=\"say %22hi%22.txt\""), "say \"hi\".txt");
  EXPECT_EQ(filename_of("form-data; name=f; filename=\"C:\\tmp\\x.txt\""), "C:\\tmp\\x.txt");
  EXPECT_EQ(filename_of("form-data; name=f; filename=\"a;b=c.txt\""), "a;b=c.txt");
  EXPECT_EQ(filename_of("form-data; name=f; filename=plain.txt"), "plain.txt");
  EXPECT_EQ(filename_of("form-data; name=f; filename=\"\""), "");
  EXPECT_EQ(filename_of("form-data; name=f"), std::nullopt);
}

Code code_of(const std::string& body, MultipartParser::Limits limits = {.parts_max = 100}) {
  try {
    parse("XX", body, {}, limits);
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "accepted: " << body.substr(0, 200);
  return Code::internal;
}

TEST(Multipart, RefusesWhatIsMalformed) {
  EXPECT_EQ(code_of(""), Code::bad_request);
  EXPECT_EQ(code_of("no boundary at all"), Code::bad_request);
  EXPECT_EQ(code_of("--XX\r\nContent-Disposition: form-data; name=a\r\n\r\ntruncated"), Code::bad_request);
  EXPECT_EQ(code_of("--XXY\r\n\r\n--XX--"), Code::bad_request);
  EXPECT_EQ(code_of("--XX\r\n\r\nno headers\r\n--XX--"), Code::bad_request);
  EXPECT_EQ(code_of("--XX\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--XX--"), Code::bad_request);
  EXPECT_EQ(code_of("--XX\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XX--"), Code::bad_request);
  EXPECT_EQ(code_of("--XX\r\nContent-Disposition: form-data; name=\"open\r\n\r\nx\r\n--XX--"),
            Code::bad_request);
  EXPECT_EQ(code_of("--XX\r\nno colon\r\n\r\nx\r\n--XX--"), Code::bad_request);
}

TEST(Multipart, BoundsHeadersAndParts) {
  std::string huge = "--XX\r\nContent-Disposition: form-data; name=a\r\nX: " + std::string(5000, 'x') +
                     "\r\n\r\nx\r\n--XX--";
  EXPECT_EQ(code_of(huge, {.header_bytes_max = 1000, .parts_max = 10}), Code::too_large);
  EXPECT_EQ(code_of("--XX\r\n" + std::string(5000, 'x'), {.header_bytes_max = 1000, .parts_max = 10}),
            Code::too_large);
  std::vector<std::pair<std::string, std::string>> many(11, {"a", "b"});
  EXPECT_EQ(code_of(build("XX", many), {.header_bytes_max = 1000, .parts_max = 10}), Code::too_large);
}

TEST(Multipart, FindsTheBoundaryInTheContentType) {
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(multipart_boundary("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\""), "a b");
  for (auto [text, code] : std::vector<std::pair<std::optional<std::string>, Code>>{
           {std::nullopt, Code::unsupported_media_type},
           {"application/json", Code::unsupported_media_type},
           {"multipart/form-data", Code::bad_request},
           {"multipart/form-data; boundary=", Code::bad_request},
           {"multipart/form-data; boundary=" + std::string(71, 'x'), Code::bad_request}}) {
    try {
      multipart_boundary(text);
      ADD_FAILURE() << text.value_or("none");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << text.value_or("none");
    }
  }
}

}  // namespace
}  // namespace sk::http
