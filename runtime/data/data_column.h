// A program input bound to the data file that feeds it.
#ifndef MTC_RUNTIME_DATA_DATA_COLUMN_H
#define MTC_RUNTIME_DATA_DATA_COLUMN_H

#include "runtime/abi/program.h"
#include "runtime/data/data_file.h"

#include <cstdint>
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

/// Reads items (samples, entries, or the single tensor) of a file into an input's tensor. Integers
/// are widened if that is exact; other types must match.
class DataColumn {
public:
  /// `flag` is the user's argument, for messages. In a token stream, item t is the tokens from t *
  /// length + `shift` on. Throws a user error if the type or shape does not fit.
  DataColumn(const MtcInput &input, std::string flag, DataFile file, int64_t shift = 0);

  Feeding feeding() const { return how; }
  int64_t items() const { return itemCount; }
  int64_t elementsOfItem() const { return itemElements; }
  const std::string &flag() const { return flagText; }
  const DataFile &source() const { return file; }

  /// Copies items `list[0..count)` contiguously to `tensor` and checks the range of their values.
  void load(const int64_t *list, int64_t count, char *tensor);

private:
  void chooseFeeding();
  void readItems(int64_t item, int64_t count, char *to);
  void checkRange(int64_t item, const char *values) const;

  const MtcInput *input;
  std::string flagText;
  DataFile file;
  Feeding how = Feeding::Rows;
  int64_t shift, itemCount = 0, itemElements = 0, sourceItemBytes = 0, itemBytes = 0;
  std::vector<char> staging; ///< one item in the file's element type, if it is converted
};

/// Returns the file shapes that the input accepts: `[rows, 3]`, or `[5, 5] or [entries, 5, 5]`.
std::string shapesOfFiles(const MtcInput &input);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_DATA_COLUMN_H
