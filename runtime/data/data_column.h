// A program input bound to the data file that feeds it.
#ifndef MTC_RUNTIME_DATA_DATA_COLUMN_H
#define MTC_RUNTIME_DATA_DATA_COLUMN_H

#include "runtime/abi/program.h"
#include "runtime/data/data_file.h"
#include "runtime/data/normalization.h"

#include <cstdint>
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

/// Reads items (samples, entries, or the single tensor) of files into an input's tensor. Elements
/// are converted to the input's type. Reading uses a fixed amount of memory on the stack.
class DataColumn {
public:
  /// `flag` is the user's argument, for messages. `normalization` may be null. Throws a user error
  /// if the type, the shape or the normalization does not fit.
  DataColumn(const MtcInput &input, std::string flag, DataFile file, StreamWindow window = {},
             const Normalization *normalization = nullptr);

  Feeding feeding() const { return how; }
  int64_t items() const { return ends.back(); }
  int64_t elementsOfItem() const { return itemElements; }
  const std::string &flag() const { return flagText; }
  const DataFile &source() const { return file; }

  /// Copies items `list[0..count)` contiguously to `tensor` and checks the range of their values.
  void load(const int64_t *list, int64_t count, char *tensor) const;

private:
  /// An item by its file.
  struct Location {
    size_t part;
    int64_t item; ///< index in the file
  };

  void chooseFeeding();
  void countItems();
  Location locate(int64_t item) const;
  void readItems(Location at, int64_t count, char *to) const;
  void readConverted(Location at, int64_t count, char *to) const;
  void checkRange(int64_t item, const char *values) const;
  std::string describe(Location at) const;

  const MtcInput *input;
  std::string flagText;
  DataFile file;
  std::optional<ChannelNormalizer> normalizer;
  Feeding how = Feeding::Rows;
  StreamWindow window;
  int64_t itemElements = 0, itemBytes = 0;
  std::vector<int64_t> ends; ///< number of items in the files up to each one
};

/// Returns the file shapes that the input accepts: `[rows, 3]`, or `[5, 5] or [entries, 5, 5]`.
std::string shapesOfFiles(const MtcInput &input);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_DATA_COLUMN_H
