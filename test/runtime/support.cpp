// Helpers for tests of the runtime.
#include "test/runtime/support.h"

#include "runtime/run_program.h"
#include "runtime/support/failure.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace mtc::test {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "mtc-test-XXXXXX").string();
  path = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  ASSERT_TRUE(file.flush()) << path;
}

bool fileExists(const std::string &path) { return std::filesystem::exists(path); }

std::vector<std::string> listFolder(const std::string &path) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string npyBytes(const std::string &descr, const std::string &shape, const std::string &data,
                     const std::string &dict) {
  std::string header =
      dict.empty() ? "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }"
                   : dict;
  header.resize((10 + header.size() + 64) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string bytes = std::string("\x93NUMPY\x01", 7) + '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

std::string safetensorsBytes(const std::string &header, const std::string &data) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header + data;
}

std::string problemOf(const std::function<void()> &action) {
  try {
    action();
  } catch (const runtime::Failure &failure) {
    return failure.what();
  }
  return "";
}

RunResult runHere(const MtcProgram &program, const std::vector<std::string> &arguments,
                  const std::string &path) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int status = runtime::runProgram(program, path, arguments);
  RunResult result{status, testing::internal::GetCapturedStdout(),
                   testing::internal::GetCapturedStderr()};
  return result;
}

static int spawn(const std::string &program, const std::vector<std::string> &arguments,
                 const std::string &output, const std::string &error) {
  std::vector<char *> list = {const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments)
    list.push_back(const_cast<char *>(argument.c_str()));
  list.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t process = -1;
  // A test runner in the background of a script ignores SIGINT, and child processes would inherit
  // this.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  EXPECT_EQ(posix_spawn(&process, program.c_str(), &actions, &attributes, list.data(), environ), 0)
      << program;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return process;
}

/// Runs an executable to its end, with its standard output in `output`.
static RunResult runTo(const std::string &program, const std::vector<std::string> &arguments,
                       const std::string &output) {
  TemporaryFolder folder;
  int process = spawn(program, arguments, output, folder / "err"), status = 0;
  waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), "",
          readFile(folder / "err")};
}

std::string besideThisTest(const std::string &name) {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename(name).string();
}

RunResult runProgramFile(const std::string &program, const std::vector<std::string> &arguments) {
  TemporaryFolder folder;
  RunResult result = runTo(program, arguments, folder / "out");
  result.output = readFile(folder / "out");
  return result;
}

RunResult runSample(const std::vector<std::string> &arguments) {
  return runProgramFile(besideThisTest(sampleName), arguments);
}

RunResult runSample(const std::vector<std::string> &arguments, const std::string &output) {
  return runTo(besideThisTest(sampleName), arguments, output);
}

int startSample(const std::vector<std::string> &arguments) {
  return spawn(besideThisTest(sampleName), arguments, "/dev/null", "/dev/null");
}

FileSizeLimit::FileSizeLimit(uint64_t bytes) {
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limited = {bytes, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limited);
}

FileSizeLimit::~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before); }

float sampleX(int64_t row, int64_t feature) {
  return static_cast<float>((row * 31 + feature * 17 + row * row * feature) % 41 - 20) / 16;
}

float sampleTarget(int64_t row) {
  return sampleX(row, 0) - 2 * sampleX(row, 1) + 0.5f * sampleX(row, 2) + 0.3f;
}

void writeSampleData(const TemporaryFolder &folder, int64_t rows) {
  std::vector<float> x, target;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t feature = 0; feature < 3; ++feature)
      x.push_back(sampleX(row, feature));
    target.push_back(sampleTarget(row));
  }
  writeFile(folder / "x.npy", npyBytes("<f4", "(" + std::to_string(rows) + ", 3)", bytesOf(x)));
  writeFile(folder / "target.npy",
            npyBytes("<f4", "(" + std::to_string(rows) + ", 1)", bytesOf(target)));
}

std::vector<std::string> sampleData(const TemporaryFolder &folder) {
  return {"--data",    "x=" + (folder / "x.npy"),
          "--data",    "target=" + (folder / "target.npy"),
          "--threads", "2"};
}

std::vector<std::string> withData(const TemporaryFolder &folder,
                                  const std::vector<std::string> &more) {
  std::vector<std::string> all = sampleData(folder);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<double> readLosses(const std::string &path) {
  std::vector<double> losses;
  std::istringstream lines(readFile(path));
  for (std::string line; std::getline(lines, line);) {
    auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["step"].get<size_t>(), losses.size() + 1);
    losses.push_back(json["loss"].is_null() ? std::nan("") : json["loss"].get<double>());
  }
  return losses;
}

} // namespace mtc::test
