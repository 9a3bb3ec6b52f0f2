//===- PrecisionOptions.h - Options of mtc-narrow-storage -------------------------------------===//

#ifndef MTC_PASSES_PRECISION_PRECISIONOPTIONS_H
#define MTC_PASSES_PRECISION_PRECISIONOPTIONS_H

#include "passes/OptionTable.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-narrow-storage.
struct PrecisionOptions {
  std::vector<std::string> keepF32; ///< Patterns of node names.

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&PrecisionOptions::keepF32,
           {"keep-f32", "PATTERN", "Compute the nodes that match in f32 (* matches any text)"});
  }
};

std::unique_ptr<mlir::Pass> createNarrowStorage(const PrecisionOptions &options);

} // namespace mtc

#endif // MTC_PASSES_PRECISION_PRECISIONOPTIONS_H
