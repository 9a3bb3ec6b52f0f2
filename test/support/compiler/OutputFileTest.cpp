//===- OutputFileTest.cpp - Files that are written completely, and together -------------------===//

#include "support/compiler/OutputFile.h"
#include "support/compiler/Errors.h"
#include "support/compiler/WrittenByMtc.h"

#include "llvm/Support/raw_ostream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace mtc::tool;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

namespace {

/// A temporary folder, removed at the end of its scope.
struct OutputFiles : testing::Test {
  OutputFiles() {
    std::string pattern = (fs::temp_directory_path() / "mtc-output-XXXXXX").string();
    path = fs::canonical(mkdtemp(pattern.data()));
  }
  ~OutputFiles() override { fs::remove_all(path); }

  std::string write(const std::string &name, const std::string &text) {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
  std::string read(const std::string &name) {
    std::ifstream stream(path / name);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(path))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  OutputTarget target(const std::string &name) { return {name, name, (path / name).string()}; }
  /// Creates a file with this content that is being written.
  OutputFile made(const std::string &name, const std::string &text) {
    OutputFile file = llvm::cantFail(OutputFile::create(target(name)));
    llvm::cantFail(file.write([&](llvm::raw_ostream &os) { os << text; }));
    return file;
  }
  /// Returns "" if the output may be written, otherwise the error.
  std::string problem(OutputPolicy &policy, const std::string &name, bool isStream = false) {
    auto resolved = policy.resolve(name, (path / name).string(), isStream);
    return resolved ? "" : llvm::toString(resolved.takeError());
  }

  fs::path path;
};

TEST_F(OutputFiles, AppearTogether) {
  write("old", "before");
  std::vector<OutputFile> files;
  files.push_back(made("old", "after"));
  files.push_back(made("new", "fresh"));
  EXPECT_EQ(read("old"), "before");
  EXPECT_FALSE(fs::exists(path / "new"));
  EXPECT_FALSE(bool(commit(files)));
  EXPECT_EQ(read("old"), "after");
  EXPECT_EQ(read("new"), "fresh");
  EXPECT_THAT(names(), ElementsAre("new", "old"));
}

TEST_F(OutputFiles, VanishUnlessTheyArePutInPlace) {
  write("old", "before");
  {
    OutputFile file = made("old", "after");
  }
  EXPECT_EQ(read("old"), "before");
  EXPECT_THAT(names(), ElementsAre("old"));
}

TEST_F(OutputFiles, AreTakenBackWhereOneCannotBePutInPlace) {
  write("old", "before");
  {
    std::vector<OutputFile> files;
    files.push_back(made("old", "after"));
    files.push_back(made("new", "fresh"));
    files.push_back(made(std::string(255, 'n'), "last"));
    // The name is one byte too long, which is detected only when the file is renamed.
    files.push_back(made(std::string(256, 'n'), "too long"));
    llvm::Error error = commit(files);
    EXPECT_TRUE(bool(error));
    EXPECT_THAT(llvm::toString(std::move(error)), HasSubstr("File name too long"));
  }
  EXPECT_EQ(read("old"), "before");
  EXPECT_THAT(names(), ElementsAre("old"));
}

TEST_F(OutputFiles, ReplaceNoInputByWhateverName) {
  std::string input = write("input", textMark("//"));
  fs::create_symlink("input", path / "soft");
  fs::create_hard_link(input, path / "hard");
  for (bool isForced : {false, true}) {
    OutputPolicy policy(isForced);
    policy.addInput("the model", input);
    for (const char *name : {"input", "soft", "hard", "./input"})
      EXPECT_EQ(problem(policy, name),
                std::string(name) + ": is the model, an input of this run; choose another name");
    EXPECT_EQ(problem(policy, "other"), "");
  }
}

TEST_F(OutputFiles, ReplaceOnlyWhatMtcWrote) {
  const std::string header = R"({"__metadata__":{"mtc.digest":"00"}})",
                    others = R"({"__metadata__":{"format":"pt"}})";
  auto safetensors = [](const std::string &header) {
    uint64_t length = header.size();
    return std::string(reinterpret_cast<const char *>(&length), 8) + header;
  };
  OutputPolicy policy(false), forced(true);
  for (const std::string &text :
       {textMark("//") + "module {}", textMark(";"), textMark("#"), std::string(),
        safetensors(header), safetensors(R"({"__metadata__":{"written_by":"mtc"}})"),
        std::string("{\n  \"written_by\": \"mtc\",\n  \"rows\": []\n}\n"),
        std::string("[\n{\"written_by\":\"mtc\",\"name\":\"a\"}\n]\n"),
        std::string("{\"step\":1,\"loss\":2.0,\"lr\":0.1,\"step_seconds\":1.0}\n"),
        std::string("{\"loss\":2.0,\"accuracy\":0.5,\"samples\":10}\n"),
        std::string("\x08\x07\x72\x11\n\nwritten_by\x12\x03mtc")}) {
    write("file", text);
    EXPECT_EQ(problem(policy, "file"), "") << text;
  }
  for (const std::string &text :
       {std::string("module {}"), "x" + textMark("//"), textMark("%"), safetensors(others),
        std::string("{\"step\":1,\"loss\":2.0}\n"),
        std::string("{\"rows\":[],\"written_by\":\"mtc\"}"), std::string("\x08\x07\x12\x05hello"),
        safetensors(header).substr(0, 20), std::string(8, '\xff') + header, safetensors("[1]"),
        safetensors(R"({"__metadata__":{"mtc.digest":)" + std::string(1 << 20, '[')),
        std::string("\x7f"
                    "ELF\2\1\1"),
        std::string("!<arch>\nbroken")}) {
    write("file", text);
    EXPECT_THAT(problem(policy, "file"), HasSubstr("mtc did not write it")) << text;
    EXPECT_EQ(problem(forced, "file"), "") << text;
  }
  fs::remove(path / "file");
  fs::copy_file("/proc/self/exe", path / "file");
  EXPECT_THAT(problem(policy, "file"), HasSubstr("mtc did not write it"));
}

TEST_F(OutputFiles, ReplaceOnlyRegularFiles) {
  ASSERT_EQ(mkfifo((path / "pipe").c_str(), 0600), 0);
  fs::create_directory(path / "folder");
  fs::create_symlink("nothing", path / "dangling");
  OutputPolicy policy(true);
  EXPECT_THAT(problem(policy, "pipe"), HasSubstr("is a device or a pipe"));
  EXPECT_EQ(problem(policy, "pipe", /*isStream=*/true), "");
  EXPECT_THAT(problem(policy, "folder", true), HasSubstr("is a folder"));
  EXPECT_THAT(problem(policy, "dangling", true), HasSubstr("a broken symbolic link"));
  EXPECT_THAT(problem(policy, "none/file", true), HasSubstr("No such file or directory"));
  EXPECT_THAT(problem(policy, "none/", true), HasSubstr("not a file name"));
}

TEST_F(OutputFiles, AreDifferent) {
  OutputPolicy policy(false);
  EXPECT_TRUE(bool(policy.add("-o a", (path / "a").string(), false)));
  auto same = policy.add("--remarks a", (path / "./a").string(), false);
  ASSERT_FALSE(bool(same));
  EXPECT_EQ(llvm::toString(same.takeError()),
            "--remarks a: is the same file as -o a; choose another name");
}

TEST(Errors, TellTheUsersMistakesFromFaultsOfTheSystem) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(report("mtc", llvm::Error::success()), 0);
  EXPECT_EQ(report("mtc", makeUserError("a")), 1);
  EXPECT_EQ(report("mtc", llvm::joinErrors(makeSystemFault("b"), makeUserError("c"))), 2);
  auto code = [](std::errc error) {
    return report("mtc", makeWriteError("-o x", std::make_error_code(error)));
  };
  EXPECT_EQ(code(std::errc::permission_denied), 1);
  EXPECT_EQ(code(std::errc::no_space_on_device), 2);
  EXPECT_EQ(code(std::errc::io_error), 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("mtc: error: -o x: cannot be written: No space left on device\n"));
}

} // namespace
