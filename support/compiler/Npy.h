//===- Npy.h - Reader for NumPy's .npy files --------------------------------------------------===//

#ifndef MTC_SUPPORT_COMPILER_NPY_H
#define MTC_SUPPORT_COMPILER_NPY_H

#include "runtime/abi/program.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <vector>

namespace mtc {

struct NpyArray {
  MtcType type;
  std::vector<int64_t> shape;
  llvm::ArrayRef<char> bytes; // Row-major, little-endian; valid while `file` exists.
  std::unique_ptr<llvm::MemoryBuffer> file;
};

/// Reads an array of numbers or booleans in C order (numpy.lib.format, versions 1 to 3).
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);

/// Reads an array of numbers as a list, in row-major order.
llvm::Expected<std::vector<double>> readNpyNumbers(llvm::StringRef path);

} // namespace mtc

#endif // MTC_SUPPORT_COMPILER_NPY_H
