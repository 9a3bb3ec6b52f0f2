//===- Conversions.h - Conversion of core operations to ONNX nodes ----------------------------===//
//
// One function per operation of the dialect, in one file per family. A conversion receives the
// operation and the builder, and returns the operation's results.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_WRITER_CONVERSIONS_H
#define MTC_FRONTEND_ONNX_WRITER_CONVERSIONS_H

#include "frontend/onnx/writer/GraphBuilder.h"
#include "ir/Mtc.h"

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

void addElementwiseConversions(Conversions &conversions);
void addMovementConversions(Conversions &conversions);
void addReductionConversions(Conversions &conversions);
void addIndexingConversions(Conversions &conversions);
void addWindowConversions(Conversions &conversions);
void addContractionConversions(Conversions &conversions);
void addConvolutionConversions(Conversions &conversions);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_WRITER_CONVERSIONS_H
