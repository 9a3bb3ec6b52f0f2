// Input files in memory.
#ifndef MTC_RUNTIME_IO_MEMORY_FILE_H
#define MTC_RUNTIME_IO_MEMORY_FILE_H

#include "runtime/io/input_file.h"

#include <cstddef>
#include <memory>
#include <string>

namespace mtc::runtime {

/// Returns a file with a copy of the bytes, which is in memory. `name` is its name in messages.
/// Throws a system error if the memory is not available.
std::shared_ptr<InputFile> openMemory(const std::string &name, const void *bytes, size_t count);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_MEMORY_FILE_H
