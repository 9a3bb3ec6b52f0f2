// Offloaded data in one or several folders, on different disks.
#ifndef MTC_RUNTIME_IO_STRIPED_FILE_H
#define MTC_RUNTIME_IO_STRIPED_FILE_H

#include "runtime/io/scratch_file.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Returns the folders of a list that is separated by commas, at least one. The name of a folder
/// that exists is never a list.
std::vector<std::string> foldersOf(const std::string &list);

/// A zero-filled file whose stripes are divided among folders in turn. A range of several stripes
/// is read and written in all folders at once. Threads may concurrently access different pages,
/// each with its own `BouncePages`.
class StripedFile {
public:
  static constexpr int64_t stripe = int64_t{1} << 20;

  /// Throws as ScratchFile does. `folders` has at least one.
  StripedFile(const std::vector<std::string> &folders, int64_t bytes);

  void read(int64_t offset, char *to, int64_t bytes, const BouncePages &bounce) const;
  void write(int64_t offset, const char *from, int64_t bytes, const BouncePages &bounce) const;
  /// Returns the size of all files on the disks.
  int64_t bytes() const;
  /// Returns the bytes of all reads and writes so far, and the sum of their durations.
  int64_t movedBytes() const { return moved; }
  double seconds() const { return static_cast<double>(nanoseconds) * 1e-9; }

private:
  template <typename Access>
  void divide(int64_t offset, int64_t bytes, const BouncePages &bounce, const Access &access) const;

  std::vector<std::unique_ptr<ScratchFile>> files;
  mutable std::atomic<int64_t> moved{0}, nanoseconds{0};
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_STRIPED_FILE_H
