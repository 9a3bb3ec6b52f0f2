//===- RecurrentImages.h - How PyTorch stores the weights of recurrent layers -----------------===//

#ifndef MTC_FRONTEND_PARAMETERS_RECURRENTIMAGES_H
#define MTC_FRONTEND_PARAMETERS_RECURRENTIMAGES_H

#include "frontend/parameters/InitializerUses.h"
#include "frontend/parameters/Provenance.h"
#include "ir/Mtc.h"

namespace mtc::onnx {

/// ONNX has the weights of all directions of a layer in one tensor, and both biases in one; PyTorch
/// has `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, and the same with `_reverse`,
/// with gates in another order (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN).
class RecurrentImages {
public:
  explicit RecurrentImages(GraphOp graph);

  /// The images of an initializer that recurrent nodes alone read as W, R or B. Empty where the
  /// file's exporter is not PyTorch's, or where it does not tell the layer.
  mlir::SmallVector<mlir::Attribute> find(InitializerOp initializer,
                                          llvm::ArrayRef<InitializerUse> uses) const;

private:
  std::string stemOf(InitializerOp initializer, NodeOp node) const;

  Provenance provenance;
  bool isPyTorch, isListed;
  /// Of files that list no parameters: the layer of a node, by its W and its module.
  llvm::DenseMap<mlir::Value, int64_t> layers;
};

/// Whether recurrent nodes alone read an initializer as W, R or B.
bool isRecurrentWeight(llvm::ArrayRef<InitializerUse> uses);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_RECURRENTIMAGES_H
