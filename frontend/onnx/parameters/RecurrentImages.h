//===- RecurrentImages.h - Mapping of recurrent weights to PyTorch's tensors ------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_RECURRENTIMAGES_H
#define MTC_FRONTEND_ONNX_PARAMETERS_RECURRENTIMAGES_H

#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "ir/Mtc.h"

namespace mtc::onnx {

/// Maps the weights of ONNX's recurrent operators to PyTorch's parameters. ONNX stores the weights
/// of all directions of a layer in one tensor, and both biases in one. PyTorch stores
/// `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0` and their `_reverse` variants, with
/// another order of gates (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN).
class RecurrentImages {
public:
  explicit RecurrentImages(GraphOp graph);

  /// Returns the images of an initializer whose uses are all W, R or B of recurrent nodes. The list
  /// is empty if the file is not PyTorch's or does not identify the layer.
  mlir::SmallVector<mlir::Attribute> find(InitializerOp initializer,
                                          llvm::ArrayRef<InitializerUse> uses) const;

private:
  std::string stemOf(InitializerOp initializer, NodeOp node) const;

  Provenance provenance;
  bool isPyTorch, isListed;
  /// In files without a parameter list, the layer number of a node's W within its module.
  llvm::DenseMap<mlir::Value, int64_t> layers;
};

/// Returns whether all uses of an initializer are W, R or B of recurrent nodes.
bool isRecurrentWeight(llvm::ArrayRef<InitializerUse> uses);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_RECURRENTIMAGES_H
