//===- KernelCacheTest.cpp - The cache of compiled kernels ------------------------------------===//

#include "codegen/target/KernelCache.h"
#include "codegen/Codegen.h"

#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mtc;
using ::testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

/// A temporary folder, removed at the end of its scope.
struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "mtc-cache-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path); }
  fs::path entry(const std::string &key) const { return path / ("llvmcache-" + key); }
  fs::path path;
};

std::string contentOf(const fs::path &file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path &file, const std::string &bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

/// Returns the value in the cache, or "none".
std::string found(KernelCache &cache, const std::string &key) {
  auto object = cache.find(key);
  return object ? object->getBuffer().str() : "none";
}

std::string keyOf(const std::string &text, const std::string &machine) {
  mlir::DialectRegistry registry;
  registerCodegenDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  return kernelKey(*module->getOps<KernelFunctionOp>().begin(), machine);
}

std::string kernelText(const std::string &operation, const std::string &location) {
  return R"(
mtc.kernel_function @k [16] -> [tensor<16xf32>] {
^body(%a: tensor<16xf32>):
  %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<16xf32> -> f32
  %y = )" +
         operation + " %x, %x : f32 loc(\"" + location + R"(")
  mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
})";
}

} // namespace

TEST(KernelCache, KeepsWhatIsAdded) {
  Folder folder;
  {
    KernelCache cache((folder.path / "not/yet/there").string());
    EXPECT_EQ(found(cache, "a"), "none");
    cache.add("a", "object a");
    cache.add("b", "");
    EXPECT_EQ(cache.getProblem(), "");
  }
  KernelCache again((folder.path / "not/yet/there").string());
  EXPECT_EQ(found(again, "a"), "object a");
  EXPECT_EQ(found(again, "b"), "");
}

TEST(KernelCache, TakesNothingDamaged) {
  Folder folder;
  KernelCache cache(folder.path.string());
  cache.add("a", "object a");
  cache.add("b", "object b");
  std::string good = contentOf(folder.entry("a"));
  std::string flipped = good;
  flipped.back() ^= 1;
  for (const std::string &bytes :
       {std::string(), good.substr(0, 5), good.substr(0, good.size() - 1), good + "x", flipped,
        contentOf(folder.entry("b"))}) {
    write(folder.entry("a"), bytes);
    EXPECT_EQ(found(cache, "a"), "none");
  }
  cache.add("a", "object a");
  EXPECT_EQ(found(cache, "a"), "object a") << "a damaged file is replaced";
}

TEST(KernelCache, DoesWithoutAFolder) {
  Folder folder;
  write(folder.path / "file", "");
  KernelCache cache((folder.path / "file/cache").string());
  cache.add("a", "object a");
  EXPECT_EQ(found(cache, "a"), "none");
  EXPECT_THAT(cache.getProblem(),
              HasSubstr("file/cache: the folder cannot be created: Not a directory"));
  cache.prune();

  KernelCache other(folder.path.string());
  fs::create_directory(folder.entry("a"));
  other.add("a", "object a");
  EXPECT_EQ(found(other, "a"), "none");
  EXPECT_THAT(other.getProblem(), HasSubstr("Is a directory"));
}

TEST(KernelCache, OpensNothingButItsOwnFiles) {
  Folder folder;
  KernelCache cache(folder.path.string());
  cache.add("good", "object");
  ASSERT_EQ(mkfifo(folder.entry("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", folder.entry("device"));
  fs::create_symlink(folder.entry("good"), folder.entry("link"));
  ASSERT_EQ(mkfifo((folder.path / "llvmcache.timestamp").c_str(), 0600), 0);
  for (const char *key : {"pipe", "device", "link"}) {
    EXPECT_EQ(found(cache, key), "none") << key;
    cache.add(key, "object");
    EXPECT_EQ(found(cache, key), "object")
        << key << ": the entry is replaced, not what it leads to";
  }
  EXPECT_EQ(found(cache, "good"), "object");
  cache.prune(); // does not wait for a reader of the pipe
  EXPECT_EQ(cache.getProblem(), "");
}

TEST(KernelCache, TakesNoLargerFilesThanItKeeps) {
  Folder folder;
  KernelCache(folder.path.string()).add("a", std::string(1000, 'x'));
  KernelCache small(folder.path.string(), /*maxBytes=*/500);
  EXPECT_EQ(found(small, "a"), "none");
  small.add("b", std::string(1000, 'x'));
  EXPECT_FALSE(fs::exists(folder.entry("b")));
}

TEST(KernelCache, TrustsOnlyAFolderOfItsUser) {
  Folder folder;
  KernelCache made((folder.path / "made").string());
  EXPECT_EQ(fs::status(folder.path / "made").permissions(), fs::perms::owner_all);

  for (mode_t mode : {0770, 0707, 01777}) {
    fs::path shared = folder.path / ("shared" + std::to_string(mode));
    KernelCache(shared.string()).add("a", "object");
    ASSERT_EQ(chmod(shared.c_str(), mode), 0);
    KernelCache cache(shared.string());
    EXPECT_EQ(found(cache, "a"), "none");
    cache.add("b", "object");
    EXPECT_FALSE(fs::exists(shared / "llvmcache-b"));
    EXPECT_THAT(cache.getProblem(),
                HasSubstr("other users may write to the folder; `chmod 700` it"));
  }

  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder to another user";
  fs::path others = folder.path / "others";
  KernelCache(others.string()).add("a", "object");
  ASSERT_EQ(chown(others.c_str(), 1234, 1234), 0);
  KernelCache cache(others.string());
  EXPECT_EQ(found(cache, "a"), "none");
  EXPECT_THAT(cache.getProblem(), HasSubstr("the folder belongs to another user"));
  // The folder belongs to the user, but contains a file of another user.
  made.add("a", "object");
  ASSERT_EQ(chown((folder.path / "made/llvmcache-a").c_str(), 1234, 1234), 0);
  EXPECT_EQ(found(made, "a"), "none");
}

TEST(KernelCache, SurvivesAFullDisk) {
  Folder folder;
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = {1000, before.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN); // writes fail instead
  setrlimit(RLIMIT_FSIZE, &small);
  KernelCache cache(folder.path.string());
  cache.add("a", std::string(100000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(cache.getProblem(), HasSubstr("File too large"));
  EXPECT_TRUE(fs::is_empty(folder.path));
}

TEST(KernelCache, RemovesWhatWasNotUsedForLongest) {
  Folder folder;
  KernelCache cache(folder.path.string(), /*maxBytes=*/2500);
  for (const char *key : {"a", "b", "c", "d"}) {
    cache.add(key, std::string(1000, 'x'));
    // All modification times are in the past, in ascending order.
    timespec times[2] = {{1000 + *key, 0}, {1000, 0}};
    utimensat(AT_FDCWD, folder.entry(key).c_str(), times, 0);
  }
  EXPECT_NE(found(cache, "a"), "none"); // used now
  cache.prune();
  EXPECT_NE(found(cache, "a"), "none");
  EXPECT_EQ(found(cache, "b"), "none");
  EXPECT_EQ(found(cache, "c"), "none");
  EXPECT_NE(found(cache, "d"), "none");
}

TEST(KernelCache, ServesManyAtOnce) {
  Folder folder;
  std::atomic<unsigned> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      KernelCache cache(folder.path.string());
      for (unsigned i = 0; i < 50; ++i) {
        std::string key = std::to_string(i % 5), object(10000, key.front());
        std::string now = found(cache, key);
        wrong += now != "none" && now != object;
        cache.add(key, object);
        wrong += !cache.getProblem().empty();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), {}), 5) << "no temporary file stays";
}

TEST(KernelCache, KeysTellApartWhatCodeFollowsFrom) {
  const std::string machine = "x86-64 +avx2 O3";
  std::string add = kernelText("arith.addf", "here"), key = keyOf(add, machine);
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(keyOf(add, machine), key);
  EXPECT_EQ(keyOf(kernelText("arith.addf", "elsewhere"), machine), key);
  EXPECT_NE(keyOf(kernelText("arith.mulf", "here"), machine), key);
  EXPECT_NE(keyOf(add, "x86-64 +avx2,+fma O3"), key);
  EXPECT_NE(keyOf(add, "x86-64 +avx2 O2"), key);
}

TEST(KernelCache, LiesWhereTheUserSays) {
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  unsetenv("MTC_CACHE_DIR");
  EXPECT_EQ(KernelCache::defaultFolder(), "/xdg/mtc");
  setenv("MTC_CACHE_DIR", "/own", 1);
  EXPECT_EQ(KernelCache::defaultFolder(), "/own");
  unsetenv("MTC_CACHE_DIR");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(KernelCache::defaultFolder(), "/home/somebody/.cache/mtc");
}
