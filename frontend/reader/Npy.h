//===- Npy.h - Reader for NumPy's .npy files --------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_NPY_H
#define MTC_FRONTEND_READER_NPY_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <vector>

namespace mtc::onnx {

struct NpyArray {
  int64_t dataType; // TensorProto.DataType
  std::vector<int64_t> shape;
  llvm::ArrayRef<char> bytes; // Row-major, little-endian; valid while `file` exists.
  std::unique_ptr<llvm::MemoryBuffer> file;
};

/// Reads an array of numbers or booleans in C order (numpy.lib.format, versions 1 to 3).
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);

/// Reads an array of numbers as a list, in row-major order.
llvm::Expected<std::vector<double>> readNpyNumbers(llvm::StringRef path);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_NPY_H
