//===- RankTraffic.h - Bytes that ranks exchange in a step ------------------------------------===//

#ifndef MTC_PASSES_COST_RANKTRAFFIC_H
#define MTC_PASSES_COST_RANKTRAFFIC_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// The transfers of one kind in a training step, within groups of one kind.
struct RankTraffic {
  CollectiveKind kind;
  llvm::StringRef group;                ///< "tensor", "context" or "data"
  int64_t transfers = 0;                ///< Number of transfers of a rank.
  mlir::SmallVector<int64_t> sentBytes; ///< Bytes that each rank sends to others.
  double seconds = 0;                   ///< Time of all transfers, without overlap.
};

/// Returns "tensor", "context" or "data". A collective of one rank is one of a data group.
llvm::StringRef nameOfGroup(CollectiveAttr collective, ProgramOp program);

/// Returns the traffic of a step, over all of its micro-steps, for each kind and group that an
/// allocated program has.
mlir::SmallVector<RankTraffic, 2> findTraffic(mlir::ModuleOp placed);

} // namespace mtc

#endif // MTC_PASSES_COST_RANKTRAFFIC_H
