//===- PositionTables.h - Tables that follow from positions alone -----------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_POSITIONTABLES_H
#define MTC_FRONTEND_PARAMETERS_POSITIONTABLES_H

#include "frontend/dialect/Onnx.h"

#include "llvm/ADT/StringMap.h"

namespace mtc::onnx {

/// The initializers that are no parameters although they are tensors of different numbers, with the
/// reason: frequencies of rotary embeddings (a falling geometric sequence 1, r, r^2, … whose
/// products go to sines and cosines), sinusoidal position embeddings (each row holds sines and
/// cosines of the same angles), and what is named as a module's table of anchors or frequencies.
llvm::StringMap<std::string> findPositionTables(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_POSITIONTABLES_H
