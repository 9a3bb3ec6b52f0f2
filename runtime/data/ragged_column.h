// A program input bound to files whose rows have different lengths.
#ifndef MTC_RUNTIME_DATA_RAGGED_COLUMN_H
#define MTC_RUNTIME_DATA_RAGGED_COLUMN_H

#include "runtime/abi/program.h"
#include "runtime/data/data_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Reads rows of files with ragged rows (docs/reference/file-formats.md) into an input whose second
/// axis is at least as long. The rest of a row is padded: labels with the value that losses ignore,
/// other inputs with zeros. Elements are converted to the input's type.
class RaggedColumn {
public:
  /// `flag` is the user's argument, for messages. Throws a user error if the type or the shape does
  /// not fit.
  RaggedColumn(const MtcInput &input, std::string flag, DataFile file);

  int64_t rows() const { return ends.back(); }
  const std::string &flag() const { return flagText; }
  /// Returns the number of values of a row. Throws a user error if the file's offsets are wrong.
  int64_t lengthOf(int64_t row) const;
  /// Copies rows `list[0..count)` to a tensor of the input in one of its shapes, and checks the
  /// range of their values.
  void load(const int64_t *list, int64_t count, const MtcInput &input, char *tensor) const;

private:
  /// The values of a row in the file `part`.
  struct Range {
    size_t part;
    int64_t row, first, length;
  };

  Range find(int64_t row) const;
  void readRow(const Range &range, const MtcInput &input, char *to) const;
  [[noreturn]] void refuse(const Range &range, int64_t element, const std::string &value,
                           const std::string &takes) const;

  std::string flagText;
  DataFile file;
  int64_t width = 1;         ///< elements of a value
  std::vector<int64_t> ends; ///< number of rows in the files up to each one
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_RAGGED_COLUMN_H
