//===- LayerParameters.h - The layers that parameters belong to -------------------------------===//
//
// A parameter belongs to a layer by the operations that use it. Values are followed through casts,
// broadcasts and other data movement.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_PROGRAM_LAYERPARAMETERS_H
#define MTC_PASSES_PROGRAM_LAYERPARAMETERS_H

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace mtc {

enum class LayerRole {
  Weight,    ///< Matrix of a linear layer, or filter of a convolution.
  Bias,      ///< Bias of such a layer.
  Embedding, ///< Rows that indices select.
  Recurrent, ///< Any parameter of a recurrent layer.
  Scale,     ///< Scale of a normalization; running variance.
  Shift      ///< Bias of a normalization; running mean.
};

/// What decides the initial value of a parameter.
struct LayerParameter {
  LayerRole role;
  /// Inputs and outputs of a unit. A bias has those of its weight, and a parameter of a recurrent
  /// layer as many inputs as the layer has units.
  int64_t fanIn = 1, fanOut = 1;
  std::optional<int64_t> zeroRow = {}; ///< Row of an embedding that pads.

  bool operator==(const LayerParameter &) const = default;
};

/// Returns the layer of a parameter, or of the running statistics of a normalization, from all of
/// its reads; nothing if there is no read, or a use is of no layer, or the uses are of different
/// layers. A matrix that is an embedding, too, is one.
std::optional<LayerParameter> findLayer(VariableOp variable, llvm::ArrayRef<ReadOp> reads);

} // namespace mtc

#endif // MTC_PASSES_PROGRAM_LAYERPARAMETERS_H
