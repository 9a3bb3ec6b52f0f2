// One program at a time writes into a folder.
#ifndef MTC_RUNTIME_IO_FOLDER_LOCK_H
#define MTC_RUNTIME_IO_FOLDER_LOCK_H

#include <string>

namespace mtc::runtime {

/// An exclusive lock on a folder, by flock(2) on the file `.mtc-lock` in it. The system gives the
/// lock up when the process ends, however it ends: a file that a killed process left locks nothing.
/// The file names the process, for messages, and is removed with the lock.
class FolderLock {
public:
  static constexpr const char *fileName = ".mtc-lock";

  /// Takes the lock; a mistake of the user that names the holder if another process has it. Where
  /// the file system has no locks, a warning says so.
  explicit FolderLock(std::string folder);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

  /// Takes the lock again if the folder under its name is no longer the one that was locked.
  void renew();

private:
  void acquire();
  /// Whether `descriptor` is the file that its name leads to now.
  bool isInPlace() const;
  void release();

  std::string folder, path;
  int descriptor = -1;
  bool warned = false;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_FOLDER_LOCK_H
