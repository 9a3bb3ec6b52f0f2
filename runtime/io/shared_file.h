// A part of a file that another process has begun.
#ifndef MTC_RUNTIME_IO_SHARED_FILE_H
#define MTC_RUNTIME_IO_SHARED_FILE_H

#include "runtime/io/file_writer.h"

#include <cstdint>
#include <memory>
#include <string>

namespace mtc::runtime {

/// Writes into a file that another process made (DurableFile) and will finish. Processes of several
/// machines must write different bytes, after the file has its final size: then network file
/// systems send only the bytes that were written.
class SharedFile {
public:
  /// Opens the file. Returns null if the path does not exist on this machine, or refers to another
  /// file than the one with this number in the file system (fileNumber). The processes may have no
  /// folder in common.
  static std::unique_ptr<SharedFile> open(const std::string &path, uint64_t number);
  ~SharedFile();
  SharedFile(const SharedFile &) = delete;
  SharedFile &operator=(const SharedFile &) = delete;

  /// These functions throw a system error that names the file.
  void write(int64_t offset, const void *data, int64_t bytes);
  void sync();

private:
  SharedFile(std::string path, int descriptor);
  void check(int error) const;

  std::string path;
  int descriptor;
  FileWriter writer;
};

/// Returns the number of a file in its file system.
uint64_t fileNumber(const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_SHARED_FILE_H
