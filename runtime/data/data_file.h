// What --data names: a file of one of the known formats.
#ifndef MTC_RUNTIME_DATA_DATA_FILE_H
#define MTC_RUNTIME_DATA_DATA_FILE_H

#include "runtime/io/array_on_disk.h"

#include <string>

namespace mtc::runtime {

struct DataFile {
  ArrayOnDisk array;
  bool isStream = false;      ///< tokens without rows
  bool isTypeAssumed = false; ///< see TokenStream
};

/// Opens `.npy`, `.safetensors` (`FILE:tensor`; the tensor may be left out if it is the only one or
/// has the input's name), or token `.bin` (`FILE:type`: what a token is, such as u32).
DataFile openDataFile(const MtcInput &input, const std::string &file);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_DATA_FILE_H
