//===- Shapes.h - Programs for several shapes of a model --------------------------------------===//

#ifndef MTC_PASSES_PROGRAM_SHAPES_H
#define MTC_PASSES_PROGRAM_SHAPES_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc {

/// A training program, and the sizes of symbolic dimensions that it has.
struct ProgramOfShape {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::DictionaryAttr dims;
};

/// Adds the functions of `others`, the same training program with other sizes, to `program` as
/// those of its further shapes; `dims` are the sizes of the first. All are at the training stage.
/// Variables that are equal in all are shared; constants that depend on the shape are added. Fails
/// with a diagnostic if anything that is trained or saved depends on the shape.
mlir::LogicalResult addShapes(mlir::ModuleOp program, mlir::DictionaryAttr dims,
                              llvm::MutableArrayRef<ProgramOfShape> others);

} // namespace mtc

#endif // MTC_PASSES_PROGRAM_SHAPES_H
