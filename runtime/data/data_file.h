// Data files of --data, in any supported format.
#ifndef MTC_RUNTIME_DATA_DATA_FILE_H
#define MTC_RUNTIME_DATA_DATA_FILE_H

#include "runtime/io/array_on_disk.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// The array of one input, which may be the concatenation of several files along the first axis.
struct DataFile {
  /// At least one. Element type and rank are equal; shapes may differ in the first axis.
  std::vector<ArrayOnDisk> parts;
  /// The offsets of the rows of each part, if rows are ragged; otherwise empty. The parts are then
  /// the values of all rows.
  std::vector<ArrayOnDisk> offsets = {};
  bool isStream = false;      ///< token streams, without a batch axis
  bool isTypeAssumed = false; ///< see TokenStream

  bool isRagged() const { return !offsets.empty(); }
  MtcType type() const { return parts.front().type; }
  /// Returns the shape of the concatenation.
  std::vector<int64_t> dims() const;
};

/// Opens the files of `listDataFiles`: `.npy`, `.npz` (`FILE:array`), `.safetensors`
/// (`FILE:tensor`), or token `.bin` (`FILE:type`, the token type, such as u32). The name of the
/// array or tensor is optional if the file has a single one, one with the input's name, or ragged
/// rows (`values` and `offsets`). `flag` names the flag in messages: "--data".
DataFile openDataFile(const MtcInput &input, const std::string &value, const std::string &flag);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_DATA_FILE_H
