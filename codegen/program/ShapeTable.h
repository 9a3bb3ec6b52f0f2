//===- ShapeTable.h - The tables of a shape of the program ------------------------------------===//

#ifndef MTC_CODEGEN_PROGRAM_SHAPETABLE_H
#define MTC_CODEGEN_PROGRAM_SHAPETABLE_H

#include "codegen/program/StepTables.h"
#include "codegen/target/ConstantBuilder.h"
#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// Returns the step with this name; null if there is none.
StepOp findStep(mlir::ModuleOp placed, llvm::StringRef name);
/// Returns the slice of a step's output; null if the step does not exist or has no such output.
AtAttr findOutput(mlir::ModuleOp placed, llvm::StringRef step, llvm::StringRef output);
/// Returns the offset of that slice; -1 if there is none.
int64_t outputOffset(mlir::ModuleOp placed, llvm::StringRef step, llvm::StringRef output);

/// What depends on a shape of the program: inputs, outputs, functions and metrics.
class ShapeTable {
public:
  /// `number` is 0 for the first shape, or the only one. `stages` are the pipeline stages of the
  /// program, of which `placed` is one, or only `placed`.
  ShapeTable(llvm::ArrayRef<mlir::ModuleOp> stages, mlir::ModuleOp placed, ProgramOp program,
             unsigned number, ConstantBuilder &c)
      : stages(stages), placed(placed), program(program), number(number), c(c) {}

  /// Adds the inputs of the micro-step, then those that only other steps have. An input that only
  /// other stages read has no offset. Fails with a diagnostic unless all steps read an input from
  /// the same slice.
  mlir::LogicalResult addInputs();
  void addOutputs();
  llvm::ArrayRef<llvm::Constant *> getInputs() const { return inputs; }
  llvm::ArrayRef<llvm::Constant *> getOutputs() const { return outputs; }
  llvm::ArrayRef<std::string> getInputNames() const { return inputNames; }

  /// Describes the values per sample of `evaluate`. The loss has one element per sample.
  llvm::Constant *describeRowMetrics();
  /// Returns the MtcShape; `steps` has the functions of the shape.
  llvm::Constant *describe(StepTables &steps);

private:
  struct Input {
    llvm::StringRef name;
    AtAttr at;
    bool isOwn; ///< this stage reads it
  };
  mlir::LogicalResult addInputsOf(StepOp step, bool isOwn);
  /// Returns the offset of a result of the last stage, or -1 in the tables of another stage.
  int64_t offsetOf(AtAttr result) const;
  ShapeAttr getShape() { return cast<ShapeAttr>(program.getShapesAttr()[number]); }

  llvm::ArrayRef<mlir::ModuleOp> stages;
  mlir::ModuleOp placed;
  ProgramOp program;
  unsigned number;
  ConstantBuilder &c;
  llvm::SmallVector<llvm::Constant *> inputs, outputs;
  llvm::SmallVector<std::string> inputNames;
  llvm::SmallVector<Input> slices; ///< of the inputs
};

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_SHAPETABLE_H
