//===- ShapeSizes.h - Sizes of the symbolic dimensions of each shape --------------------------===//

#ifndef MTC_DRIVER_SHAPESIZES_H
#define MTC_DRIVER_SHAPESIZES_H

#include "driver/Options.h"
#include "frontend/Frontend.h"
#include "support/compiler/Problems.h"

namespace mtc::tool {

/// Returns the name of the batch dimension: the first symbolic dimension that is leading in an
/// input. "" if there is none.
std::string findBatchName(llvm::ArrayRef<ModelInput> inputs);

/// Sets the batch of each shape to the number of samples that `--batch-tokens` contain. The tokens
/// of a sample are the product of the other symbolic dimensions of the input in which it is
/// largest.
void sizeBatches(llvm::ArrayRef<ModelInput> inputs, Options &options, Problems &problems);

/// Makes the shape with the largest samples the first one, after which the program is described.
void orderShapes(llvm::StringRef batchName, PlanSettings &plan);

} // namespace mtc::tool

#endif // MTC_DRIVER_SHAPESIZES_H
