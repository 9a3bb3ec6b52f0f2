//===- GatherWindows.h - Gathers of divided variables -----------------------------------------===//

#ifndef MTC_PASSES_SHARDING_GATHERWINDOWS_H
#define MTC_PASSES_SHARDING_GATHERWINDOWS_H

#include "ir/Mtc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringSet.h"
#include <vector>

namespace mtc {

/// Makes a function gather divided variables where it uses them. Variables that are used together
/// are gathered together, in windows; each window is gathered when the computation with the
/// preceding one starts. A variable is gathered again if other windows are used between two of its
/// uses, as between the forward and the backward pass of a layer.
class GatherWindows {
public:
  /// `variables` are pieces whose reads have the type of the undivided variable.
  GatherWindows(mlir::func::FuncOp function, const llvm::StringSet<> &variables, RankGroup group);

  void insert();

private:
  /// A use of a variable, possibly through views.
  struct Use {
    mlir::OpOperand *operand;
    int64_t position; ///< of the user in the function
  };
  /// Uses of a variable that share a gather.
  struct Cluster {
    ReadOp read;
    size_t number; ///< in the order of the reads
    mlir::SmallVector<Use> uses;
    int64_t begin() const { return uses.front().position; }
  };
  /// Clusters that are gathered together.
  struct Window {
    mlir::SmallVector<Cluster *> clusters;
    int64_t bytes = 0;
  };

  void collectUses(mlir::Value value, mlir::SmallVectorImpl<Use> &uses);
  std::vector<Cluster> makeClusters();
  std::vector<Window> makeWindows(std::vector<Cluster> &clusters) const;
  void gather(const Window &window, mlir::Operation *before);
  /// Gathers values of one element type.
  void gather(mlir::ArrayRef<Cluster *> clusters, mlir::Operation *before);

  mlir::func::FuncOp function;
  RankGroup group;
  mlir::SmallVector<ReadOp> reads;
  mlir::SmallVector<mlir::Operation *> operations; ///< of the function, in order
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  int64_t windowBytes = 0;
};

} // namespace mtc

#endif // MTC_PASSES_SHARDING_GATHERWINDOWS_H
