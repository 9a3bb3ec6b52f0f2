//===- MergedInitializers.h - One initializer for several parameters --------------------------===//
//
// PyTorch's exporters store tensors of equal values once, so in the export of a fresh model all
// norms' scales and zero biases are one initializer with many users. The module trains them apart.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_MERGEDINITIALIZERS_H
#define MTC_FRONTEND_READER_MERGEDINITIALIZERS_H

#include "frontend/reader/Parameters.h"
#include "ir/Mtc.h"

namespace mtc::onnx {

/// An initializer that stands for several of the module's parameters.
struct MergedInitializer {
  /// A parameter other than the one that the initializer is named after.
  struct Part {
    std::string parameter; // Its name in the module; INITIALIZER@MODULE if that cannot be told.
    std::vector<std::pair<int64_t, unsigned>> operands; // Main graph's node and operand.
    int64_t identity = -1; // Instead: the node whose result has the parameter's name.
  };
  std::string name;
  std::vector<Part> parts;
  /// A matrix of different values: two parameters may well be one in the module, and the files do
  /// not tell. What is no matrix is not shared between modules, and equal values say nothing.
  bool mayBeTied = false;
};

/// Those of a file, in its order.
std::vector<MergedInitializer>
findMergedInitializers(Model &model, const llvm::StringMap<InitializerClass> &classes);

struct SplitReport {
  std::vector<std::string> notes, warnings; // What was split, and what was not.
};

/// Rewrites the model: each part gets an initializer of its own, a copy named after the parameter
/// (`val_N` where the exporter transposed it, as it would have), and its users read that.
SplitReport splitMergedInitializers(Model &model, MergedPolicy policy);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_MERGEDINITIALIZERS_H
