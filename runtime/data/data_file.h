// Data files of --data, in any supported format.
#ifndef MTC_RUNTIME_DATA_DATA_FILE_H
#define MTC_RUNTIME_DATA_DATA_FILE_H

#include "runtime/data/images/image_folder.h"
#include "runtime/io/array_on_disk.h"

#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The array of one input, which may be the concatenation of several files along the first axis, or
/// a folder of images.
struct DataFile {
  /// At least one, except for images. Element type and rank are equal; shapes may differ in the
  /// first axis.
  std::vector<ArrayOnDisk> parts;
  /// The offsets of the rows of each part, if rows are ragged; otherwise empty. The parts are then
  /// the values of all rows.
  std::vector<ArrayOnDisk> offsets = {};
  std::shared_ptr<const ImageFolder> images = nullptr;
  bool isStream = false;      ///< token streams, without a batch axis
  bool isTypeAssumed = false; ///< see TokenStream

  bool isRagged() const { return !offsets.empty(); }
  MtcType type() const { return images ? MTC_U8 : parts.front().type; }
  /// Returns the shape of the concatenation; [images] for a folder of images.
  std::vector<int64_t> dims() const;
};

/// Returns whether files of images can feed an input.
bool acceptsImages(const MtcInput &input);

/// Opens the files of `listDataFiles`: `.npy`, `.npz` (`FILE:array`), `.safetensors`
/// (`FILE:tensor`), or token `.bin` (`FILE:type`, the token type, such as u32). The name of the
/// array or tensor is optional if the file has a single one, one with the input's name, or ragged
/// rows (`values` and `offsets`). Inputs of images also accept an ImageFolder, whose classes are
/// `classes` if they are known. `flag` names the flag in messages: "--data".
DataFile openDataFile(const MtcInput &input, const std::string &value, const std::string &flag,
                      const std::vector<std::string> &classes = {});

/// Returns the classes of the images of a folder as an array.
DataFile labelsOf(const ImageFolder &images);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_DATA_FILE_H
