// The data of a run: one column for each input of the program.
#ifndef MTC_RUNTIME_DATA_DATASET_H
#define MTC_RUNTIME_DATA_DATASET_H

#include "runtime/abi/program.h"
#include "runtime/data/batch_order.h"
#include "runtime/data/data_column.h"

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
  /// lengths, labels of a language model that are no next tokens. Labels that are left out are made
  /// from the tokens where the program allows it; with `labelsOptional` (only the forward pass is
  /// wanted) they are filled with what losses ignore.
  Dataset(const MtcProgram &program, const std::vector<std::pair<std::string, std::string>> &flags,
          bool labelsOptional);

  /// What a micro-step takes: rows, of which the program's batch; an entry of each file that has
  /// entries; or the same whole tensors as any other.
  Feeding feeding() const { return how; }
  /// Rows or entries of the data; 1 where it is whole.
  int64_t rows() const { return rowCount; }
  /// How many of them a micro-step takes, and how many all of a step that updates.
  int64_t batch() const { return how == Feeding::Rows ? program.batch : 1; }
  int64_t batchOfStep() const { return batch() * program.accumulation.micro_steps; }

  /// One line about data that may not be what is meant; "" if there is none.
  const std::string &warning() const { return warningText; }

  /// Copies a batch to `buffers`, one for each input, and checks the values. Labels of rows that
  /// only fill the batch are ignored.
  void load(const Batch &batch, const std::vector<char *> &buffers);

private:
  using Flags = std::vector<std::pair<std::string, std::string>>;

  void bind(const Flags &flags, bool labelsOptional, class Problems &problems);
  void chooseFeeding(Problems &problems);
  void countRows(Problems &problems);
  void checkLanguage(Problems &problems);
  void makeLabels(size_t i, const std::vector<char *> &buffers);

  const MtcProgram &program;
  std::vector<std::optional<DataColumn>> columns; ///< nothing where a label is made or ignored
  Feeding how = Feeding::Rows;
  int64_t rowCount = 0;
  std::string warningText;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_DATASET_H
