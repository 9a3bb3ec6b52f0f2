// Tests the data of inputs: formats, conversion, labels from tokens, and errors.
#include "runtime/data/dataset.h"
#include "runtime/devices/device.h"
#include "runtime/support/failure.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include <sys/stat.h>

using namespace mtc::test;
using namespace mtc::runtime;
using testing::HasSubstr;
using testing::Not;

namespace {

using Flags = std::vector<std::pair<std::string, std::string>>;

/// The inputs of a language model: ids [2, 3] below 50, and labels [2, 3] derived from them.
class Data : public testing::Test {
protected:
  TemporaryFolder folder;
  int64_t dims[2] = {2, 3}, wideDims[2] = {1, 6};
  MtcInput inputs[2] = {
      {{"ids", MTC_I64, 2, dims, 0, 48, MTC_DEVICE}, 0, 0, 0, 0, -1, 0, 50, -100, "/embed/Gather"},
      {{"labels", MTC_I64, 2, dims, 64, 48, MTC_DEVICE},
       1,
       0,
       0,
       0,
       0,
       0,
       50,
       -100,
       "/loss/Gather"}};
  MtcProgram program{};
  alignas(64) char arena[128];

  void SetUp() override {
    program.loss = "causal-lm";
    program.batch = 2;
    program.accumulation.micro_steps = 1;
    program.input_count = 2;
    program.inputs = inputs;
    std::memset(arena, 0x77, sizeof arena);
  }

  std::vector<char *> buffers() { return inputBuffers(program, arena); }
  template <typename T>
  std::string npy(const std::string &name, const std::string &descr, const std::string &shape,
                  const std::vector<T> &values) {
    writeFile(folder / name, npyBytes(descr, shape, bytesOf(values)));
    return folder / name;
  }
  template <typename T> std::vector<T> loaded(int64_t offset, size_t count = 6) {
    std::vector<T> values(count);
    std::memcpy(values.data(), arena + offset, count * sizeof(T));
    return values;
  }
  std::string refusal(const Flags &flags, const std::vector<int64_t> &rows = {}) {
    try {
      Dataset data(program, flags, false);
      if (!rows.empty())
        data.load({rows}, buffers());
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exitCode(), exitUserInput);
      return failure.what();
    }
    return "";
  }
  using Ids = std::vector<int64_t>;
};

TEST_F(Data, RowsInAnyOrderAndLabelsShiftedByOne) {
  Dataset data(program,
               {{"ids", npy<int64_t>("a.npy", "<i8", "(3, 3)", {1, 2, 3, 4, 5, 6, 7, 8, 9})}},
               false);
  EXPECT_EQ(data.rows(), 3);
  data.load({{2, 0}}, buffers());
  EXPECT_EQ(loaded<int64_t>(0), (Ids{7, 8, 9, 1, 2, 3}));
  EXPECT_EQ(loaded<int64_t>(64), (Ids{8, 9, -100, 2, 3, -100}));
  data.load({{1, 2}}, buffers());
  EXPECT_EQ(loaded<int64_t>(0), (Ids{4, 5, 6, 7, 8, 9}));
}

TEST_F(Data, PaddingIsNoLabel) {
  MtcInput padded[] = {inputs[0], inputs[1], inputs[0]};
  padded[2] = {
      {"attention_mask", MTC_BOOL, 2, dims, 112, 6, MTC_DEVICE}, 0, 0, 0, 0, -1, 0, 0, 0, ""};
  program.inputs = padded;
  program.input_count = 3;
  const std::string ids = npy<int64_t>("a.npy", "<i8", "(2, 3)", {1, 2, 0, 0, 5, 6}),
                    mask = npy<uint8_t>("m.npy", "|b1", "(2, 3)", {1, 1, 0, 0, 1, 1});
  Dataset data(program, {{"ids", ids}, {"attention_mask", mask}}, false);
  data.load({{0, 1}}, buffers());
  EXPECT_EQ(loaded<int64_t>(64), (Ids{2, -100, -100, 5, 6, -100}));
  // The labels are from a file, or from a token stream.
  const std::string labels = npy<int64_t>("l.npy", "<i8", "(2, 3)", {2, 7, 8, 9, 6, -100});
  Dataset given(program, {{"ids", ids}, {"attention_mask", mask}, {"labels", labels}}, false);
  given.load({{0, 1}}, buffers());
  EXPECT_EQ(loaded<int64_t>(64), (Ids{2, 7, 8, 9, 6, -100}));
  const std::vector<uint16_t> tokens{1, 2, 3, 4, 5, 6, 7};
  writeFile(folder / "t.bin", bytesOf(tokens));
  Dataset stream(program, {{"ids", folder / "t.bin"}, {"attention_mask", mask}}, false);
  stream.load({{0, 1}}, buffers());
  EXPECT_EQ(loaded<int64_t>(64), (Ids{2, -100, 4, 5, 6, 7}));
}

TEST_F(Data, IntegersAreWidened) {
  auto check = [&](const std::string &file) {
    Dataset data(program, {{"ids", file}}, false);
    data.load({{1, 0}}, buffers());
    EXPECT_EQ(loaded<int64_t>(0), (Ids{4, 5, 49, 1, 2, 3})) << file;
  };
  check(npy<int32_t>("i4.npy", "<i4", "(2, 3)", {1, 2, 3, 4, 5, 49}));
  check(npy<uint16_t>("u2.npy", "<u2", "(2, 3)", {1, 2, 3, 4, 5, 49}));
  check(npy<uint32_t>("u4.npy", "<u4", "(2, 3)", {1, 2, 3, 4, 5, 49}));
  check(npy<int8_t>("i1.npy", "|i1", "(2, 3)", {1, 2, 3, 4, 5, 49}));
}

TEST_F(Data, ValuesWithoutAnEqualIntegerAreRefused) {
  EXPECT_EQ(refusal({{"ids", npy<double>("a.npy", "<f8", "(2, 3)", {1, 2, 3, 4, 5, 6})}}, {0, 1}),
            "");
  EXPECT_THAT(
      refusal({{"ids", npy<uint64_t>("a.npy", "<u8", "(2, 3)", {1, 2, 3, 4, 1ull << 63, 6})}},
              {0, 1}),
      HasSubstr("row 1 holds 9223372036854775808 (element 1); the input 'ids' is i64, which has "
                "whole numbers from -9223372036854775808 to"));
  EXPECT_THAT(
      refusal({{"ids", npy<float>("a.npy", "<f4", "(2, 3)", {1, 2, 3, 4, 5, 6.5})}}, {0, 1}),
      HasSubstr("row 1 holds 6.5 (element 2)"));
}

TEST_F(Data, BytesOfBooleansAreZeroOrOne) {
  inputs[0].tensor.type = MTC_BOOL;
  inputs[0].tensor.bytes = 6;
  program.input_count = 1;
  Dataset data(program, {{"ids", npy<uint8_t>("a.npy", "|b1", "(2, 3)", {0, 1, 2, 255, 0, 128})}},
               false);
  data.load({{0, 1}}, buffers());
  EXPECT_EQ(loaded<uint8_t>(0), (std::vector<uint8_t>{0, 1, 1, 1, 0, 1}));
}

TEST_F(Data, TokenStreams) {
  std::vector<uint16_t> tokens(11);
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<uint16_t>(i + 10);
  std::vector<uint32_t> wide(tokens.begin(), tokens.end());
  auto header = [](int32_t magic, int32_t version, int32_t count, int32_t itemSize = 0) {
    std::vector<int32_t> words(256);
    words[0] = magic;
    words[1] = version;
    words[2] = count;
    words[3] = itemSize;
    return bytesOf(words);
  };
  std::vector<std::string> files = {bytesOf(tokens), header(20240520, 1, 11) + bytesOf(tokens),
                                    header(20240801, 7, 11) + bytesOf(wide),
                                    header(278895051, 1, 11, 4) + bytesOf(wide),
                                    header(278895051, 1, 11, 2) + bytesOf(tokens)};
  for (size_t i = 0; i < files.size(); ++i) {
    writeFile(folder / "t.bin", files[i]);
    for (const Flags &flags : {Flags{{"ids", folder / "t.bin"}},
                               Flags{{"ids", folder / "t.bin"}, {"labels", folder / "t.bin"}}}) {
      Dataset data(program, flags, false);
      EXPECT_EQ(data.rows(), 3) << i; // The tokens of a fourth row lack their last label.
      data.load({{2, 1}}, buffers());
      EXPECT_EQ(loaded<int64_t>(0), (Ids{16, 17, 18, 13, 14, 15})) << i;
      EXPECT_EQ(loaded<int64_t>(64), (Ids{17, 18, 19, 14, 15, 16})) << i;
    }
  }
  // Nine tokens are three rows, but the last label of the third row would be the tenth token.
  writeFile(folder / "t.bin", bytesOf(std::vector<uint16_t>(tokens.begin(), tokens.begin() + 9)));
  EXPECT_EQ(Dataset(program, {{"ids", folder / "t.bin"}}, false).rows(), 2);
}

TEST_F(Data, BrokenTokenStreams) {
  auto with = [&](const std::string &bytes) {
    writeFile(folder / "t.bin", bytes);
    return refusal({{"ids", folder / "t.bin"}});
  };
  EXPECT_THAT(with(""), HasSubstr("holds 0 tokens"));
  EXPECT_THAT(with("abc"), HasSubstr("expected a multiple of the token size, 2 bytes"));
  EXPECT_THAT(with("abcdef"), HasSubstr("one row takes 4"));
  std::vector<int32_t> words(256);
  words[0] = 20240520;
  words[1] = 1;
  words[2] = 5;
  EXPECT_THAT(with(bytesOf(words) + "abcdabcd"), HasSubstr("announces 5 tokens, but 4"));
  words[2] = -4;
  EXPECT_THAT(with(bytesOf(words) + "abcdabcd"), HasSubstr("announces -4 tokens"));
  words[1] = 2;
  EXPECT_THAT(with(bytesOf(words) + "abcdabcd"), HasSubstr("has version 2; version 1 is known"));
  words[0] = 278895051;
  words[1] = 1;
  words[2] = 4;
  words[3] = 3;
  EXPECT_THAT(with(bytesOf(words) + "abcdabcd"), HasSubstr("3 bytes; 2 or 4"));
  // The error is reported once, although the labels are from the same file.
  std::string message = with("abc");
  EXPECT_EQ(message.find("expected a multiple of the token size"),
            message.rfind("expected a multiple of the token size"));
}

TEST_F(Data, TypeOfTokensIsAskedForWhereTheirBytesLeaveItOpen) {
  const Ids ids = {10, 49, 3, 0, 7, 21, 6, 8, 1};
  auto check = [&](const std::string &bytes, const std::string &type) {
    writeFile(folder / "t.bin", bytes);
    Dataset data(program, {{"ids", folder / "t.bin" + type}}, false);
    data.load({{1, 0}}, buffers());
    EXPECT_EQ(loaded<int64_t>(0), (Ids{0, 7, 21, 10, 49, 3})) << type;
    EXPECT_EQ(loaded<int64_t>(64), (Ids{7, 21, 6, 49, 3, 0})) << type;
  };
  std::string u16 = bytesOf(std::vector<uint16_t>(ids.begin(), ids.end())),
              i32 = bytesOf(std::vector<int32_t>(ids.begin(), ids.end())), i64 = bytesOf(ids);
  check(u16, "");
  check(u16, ":u16");
  check(i32, ":u32");
  check(i32, ":i32");
  check(i64, ":i64");
  check(bytesOf(std::vector<uint8_t>(ids.begin(), ids.end())), ":u8");

  auto with = [&](const std::string &bytes, const std::string &type) {
    writeFile(folder / "t.bin", bytes);
    return refusal({{"ids", folder / "t.bin" + type}}, {0, 1});
  };
  EXPECT_THAT(with(i32, ""), HasSubstr("tokens of 16 bits or of 32:"));
  EXPECT_THAT(with(i32, ""), HasSubstr("t.bin:u16, :u32 (:i32)"));
  EXPECT_THAT(with(i64, ""), HasSubstr("16 bits or of 32 or 64:"));
  EXPECT_THAT(with(bytesOf<uint32_t>({3, 0xffffffff, 4}), ""), Not(HasSubstr("either way")));
  // Ids above 65535 are not mistaken for alternating zeros.
  inputs[0].limit = inputs[1].limit = 100000;
  EXPECT_THAT(with(bytesOf<int32_t>({70000, 99999, 66000, 5, 6, 7, 8}), ""),
              HasSubstr("of 16 bits or of 32:"));
  EXPECT_EQ(with(bytesOf<int32_t>({70000, 99999, 66000, 5, 6, 7, 8}), ":u32"), "");
  // Without a range of ids, the maximum is that of a vocabulary.
  inputs[0].limit = inputs[0].minimum = inputs[1].limit = inputs[1].minimum = 0;
  EXPECT_THAT(with(i32, ""), HasSubstr("of 16 bits or of 32:"));
  EXPECT_EQ(with(u16, ""), "");
  EXPECT_THAT(with(u16, ":u24"), HasSubstr(":u24: expected u8, u16, u32"));
  std::vector<int32_t> words(256);
  words[0] = 20240520;
  words[1] = 1;
  words[2] = 9;
  EXPECT_THAT(with(bytesOf(words) + u16, ":u32"), HasSubstr("of 2 bytes, not u32"));
  EXPECT_EQ(with(bytesOf(words) + u16, ":u16"), "");
}

TEST_F(Data, TokensOutsideTheRangeNameTheirPosition) {
  writeFile(folder / "t.bin", bytesOf<uint16_t>({1, 2, 3, 4, 55, 6, 7, 8, 9, 10}));
  std::string message = refusal({{"ids", folder / "t.bin"}}, {0, 1});
  EXPECT_THAT(message, HasSubstr("t.bin: token 4 is 55; /embed/Gather takes 0 to 49"));
  EXPECT_THAT(message, HasSubstr("taken for a u16"));
  EXPECT_THAT(refusal({{"ids", folder / "t.bin:u16"}}, {0, 1}), Not(HasSubstr("taken for")));
}

TEST_F(Data, LabelsAreTheNextTokens) {
  const Ids ids = {1, 2, 3, 4, 5, 6, 7, 8, 9}, next = {2, 3, -100, 5, 6, -100, 8, 9, -100};
  auto with = [&](const Ids &labels) {
    return refusal({{"ids", npy<int64_t>("i.npy", "<i8", "(3, 3)", ids)},
                    {"labels", npy<int64_t>("l.npy", "<i8", "(3, 3)", labels)}});
  };
  EXPECT_EQ(with(next), "");
  std::string message = with(ids);
  EXPECT_THAT(message, HasSubstr("l.npy: each label is the token of --data ids="));
  EXPECT_THAT(message, HasSubstr("Leave --data labels out"));
  EXPECT_THAT(message, HasSubstr("np.concatenate([labels[:, 1:]"));
  // Ignored labels are no evidence. A label that differs from its token shows that the file is
  // intended.
  EXPECT_THAT(with({-100, -100, 3, 4, 5, -100, 7, 8, 9}), HasSubstr("repeat its input"));
  EXPECT_EQ(with({1, 2, 3, 4, 5, 6, 7, 8, 8}), "");
  EXPECT_EQ(with(Ids(9, -100)), "");
  // Tokens and labels are the same file, and the labels have no ignored value.
  inputs[1].shifted_from = -1;
  std::string same = npy<int64_t>("i.npy", "<i8", "(3, 3)", ids);
  message = refusal({{"ids", same}, {"labels", same}});
  EXPECT_THAT(message, HasSubstr("Give np.concatenate"));
  EXPECT_THAT(message, Not(HasSubstr("Leave")));
  program.loss = "cross-entropy"; // Whose labels may be its inputs, but hardly are.
  EXPECT_THAT(Dataset(program, {{"ids", same}, {"labels", same}}, false).warnings(),
              testing::ElementsAre(HasSubstr(
                  "i.npy at its own position. Where the model is to predict the next token")));
  std::string other = npy<int64_t>("l.npy", "<i8", "(3, 3)", next);
  EXPECT_THAT(Dataset(program, {{"ids", same}, {"labels", other}}, false).warnings(),
              testing::IsEmpty());
  program.loss = "causal-lm"; // A text of one token has it as its next one, too.
  same = npy<int64_t>("i.npy", "<i8", "(3, 3)", Ids(9, 5));
  EXPECT_EQ(refusal({{"ids", same}, {"labels", same}}), "");
}

TEST_F(Data, LabelsOfAStreamAreNotShiftedTwice) {
  std::vector<uint16_t> tokens(40);
  for (size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<uint16_t>(i * i % 47);
  writeFile(folder / "t.bin", bytesOf(tokens));
  writeFile(folder / "copy.bin", bytesOf(tokens));
  EXPECT_EQ(refusal({{"ids", folder / "t.bin"}, {"labels", folder / "copy.bin"}}), "");
  tokens.erase(tokens.begin());
  writeFile(folder / "next.bin", bytesOf(tokens) + std::string(2, '\0'));
  inputs[0].tensor.dims = inputs[1].tensor.dims = wideDims;
  EXPECT_THAT(refusal({{"ids", folder / "t.bin"}, {"labels", folder / "next.bin"}}),
              HasSubstr("two positions after"));
}

TEST_F(Data, LabelsOfAnyIntegerAreMadeOfTokensOfAnother) {
  inputs[1].tensor.type = MTC_I16;
  inputs[1].tensor.bytes = 12;
  Dataset data(program, {{"ids", npy<int64_t>("a.npy", "<i8", "(2, 3)", {1, 2, 3, 4, 5, 49})}},
               false);
  data.load({{0, 1}}, buffers());
  EXPECT_EQ(loaded<int16_t>(64), (std::vector<int16_t>{2, 3, -100, 5, 49, -100}));
  inputs[1].limit = 49; // The loss knows fewer classes than the embedding tokens.
  EXPECT_THROW(data.load({{0, 1}}, buffers()), Failure);
}

TEST_F(Data, RowsThatFillABatchHaveNoLabels) {
  std::string ids = npy<int64_t>("i.npy", "<i8", "(3, 3)", {1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (const Flags &flags :
       {Flags{{"ids", ids}}, Flags{{"ids", ids},
                                   {"labels", npy<int64_t>("l.npy", "<i8", "(3, 3)",
                                                           {2, 3, -100, 5, 6, -100, 8, 9, 1})}}}) {
    Dataset data(program, flags, false);
    data.load({{2, 2}, 1}, buffers());
    EXPECT_EQ(loaded<int64_t>(0), (Ids{7, 8, 9, 7, 8, 9}));
    Ids labels = loaded<int64_t>(64);
    EXPECT_EQ(Ids(labels.begin(), labels.begin() + 2), (Ids{8, 9}));
    EXPECT_EQ(Ids(labels.begin() + 3, labels.end()), Ids(3, -100));
  }
}

TEST_F(Data, InputsWithoutRowsAreWholeOrEntries) {
  inputs[1] = {{"mix", MTC_I64, 2, dims, 64, 48, MTC_DEVICE}, 0, 0, 1, 0, -1, 0, 0, 0, ""};
  std::string rows = npy<int64_t>("r.npy", "<i8", "(4, 3)", {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0}),
              whole = npy<int64_t>("w.npy", "<i8", "(2, 3)", {11, 12, 13, 14, 15, 16}),
              entries = npy<int64_t>("e.npy", "<i8", "(2, 2, 3)",
                                     {1, 2, 3, 4, 5, 6, 21, 22, 23, 24, 25, 26});
  {
    Dataset data(program, {{"ids", rows}, {"mix", whole}}, false);
    EXPECT_EQ(data.feeding(), Feeding::Rows);
    EXPECT_EQ(data.rows(), 4);
    EXPECT_EQ(data.batch(), 2);
    data.load({{2, 0}}, buffers());
    EXPECT_EQ(loaded<int64_t>(0), (Ids{7, 8, 9, 1, 2, 3}));
    EXPECT_EQ(loaded<int64_t>(64), (Ids{11, 12, 13, 14, 15, 16}));
  }
  {
    Dataset data(program, {{"ids", entries}, {"mix", whole}}, false);
    EXPECT_EQ(data.feeding(), Feeding::Entries);
    EXPECT_EQ(data.rows(), 2);
    EXPECT_EQ(data.batch(), 1);
    data.load({{1}}, buffers());
    EXPECT_EQ(loaded<int64_t>(0), (Ids{21, 22, 23, 24, 25, 26}));
    EXPECT_EQ(loaded<int64_t>(64), (Ids{11, 12, 13, 14, 15, 16}));
  }
  EXPECT_THAT(refusal({{"ids", rows}, {"mix", entries}}), HasSubstr("one entry per step"));
  EXPECT_THAT(refusal({{"ids", rows}, {"mix", rows}}),
              HasSubstr("takes [2, 3] or [entries, 2, 3], one a step; where its first axis counts "
                        "rows, compile with --batch-input mix"));
  EXPECT_THAT(refusal({{"ids", rows}}), HasSubstr("mix=FILE is missing: i64 [2, 3] or [entries"));
  inputs[0].is_whole = 1;
  Dataset data(program, {{"ids", whole}, {"mix", whole}}, false);
  EXPECT_EQ(data.feeding(), Feeding::Whole);
  EXPECT_EQ(data.rows(), 1);
}

TEST_F(Data, TensorsOfASafetensorsFile) {
  std::string one = R"("ids":{"dtype":"I64","shape":[2,3],"data_offsets":[0,48]})",
              two = R"("b":{"dtype":"I64","shape":[2,3],"data_offsets":[48,96]})";
  std::string data = bytesOf<int64_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
              path = folder / "d.safetensors";
  writeFile(path, safetensorsBytes("{" + one + "," + two + "}", data));
  for (const auto &[file, first] : std::vector<std::pair<std::string, int64_t>>{
           {path, 1}, {path + ":ids", 1}, {path + ":b", 7}}) {
    Dataset dataset(program, {{"ids", file}}, false);
    dataset.load({{0, 1}}, buffers());
    EXPECT_EQ(loaded<int64_t>(0)[0], first);
  }
  EXPECT_THAT(refusal({{"ids", path + ":c"}}), HasSubstr("it holds b, ids"));
  inputs[0].tensor.name = "tokens";
  EXPECT_THAT(refusal({{"tokens", path}}), HasSubstr(path + ":TENSOR"));
  writeFile(path, safetensorsBytes("{" + one + "}", data.substr(0, 48)));
  EXPECT_EQ(refusal({{"tokens", path}}), "");
}

TEST_F(Data, MessagesNameTheFirstOfManyTensors) {
  std::string header;
  for (char name = 'a'; name < 'a' + 12; ++name)
    header += (header.empty() ? "{\"" : ",\"") + std::string(1, name) +
              R"(":{"dtype":"I64","shape":[0],"data_offsets":[0,0]})";
  std::string path = folder / "d.safetensors";
  writeFile(path, safetensorsBytes(header + "}", ""));
  EXPECT_THAT(refusal({{"ids", path + ":z"}}),
              HasSubstr("it holds a, b, c, d, e, f, g, h, i, j and 2 more"));
}

TEST_F(Data, FilesThatAreNotRegular) {
  std::string pipe = folder / "p.npy";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal({{"ids", pipe}}), HasSubstr("p.npy: is a pipe, not a regular file"));
  std::string inner = folder / "f.npy";
  ASSERT_EQ(mkdir(inner.c_str(), 0700), 0);
  EXPECT_THAT(refusal({{"ids", inner}}), HasSubstr("f.npy: is a folder without .npy files"));
}

TEST_F(Data, EverythingThatIsWrongAtOnce) {
  inputs[1].shifted_from = -1;
  std::string message = refusal({{"idz", folder / "none.npy"}});
  EXPECT_THAT(message, HasSubstr("no input 'idz'; did you mean 'ids'?"));
  EXPECT_THAT(message, HasSubstr("--data ids=FILE is missing: i64 [rows, 3]"));
  EXPECT_THAT(message, HasSubstr("--data labels=FILE is missing"));
  message = refusal({{"ids", npy<int64_t>("a.npy", "<i8", "(2, 4)", Ids(8))},
                     {"labels", folder / "l.txt"},
                     {"ids", folder / "a.npy"}});
  EXPECT_THAT(message, HasSubstr("has shape [2, 4]; the input 'ids' takes [rows, 3]"));
  EXPECT_THAT(message, HasSubstr("no known data file"));
  EXPECT_THAT(message, HasSubstr("'ids' is given twice"));
}

TEST_F(Data, RowsMustBeEqual) {
  EXPECT_THAT(refusal({{"ids", npy<int64_t>("a.npy", "<i8", "(3, 3)", Ids(9))},
                       {"labels", npy<int64_t>("b.npy", "<i8", "(2, 3)", Ids(6))}}),
              HasSubstr("has 3 rows, but --data labels="));
  EXPECT_THAT(refusal({{"ids", npy<int64_t>("a.npy", "<i8", "(0, 3)", Ids())}}),
              HasSubstr("has no rows"));
}

TEST_F(Data, ValuesOutsideTheRangeNameFileRowAndReader) {
  std::string file = npy<int64_t>("a.npy", "<i8", "(3, 3)", {1, 2, 3, 4, 50, 6, 7, -100, 9});
  EXPECT_EQ(refusal({{"ids", file}}, {0, 0}), "");
  std::string message = refusal({{"ids", file}}, {0, 1});
  EXPECT_THAT(message, HasSubstr("a.npy: row 1 holds 50 (element 1); /embed/Gather takes 0 to 49"));
  EXPECT_THAT(message, Not(HasSubstr("ignored")));
  EXPECT_THAT(refusal({{"ids", file}}, {2, 0}), HasSubstr("holds -100"));
  // This program supports ignored labels.
  std::string ids = npy<int64_t>("i.npy", "<i8", "(3, 3)", Ids(9));
  EXPECT_EQ(refusal({{"ids", ids}, {"labels", file}}, {0, 2}), "");
  EXPECT_THAT(refusal({{"ids", ids}, {"labels", file}}, {1, 2}),
              HasSubstr("/loss/Gather takes 0 to 49, or -100"));
}

TEST_F(Data, LabelsThatNobodyReads) {
  inputs[1].shifted_from = -1;
  Dataset data(program, {{"ids", npy<int64_t>("a.npy", "<i8", "(2, 3)", Ids(6))}}, true);
  data.load({{0, 1}}, buffers());
  EXPECT_EQ(loaded<int64_t>(64), Ids(6, -100));
}

TEST_F(Data, FileThatShrinksDuringTheRun) {
  std::string file = npy<int64_t>("a.npy", "<i8", "(2, 3)", Ids(6));
  Dataset data(program, {{"ids", file}}, false);
  std::string bytes = readFile(file);
  writeFile(file, bytes.substr(0, bytes.size() - 8));
  EXPECT_THROW(data.load({{0, 1}}, buffers()), Failure);
}

} // namespace
