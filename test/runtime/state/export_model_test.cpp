// Tests the two files of a model whose data is external.
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace mtc::test;
using testing::HasSubstr;

namespace {

class ExportModel : public testing::Test {
protected:
  void SetUp() override {
    writeSampleData(folder, 10);
    program.segment_count = 4;
    program.segments = segments;
  }

  RunResult exportTo(const std::string &file) {
    return runHere(program, withData(folder, {"--steps", "1", "--quiet", "--force", "--export",
                                              folder / file}));
  }
  bool exists(const std::string &file) const { return std::filesystem::exists(folder / file); }

  TemporaryFolder folder;
  MtcProgram program = mtc_program;
  // The tensors are field 1 (dims) and field 8 (name).
  const MtcExportSegment segments[4] = {
      {"\x08\x0a", 2, -1, MTC_F32, nullptr, MTC_EVERY_FORM, MTC_GRAPH_SEGMENT},
      {"\x12\x01g", 3, -1, MTC_F32, nullptr, MTC_EVERY_FORM, MTC_INLINE_SEGMENT},
      {"\x08\x03\x42\x01w", 5, 0, MTC_F32, nullptr, MTC_EVERY_FORM, MTC_EXTERNAL_SEGMENT},
      {"\x08\x01\x42\x01v", 5, 1, MTC_F32, nullptr, MTC_EVERY_FORM, MTC_EXTERNAL_SEGMENT}};
};

TEST_F(ExportModel, HasDataInASecondFile) {
  const RunResult result = exportTo("m.onnx");
  ASSERT_EQ(result.status, 0) << result.error;
  const std::string model = readFile(folder / "m.onnx"), data = readFile(folder / "m.onnx.data");
  EXPECT_EQ(data.size(), 4096 + sizeof(float));
  const std::string weights = folder / "w.safetensors";
  ASSERT_EQ(
      runHere(program, withData(folder, {"--steps", "1", "--quiet", "--export-weights", weights}))
          .status,
      0);
  EXPECT_THAT(readFile(weights), HasSubstr(data.substr(0, 12)));
  EXPECT_THAT(readFile(weights), HasSubstr(data.substr(4096)));
  // The graph, field 7, contains the rest of the file.
  EXPECT_EQ(model.substr(0, 3), "\x08\x0a\x3a");
  EXPECT_EQ(static_cast<size_t>(model[3]), model.size() - 4);
  for (const char *text : {"\x0a\x08location\x12\x0bm.onnx.data",
                           "\x0a\x06offset\x12\x01"
                           "0",
                           "\x0a\x06offset\x12\x04"
                           "4096",
                           "\x0a\x06length\x12\x02"
                           "12",
                           "\x0a\x06length\x12\x01"
                           "4",
                           "\x70\x01"})
    EXPECT_THAT(model, HasSubstr(text));
}

TEST_F(ExportModel, KeepsTheDataOfAnEarlierOneUntilItIsReplaced) {
  ASSERT_EQ(exportTo("m.onnx").status, 0);
  ASSERT_EQ(exportTo("m.onnx").status, 0);
  EXPECT_THAT(readFile(folder / "m.onnx"), HasSubstr("m.onnx.1.data"));
  EXPECT_TRUE(exists("m.onnx.1.data"));
  EXPECT_FALSE(exists("m.onnx.data"));
  ASSERT_EQ(exportTo("m.onnx").status, 0);
  EXPECT_FALSE(exists("m.onnx.1.data"));
  // The data of another model is not removed.
  writeFile(folder / "other.onnx.data", "IMPORTANT");
  ASSERT_EQ(exportTo("other.onnx").status, 0);
  EXPECT_EQ(readFile(folder / "other.onnx.data"), "IMPORTANT");
}

} // namespace
