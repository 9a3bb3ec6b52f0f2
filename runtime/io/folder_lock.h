// Exclusive write access to a folder.
#ifndef MTC_RUNTIME_IO_FOLDER_LOCK_H
#define MTC_RUNTIME_IO_FOLDER_LOCK_H

#include <string>

namespace mtc::runtime {

/// An exclusive lock on a folder, by flock(2) on its file `.mtc-lock`. The system releases the lock
/// when the process ends for any reason, so the file of a killed process locks nothing. The file
/// contains the process, for messages, and is removed with the lock.
class FolderLock {
public:
  static constexpr const char *fileName = ".mtc-lock";

  /// Acquires the lock. Throws a user error that names the holder if another process has it. Warns
  /// if the file system has no locks.
  explicit FolderLock(std::string folder);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

  /// Acquires the lock again if the path no longer refers to the locked folder.
  void renew();

private:
  void acquire();
  /// Returns whether the path of the lock file still refers to `descriptor`.
  bool isInPlace() const;
  void release();

  std::string folder, path;
  int descriptor = -1;
  bool warned = false;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_FOLDER_LOCK_H
