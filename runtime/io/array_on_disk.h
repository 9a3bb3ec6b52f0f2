// A tensor inside a file: what the readers of every format give.
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

/// The checksum that a tensor in a file is expected to have. It is compared when the last of the
/// bytes was read, so that nothing is read twice for it.
class ExpectedChecksum {
public:
  /// `tensor` names the tensor and its file in messages.
  ExpectedChecksum(std::string tensor, uint64_t value, int64_t bytes)
      : tensor(std::move(tensor)), expected(value), total(bytes) {}

  /// Adds the bytes [at, at + count). They come in order; those from 0 on start anew. A mistake of
  /// the user after the last of them if the checksum is another.
  void add(int64_t at, const char *bytes, int64_t count);

private:
  std::string tensor;
  uint64_t expected;
  int64_t total, added = 0;
  Checksum sum;
};

/// Dense row-major elements in the machine's byte order. The file is known to hold all of them.
struct ArrayOnDisk {
  std::shared_ptr<InputFile> file;
  int64_t offset = 0; ///< of the first element, in bytes
  MtcType type = MTC_F32;
  std::vector<int64_t> dims;
  std::shared_ptr<ExpectedChecksum> checksum; ///< null where the file does not tell
};

/// Reads bytes of a tensor, from byte `at` of it on. Where its checksum is known, callers read all
/// of it, in order.
void readArray(const ArrayOnDisk &array, int64_t at, char *to, int64_t bytes);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_ARRAY_ON_DISK_H
