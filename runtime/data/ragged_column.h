// A program input bound to files whose rows have different lengths.
#ifndef MTC_RUNTIME_DATA_RAGGED_COLUMN_H
#define MTC_RUNTIME_DATA_RAGGED_COLUMN_H

#include "runtime/abi/program.h"
#include "runtime/data/data_file.h"
#include "runtime/data/row_shapes.h"

#include <cstddef>
#include <cstdint>
#include <span>
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
  /// Returns the number of values of all rows.
  int64_t values() const;
  const std::string &flag() const { return flagText; }
  /// Returns the number of values of a row. Throws a user error if the file's offsets are wrong.
  int64_t lengthOf(int64_t row) const;
  /// Returns the number of values of each row. The column outlives it.
  RowLengths lengths() const {
    return {flagText,
            [this](int64_t first, std::span<int64_t> lengths) { readLengths(first, lengths); }};
  }
  /// Copies rows `list[0..count)` to a tensor of the input in a shape that holds them, and checks
  /// the range of their values.
  void load(const int64_t *list, int64_t count, const MtcInput &input, char *tensor) const;
  /// Returns the elements of a row in the input's type, without padding.
  std::vector<char> valuesOf(int64_t row, const MtcInput &input) const;

private:
  struct Location {
    size_t part; ///< index of the file
    int64_t row; ///< index in the file
  };
  /// The values of a row in its file.
  struct Range {
    Location at;
    int64_t first, length;
  };

  void readLengths(int64_t first, std::span<int64_t> lengths) const;
  Location locate(int64_t row) const;
  void checkOffsets(Location at, int64_t begin, int64_t end) const;
  Range find(int64_t row) const;
  void readRow(const Range &range, const MtcInput &input, char *to) const;
  [[noreturn]] void refuse(Location at, int64_t element, const std::string &value,
                           const std::string &takes) const;

  std::string flagText;
  DataFile file;
  int64_t width = 1;         ///< elements of a value
  std::vector<int64_t> ends; ///< number of rows in the files up to each one
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_RAGGED_COLUMN_H
