//===- FoldedNormalizations.cpp - Warnings about folded normalizations ------------------------===//

#include "frontend/parameters/FoldedNormalizations.h"

#include "frontend/parameters/InitializerUses.h"
#include "frontend/parameters/MovingStatistics.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

/// Returns `'a', 'b' and 'c'`, or `'a', 'b', 'c' and 3 more`.
static std::string listed(ArrayRef<std::string> names) {
  constexpr size_t shown = 3;
  std::string text;
  for (auto [i, name] : llvm::enumerate(names.take_front(shown)))
    text += (i == 0                                         ? ""
             : names.size() > shown || i + 1 < names.size() ? ", "
                                                            : " and ") +
            quoted(name);
  return names.size() > shown ? text + " and " + std::to_string(names.size() - shown) + " more"
                              : text;
}

std::vector<std::string> normalizationWarnings(GraphOp graph,
                                               const StringMap<InitializerClass> &classes) {
  std::vector<std::string> warnings, folded, scales = findFoldedScales(graph);
  for (InitializerOp initializer : trainableInitializers(graph)) {
    StringRef name = initializer.getName();
    auto known = classes.find(name);
    if (known == classes.end() || known->second.role != InitializerRole::Parameter)
      continue;
    if (isNamedAsFoldedNormalization(name) || llvm::is_contained(scales, name))
      folded.push_back(name.str());
  }
  if (!folded.empty())
    warnings.push_back("initializers " + listed(folded) +
                       ": batch normalizations with folded statistics, trained as plain scales and "
                       "shifts; use --freeze to keep them fixed");
  return warnings;
}

} // namespace mtc::onnx
