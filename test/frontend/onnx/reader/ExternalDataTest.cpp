//===- ExternalDataTest.cpp - External data, and attempts to read other files -----------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/reader/ExternalData.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

const std::string twoFloats = bytesOf<float>({1, 2});

using Entries = std::initializer_list<std::pair<std::string, std::string>>;

/// A folder with a model whose initializer `w`, two floats, is external.
struct Case {
  explicit Case(Entries entries, std::initializer_list<int64_t> dims = {2}) {
    proto = reluModel();
    *proto.mutable_graph()->add_initializer() = external("w", dims, entries);
  }
  /// Reads the model; returns the error, or the bytes of `w`.
  std::string message(const std::string &name = "model/m.onnx") {
    if (!fs::exists(folder / name))
      folder.write(name, proto.SerializeAsString());
    mtc::Problems problems;
    model = Model::read(folder / name, problems);
    if (!problems.empty())
      return problems.get().front();
    llvm::Expected<llvm::ArrayRef<char>> found = model->initializerBytes("w");
    if (!found)
      return "later: " + llvm::toString(found.takeError());
    bytes.assign(found->begin(), found->end());
    return "";
  }

  Folder folder;
  ModelProto proto;
  std::unique_ptr<Model> model;
  std::string bytes;
};

} // namespace

TEST(ExternalData, ReadsAtAnOffset) {
  Case c({{"location", "sub/w.bin"}, {"offset", "4"}, {"length", "8"}, {"checksum", "ignored"}});
  c.folder.write("model/sub/w.bin", "head" + twoFloats + "tail");
  EXPECT_EQ(c.message(), "");
  EXPECT_EQ(c.bytes, twoFloats);
}

TEST(ExternalData, TakesTheLengthOfTheShape) {
  Case c({{"location", "./w.bin"}});
  c.folder.write("model/w.bin", twoFloats);
  EXPECT_EQ(c.message(), "");
  EXPECT_EQ(c.bytes, twoFloats);
}

TEST(ExternalData, MissingFilesMatterWhenAskedForOnly) {
  Case c({{"location", "w.bin"}});
  EXPECT_THAT(c.message(), HasSubstr("later: external data file 'w.bin' is not in the model's"));
  mtc::ImportOptions options;
  Imported result(c.folder / "model/m.onnx", options);
  EXPECT_EQ(result.messages(), "");
}

TEST(ExternalData, RefusesLocationsOutsideByTheirText) {
  Case up({{"location", "../w.bin"}});
  up.folder.write("w.bin", twoFloats);
  EXPECT_THAT(up.message(), HasSubstr("location '../w.bin' leaves the model's folder by '..'"));
  Case inside({{"location", "sub/../../w.bin"}});
  EXPECT_THAT(inside.message(), HasSubstr("leaves the model's folder"));
  Case absolute({{"location", "/etc/hostname"}});
  EXPECT_THAT(absolute.message(), HasSubstr("is absolute"));
  Case empty({{"location", ""}});
  EXPECT_THAT(empty.message(), HasSubstr("is empty"));
  Case zero({{"location", std::string("w\0.bin", 6)}});
  EXPECT_THAT(zero.message(), HasSubstr("contains a zero byte"));
}

TEST(ExternalData, RefusesSymbolicLinks) {
  Case c({{"location", "w.bin"}});
  c.folder.write("secret", twoFloats);
  fs::create_directories(c.folder / "model");
  fs::create_symlink(c.folder / "secret", c.folder / "model/w.bin");
  EXPECT_THAT(c.message(), HasSubstr("initializer 'w': external data file 'w.bin' is or passes "
                                     "through a symbolic link"));
}

TEST(ExternalData, RefusesSymbolicLinksOfParents) {
  Case c({{"location", "sub/w.bin"}});
  c.folder.write("elsewhere/w.bin", twoFloats);
  fs::create_directories(c.folder / "model");
  fs::create_directory_symlink(c.folder / "elsewhere", c.folder / "model/sub");
  EXPECT_THAT(c.message(), HasSubstr("a symbolic link"));
}

TEST(ExternalData, RefusesHardLinks) {
  Case c({{"location", "w.bin"}});
  c.folder.write("secret", twoFloats);
  fs::create_directories(c.folder / "model");
  fs::create_hard_link(c.folder / "secret", c.folder / "model/w.bin");
  EXPECT_THAT(c.message(), HasSubstr("has 2 hard links"));
}

TEST(ExternalData, RefusesWhatIsNoFile) {
  Case folder({{"location", "sub"}});
  fs::create_directories(folder.folder / "model/sub");
  EXPECT_THAT(folder.message(), HasSubstr("not a regular file"));
  Case pipe({{"location", "pipe"}});
  fs::create_directories(pipe.folder / "model");
  ASSERT_EQ(mkfifo((pipe.folder / "model/pipe").c_str(), 0600), 0);
  EXPECT_THAT(pipe.message(), HasSubstr("not a regular file"));
}

TEST(ExternalData, FollowsALinkToTheModelOnly) {
  // As in a download cache, one folder has links to the model and its data, and another folder has
  // the files.
  Case c({{"location", "w.bin"}});
  c.folder.write("blobs/aaa", c.proto.SerializeAsString());
  c.folder.write("blobs/bbb", twoFloats);
  fs::create_directories(c.folder / "snapshot");
  fs::create_symlink(c.folder / "blobs/aaa", c.folder / "snapshot/m.onnx");
  fs::create_symlink(c.folder / "blobs/bbb", c.folder / "snapshot/w.bin");
  EXPECT_EQ(c.message("snapshot/m.onnx"), "");
  EXPECT_EQ(c.bytes, twoFloats);
}

TEST(ExternalData, FollowsNoLinkOutOfTheCache) {
  Case c({{"location", "w.bin"}});
  c.folder.write("blobs/aaa", c.proto.SerializeAsString());
  c.folder.write("secret", twoFloats);
  fs::create_directories(c.folder / "snapshot");
  fs::create_symlink(c.folder / "blobs/aaa", c.folder / "snapshot/m.onnx");
  fs::create_symlink(c.folder / "secret", c.folder / "snapshot/w.bin");
  EXPECT_THAT(c.message("snapshot/m.onnx"), HasSubstr("later: external data file"));
}

TEST(ExternalData, RefusesPlacesBeyondTheEnd) {
  Case beyond({{"location", "w.bin"}, {"offset", "4"}});
  beyond.folder.write("model/w.bin", twoFloats);
  EXPECT_THAT(beyond.message(), HasSubstr("8 bytes at offset 4 are beyond the end of 'w.bin' (8"));
  Case wraps({{"location", "w.bin"}, {"offset", "9223372036854775807"}});
  wraps.folder.write("model/w.bin", twoFloats);
  EXPECT_THAT(wraps.message(), HasSubstr("are beyond the end"));
  Case huge({{"location", "w.bin"}}, {int64_t(1) << 45});
  huge.folder.write("model/w.bin", twoFloats);
  EXPECT_THAT(huge.message(), HasSubstr("are beyond the end"));
  Case empty({{"location", "w.bin"}});
  empty.folder.write("model/w.bin", "");
  EXPECT_THAT(empty.message(), HasSubstr("are beyond the end"));
}

TEST(ExternalData, RefusesBrokenEntries) {
  for (const char *number :
       {"-1", "", "8x", "0x8", " 8", "99999999999999999999", "9223372036854775808"})
    for (const char *key : {"offset", "length"})
      EXPECT_THAT(Case({{"location", "w.bin"}, {key, number}}).message(),
                  HasSubstr(std::string("external data: ") + key + " is '" + number + "'"));
  EXPECT_THAT(Case({{"location", "w.bin"}, {"length", "4"}}).message(),
              HasSubstr("length is 4 bytes, but the tensor's type and shape need 8"));
  EXPECT_THAT(Case({{"location", "w.bin"}, {"length", "9000000000000000000"}}).message(),
              HasSubstr("length is 9000000000000000000 bytes"));
  EXPECT_THAT(Case({{"location", "w.bin"}, {"__class__", "x"}}).message(),
              HasSubstr("unknown key '__class__'"));
  EXPECT_THAT(Case({{"location", "w.bin"}, {"location", "v.bin"}}).message(),
              HasSubstr("key 'location' is given twice"));
  EXPECT_THAT(Case({}).message(), HasSubstr("no location"));
}

TEST(ExternalData, RefusesDataInBothPlaces) {
  Case c({{"location", "w.bin"}});
  c.proto.mutable_graph()->mutable_initializer(0)->set_raw_data(twoFloats);
  EXPECT_THAT(c.message(), HasSubstr("has external data and data in the file"));
  c.proto.mutable_graph()->mutable_initializer(0)->clear_data_location();
  fs::remove(c.folder / "model/m.onnx");
  EXPECT_THAT(c.message(), HasSubstr("its data_location is not EXTERNAL"));
}

/// Both implementations of path resolution must reject the same paths.
class Resolving : public ::testing::TestWithParam<Resolution> {};

TEST_P(Resolving, AcceptsPlainFilesOnly) {
  Folder folder;
  folder.write("secret", "x");
  folder.write("model/plain", "x");
  folder.write("model/a/b/plain", "x");
  fs::create_symlink(folder / "secret", folder / "model/link");
  fs::create_directory_symlink(folder / "model/a", folder / "model/parent");
  auto opens = [&](const char *location) {
    llvm::Expected<int> file = openBeneath(folder / "model", location, GetParam());
    if (!file)
      return llvm::toString(file.takeError());
    close(*file);
    return std::string();
  };
  EXPECT_EQ(opens("plain"), "");
  EXPECT_EQ(opens("a/b/plain"), "");
  EXPECT_EQ(opens("./a//b/./plain"), "");
  EXPECT_THAT(opens("link"), HasSubstr("symbolic link"));
  EXPECT_THAT(opens("parent/b/plain"), HasSubstr("symbolic link"));
  EXPECT_THAT(opens("a/b/absent"), HasSubstr("is not in the model's folder"));
  EXPECT_THAT(opens("plain/x"), HasSubstr("is not in the model's folder"));
  EXPECT_THAT(opens("../secret"), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(opens("."), HasSubstr("not a regular file"));
}

INSTANTIATE_TEST_SUITE_P(ExternalData, Resolving,
                         ::testing::Values(Resolution::kernel, Resolution::components));
