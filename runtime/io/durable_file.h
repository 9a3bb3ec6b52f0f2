// A file that appears under its name complete or not at all, even if the machine stops.
#ifndef MTC_RUNTIME_IO_DURABLE_FILE_H
#define MTC_RUNTIME_IO_DURABLE_FILE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// Writes go to a temporary file in the same folder. `commit` makes them durable and renames it; an
/// object that is destroyed before removes it. A file that is replaced keeps its mode; a device is
/// never replaced. A failing write (disk full, quota) is a fault of the system that names the file.
class DurableFile {
public:
  /// What happens to a symbolic link under the file's name: the file that it leads to is replaced,
  /// or the link itself.
  enum class Links { Followed, Replaced };

  explicit DurableFile(std::string path, Links links = Links::Followed);
  ~DurableFile();
  DurableFile(const DurableFile &) = delete;
  DurableFile &operator=(const DurableFile &) = delete;

  void append(const void *data, int64_t bytes);
  void append(std::string_view data) { append(data.data(), static_cast<int64_t>(data.size())); }
  /// Writes anywhere; parts never written read as zeros.
  void write(int64_t offset, const void *data, int64_t bytes);
  void commit();

  const std::string &path() const { return target; }

private:
  [[noreturn]] void fail(const char *action, int error);

  std::string target, temporary;
  int descriptor = -1;
  int64_t end = 0;
};

/// Makes the entries of a folder durable.
void syncFolder(const std::string &folder);

/// The folder of a path; `.` if it names none.
std::string folderOf(const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_DURABLE_FILE_H
