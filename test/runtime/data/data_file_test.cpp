// Files of one input: lists, patterns, folders, archives, and errors.
#include "runtime/data/dataset.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include <sys/stat.h>
#include <zlib.h>

using namespace mtc::test;
using namespace mtc::runtime;
using testing::HasSubstr;

namespace {

/// An input x [2, 3] of floats and labels [2] below 50.
class DataFiles : public testing::Test {
protected:
  TemporaryFolder folder;
  int64_t dims[2] = {2, 3};
  MtcInput inputs[2] = {
      {{"x", MTC_F32, 2, dims, 0, 24, MTC_DEVICE}, 0, 0, 0, 0, -1, 0, 0, 0, ""},
      {{"labels", MTC_I64, 1, dims, 64, 16, MTC_DEVICE}, 1, 0, 0, 0, -1, 0, 50, -100, "the loss"}};
  MtcProgram program{};
  alignas(64) char arena[128];

  void SetUp() override {
    program.loss = "cross-entropy";
    program.batch = 2;
    program.accumulation.micro_steps = 1;
    program.input_count = 1;
    program.inputs = inputs;
  }

  template <typename T>
  std::string npyOf(const std::string &descr, const std::string &shape,
                    const std::vector<T> &values) {
    return npyBytes(descr, shape, bytesOf(values));
  }
  std::string write(const std::string &name, const std::string &bytes) {
    writeFile(folder / name, bytes);
    return folder / name;
  }
  /// A file of one sample whose elements are `value`.
  std::string sample(const std::string &name, float value) {
    return write(name, npyOf<float>("<f4", "(1, 3)", {value, value, value}));
  }
  /// The first elements of two samples.
  std::vector<float> load(Dataset &data, std::vector<int64_t> rows) {
    data.load({std::move(rows)}, {arena, arena + 64});
    std::vector<float> values(6);
    std::memcpy(values.data(), arena, 24);
    return {values[0], values[3]};
  }
  std::string refusal(const std::string &value, std::vector<int64_t> rows = {}) {
    try {
      Dataset data(program, {{"x", value}}, false);
      if (!rows.empty())
        load(data, std::move(rows));
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exitCode(), exitUserInput);
      return failure.what();
    }
    return "";
  }
};

/// A member of a ZIP archive, deflated if `isDeflated`.
struct Member {
  std::string name, bytes;
  bool isDeflated = false;
};

template <typename Number> void append(std::string &to, Number number) {
  to.append(reinterpret_cast<const char *>(&number), sizeof number);
}

std::string deflate(const std::string &bytes) {
  std::string result(bytes.size() + 100, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

/// A ZIP archive. `isZip64` stores sizes in the ZIP64 field, as np.savez does for large members.
std::string zipOf(const std::vector<Member> &members, bool isZip64 = false) {
  std::string file, directory;
  for (const Member &member : members) {
    const std::string data = member.isDeflated ? deflate(member.bytes) : member.bytes;
    const auto checksum =
        static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef *>(member.bytes.data()),
                                    static_cast<uInt>(member.bytes.size())));
    std::string extra;
    if (isZip64) {
      append<uint16_t>(extra, 1);
      append<uint16_t>(extra, 16);
      append<uint64_t>(extra, member.bytes.size());
      append<uint64_t>(extra, data.size());
    }
    auto fields = [&](std::string &to) {
      append<uint16_t>(to, 45);
      append<uint16_t>(to, 0);
      append<uint16_t>(to, member.isDeflated ? 8 : 0);
      append<uint32_t>(to, 0);
      append<uint32_t>(to, checksum);
      append<uint32_t>(to, isZip64 ? 0xffffffff : static_cast<uint32_t>(data.size()));
      append<uint32_t>(to, isZip64 ? 0xffffffff : static_cast<uint32_t>(member.bytes.size()));
      append<uint16_t>(to, static_cast<uint16_t>(member.name.size()));
      append<uint16_t>(to, static_cast<uint16_t>(extra.size()));
    };
    directory += "PK\1\2";
    append<uint16_t>(directory, 45);
    fields(directory);
    directory.append(10, '\0');
    append<uint32_t>(directory, static_cast<uint32_t>(file.size()));
    directory += member.name + extra;
    file += "PK\3\4";
    fields(file);
    file += member.name + extra + data;
  }
  const auto start = static_cast<uint32_t>(file.size());
  file += directory + std::string("PK\5\6\0\0\0\0", 8);
  append<uint16_t>(file, static_cast<uint16_t>(members.size()));
  append<uint16_t>(file, static_cast<uint16_t>(members.size()));
  append<uint32_t>(file, static_cast<uint32_t>(directory.size()));
  append<uint32_t>(file, start);
  append<uint16_t>(file, 0);
  return file;
}

TEST_F(DataFiles, ListsArePatternsAndFoldersInOrder) {
  mkdir((folder / "shards").c_str(), 0700);
  const std::string b = sample("shards/b.npy", 2), a = sample("shards/a.npy", 1),
                    c = sample("c.npy", 3);
  write("shards/readme.txt", "");
  auto firsts = [&](const std::string &value) {
    Dataset data(program, {{"x", value}}, false);
    std::vector<float> all;
    all.reserve(static_cast<size_t>(data.rows()));
    for (int64_t row = 0; row < data.rows(); ++row)
      all.push_back(load(data, {row, 0})[0]);
    return all;
  };
  EXPECT_EQ(firsts(b + "," + a), (std::vector<float>{2, 1}));
  EXPECT_EQ(firsts(folder / "shards"), (std::vector<float>{1, 2}));
  EXPECT_EQ(firsts(folder / "shards/"), (std::vector<float>{1, 2}));
  EXPECT_EQ(firsts(folder / "shards/*.npy"), (std::vector<float>{1, 2}));
  EXPECT_EQ(firsts(c + "," + (folder / "shards/[ab].npy")), (std::vector<float>{3, 1, 2}));
  // Names that exist are neither lists nor patterns.
  EXPECT_EQ(firsts(sample("x,y*.npy", 7)), (std::vector<float>{7}));
}

TEST_F(DataFiles, RowsAcrossFiles) {
  const std::string one = write("1.npy", npyOf<uint8_t>("|u1", "(2, 3)", {0, 0, 0, 1, 1, 1})),
                    two = write("2.npy", npyOf<uint8_t>("|u1", "(0, 3)", {})),
                    three = write("3.npy", npyOf<uint8_t>("|u1", "(1, 3)", {2, 2, 2}));
  Dataset data(program, {{"x", one + "," + two + "," + three}}, false);
  EXPECT_EQ(data.rows(), 3);
  EXPECT_EQ(load(data, {1, 2}), (std::vector<float>{1, 2}));
  EXPECT_EQ(load(data, {2, 0}), (std::vector<float>{2, 0}));
}

TEST_F(DataFiles, ArraysOfArchives) {
  const std::string x = npyOf<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6}),
                    y = npyOf<double>("<f8", "(2, 3)", {7, 8, 9, 10, 11, 12});
  for (bool isDeflated : {false, true})
    for (bool isZip64 : {false, true}) {
      const std::string file =
          write("a.npz", zipOf({{"x.npy", x, isDeflated}, {"y.npy", y, isDeflated}}, isZip64));
      Dataset own(program, {{"x", file}}, false);
      EXPECT_EQ(load(own, {1, 0}), (std::vector<float>{4, 1}));
      Dataset named(program, {{"x", file + ":y"}}, false);
      EXPECT_EQ(load(named, {1, 0}), (std::vector<float>{10, 7}));
      const std::string single = write("s.npz", zipOf({{"arr_0.npy", y, isDeflated}}, isZip64));
      Dataset only(program, {{"x", single + "," + file + ":y"}}, false);
      EXPECT_EQ(load(only, {2, 3}), (std::vector<float>{7, 10}));
    }
}

TEST_F(DataFiles, BrokenArchives) {
  const std::string x = npyOf<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6});
  auto with = [&](const std::string &bytes, const std::string &choice = "") {
    return refusal(write("a.npz", bytes) + choice);
  };
  EXPECT_THAT(with(""), HasSubstr("is no ZIP archive"));
  EXPECT_THAT(with(x), HasSubstr("is no ZIP archive"));
  EXPECT_THAT(with(zipOf({{"a.npy", x}, {"b.npy", x}})),
              HasSubstr("holds several arrays (a, b); choose one with"));
  EXPECT_THAT(with(zipOf({{"ab.npy", x}, {"b.npy", x}}), ":abc"),
              HasSubstr("has no array 'abc'; did you mean 'ab'"));
  EXPECT_THAT(with(zipOf({})), HasSubstr("it holds none"));
  EXPECT_THAT(with(zipOf({{"a.txt", "text"}})), HasSubstr("a.npz:a.txt: is not a .npy file"));
  std::string damaged = zipOf({{"x.npy", x, true}});
  damaged[60] ^= 0x10;
  EXPECT_THAT(with(damaged), HasSubstr("a.npz:x.npy: is damaged"));
  std::string encrypted = zipOf({{"x.npy", x}});
  encrypted[encrypted.rfind("PK\1\2") + 8] |= 1;
  EXPECT_THAT(with(encrypted), HasSubstr("'x.npy' is encrypted"));
  std::string method = zipOf({{"x.npy", x}});
  method[method.rfind("PK\1\2") + 10] = 12;
  EXPECT_THAT(with(method), HasSubstr("is compressed by method 12; expected a file of np.savez"));
  const std::string whole = zipOf({{"x.npy", x}});
  for (size_t cut = 1; cut < whole.size(); cut += 7) // The end record is at the end.
    EXPECT_NE(with(whole.substr(cut)), "") << cut;
}

TEST_F(DataFiles, FilesThatDoNotBelongTogether) {
  const std::string a = sample("a.npy", 1);
  EXPECT_THAT(refusal(a + "," + write("b.npy", npyOf<float>("<f4", "(1, 4)", {1, 2, 3, 4}))),
              HasSubstr("b.npy: has shape [1, 4], but " + a + " has [1, 3]"));
  EXPECT_THAT(refusal(a + "," + write("b.npy", npyOf<uint8_t>("|u1", "(1, 3)", {1, 2, 3}))),
              HasSubstr("b.npy: holds u8, but " + a + " holds f32"));
  EXPECT_THAT(refusal(a + "," + write("b.bin", "abcd")), HasSubstr("b.bin: is a token file"));
  EXPECT_THAT(refusal(a + ",,"), HasSubstr("a name in this list of files is empty"));
  EXPECT_THAT(refusal(a + "," + (folder / "none.npy")), HasSubstr("none.npy: cannot be opened"));
  EXPECT_THAT(refusal(folder / "*.txt"), HasSubstr("*.txt: no file matches this pattern"));
  mkdir((folder / "empty").c_str(), 0700);
  EXPECT_THAT(refusal(folder / "empty"), HasSubstr("is a folder without .npy files; python -m"));
  write("empty/t.bin", "");
  EXPECT_THAT(refusal(folder / "empty"), HasSubstr("expected a pattern such as '"));
  EXPECT_THAT(refusal(write("a.csv", "1,2")), HasSubstr("a.csv: is no known data file"));
}

TEST_F(DataFiles, WrongValuesNameTheirFile) {
  program.input_count = 2;
  const std::string x = sample("a.npy", 1) + "," + sample("b.npy", 2);
  auto with = [&](const std::string &second) {
    Dataset data(
        program,
        {{"x", x}, {"labels", write("l.npy", npyOf<double>("<f8", "(1,)", {3})) + "," + second}},
        false);
    try {
      load(data, {0, 1});
    } catch (const Failure &failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  EXPECT_EQ(with(write("m.npy", npyOf<double>("<f8", "(1,)", {49}))), "");
  EXPECT_THAT(with(write("m.npy", npyOf<double>("<f8", "(1,)", {50}))),
              HasSubstr(folder / "m.npy: row 0 holds 50 (element 0); the loss takes 0 to 49"));
  EXPECT_THAT(with(write("m.npy", npyOf<double>("<f8", "(1,)", {0.5}))),
              HasSubstr(folder / "m.npy: row 0 holds 0.5 (element 0); the input 'labels' is i64"));
}

TEST_F(DataFiles, NormalizedWhileReading) {
  // 5000 elements of a sample exceed the buffer of conversions.
  constexpr int64_t side = 2500;
  int64_t wide[3] = {2, 2, side};
  std::vector<char> memory(2 * 2 * side * sizeof(float) + 64);
  inputs[0].tensor.rank = 3;
  inputs[0].tensor.dims = wide;
  inputs[0].tensor.bytes = 2 * 2 * side * 4;
  std::vector<uint8_t> pixels(2 * 2 * side);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<uint8_t>(i % 251);
  const std::string file = write("i.npy", npyOf<uint8_t>("|u1", "(2, 2, 2500)", pixels));
  DataTransforms transforms;
  transforms.normalizations["x"] = {parseScale("1/255"), {0.5F, 0.25F}, {2}};
  Dataset data(program, {{"x", file}}, false, "--data", transforms);
  data.load({{0, 1}}, {memory.data()});
  const auto *values = reinterpret_cast<const float *>(memory.data());
  for (size_t i = 0; i < pixels.size(); ++i)
    ASSERT_EQ(values[i], (pixels[i] / 255.0F - (i / side % 2 ? 0.25F : 0.5F)) / 2) << i;
}

TEST_F(DataFiles, TokenFilesAreCutOneByOne) {
  int64_t tokenDims[2] = {2, 3};
  MtcInput language[2] = {
      {{"ids", MTC_I64, 2, tokenDims, 0, 48, MTC_DEVICE}, 0, 0, 0, 0, -1, 0, 50, -100, "Gather"},
      {{"labels", MTC_I64, 2, tokenDims, 64, 48, MTC_DEVICE}, 1, 0, 0, 0, 0, 0, 50, -100, "loss"}};
  program.inputs = language;
  program.input_count = 2;
  program.loss = "causal-lm";
  // Six tokens are one sample, since the last label of a second one would be in the next file.
  write("1.bin", bytesOf<uint16_t>({1, 2, 3, 4, 5, 6}));
  write("2.bin", bytesOf<uint16_t>({9, 9}));
  write("3.bin", bytesOf<uint16_t>({11, 12, 13, 14, 15, 16, 17, 18}));
  using Ids = std::vector<int64_t>;
  auto check = [&](const std::vector<std::pair<std::string, std::string>> &flags) {
    Dataset data(program, flags, false);
    EXPECT_EQ(data.rows(), 3);
    data.load({{2, 0}}, {arena, arena + 64});
    Ids ids(6), labels(6);
    std::memcpy(ids.data(), arena, 48);
    std::memcpy(labels.data(), arena + 64, 48);
    EXPECT_EQ(ids, (Ids{14, 15, 16, 1, 2, 3}));
    EXPECT_EQ(labels, (Ids{15, 16, 17, 2, 3, 4}));
  };
  check({{"ids", folder / "*.bin:u16"}});
  check({{"ids", folder / "*.bin"}, {"labels", folder / "*.bin"}});
  write("3.bin", bytesOf<uint16_t>({11, 12, 13, 14, 15, 99, 17, 18}));
  Dataset data(program, {{"ids", folder / "*.bin"}}, false);
  try {
    data.load({{2, 0}}, {arena, arena + 64});
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_THAT(failure.what(), HasSubstr(folder / "3.bin: token 5 is 99; Gather takes 0 to 49"));
  }
  write("1.bin", bytesOf<uint16_t>({1, 2, 3}));
  EXPECT_THAT(refusal(""), HasSubstr("'x'"));
  try {
    Dataset none(program, {{"ids", folder / "[12].bin"}}, false);
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_THAT(failure.what(), HasSubstr("holds 5 tokens; one row takes 4, and does not cross"));
  }
}

} // namespace
