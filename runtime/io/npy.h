// NumPy's `.npy` files.
#ifndef MTC_RUNTIME_IO_NPY_H
#define MTC_RUNTIME_IO_NPY_H

#include "runtime/io/array_on_disk.h"

#include <string>

namespace mtc::runtime {

/// Opens an array of format version 1 to 3 (NumPy Enhancement Proposal 1). Throws a user error,
/// with a remedy, for object arrays, structured arrays, Fortran order and foreign byte order.
ArrayOnDisk openNpy(const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_NPY_H
