// Files that grow during a run, record by record.
#ifndef MTC_RUNTIME_IO_APPENDED_FILE_H
#define MTC_RUNTIME_IO_APPENDED_FILE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// A file, pipe or device to which records are appended. Each record is written at once, so that
/// other processes can follow, and completely or not at all.
class AppendedFile {
public:
  /// The treatment of a file that exists: records are appended to it, it is emptied first, or
  /// `FileExists` is thrown.
  enum class Existing { Kept, Emptied, Refused };
  struct FileExists {};

  /// Opens or creates a file. Throws a user error if it cannot be opened. Messages start with
  /// `name`.
  AppendedFile(const std::string &path, std::string name, Existing existing);
  ~AppendedFile();
  AppendedFile(const AppendedFile &) = delete;
  AppendedFile &operator=(const AppendedFile &) = delete;

  /// Throws a system error if the record cannot be written completely; the file then contains no
  /// part of it.
  void append(std::string_view record);
  /// Removes everything after the first `bytes` bytes. Has no effect on pipes and devices.
  void truncate(int64_t bytes);

private:
  void dropEnd(int64_t bytes);

  std::string name;
  int descriptor;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_APPENDED_FILE_H
