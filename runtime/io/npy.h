// NumPy's `.npy` files.
#ifndef MTC_RUNTIME_IO_NPY_H
#define MTC_RUNTIME_IO_NPY_H

#include "runtime/io/array_on_disk.h"

#include <memory>
#include <string>

namespace mtc::runtime {

/// Opens an array. Throws a user error if `files::readNpyHeader` fails.
ArrayOnDisk openNpy(const std::string &path);

/// Opens an array that is a range of a file. `name` names it in messages.
ArrayOnDisk openNpy(std::shared_ptr<InputFile> file, int64_t offset, int64_t bytes,
                    const std::string &name);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_NPY_H
