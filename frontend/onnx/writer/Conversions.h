//===- Conversions.h - Conversion of core operations to ONNX nodes ----------------------------===//
//
// One function per operation of the dialect, in the files of `families/`, each of which has `void
// addNAMEConversions(Conversions &conversions)`; CMake finds them. A conversion receives the
// operation and the builder, and returns the operation's results.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_WRITER_CONVERSIONS_H
#define MTC_FRONTEND_ONNX_WRITER_CONVERSIONS_H

#include "frontend/onnx/writer/GraphBuilder.h"
#include "ir/Mtc.h"
#include "ir/Registry.h"

#include <functional>

namespace mtc::onnx {

class Conversions {
public:
  using Convert = std::function<void(mlir::Operation *, GraphBuilder &)>;

  /// Returns the table of all conversions.
  static const Conversions &get();

  /// Adds the conversion of an operation with one result.
  template <typename Op> void add(GraphValue (*convert)(Op, GraphBuilder &)) {
    table[Op::getOperationName()] = [convert](mlir::Operation *op, GraphBuilder &b) {
      b.define(op->getResult(0), convert(llvm::cast<Op>(op), b));
    };
  }
  /// Adds the conversion of an operation to one node with the same operands, which broadcast.
  void addSame(llvm::StringRef operation, llvm::StringRef op);
  /// Adds the conversion of an operation that defines its results itself.
  template <typename Op> void addDefining(void (*convert)(Op, GraphBuilder &)) {
    table[Op::getOperationName()] = [convert](mlir::Operation *op, GraphBuilder &b) {
      convert(llvm::cast<Op>(op), b);
    };
  }

  /// Returns null if the operation has no form in standard operators.
  const Convert *find(mlir::Operation *op) const;
  std::vector<std::string> getNames() const;

private:
  llvm::StringMap<Convert> table;
};

} // namespace mtc::onnx

template <> mtc::Registry<mtc::onnx::Conversions> &mtc::Registry<mtc::onnx::Conversions>::get();

#endif // MTC_FRONTEND_ONNX_WRITER_CONVERSIONS_H
