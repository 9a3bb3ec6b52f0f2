// The data of a run: one column for each input of the program, all of the same number of rows.
#ifndef MTC_RUNTIME_DATASET_H
#define MTC_RUNTIME_DATASET_H

#include "runtime/abi/program.h"
#include "runtime/data_column.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

class Dataset {
public:
  /// `flags` are pairs NAME, FILE of --data. Everything that is wrong is reported in one failure:
  /// inputs without data, names that are no input, files that do not fit, columns of different
  /// lengths. Labels that are left out are made from the tokens where the program allows it; with
  /// `labelsOptional` (only the forward pass is wanted) they are filled with what losses ignore.
  Dataset(const MtcProgram &program, const std::vector<std::pair<std::string, std::string>> &flags,
          bool labelsOptional);

  int64_t rows() const { return rowCount; }

  /// Copies a batch of rows to `places`, one for each input, and checks their values.
  void load(const std::vector<int64_t> &rows, const std::vector<char *> &places);

private:
  void bind(const std::vector<std::pair<std::string, std::string>> &flags, bool labelsOptional,
            class Problems &problems);

  const MtcProgram &program;
  std::vector<std::optional<DataColumn>> columns; ///< nothing where a label is made or ignored
  int64_t rowCount = 0;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATASET_H
