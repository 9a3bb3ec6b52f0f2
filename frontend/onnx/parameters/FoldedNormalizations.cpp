//===- FoldedNormalizations.cpp - Warnings about folded normalizations ------------------------===//

#include "frontend/onnx/parameters/FoldedNormalizations.h"

#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/MovingStatistics.h"
#include "support/compiler/Lists.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

/// A tool that folds batch normalizations into weights, and a suggestion for training them instead.
struct Folder {
  StringRef tool, remedy;
};

constexpr StringRef fileBefore = "compile the file before the optimization with --batch-norm train";

/// Returns the tool that folded a batch normalization into a weight of this name, if any.
std::optional<Folder> folderOf(StringRef name) {
  if (name.starts_with("ConvBnFusion_W_") || name.starts_with("MatMulBnFusion_GemmB_"))
    return Folder{"onnxruntime's optimizer", fileBefore};
  if (name.ends_with("_weights_fused_bn"))
    return Folder{"tf2onnx", "export a Keras model with mtc.export"};
  // onnxslim appends a suffix to the name of the normalization's output.
  if (name.ends_with("_weight") && name.contains("BatchNormalization"))
    return Folder{"onnxslim", fileBefore};
  return std::nullopt;
}

/// Returns whether onnxoptimizer, and onnxsim with it, made the name: `_v_12`.
bool isMadeByOptimizer(StringRef name) {
  return name.consume_front("_v_") && !name.empty() && llvm::all_of(name, isDigit);
}

/// Returns the tool that folded batch normalizations into an initializer, if any.
std::optional<Folder> folderOf(StringRef name, ArrayRef<InitializerUse> uses) {
  if (std::optional<Folder> folder = folderOf(name))
    return folder;
  bool isFolded =
      isMadeByOptimizer(name) && !uses.empty() && llvm::all_of(uses, [](const InitializerUse &use) {
        NodeOp node = use.node;
        if (use.operand != 1 || node.getInputs().size() < 3 ||
            !(node.isOperator("Conv") || node.isOperator("ConvTranspose")))
          return false;
        auto bias = node.getInputs()[2].getDefiningOp<InitializerOp>();
        return bias && isMadeByOptimizer(bias.getName());
      });
  return isFolded ? std::optional(Folder{"onnxsim or onnxoptimizer", fileBefore}) : std::nullopt;
}

} // namespace

std::vector<std::string> normalizationWarnings(GraphOp graph,
                                               const StringMap<InitializerClass> &classes) {
  std::vector<std::string> warnings, folded, scales = findFoldedScales(graph);
  StringMap<std::vector<InitializerUse>> uses = initializerUses(graph);
  llvm::MapVector<StringRef, std::pair<Folder, std::vector<std::string>>> weights; // By tool.
  for (InitializerOp initializer : trainableInitializers(graph)) {
    StringRef name = initializer.getName();
    auto known = classes.find(name);
    if (known == classes.end() || known->second.role != InitializerRole::Parameter)
      continue;
    if (isNamedAsFoldedNormalization(name) || llvm::is_contained(scales, name))
      folded.push_back(name.str());
    if (std::optional<Folder> folder = folderOf(name, uses.lookup(name))) {
      auto &[made, names] = weights[folder->tool];
      made = *folder;
      names.push_back(name.str());
    }
  }
  if (!folded.empty())
    warnings.push_back("initializers " + listed(folded, quoted) +
                       ": batch normalizations with folded statistics, trained as plain scales and "
                       "shifts; use --freeze to keep them fixed");
  for (const auto &[tool, entry] : weights)
    warnings.push_back(
        ("batch normalizations folded by " + tool + " into " + listed(entry.second, quoted) +
         "; the folded weights are trained, without batch statistics. To train batch "
         "normalizations, " +
         entry.first.remedy + "; use --freeze to keep the weights fixed")
            .str());
  return warnings;
}

} // namespace mtc::onnx
