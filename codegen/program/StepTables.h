//===- StepTables.h - Tables of a program's kernels, calls and steps --------------------------===//

#ifndef MTC_CODEGEN_PROGRAM_STEPTABLES_H
#define MTC_CODEGEN_PROGRAM_STEPTABLES_H

#include "codegen/program/DataObject.h"
#include "codegen/target/ConstantBuilder.h"
#include "ir/Mtc.h"

#include <map>
#include <optional>
#include <string>

namespace mtc {

class Target;

/// Builds the arrays of MtcKernel, MtcCall and MtcCollective (runtime/abi/program.h), and the
/// MtcFunctions, whose operations refer to them by index. The operations are in a separate object.
class StepTables {
public:
  /// `prefix` distinguishes the symbols from those of the tables of other pipeline stages.
  StepTables(ConstantBuilder &builder, DataObject &operations, Target &target,
             std::string prefix = "")
      : c(builder), operations(operations), target(target), prefix(std::move(prefix)) {}

  /// Adds the kernels and the slots of an allocated program.
  void addKernels(mlir::ModuleOp placed);
  /// Returns the MtcFunction of a step, and adds the library calls in it. Returns null after
  /// emitting a diagnostic. The function uses the copy with this number of each slot.
  llvm::Constant *addFunction(StepOp step, int64_t copy = 0);
  /// Adds the functions of a step to the program under a name: one for each copy of the slots that
  /// the step uses. A null or empty step has none.
  mlir::LogicalResult addSequence(llvm::StringRef name, StepOp step);
  /// Returns an MtcSequence of the first function under a name.
  llvm::Constant *sequenceOf(llvm::StringRef name);
  /// Returns the number of the function under a name for a micro-step; nothing for an empty step.
  std::optional<uint32_t> findFunction(llvm::StringRef name, int64_t microStep) const;

  llvm::ArrayRef<llvm::Constant *> getKernels() const { return kernels; }
  llvm::ArrayRef<llvm::Constant *> getCalls() const { return calls; }
  llvm::ArrayRef<llvm::Constant *> getFunctions() const { return functions; }
  llvm::ArrayRef<llvm::Constant *> getCollectives() const { return collectives; }

private:
  /// Numbers the entries of a block's operations from `first` on. Returns the number after the
  /// last.
  int64_t number(mlir::Block &block, int64_t first, llvm::SmallVectorImpl<int64_t> &last) const;
  /// Adds the entry of an operation. `last` has the last entry of each operation of its block, and
  /// `end` is the number of entries of the function. In a repeat, the slices are those of iteration
  /// `iteration` if the repeat is unrolled. `count` is the number of entries so far.
  mlir::LogicalResult add(mlir::Operation *op, mlir::ArrayRef<int64_t> waits,
                          mlir::ArrayRef<int64_t> last, int64_t end, int64_t iteration,
                          int64_t &count);
  /// Adds the entries of a repeat: one for itself and one for each operation of its body, or, if
  /// the target has no repeats, the entries of all iterations.
  mlir::LogicalResult addRepeat(RepeatOp repeat, mlir::ArrayRef<int64_t> waits,
                                mlir::ArrayRef<int64_t> last, int64_t end, int64_t &count);
  /// The fields of an entry that depend on the kind of operation.
  struct Entry;
  mlir::LogicalResult describe(mlir::Operation *op, int64_t iteration, Entry &entry);
  mlir::LogicalResult describeLaunch(mlir::Operation *launch, llvm::StringRef kernel,
                                     int64_t scratch, Entry &entry) const;
  mlir::LogicalResult describeCopy(mlir::Operation *op, AtAttr source, AtAttr destination,
                                   int64_t iteration, Entry &entry) const;
  /// Returns the number of copies of the slots that a step uses; 1 if it uses none. Fails with a
  /// diagnostic if the numbers differ.
  mlir::FailureOr<int64_t> countCopies(StepOp step) const;
  struct Slot;
  const Slot *findSlot(AtAttr slice) const;
  /// Returns the offset of a slice in an iteration, in the current copy of its slot.
  int64_t offsetOf(AtAttr slice, int64_t iteration = 0) const;
  /// Adds the offsets and strides of slices.
  void addSlices(mlir::ArrayRef<mlir::Attribute> slices, int64_t iteration, Entry &entry) const;
  /// Returns the address of the names of the nodes from which an operation comes.
  DataObject::Address addNodes(mlir::Location location);
  uint32_t addCall(CallOp call);
  /// Adds a collective, and the offsets of its slices.
  uint32_t addCollective(CollectiveAttr collective, mlir::ArrayAttr inputs, mlir::ArrayAttr outputs,
                         llvm::SmallVectorImpl<int64_t> &offsets);
  /// Ranges that an operation writes: an array of MtcWrite.
  struct Writes {
    uint32_t count = 0;
    DataObject::Address first = std::nullopt;
  };
  Writes addWrites(mlir::Operation *op, mlir::ArrayRef<int64_t> last, int64_t end,
                   int64_t iteration, int64_t number);

  ConstantBuilder &c;
  DataObject &operations;
  Target &target;
  const std::string prefix;
  bool checksMemory = false;
  /// The first copy of a slot.
  struct Slot {
    int64_t bytes, distance, copies; ///< `distance` is that to the next copy
  };
  std::map<std::pair<MemorySpace, int64_t>, Slot> slots; ///< by memory space and offset
  int64_t copy = 0;                                      ///< of slots, in the current function
  llvm::StringMap<uint32_t> kernelIndex;
  llvm::SmallVector<int64_t> scratchBytes;   ///< of each kernel
  llvm::SmallDenseSet<uint32_t> hostKernels; ///< numbers of the kernels on the host
  /// The description and the target's code of each call.
  llvm::DenseMap<mlir::Attribute, std::pair<llvm::Constant *, llvm::Constant *>> descriptions;
  llvm::DenseMap<llvm::Constant *, uint32_t> callIndex;
  llvm::DenseMap<mlir::Location, DataObject::Address> nodes;
  unsigned functionCount = 0;
  llvm::SmallVector<llvm::Constant *> kernels, calls, collectives, functions;
  llvm::StringMap<llvm::SmallVector<uint32_t, 1>> numbers; ///< of functions, by name
};

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_STEPTABLES_H
