//===- StageModule.h - The module of a pipeline stage -----------------------------------------===//

#ifndef MTC_PASSES_PIPELINE_STAGEMODULE_H
#define MTC_PASSES_PIPELINE_STAGEMODULE_H

#include "passes/pipeline/StagePlacement.h"

namespace mtc {

/// A function of the program with the chunk of each of its operations.
struct PlacedFunction {
  mlir::func::FuncOp function;
  const SharedOperations *shared;
  const StagePlacement *placement;
  std::vector<ChunkMessage> messages;
  int64_t firstChannel; ///< of the messages, which have consecutive channels
};

/// Makes the module of a stage: of each function the operations of the stage's chunks, and the
/// variables that these need. Values of other chunks arrive in slots.
class StageModuleBuilder {
public:
  /// `stage` is a copy of `program`, of which the functions are removed.
  StageModuleBuilder(mlir::ModuleOp program, mlir::ModuleOp stage, int64_t number,
                     const PipelineLayout &layout);

  /// Adds the part of a function that a chunk runs under the given name, and its messages. Returns
  /// the number in the stage of each message of the function; -1 for those of other chunks.
  llvm::SmallVector<int64_t> add(PlacedFunction &placed, llvm::StringRef name, int64_t chunk,
                                 int64_t slots);
  /// Removes the variables of other stages.
  void removeVariables();

private:
  mlir::StringAttr addSlots(mlir::Location location, llvm::StringRef name, mlir::Type type,
                            int64_t slots);
  void addMessage(const ChunkMessage &message, int64_t channel, bool isSent,
                  llvm::ArrayRef<mlir::Attribute> variables);

  mlir::ModuleOp program, stage;
  int64_t number, nextMessage = 0;
  const PipelineLayout &layout;
  mlir::SymbolTable symbols;
  mlir::Block::iterator variablesEnd; ///< behind the last variable
};

} // namespace mtc

#endif // MTC_PASSES_PIPELINE_STAGEMODULE_H
