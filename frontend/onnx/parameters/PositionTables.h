//===- PositionTables.h - Tables of positions and frequencies ---------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_POSITIONTABLES_H
#define MTC_FRONTEND_ONNX_PARAMETERS_POSITIONTABLES_H

#include "frontend/onnx/dialect/Onnx.h"

#include "llvm/ADT/StringMap.h"

namespace mtc::onnx {

/// Returns initializers with varying elements that are not parameters, and the reason: frequencies
/// of rotary embeddings (a decreasing geometric sequence 1, r, r^2, … whose multiples are operands
/// of sines and cosines), sinusoidal position embeddings (each row holds sines and cosines of the
/// same angles), sines and cosines that operators of rotary embeddings read, and initializers named
/// like a module's table of anchors or frequencies.
llvm::StringMap<std::string> findPositionTables(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_POSITIONTABLES_H
