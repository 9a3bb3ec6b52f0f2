//===- TaskTables.h - Tables of a pipeline stage's messages and tasks -------------------------===//

#ifndef MTC_CODEGEN_PROGRAM_TASKTABLES_H
#define MTC_CODEGEN_PROGRAM_TASKTABLES_H

#include "codegen/program/StepTables.h"

namespace mtc {

/// Builds the array of MtcMessage (runtime/abi/pipeline.h), with an entry for each copy of the
/// slots of a message, and the lists of tasks, which refer to messages and functions by index.
class TaskTables {
public:
  /// `steps` has the functions of the stage.
  TaskTables(ConstantBuilder &builder, const StepTables &steps) : c(builder), steps(steps) {}

  /// Adds the messages of an allocated program.
  void addMessages(mlir::ModuleOp placed);
  /// Returns an MtcTaskList of the tasks that replace a function, which is empty if there are none.
  /// Fails with a diagnostic if a task runs a function that is not in the program.
  mlir::FailureOr<llvm::Constant *> describeTasks(mlir::ModuleOp placed, llvm::StringRef of) const;

  llvm::ArrayRef<llvm::Constant *> getMessages() const { return messages; }

private:
  llvm::Constant *describeMessage(MessageOp message, int64_t distance, int64_t copy) const;

  ConstantBuilder &c;
  const StepTables &steps;
  llvm::SmallVector<llvm::Constant *> messages;
  /// Of each operation: the index of its first entry and the number of its entries.
  llvm::SmallVector<std::pair<int64_t, int64_t>> entries;
};

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_TASKTABLES_H
