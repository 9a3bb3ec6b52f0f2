// NumPy's `.npy` files.
#ifndef MTC_SUPPORT_FILES_NPY_H
#define MTC_SUPPORT_FILES_NPY_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mtc::files {

/// Describes an array of little-endian elements in C order.
struct NpyHeader {
  MtcType type = MTC_F32;
  std::vector<int64_t> shape;
  int64_t dataOffset = 0; ///< Offset of the first element in the file.
  int64_t dataBytes = 0;  ///< Size of all elements, which the file contains.
};

/// Reads a range of bytes inside the file.
using ReadBytes = std::function<void(int64_t offset, void *to, int64_t bytes)>;

/// Reads the header of format version 1 to 3 (NumPy Enhancement Proposal 1). On failure, sets
/// `problem` to a predicate of the file, such as "is not a .npy file". For object arrays,
/// structured arrays, Fortran order and foreign byte order, it also states a remedy.
std::optional<NpyHeader> readNpyHeader(int64_t fileBytes, const ReadBytes &read,
                                       std::string &problem);

} // namespace mtc::files

#endif // MTC_SUPPORT_FILES_NPY_H
