// Helpers for tests of the runtime: temporary folders, data files, and runs of the sample program.
#ifndef MTC_TEST_RUNTIME_SUPPORT_H
#define MTC_TEST_RUNTIME_SUPPORT_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <functional>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace mtc::test {

/// A folder that is removed with its contents at the end of its scope.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  const std::string &folder() const { return path; }

private:
  std::string path;
};

std::string readFile(const std::string &path);
void writeFile(const std::string &path, const std::string &bytes);
bool fileExists(const std::string &path);
std::vector<std::string> listFolder(const std::string &path);

/// A valid `.npy` file of version 1 with the data; `dict` replaces the whole header text if given.
std::string npyBytes(const std::string &descr, const std::string &shape, const std::string &data,
                     const std::string &dict = "");
/// Returns the bytes of values.
template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
}
/// Returns a safetensors file with a header and data.
std::string safetensorsBytes(const std::string &header, const std::string &data);

/// Returns the message of the Failure that an action throws; "" if it throws none.
std::string problemOf(const std::function<void()> &action);

struct RunResult {
  int status; ///< exit status; 128 + signal if killed
  std::string output, error;
};

/// Runs a program in this process, as if its executable were at `path`.
RunResult runHere(const MtcProgram &program, const std::vector<std::string> &arguments,
                  const std::string &path = "/nowhere/sample");
/// Returns the path of a file in the folder of this test's executable. A compiled-in path would
/// differ between clones.
std::string besideThisTest(const std::string &name);
/// The file name of the sample's executable in the folder of this test.
extern const char *const sampleName;

/// Runs an executable, by default that of the sample.
RunResult runProgramFile(const std::string &program, const std::vector<std::string> &arguments);
RunResult runSample(const std::vector<std::string> &arguments);
/// Runs an executable with its standard output in the file `output`.
RunResult runSample(const std::vector<std::string> &arguments, const std::string &output);
/// Starts the sample's executable and returns its process; its output is discarded.
int startSample(const std::vector<std::string> &arguments);

/// While an object exists, no file may exceed this number of bytes: writes fail as on a full disk.
class FileSizeLimit {
public:
  explicit FileSizeLimit(uint64_t bytes);
  ~FileSizeLimit();
  FileSizeLimit(const FileSizeLimit &) = delete;
  FileSizeLimit &operator=(const FileSizeLimit &) = delete;

private:
  struct rlimit before;
};

/// Data of the sample: `rows` rows of x and target = x · (1, −2, 0.5) + 0.3, in x.npy and
/// target.npy of the folder.
void writeSampleData(const TemporaryFolder &folder, int64_t rows);
std::vector<std::string> sampleData(const TemporaryFolder &folder);
/// Return x[row, feature] and target[row] of the sample's data.
float sampleX(int64_t row, int64_t feature);
float sampleTarget(int64_t row);

/// Returns the arguments of `sampleData`, followed by more arguments.
std::vector<std::string> withData(const TemporaryFolder &folder,
                                  const std::vector<std::string> &more);

/// Returns the losses in a file of --metrics.
std::vector<double> readLosses(const std::string &path);

} // namespace mtc::test

#endif // MTC_TEST_RUNTIME_SUPPORT_H
