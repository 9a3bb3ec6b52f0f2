// Output files that appear under their name completely or not at all, even after a power failure.
#ifndef MTC_RUNTIME_IO_DURABLE_FILE_H
#define MTC_RUNTIME_IO_DURABLE_FILE_H

#include "runtime/io/file_writer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// Writes go to a temporary file in the same folder. `commit` makes the data durable and renames
/// the file; the destructor of an uncommitted object removes it. A replaced file keeps its mode;
/// devices are never replaced. A failed write (disk full, quota) throws a system error that names
/// the file.
class DurableFile {
public:
  /// The treatment of a symbolic link at the path: the file that it refers to is replaced, or the
  /// link itself.
  enum class Links { Followed, Replaced };

  explicit DurableFile(std::string path, Links links = Links::Followed);
  ~DurableFile();
  DurableFile(const DurableFile &) = delete;
  DurableFile &operator=(const DurableFile &) = delete;

  void append(const void *data, int64_t bytes);
  void append(std::string_view data) { append(data.data(), static_cast<int64_t>(data.size())); }
  /// Writes at any offset; bytes that are never written read as zeros.
  void write(int64_t offset, const void *data, int64_t bytes);
  /// Gives the file its final size before other processes write parts of it (SharedFile).
  void reserve(int64_t bytes);
  void commit();

  const std::string &path() const { return target; }
  /// Returns the path of the file until `commit`.
  const std::string &temporaryPath() const { return temporary; }

private:
  [[noreturn]] void fail(const char *action, int error);

  std::string target, temporary;
  int descriptor = -1;
  std::optional<FileWriter> writer;
  int64_t end = 0;
};

/// Returns why a file cannot be written: "the disk is full".
std::string describeWriteError(int error);

/// Copies a file to a durable file.
void copyFile(const std::string &from, const std::string &to);

/// Makes the entries of a folder durable.
void syncFolder(const std::string &folder);

/// Returns the folder of a path; `.` if the path has none.
std::string folderOf(const std::string &path);
/// Returns a path's last part.
std::string fileNameOf(const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_DURABLE_FILE_H
