// Data of a run, for training or validation: one column for each input of the program.
#ifndef MTC_RUNTIME_DATA_DATASET_H
#define MTC_RUNTIME_DATA_DATASET_H

#include "runtime/abi/program.h"
#include "runtime/data/batch_order.h"
#include "runtime/data/data_column.h"
#include "runtime/data/ragged_column.h"
#include "runtime/data/row_shapes.h"
#include "runtime/data/shapes.h"
#include "runtime/data/weighted_sampler.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

/// Changes of inputs while they are read.
struct DataTransforms {
  Normalizations normalizations;
  Augmentations augmentations;
  uint64_t seed = 0;   ///< of augmentation
  int readThreads = 1; ///< threads that share the samples of a batch
  /// Use the first shape only, for which a program writes gradients.
  bool usesFirstShape = false;
  std::vector<std::string> classes = {}; ///< of image folders; empty: those of the folders
};

class Dataset {
public:
  /// `flags` are the (NAME, FILE) pairs of `flagName`: --data or --validate. All problems are
  /// reported in one failure: inputs without data, unknown input names, files that do not fit,
  /// columns of different lengths, and labels of a language model that are not the next tokens.
  /// Omitted labels are derived from the tokens if the program allows it, or from the names of
  /// the folders of images. With `labelsOptional`
  /// (forward pass only), omitted labels are filled with the value that losses ignore. Without it,
  /// inputs that only the outputs depend on may be omitted, and are zero.
  /// Normalized and augmented inputs are floats.
  Dataset(const MtcProgram &program, const std::vector<std::pair<std::string, std::string>> &flags,
          bool labelsOptional, std::string flagName = "--data",
          const DataTransforms &transforms = {});

  /// The unit of data of a micro-step: a batch of samples; one entry of each file of entries; or
  /// the same whole tensors in every step.
  Feeding feeding() const { return how; }
  /// Returns the number of samples or entries of the data; 1 if all inputs are whole tensors.
  int64_t rows() const { return rowCount; }
  /// Returns the number of samples or entries per micro-step, and per step (update).
  int64_t batch() const { return rowShapes ? rowShapes->batchOfAll() : batchOf(program.batch); }
  int64_t batchOfStep() const { return batch() * program.accumulation.micro_steps; }
  /// Returns the number of samples or entries of a micro-step with a batch.
  int64_t batchOf(int64_t batch) const { return how == Feeding::Rows ? batch : 1; }
  /// Returns the number of values of a row of the first input whose rows have different lengths, on
  /// average; nullopt if there is none.
  std::optional<double> meanLength() const;

  /// Returns one-line warnings about data that may be unintended.
  const std::vector<std::string> &warnings() const { return warningTexts; }

  /// Returns the names of the classes if the labels are those of a folder of images or of a table
  /// that mtc.data has converted; otherwise none.
  const std::vector<std::string> &classes() const { return classNames; }
  bool readsImages() const {
    return std::any_of(columns.begin(), columns.end(),
                       [](const auto &column) { return column && column->source().images; });
  }

  /// Draws samples in proportion to the weights of a file, or by classes of the labels. Throws a
  /// user error if the file does not fit or the program has no classes.
  void sampleByWeights(const std::string &file);
  void balanceClasses();
  /// Returns null unless samples are drawn by weights.
  const WeightedSampler *sampler() const { return sampling.get(); }

  /// Returns the shapes that the rows need; null if the program has one shape, or the data no rows.
  const RowShapes *shapesOfRows() const { return rowShapes ? &*rowShapes : nullptr; }
  /// Returns the tables of a batch's shape.
  const MtcProgram &tablesOf(const Batch &batch) const {
    return rowShapes ? shapes.all()[batch.shape] : program;
  }

  /// Copies a batch to `buffers`, one per input, and checks its values. The labels of padding
  /// samples are set to the ignored value. Inputs whose buffer is null are left out.
  void load(const Batch &batch, const std::vector<char *> &buffers);

private:
  using Flags = std::vector<std::pair<std::string, std::string>>;

  /// The files of an input; nullopt if it has none.
  struct Source {
    std::optional<DataFile> file;
    std::string flag; ///< for messages
    StreamWindow window;
  };

  /// Returns the flag as the user has given it: "--data x=x.npy".
  std::string flagOf(const std::string &name, const std::string &file) const {
    return flagName + " " + name + "=" + file;
  }
  /// Returns whether two inputs are sequences of the same shape.
  static bool sameShape(const MtcInput &one, const MtcInput &other);
  void checkNames(const Flags &flags, class Problems &problems) const;
  std::vector<Source> open(const Flags &flags, bool labelsOptional, class Problems &problems);
  void labelImages(const Flags &flags, std::vector<Source> &sources, class Problems &problems);
  void nameClasses(const Flags &flags, class Problems &problems);
  void bind(const Flags &flags, bool labelsOptional, const DataTransforms &transforms,
            class Problems &problems);
  void chooseFeeding(Problems &problems);
  void countRows(Problems &problems);
  void checkLanguage(Problems &problems);
  void checkLabels(size_t labels, size_t tokens);
  void chooseShapes(bool usesFirstShape, Problems &problems);
  void countRaggedRows(const RaggedColumn &shortest, Problems &problems);
  bool findMasked(const std::vector<Source> &sources, size_t i);
  void ignorePaddedLabels(size_t tokens, const Batch &batch, const MtcInput &labels,
                          char *to) const;
  void fillMask(size_t i, const Batch &batch, const MtcInput &input, char *to) const;
  void makeLabels(size_t i, const Batch &batch, const MtcProgram &shaped,
                  const std::vector<char *> &buffers);
  void allocateSources();
  void choosePlaces(const std::vector<char *> &buffers);

  const MtcProgram &program;
  std::string flagName;
  uint64_t seed;
  std::unique_ptr<ReadWorkers> workers;
  std::vector<std::optional<DataColumn>> columns;  ///< nullopt if the input is omitted
  std::vector<std::optional<RaggedColumn>> ragged; ///< inputs whose rows have different lengths
  /// The ragged input whose lengths a mask that has no file marks; -1 for other inputs.
  std::vector<int32_t> maskedBy;
  std::vector<bool> labelsOfStream; ///< labels that are derived from a token stream
  /// Memory for inputs from which labels are derived and that only another pipeline stage reads;
  /// empty for other inputs.
  std::vector<std::vector<char>> sources;
  std::vector<char *> places; ///< to which the inputs of a batch are read; null: an input is not
  Shapes shapes;
  std::optional<RowShapes> rowShapes;
  Feeding how = Feeding::Rows;
  int64_t rowCount = 0;
  std::vector<std::string> warningTexts;
  std::vector<std::string> classNames;
  std::unique_ptr<const WeightedSampler> sampling;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_DATASET_H
