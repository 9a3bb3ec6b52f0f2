// A tensor in a file, independent of the file format.
#ifndef MTC_RUNTIME_IO_ARRAY_ON_DISK_H
#define MTC_RUNTIME_IO_ARRAY_ON_DISK_H

#include "runtime/abi/program.h"
#include "runtime/io/checksum.h"
#include "runtime/io/input_file.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

/// The expected checksum of a tensor in a file. It is verified while the tensor is read, after its
/// last byte, so that no data is read twice.
class ExpectedChecksum {
public:
  /// `tensor` is the name of the tensor and its file, for messages, and `remedy` what to do if it
  /// is damaged.
  ExpectedChecksum(std::string tensor, std::string remedy, uint64_t value, int64_t bytes)
      : tensor(std::move(tensor)), remedy(std::move(remedy)), expected(value), total(bytes) {}

  /// Adds the bytes [at, at + count). Offset 0 restarts the checksum, and bytes that do not follow
  /// those that were added are ignored. Throws a user error after the last byte if the checksum
  /// differs.
  void add(int64_t at, const char *bytes, int64_t count);

private:
  std::string tensor, remedy;
  uint64_t expected;
  int64_t total, added = 0;
  Checksum sum;
};

/// A dense row-major tensor in native byte order. The file is known to contain all of its bytes.
struct ArrayOnDisk {
  std::shared_ptr<InputFile> file;
  int64_t offset = 0; ///< byte offset of the first element
  MtcType type = MTC_F32;
  std::vector<int64_t> dims;
  std::shared_ptr<ExpectedChecksum> checksum; ///< null if the file has no checksum
};

/// Reads bytes of a tensor, from its byte `at` on. If the tensor has a checksum,
/// it is verified once all bytes were read in order.
void readArray(const ArrayOnDisk &array, int64_t at, char *to, int64_t bytes);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_ARRAY_ON_DISK_H
