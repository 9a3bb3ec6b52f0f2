// NumPy's `.npy` files.
#ifndef MTC_RUNTIME_IO_NPY_H
#define MTC_RUNTIME_IO_NPY_H

#include "runtime/io/array_on_disk.h"

#include <string>

namespace mtc::runtime {

/// Opens an array. Throws a user error if `files::readNpyHeader` fails.
ArrayOnDisk openNpy(const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_NPY_H
