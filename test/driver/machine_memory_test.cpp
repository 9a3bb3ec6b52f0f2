//===- machine_memory_test.cpp - Available memory of the machine ------------------------------===//

#include "driver/MachineMemory.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mtc::tool;

namespace {

/// A temporary folder with copies of the files in which Linux reports memory.
class MachineMemory : public ::testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("machine", root)); }
  void TearDown() override { llvm::sys::fs::remove_directories(root); }

  void write(llvm::StringRef path, llvm::StringRef text) {
    llvm::SmallString<128> file(root);
    file += path;
    ASSERT_FALSE(llvm::sys::fs::create_directories(llvm::sys::path::parent_path(file)));
    std::error_code problem;
    llvm::raw_fd_ostream(file, problem) << text;
    ASSERT_FALSE(problem);
  }

  llvm::SmallString<128> root;
};

TEST_F(MachineMemory, IsWhatTheSystemSays) {
  write("/proc/meminfo", "MemTotal:   4000 kB\nMemFree:  1000 kB\nMemAvailable:   3000 kB\n");
  EXPECT_EQ(findAvailableMemory(root), 3000 * 1024);
}

TEST_F(MachineMemory, IsUnknownWithoutTheFiles) {
  EXPECT_EQ(findAvailableMemory(root), std::nullopt);
  write("/proc/meminfo", "MemTotal: 4000 kB\n");
  EXPECT_EQ(findAvailableMemory(root), std::nullopt);
}

TEST_F(MachineMemory, IsNoMoreThanEachGroupLeaves) {
  write("/proc/meminfo", "MemAvailable: 3000 kB\n");
  write("/proc/self/cgroup", "0::/user/job\n");
  write("/sys/fs/cgroup/user/job/memory.max", "max\n");
  write("/sys/fs/cgroup/user/job/memory.current", "500000\n");
  EXPECT_EQ(findAvailableMemory(root), 3000 * 1024);
  write("/sys/fs/cgroup/user/memory.max", "1000000\n");
  write("/sys/fs/cgroup/user/memory.current", "600000\n");
  EXPECT_EQ(findAvailableMemory(root), 400000);
  // The kernel can reclaim pages of files.
  write("/sys/fs/cgroup/user/memory.stat", "anon 100\ninactive_file 250000\n");
  EXPECT_EQ(findAvailableMemory(root), 650000);
}

TEST_F(MachineMemory, KnowsContainersAndTheOlderGroups) {
  write("/proc/meminfo", "MemAvailable: 3000 kB\n");
  write("/proc/self/cgroup", "5:cpu:/\n4:memory:/docker/1\n0::/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "900000\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "300000\n");
  EXPECT_EQ(findAvailableMemory(root), 600000);
  write("/sys/fs/cgroup/memory.max", "500000\n");
  write("/sys/fs/cgroup/memory.current", "700000\n");
  EXPECT_EQ(findAvailableMemory(root), 0);
}

TEST_F(MachineMemory, LeavesSomeForTheRest) {
  EXPECT_EQ(budgetOfAvailable(int64_t(100) << 30), int64_t(95) << 30);
  EXPECT_EQ(budgetOfAvailable(int64_t(1) << 30), int64_t(768) << 20);
  EXPECT_EQ(budgetOfAvailable(int64_t(200) << 20), std::nullopt);
}

} // namespace
