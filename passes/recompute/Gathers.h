//===- Gathers.h - Repeated gathers of divided parameters -------------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_GATHERS_H
#define MTC_PASSES_RECOMPUTE_GATHERS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mtc {

/// Returns whether a value is a parameter that is gathered from the pieces of all ranks.
bool isGathered(mlir::Value value);

/// The gathers of a block, by parameter.
class Gathers {
public:
  explicit Gathers(mlir::Block &block);

  /// Returns all results of gathers that are the same parameter in the same type, `value` among
  /// them.
  mlir::ArrayRef<mlir::Value> equalTo(mlir::Value value) const;

private:
  using Key = std::pair<mlir::Attribute, mlir::Type>; ///< variable, type
  static Key keyOf(mlir::Value value);

  llvm::DenseMap<Key, mlir::SmallVector<mlir::Value, 2>> values;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_GATHERS_H
