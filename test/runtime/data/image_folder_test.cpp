// Folders of images: order, classes and errors.
#include "runtime/data/images/image_folder.h"

#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

using namespace mtc::runtime;
using namespace mtc::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

void writeImage(const std::string &path) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  writeFile(path, "content");
}

std::vector<std::string> filesOf(const ImageFolder &folder) {
  std::vector<std::string> files;
  for (int64_t i = 0; i < folder.count(); ++i)
    files.push_back(std::filesystem::path(folder.fileOf(i)).lexically_relative(folder.path()));
  return files;
}

TEST(ImageFolder, ImagesAreInTheOrderOfTorchvision) {
  const TemporaryFolder folder;
  for (const char *name : {"dog/a.png", "cat/b.JPG", "cat/a.jpeg", "cat/x/y/a.jpg", "cat/x-1/a.jpg",
                           "cat/notes.txt", "cat/.hidden.jpg", ".trash/a.jpg"})
    writeImage(folder / name);
  const ImageFolder images(folder.folder());
  EXPECT_THAT(images.classes(), ElementsAre("cat", "dog"));
  EXPECT_THAT(filesOf(images), ElementsAre("cat/a.jpeg", "cat/b.JPG", "cat/x-1/a.jpg",
                                           "cat/x/y/a.jpg", "dog/a.png"));
  EXPECT_THAT(images.labels(), ElementsAre(0, 0, 0, 0, 1));
  EXPECT_TRUE(isImageFolder(folder.folder()));
  EXPECT_FALSE(isImageFolder(folder / "cat/a.jpeg"));
  writeImage(folder / "x.npy");
  EXPECT_FALSE(isImageFolder(folder.folder()));
}

TEST(ImageFolder, KnownClassesNumberTheFolders) {
  const TemporaryFolder folder;
  writeImage(folder / "val/dog/a.png");
  const ImageFolder images(folder / "val", {"bird", "cat", "dog"});
  EXPECT_THAT(images.labels(), ElementsAre(2));
  EXPECT_THAT(images.classes(), ElementsAre("bird", "cat", "dog"));
  EXPECT_THAT(problemOf([&] { ImageFolder(folder / "val", {"bird", "dogs"}); }),
              HasSubstr("val/dog: is no class of the training data, whose classes are bird, dogs; "
                        "did you mean 'dogs'?"));
}

TEST(ImageFolder, ImagesWithoutClassFoldersHaveNoClass) {
  const TemporaryFolder folder;
  writeImage(folder / "flat/b.png");
  writeImage(folder / "flat/a.png");
  const ImageFolder images(folder / "flat", {"cat"});
  EXPECT_THAT(filesOf(images), ElementsAre("a.png", "b.png"));
  EXPECT_THAT(images.classes(), ElementsAre());
}

TEST(ImageFolder, FoldersThatAreRefused) {
  const TemporaryFolder folder;
  auto problem = [&](const std::string &name) {
    return problemOf([&] { ImageFolder{folder / name}; });
  };
  writeImage(folder / "empty/cat/a.png");
  std::filesystem::create_directories(folder / "empty/dog");
  EXPECT_THAT(problem("empty"), HasSubstr("empty/dog: has no .jpg or .png images"));
  writeImage(folder / "webp/cat/a.png");
  writeImage(folder / "webp/cat/b.webp");
  EXPECT_THAT(problem("webp"),
              HasSubstr("webp/cat/b.webp: has a format that programs do not read"));
  writeImage(folder / "mixed/a.png");
  writeImage(folder / "mixed/cat/b.png");
  EXPECT_THAT(problem("mixed"), HasSubstr("has the image a.png beside the folder cat"));
  EXPECT_THAT(problem("missing"), HasSubstr("missing: cannot be opened"));
  std::filesystem::create_directories(folder / "none");
  EXPECT_THAT(problem("none"), HasSubstr("none: has no .jpg or .png images"));
}

} // namespace
