//===- ScanBody.h - Functions that compute iterations of scans --------------------------------===//

#ifndef MTC_IR_SCANBODY_H
#define MTC_IR_SCANBODY_H

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// The signature of a function that computes an iteration of `mtc.scan`: its arguments are the
/// states, a slice of each scanned input, and the captured values.
struct ScanBody {
  /// Returns nullopt for other functions.
  static std::optional<ScanBody> of(mlir::func::FuncOp function);
  /// Marks a function as a body.
  void mark(mlir::func::FuncOp function) const;

  bool isState(unsigned argument) const { return argument < states; }
  bool isSlice(unsigned argument) const { return !isState(argument) && argument < states + inputs; }

  int64_t states = 0, inputs = 0;
};

/// Returns whether a function computes an iteration of a scan.
inline bool isScanBody(mlir::func::FuncOp function) { return ScanBody::of(function).has_value(); }

} // namespace mtc

#endif // MTC_IR_SCANBODY_H
