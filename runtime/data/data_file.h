// Data files of --data, in any supported format.
#ifndef MTC_RUNTIME_DATA_DATA_FILE_H
#define MTC_RUNTIME_DATA_DATA_FILE_H

#include "runtime/io/array_on_disk.h"

#include <string>

namespace mtc::runtime {

struct DataFile {
  ArrayOnDisk array;
  bool isStream = false;      ///< token stream, without a batch axis
  bool isTypeAssumed = false; ///< see TokenStream
};

/// Opens `.npy`, `.safetensors` (`FILE:tensor`; the tensor name is optional if the file has a
/// single tensor or one with the input's name), or token `.bin` (`FILE:type`, the token type, such
/// as u32). `flag` names the flag in messages: "--data".
DataFile openDataFile(const MtcInput &input, const std::string &file, const std::string &flag);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_DATA_FILE_H
