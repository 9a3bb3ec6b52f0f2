// NumPy's `.npz` files: ZIP archives of `.npy` files.
#ifndef MTC_RUNTIME_IO_NPZ_H
#define MTC_RUNTIME_IO_NPZ_H

#include "runtime/io/array_on_disk.h"

#include <string>

namespace mtc::runtime {

/// Opens the array `array` of an archive. If `array` is empty, opens the only array, or else the
/// one named `fallback`. Throws a user error if there is no such array, or if `ZipFile::open` or
/// `files::readNpyHeader` fails.
ArrayOnDisk openNpz(const std::string &path, const std::string &array, const std::string &fallback);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_NPZ_H
