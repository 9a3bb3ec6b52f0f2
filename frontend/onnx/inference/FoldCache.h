//===- FoldCache.h - Values of folded nodes, by operator and operands -------------------------===//

#ifndef MTC_FRONTEND_ONNX_INFERENCE_FOLDCACHE_H
#define MTC_FRONTEND_ONNX_INFERENCE_FOLDCACHE_H

#include "frontend/onnx/operators/support/Inference.h"

#include "llvm/ADT/StringMap.h"

namespace mtc::onnx {

/// Evaluates equal nodes once. Exporters repeat computations of large constants, such as causal
/// masks, in each layer. Nodes with small results are cheaper to evaluate than to find.
class FoldCache {
public:
  /// Folds the results of a node, whose operands are constant and whose result types are inferred,
  /// to the values of an equal node. Otherwise calls `evaluate` and stores the values.
  void fold(Inference &node, llvm::function_ref<void(Inference &)> evaluate);

private:
  /// The operands keep the storage alive that the key identifies by address.
  struct Entry {
    llvm::SmallVector<Tensor> operands;
    llvm::SmallVector<std::optional<Tensor>> results;
  };
  llvm::StringMap<Entry> entries;
  int64_t bytes = 0; ///< of all operands and results, limited to bound the memory of long chains
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_INFERENCE_FOLDCACHE_H
