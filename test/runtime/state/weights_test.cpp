// Tests that a program accepts only its own initial weights by default.
#include "runtime/io/checksum.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

using namespace mtc::test;
using testing::HasSubstr;

namespace {

class Weights : public testing::Test {
protected:
  void SetUp() override {
    writeSampleData(folder, 10);
    variables.assign(mtc_program.variables, mtc_program.variables + mtc_program.variable_count);
    variables[0].initial = MTC_INITIAL_FILE;
    program.variables = variables.data();
    program.weights_file = "w.safetensors";
    program.weights_digest = "c0ffee";
  }

  void writeWeights(const std::string &metadata) {
    writeFile(
        folder / "w.safetensors",
        safetensorsBytes("{" + metadata +
                             R"("fc.weight":{"dtype":"F32","shape":[1,3],"data_offsets":[0,12]}})",
                         bytesOf<float>({1, -2, 0.5})));
  }

  static std::string checksum(const std::string &bytes) {
    mtc::runtime::Checksum sum;
    sum.add(bytes.data(), static_cast<int64_t>(bytes.size()));
    return mtc::runtime::checksumText(sum.value());
  }

  /// Computes the digest as the compiler does, for a program that expects these weights.
  void writeOwn() {
    const std::string data = bytesOf<float>({1, -2, 0.5}), zeros(16, '0');
    std::string header = R"({"__metadata__":{"mtc.checksum.fc.weight":")" + checksum(data) +
                         R"(","mtc.digest":")" + zeros +
                         R"("},"fc.weight":{"data_offsets":[0,12],"dtype":"F32","shape":[1,3]}})";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    digest = checksum(header);
    header.replace(header.find("\"" + zeros) + 1, zeros.size(), digest);
    program.weights_digest = digest.c_str();
    writeFile(folder / "w.safetensors", safetensorsBytes(header, data));
  }

  RunResult run(const std::vector<std::string> &more) {
    return runHere(program, withData(folder, more), folder / "sample");
  }

  TemporaryFolder folder;
  MtcProgram program = mtc_program;
  std::vector<MtcVariable> variables;
  std::string digest;
};

TEST_F(Weights, OfTheSameCompilationAreTaken) {
  writeOwn();
  RunResult result = run({});
  EXPECT_EQ(result.status, 0) << result.error;
}

TEST_F(Weights, DamageIsNoticedInEachByte) {
  writeOwn();
  const std::string intact = readFile(folder / "w.safetensors");
  for (size_t i = 0; i < intact.size(); ++i) {
    std::string damaged = intact;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    writeFile(folder / "w.safetensors", damaged);
    const RunResult result = run({"--steps", "1", "--quiet"});
    EXPECT_EQ(result.status, 1) << "byte " << i;
    EXPECT_THAT(result.error, HasSubstr("w.safetensors: ")) << "byte " << i;
  }
  std::string damaged = intact;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  writeFile(folder / "w.safetensors", damaged);
  for (const std::vector<std::string> &more :
       {std::vector<std::string>(), {"--weights", folder / "w.safetensors"}})
    EXPECT_THAT(run(more).error, HasSubstr("tensor 'fc.weight' is damaged: its checksum is "));
}

TEST_F(Weights, WithoutChecksumsAreReadAsTheyAre) {
  writeWeights("");
  EXPECT_EQ(run({"--weights", folder / "w.safetensors", "--quiet"}).status, 0);
}

TEST_F(Weights, OfAnotherAreRefusedUnlessNamed) {
  for (const char *metadata :
       {R"("__metadata__":{"mtc.digest":"decaf"},)", R"("__metadata__":{"format":"pt"},)", ""}) {
    writeWeights(metadata);
    RunResult result = run({});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.error,
                HasSubstr("these are not the weights that the program was compiled with (digest "));
    EXPECT_THAT(result.error, HasSubstr("expected c0ffee"));
    EXPECT_THAT(result.error, HasSubstr("--weights"));
    EXPECT_EQ(run({"--weights", folder / "w.safetensors"}).status, 0);
  }
}

/// A program whose weight the module stores transposed under the initializer's name, and whose bias
/// has another name in the module.
class ModuleNames : public Weights {
protected:
  void SetUp() override {
    Weights::SetUp();
    variables[0].initial = MTC_INITIAL_NORMAL;
    variables[0].image_count = variables[1].image_count = 1;
    variables[0].images = &weight;
    variables[1].images = &bias;
  }

  /// The tensors of a file, which are f32, with their shapes.
  RunResult runWith(const std::vector<std::pair<std::string, std::string>> &tensors,
                    const std::string &metadata = "", const std::string &path = "given.safetensors",
                    const std::string &given = "") {
    std::string header, data;
    for (const auto &[name, shape] : tensors) {
      const size_t bytes = shape == "[1]" ? 4 : 12, begin = data.size();
      header += (header.empty() ? "" : ",") + ("\"" + name) + R"(":{"dtype":"F32","shape":)" +
                shape + R"(,"data_offsets":[)" + std::to_string(begin) + "," +
                std::to_string(begin + bytes) + "]}";
      data += std::string(bytes, '\0');
    }
    writeFile(folder / path, safetensorsBytes("{" + metadata + header + "}", data));
    return run({"--weights", folder / (given.empty() ? path : given), "--steps", "1", "--quiet"});
  }

  const int64_t dims[2] = {3, 1}, extents[2] = {3, 1}, variableStrides[2] = {1, 3},
                imageStrides[2] = {1, 1}, biasDims[1] = {1};
  const MtcImagePart part = {0, 0, 2, extents, variableStrides, imageStrides};
  const MtcTensorImage weight = {"fc.weight", 2, dims, 1, &part};
  const MtcTensorImage bias = {"bias", 1, biasDims, 0, nullptr};
};

TEST_F(ModuleNames, ThatInitializersHaveTooAreRefusedUnlessOtherNamesTell) {
  RunResult result = runWith({{"fc.weight", "[3,1]"}});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("tensor 'fc.weight' could be that of the module or the "
                                      "initializer of the ONNX file"));
  EXPECT_THAT(result.error, HasSubstr("no other name that tells"));
  EXPECT_EQ(runWith({{"fc.weight", "[3,1]"}}, R"("__metadata__":{"mtc.names":"module"},)").status,
            0);
  EXPECT_EQ(runWith({{"fc.weight", "[3,1]"}, {"bias", "[1]"}}).status, 0);
  EXPECT_EQ(runWith({{"fc.weight", "[1,3]"}, {"fc.bias", "[1]"}}).status, 0);
  // Tensors are matched by name, not by shape.
  result = runWith({{"fc.weight", "[3,1]"}, {"fc.bias", "[1]"}});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("is f32 [3, 1]; the program expects f32 [1, 3]"));
  result = runWith({{"bias", "[1]"}, {"fc.bias", "[1]"}, {"fc.weight", "[3,1]"}});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("names of both"));
}

TEST_F(ModuleNames, MayHaveOnePrefix) {
  RunResult result = runWith({{"net.fc.weight", "[3,1]"}, {"net.bias", "[1]"}});
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.error, ""); // --quiet
  result = runWith({{"a.bias", "[1]"}, {"b.bias", "[1]"}});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("with the prefix 'a.' and as many with the prefix 'b.'"));
}

TEST_F(ModuleNames, OfAnIndexAreThoseOfItsFiles) {
  auto index = [&](const std::string &map) {
    writeFile(folder / "i.index.json", R"({"weight_map":)" + map + "}");
    return runWith({{"fc.weight", "[3,1]"}, {"bias", "[1]"}}, "", "part.safetensors",
                   "i.index.json");
  };
  EXPECT_EQ(index(R"({"fc.weight":"part.safetensors","bias":"part.safetensors"})").status, 0);
  RunResult result = index(R"({"other":"part.safetensors"})");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("part.safetensors: tensor 'other' is missing; "));
  for (const char *file : {R"("../part.safetensors")", R"("")", "7", R"("..")"}) {
    result = index(std::string(R"({"bias":)") + file + "}");
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.error, HasSubstr("expected the name of a file in the same folder"));
  }
  result = index("3");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("lacks 'weight_map'"));
}

} // namespace
