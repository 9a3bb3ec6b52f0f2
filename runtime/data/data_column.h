// One input of the program, bound to the file that feeds it.
#ifndef MTC_RUNTIME_DATA_DATA_COLUMN_H
#define MTC_RUNTIME_DATA_DATA_COLUMN_H

#include "runtime/abi/program.h"
#include "runtime/data/data_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// How a file feeds an input. The number of its axes says it: a file of entries has one more than
/// the input.
enum class Feeding {
  Rows,    ///< rows of the file become rows of the tensor
  Entries, ///< an entry of the file becomes the whole tensor
  Whole    ///< the file is the tensor, at each step
};

/// Items (rows, entries or the one tensor) of a file that become an input's tensor. Integers are
/// widened where that is exact; nothing else is converted.
class DataColumn {
public:
  /// `flag` is what the user gave, for messages. In a stream, item t is the tokens from t·length +
  /// `shift` on. A mistake of the user if type or shape do not fit.
  DataColumn(const MtcInput &input, std::string flag, DataFile file, int64_t shift = 0);

  Feeding feeding() const { return how; }
  int64_t items() const { return itemCount; }
  int64_t elementsOfItem() const { return itemElements; }
  const std::string &flag() const { return flagText; }
  const DataFile &source() const { return file; }

  /// Copies items `list[0..count)` one after the other to `tensor` and checks the range of values.
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
  std::vector<char> staging; ///< one item as the file holds it, where it is converted
};

/// The shapes of files that the input takes: `[rows, 3]`, or `[5, 5] or [entries, 5, 5]`.
std::string shapesOfFiles(const MtcInput &input);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_DATA_COLUMN_H
