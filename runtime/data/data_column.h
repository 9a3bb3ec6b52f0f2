// A program input bound to the data file that feeds it.
#ifndef MTC_RUNTIME_DATA_DATA_COLUMN_H
#define MTC_RUNTIME_DATA_DATA_COLUMN_H

#include "runtime/abi/program.h"
#include "runtime/data/augmentation.h"
#include "runtime/data/data_file.h"
#include "runtime/data/images/folder_column.h"
#include "runtime/data/normalization.h"
#include "runtime/data/read_workers.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The mapping from a file to an input, which the rank of the file determines: a file of entries
/// has one axis more than the input.
enum class Feeding {
  Rows,    ///< samples of the file form the batch of the tensor
  Entries, ///< one entry of the file is the whole tensor
  Whole    ///< the file is the whole tensor, for every step
};

/// The part of a token stream that forms samples: each file of it is cut into items on its own, so
/// that no item crosses the end of a file.
struct StreamWindow {
  int64_t shift = 0;  ///< tokens before the first item: 1 for labels, which are the next tokens
  int64_t spared = 0; ///< tokens of each file that belong to no item of the unshifted stream
};

/// Changes of the values of an input while they are read. Pointers may be null.
struct ColumnTransforms {
  const Normalization *normalization = nullptr;
  const Augmentation *augmentation = nullptr;
  ReadWorkers *workers = nullptr; ///< threads that share the items of a batch
};

/// Reads items (samples, entries, or the single tensor) of files into an input's tensor. Elements
/// are converted to the input's type. Reading uses a fixed amount of memory on the stack; images
/// also use the memory of the largest image and of some images of the input for each worker.
class DataColumn {
public:
  /// `flag` is the user's argument, for messages. Throws a user error if the type, the shape or a
  /// transform does not fit.
  DataColumn(const MtcInput &input, std::string flag, DataFile file, StreamWindow window = {},
             const ColumnTransforms &transforms = {});

  Feeding feeding() const { return how; }
  int64_t items() const { return ends.back(); }
  int64_t elementsOfItem() const { return itemElements; }
  const std::string &flag() const { return flagText; }
  const DataFile &source() const { return file; }

  /// Copies items `list[0..count)` contiguously to `tensor` and checks the range of their values.
  /// `origin` has the random numbers of the first item; those of item i are at its position + i.
  void load(const int64_t *list, int64_t count, char *tensor, RandomOrigin origin = {}) const;

private:
  /// An item by its file.
  struct Location {
    size_t part;
    int64_t item; ///< index in the file
  };

  void chooseFeeding();
  void prepareAugmentation(const Augmentation &augmentation);
  std::string adviceFor(const std::vector<int64_t> &found) const;
  void countItems();
  Location locate(int64_t item) const;
  void readRuns(const int64_t *list, int64_t count, char *tensor) const;
  void readItems(Location at, int64_t count, char *to) const;
  void readConvertedItems(Location at, int64_t count, char *to) const;
  void readImage(Location at, RandomOrigin origin, int worker, char *to) const;
  [[noreturn]] void refuseValue(Location at, int64_t element, const std::string &value) const;
  void checkRange(int64_t item, const char *values) const;
  std::string describe(Location at) const;

  const MtcInput *input;
  std::string flagText;
  DataFile file;
  std::optional<ChannelNormalizer> normalizer;
  std::optional<ImageAugmenter> augmenter;
  ImageLayout stored; ///< of the images that are augmented
  ReadWorkers *workers;
  mutable std::vector<ImageBuffers> buffers; ///< of augmentation, by worker
  std::unique_ptr<FolderColumn> images;      ///< null unless the data is a folder of images
  Feeding how = Feeding::Rows;
  StreamWindow window;
  int64_t itemElements = 0, itemBytes = 0;
  std::vector<int64_t> ends; ///< number of items in the files up to each one
};

/// Returns the file shapes that the input accepts: `[rows, 3]`, or `[5, 5] or [entries, 5, 5]`.
std::string shapesOfFiles(const MtcInput &input);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_DATA_COLUMN_H
