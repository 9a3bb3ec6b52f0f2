// One input of the program, bound to the file that feeds it.
#ifndef MTC_RUNTIME_DATA_COLUMN_H
#define MTC_RUNTIME_DATA_COLUMN_H

#include "runtime/abi/program.h"
#include "runtime/array_on_disk.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Opens what --data names: `.npy`, `.safetensors` (`FILE:tensor`; the tensor may be left out if it
/// is the only one or has the input's name), token `.bin`.
struct DataFile {
  ArrayOnDisk array;
  bool isStream = false; ///< tokens without rows
};
DataFile openDataFile(const std::string &input, const std::string &file);

/// Rows of a file that become rows of an input's tensor. Integers are widened where that is exact;
/// nothing else is converted.
class DataColumn {
public:
  /// `flag` is what the user gave, for messages. In a stream, row t is the tokens from t·length +
  /// `shift` on. A mistake of the user if type or shape do not fit.
  DataColumn(const MtcInput &input, std::string flag, DataFile file, int64_t shift = 0);

  int64_t rows() const { return rowCount; }
  const std::string &flag() const { return flagText; }
  const DataFile &source() const { return file; }

  /// Copies rows `list[0..count)` to rows 0.. of `tensor` and checks the range of values.
  void load(const int64_t *list, int64_t count, char *tensor);

private:
  void readRows(int64_t row, int64_t count, char *to);
  void checkRange(int64_t row, const char *values) const;

  const MtcInput *input;
  std::string flagText;
  DataFile file;
  int64_t shift, rowCount = 0, rowElements, sourceRowBytes, rowBytes;
  std::vector<char> staging; ///< one row as the file holds it, where it is converted
};

/// Throws if a value of the `count` elements lies outside what the input's reader takes. `where`
/// starts the message.
void checkValues(const MtcInput &input, const char *values, int64_t count,
                 const std::string &where);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_COLUMN_H
