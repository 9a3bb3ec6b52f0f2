// Tests round trips of safetensors files, and every kind of malformed file.
#include "runtime/io/safetensors.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

using namespace mtc::test;
using namespace mtc::runtime;
using testing::HasSubstr;

namespace {

class Safetensors : public testing::Test {
protected:
  TemporaryFolder folder;

  std::string refusal(const std::string &bytes) {
    writeFile(folder / "a.safetensors", bytes);
    try {
      SafetensorsFile file(folder / "a.safetensors");
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exitCode(), exitUserInput);
      EXPECT_THAT(failure.what(), HasSubstr("a.safetensors"));
      return failure.what();
    }
    return "";
  }
  std::string refusal(const std::string &header, size_t dataBytes) {
    return refusal(safetensorsBytes(header, std::string(dataBytes, 'x')));
  }
};

TEST_F(Safetensors, RoundTripInAnyOrderOfWriting) {
  std::vector<SafetensorsEntry> entries = {{"b", MTC_F32, {2}},
                                           {"a\"\n", MTC_I64, {}},
                                           {"empty", MTC_BF16, {3, 0}},
                                           {"\xff", MTC_U8, {1}}};
  {
    SafetensorsWriter writer(folder / "w.safetensors", entries, {{"note", "x"}});
    int64_t number = -5;
    float values[2] = {1.5f, -2};
    uint8_t byte = 9;
    writer.write(3, 0, &byte, 1);
    writer.write(1, 0, &number, 8);
    writer.write(0, 4, &values[1], 4);
    writer.write(0, 0, &values[0], 4);
    EXPECT_FALSE(fileExists(folder / "w.safetensors")) << "visible before it is complete";
    writer.commit();
  }
  SafetensorsFile file(folder / "w.safetensors");
  ASSERT_EQ(file.tensors().size(), 4u);
  float values[2];
  file.find("b")->file->read(file.find("b")->offset, values, 8);
  EXPECT_EQ(values[0], 1.5f);
  EXPECT_EQ(values[1], -2.0f);
  int64_t number = 0;
  file.find("a\"\n")->file->read(file.find("a\"\n")->offset, &number, 8);
  EXPECT_EQ(number, -5);
  EXPECT_EQ(file.find("empty")->dims, (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(listFolder(folder.folder()).size(), 1u);
}

TEST_F(Safetensors, AbandonedWriterLeavesNothing) {
  {
    SafetensorsWriter writer(folder / "w.safetensors", {{"a", MTC_F32, {1}}});
  }
  EXPECT_TRUE(listFolder(folder.folder()).empty());
}

TEST_F(Safetensors, ReplacingKeepsTheMode) {
  writeFile(folder / "w.safetensors", "old");
  chmod((folder / "w.safetensors").c_str(), 0640);
  SafetensorsWriter writer(folder / "w.safetensors", {});
  writer.commit();
  struct stat status;
  stat((folder / "w.safetensors").c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(Safetensors, ReplacesWhatALinkLeadsTo) {
  writeFile(folder / "real", "old");
  ASSERT_EQ(symlink("real", (folder / "link").c_str()), 0);
  SafetensorsWriter writer(folder / "link", {});
  writer.commit();
  EXPECT_NE(readFile(folder / "real"), "old");
  struct stat status;
  lstat((folder / "link").c_str(), &status);
  EXPECT_TRUE(S_ISLNK(status.st_mode));
}

TEST_F(Safetensors, ValidHeaders) {
  EXPECT_EQ(refusal("{}", 0), "");
  EXPECT_EQ(
      refusal(
          R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}   )",
          8),
      "");
  EXPECT_EQ(
      refusal(
          R"({"y":{"dtype":"I8","shape":[3],"data_offsets":[4,7]},"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
          7),
      "");
}

TEST_F(Safetensors, BrokenFiles) {
  std::string good =
      safetensorsBytes(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "abcdefgh");
  ASSERT_EQ(refusal(good), "");
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(refusal(good.substr(0, length)), "") << length << " bytes";
  EXPECT_THAT(refusal(good + "x"), HasSubstr("belongs to nothing"));
  for (uint64_t length : {uint64_t{100'000'001}, uint64_t{1} << 63, ~uint64_t{0}, uint64_t{70}}) {
    std::string bytes = good;
    bytes.replace(0, 8, reinterpret_cast<const char *>(&length), 8);
    EXPECT_NE(refusal(bytes), "") << length;
  }
}

TEST_F(Safetensors, BrokenHeaders) {
  auto entry = [](const std::string &dtype, const std::string &shape, const std::string &offsets) {
    return R"({"x":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}}";
  };
  ASSERT_EQ(refusal(entry("\"F32\"", "[2]", "[0,8]"), 8), "");
  EXPECT_THAT(refusal(entry("\"F33\"", "[2]", "[0,8]"), 8), HasSubstr("F33"));
  for (const char *shape :
       {"[3]", "[-2]", "[2.0]", "[1e0]", "[\"2\"]", "2", "null", "[[2]]", "[[[[[2]]]]]",
        "[18446744073709551615, 2]", "[4611686018427387904, 8]", "[2305843009213693952]"})
    EXPECT_NE(refusal(entry("\"F32\"", shape, "[0,8]"), 8), "") << shape;
  for (const char *offsets : {"[0]", "[0,8,8]", "[8,0]", "[-8,0]", "[0,9]", "[1,9]", "[0,4]",
                              "null", "[0,18446744073709551615]"})
    EXPECT_NE(refusal(entry("\"F32\"", "[2]", offsets), 8), "") << offsets;
  for (const char *header : {"", "[]", "null", "{", "{\"x\":1}", "{\"x\":{}}", "{\"x\":[]}",
                             "{} {}", "{\"x\":{\"dtype\":\"F32\"}}"})
    EXPECT_NE(refusal(header, 0), "") << header;
  EXPECT_NE(refusal(std::string(100000, '['), 0), "");
  EXPECT_NE(refusal(std::string(50000, '{'), 0), "");
}

TEST_F(Safetensors, ManyTensorsTakeLinearTime) {
  constexpr int count = 100'000; // An hour where each costs a pass over those before it.
  std::string header = "{";
  for (int i = 0; i < count; ++i)
    header += (i ? ",\"t" : "\"t") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(i) + "," +
              std::to_string(i + 1) + "]}";
  EXPECT_EQ(refusal(header + "}", count), "");
}

TEST_F(Safetensors, HolesOverlapsAndRepetitions) {
  auto two = [](const char *a, const char *b, const char *name = "b") {
    return std::string(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)") + a + R"(},")" + name +
           R"(":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}";
  };
  ASSERT_EQ(refusal(two("[0,4]", "[4,8]"), 8), "");
  EXPECT_THAT(refusal(two("[0,4]", "[5,9]"), 9), HasSubstr("hole"));
  EXPECT_THAT(refusal(two("[1,5]", "[5,9]"), 9), HasSubstr("hole"));
  EXPECT_THAT(refusal(two("[0,4]", "[0,4]"), 4), HasSubstr("overlap"));
  EXPECT_THAT(refusal(two("[0,4]", "[3,7]"), 7), HasSubstr("overlap"));
  EXPECT_THAT(refusal(two("[0,4]", "[4,8]", "a"), 8), HasSubstr("twice"));
}

} // namespace
