// A tensor inside a file: what the readers of every format give.
#ifndef MTC_RUNTIME_IO_ARRAY_ON_DISK_H
#define MTC_RUNTIME_IO_ARRAY_ON_DISK_H

#include "runtime/abi/program.h"
#include "runtime/io/input_file.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace mtc::runtime {

/// Dense row-major elements in the machine's byte order. The file is known to hold all of them.
struct ArrayOnDisk {
  std::shared_ptr<InputFile> file;
  int64_t offset = 0; ///< of the first element, in bytes
  MtcType type = MTC_F32;
  std::vector<int64_t> dims;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_ARRAY_ON_DISK_H
