// Frames of a session's channel: whatever bytes come, in whatever pieces.
#include "sandbox/frames.h"

#include <gtest/gtest.h>
#include "support/property.h"

#include "sandbox/kernel_messages.h"
#include "support/expect_error.h"

namespace sk::sandbox {
namespace {

using test::expect_error;

std::vector<std::string> read_all(FrameReader& reader) {
  std::vector<std::string> out;
  while (auto text = reader.next()) out.push_back(*text);
  return out;
}

RC_GTEST_PROP(Frames, ComeOutAsTheyWentInHoweverTheStreamIsCut, (const std::vector<std::string>& texts)) {
  std::string stream;
  for (const auto& text : texts) stream += make_frame(text);
  FrameReader reader;
  std::vector<std::string> out;
  size_t at = 0;
  while (at < stream.size()) {
    auto piece = *rc::gen::inRange<size_t>(1, 40);
    reader.append(std::string_view(stream).substr(at, piece));
    at += piece;
    for (auto& text : read_all(reader)) out.push_back(std::move(text));
  }
  RC_ASSERT(out == texts);
  RC_ASSERT(reader.bytes_held() == 0u);
}

TEST(Frames, RefuseALengthOverTheLimit) {
  FrameReader reader(100);
  reader.append(std::string("\x65\0\0\0", 4));
  expect_error(Code::bad_request, [&] { reader.next(); });
  expect_error(Code::too_large, [] { make_frame(std::string(kFrameBytesMax + 1, 'x')); });
}

TEST(Frames, DoNotReserveWhatAHeaderPromises) {
  FrameReader reader;
  std::string header{'\0', '\0', '\0', '\1'};  // 16 MiB
  reader.append(header + "a few bytes");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.bytes_held(), 4u + 11u);
}

TEST(KernelMessages, AreRefusedWhenTheyAreNotWhatAKernelSends) {
  const char* bad[] = {
      "", "null", "[]", "1", "{", R"({"t": "x"} trailing)", "{\"t\": \"\xff\"}", R"({"t": "\ud800"})"};
  for (const char* text : bad) expect_error(Code::bad_request, [&] { parse_kernel_frame(text); });
  std::string many = "{\"t\":\"order\"";
  for (int i = 0; i < 2'000; ++i) many += ",\"" + std::to_string(i) + "\":1";
  expect_error(Code::bad_request, [&] { parse_kernel_frame(many + "}"); });
}

TEST(KernelMessages, CheckTheTypeOfEveryField) {
  auto frame = [](const char* text) { return parse_kernel_frame(text); };
  expect_error(Code::bad_request, [&] { text_field(frame(R"({"a": 1})"), "a"); });
  expect_error(Code::bad_request, [&] { number_field(frame(R"({"a": -1})"), "a"); });
  expect_error(Code::bad_request, [&] { number_field(frame(R"({"a": 1.5})"), "a"); });
  expect_error(Code::bad_request, [&] { flag_field(frame(R"({"a": "true"})"), "a"); });
  expect_error(Code::bad_request, [&] { parse_bundle(frame("{}")); });
  expect_error(Code::bad_request, [&] { parse_bundle(frame(R"({"data": {"a": {}}})")); });
  expect_error(Code::bad_request, [&] { parse_bundle(frame(R"({"data": {"a": "?"}, "base64": ["a"]})")); });
  expect_error(Code::bad_request, [&] { parse_bundle(frame(R"({"data": {}, "base64": [1]})")); });
  expect_error(Code::bad_request, [&] { parse_done(frame(R"({"status": "fine"})")); });
  expect_error(Code::bad_request, [&] { parse_request(frame(R"({"params": []})")); });
  EXPECT_EQ(parse_done(frame(R"({"status": "ok", "exit_code": 99999})")).exit_code, 255);
}

TEST(KernelMessages, CarryBytesAsBase64) {
  auto bundle = parse_bundle(
      parse_kernel_frame(R"({"data": {"image/png": "iVA=", "text/plain": "x"}, "base64": ["image/png"]})"));
  ASSERT_NE(bundle.find("image/png"), nullptr);
  EXPECT_EQ(bundle.find("image/png")->content, "\x89P");
  EXPECT_TRUE(bundle.find("image/png")->is_binary);
  EXPECT_FALSE(bundle.find("text/plain")->is_binary);
  EXPECT_EQ(bundle.find("text/html"), nullptr);
}

}  // namespace
}  // namespace sk::sandbox
