// An input that a folder of images feeds.
#ifndef MTC_RUNTIME_DATA_IMAGES_FOLDER_COLUMN_H
#define MTC_RUNTIME_DATA_IMAGES_FOLDER_COLUMN_H

#include "runtime/abi/program.h"
#include "runtime/data/images/image_augmenter.h"
#include "runtime/data/images/image_folder.h"
#include "runtime/data/normalization.h"

#include <memory>
#include <optional>
#include <vector>

namespace mtc::runtime {

/// Reads images of a folder as samples: decoded, resized, cropped, changed, normalized and
/// converted to the input's type.
class FolderColumn {
public:
  /// `normalization` and `augmentation` may be null. Up to `workers` threads may call `read` at the
  /// same time. Throws a user error if a transform does not fit the input.
  FolderColumn(const MtcInput &input, std::shared_ptr<const ImageFolder> folder,
               const Normalization *normalization, const Augmentation *augmentation, int workers);

  /// Writes the sample of an image to `to`; `worker` is the index of the calling thread. Throws a
  /// user error that names the file if it is not a valid image.
  void read(int64_t image, RandomOrigin origin, int worker, char *to);

private:
  const MtcInput *input;
  std::shared_ptr<const ImageFolder> folder;
  int64_t elements; ///< of a sample
  ImageAugmenter augmenter;
  std::optional<ChannelNormalizer> normalizer;
  std::vector<ImageBuffers> buffers; ///< by worker
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_IMAGES_FOLDER_COLUMN_H
