//===- FuseUpdate.cpp - Fuses parameter updates into the backward pass ------------------------===//

#include "ir/ReservedNames.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/optimizer/WholeUpdate.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace mtc {
#define GEN_PASS_DEF_FUSEUPDATE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class FuseUpdatePass : public mtc::impl::FuseUpdateBase<FuseUpdatePass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    ProgramOp program = ProgramOp::find(getOperation());
    auto update = symbols.lookup<func::FuncOp>(updateName);
    SmallVector<func::FuncOp> microSteps; // One for each shape.
    for (unsigned shape = 0, count = program ? program.getShapeCount() : 1; shape < count; ++shape)
      if (auto microStep = symbols.lookup<func::FuncOp>(nameForShape(microStepName, shape)))
        microSteps.push_back(microStep);
    if (microSteps.empty() || !update)
      return;
    WholeUpdate whole(update, symbols);
    const StringRef areSums = "gradients are sums over micro-steps";
    StringRef reason =
        program && program.getLossScaling()
            ? "the loss is scaled, so all gradients decide whether the step is skipped"
        : program && program.getMicroSteps() > 1 ? areSums
                                                 : whole.check();
    if (reason.empty() && !llvm::all_of(microSteps, [&](func::FuncOp microStep) {
          return findGradients(microStep, symbols);
        }))
      reason = areSums;
    if (reason.empty() && llvm::any_of(microSteps, returnsVariable))
      reason = "the value of a variable is a result, and must outlive the update";
    if (!reason.empty()) {
      remark::missed(update.getLoc(),
                     remark::RemarkOpts::name("update-apart").category("mtc-fuse-update"))
          << remark::reason("{0}", reason);
      return;
    }
    const llvm::StringSet<> together = findSmall(symbols, whole);
    // Gradients are written for the first shape only, since a transient variable has one place.
    func::FuncOp copy = microSteps.front().clone();
    copy.setSymName(gradientsName);
    symbols.insert(copy, std::next(microSteps.front()->getIterator()));
    for (func::FuncOp microStep : microSteps) {
      findGradients(microStep, symbols);
      fuse(microStep, whole, update.getLoc(), symbols, together);
    }
    OpBuilder end(update.front().getTerminator());
    TensorBuilder b(update.getLoc(), end);
    whole.restrict(b, together);
  }

  /// Returns the smallest flat parameters, as long as their gradients together take at most
  /// 1/partKept of the parameters' bytes. Typical examples are the many biases and normalization
  /// scales.
  llvm::StringSet<> findSmall(SymbolTable &symbols, const WholeUpdate &whole) const {
    SmallVector<std::tuple<int64_t, size_t, StringRef>> sizes; // Ties keep their order.
    int64_t allowed = 0;
    for (auto [name, write] : gradients) {
      int64_t bytes = paddedBytes(byteSize(symbols.lookup<VariableOp>(name).getTensorType()));
      if (whole.isFlat(name))
        sizes.push_back({bytes, sizes.size(), name});
      allowed += bytes;
    }
    allowed /= partKept;
    llvm::sort(sizes);
    llvm::StringSet<> small;
    for (auto [bytes, i, name] : sizes) {
      allowed -= bytes;
      if (allowed >= 0)
        small.insert(name);
    }
    if (small.size() < 2)
      small.clear();
    return small;
  }

  /// Collects the writes of gradients by parameter. Returns false if a gradient is written more
  /// than once.
  bool findGradients(func::FuncOp microStep, SymbolTable &symbols) {
    gradients.clear();
    bool isSimple = true;
    for (auto write : microStep.front().getOps<WriteOp>()) {
      auto variable = symbols.lookup<VariableOp>(write.getVariable());
      if (variable.getRole() == Role::Gradient)
        isSimple &= gradients.insert({*variable.getOf(), write}).second;
    }
    return isSimple;
  }

  /// Returns whether the function returns the value of a variable or a view of it.
  static bool returnsVariable(func::FuncOp function) {
    return llvm::any_of(function.front().getTerminator()->getOperands(), isOfVariable);
  }

  /// Fuses the updates of all parameters except those in `together`.
  void fuse(func::FuncOp microStep, WholeUpdate &whole, Location updateLocation,
            SymbolTable &symbols, const llvm::StringSet<> &together) {
    OpBuilder start = OpBuilder::atBlockBegin(&microStep.front());
    whole.copyScalars(start);
    llvm::StringMap<Operation *> lastUsers = findLastUsers(microStep, symbols);
    for (auto [name, write] : gradients) {
      if (together.contains(name))
        continue;
      auto parameter = symbols.lookup<VariableOp>(name);
      // The new value overwrites the old one in place, so insert after the last user of the old
      // value.
      Operation *place = write;
      if (Operation *user = lastUsers.lookup(name); user && place->isBeforeInBlock(user))
        place = user;
      OpBuilder builder(place);
      builder.setInsertionPointAfter(place);
      TensorBuilder b(updateLocation, builder);
      whole.build(b, parameter, cast<WriteOp>(write).getValue());
      symbols.lookup<VariableOp>(cast<WriteOp>(write).getVariable()).setTransient(true);
    }
    for (auto [name, write] : gradients)
      if (!together.contains(name))
        write->erase();
  }

  /// Returns the last operation, the terminator excluded, that reads each parameter's value or a
  /// view of it, from any variable that stores the parameter.
  static llvm::StringMap<Operation *> findLastUsers(func::FuncOp function, SymbolTable &symbols) {
    llvm::StringMap<Operation *> last;
    for (auto read : function.front().getOps<ReadOp>()) {
      auto variable = symbols.lookup<VariableOp>(read.getVariable());
      StringRef parameter = variable.getOf().value_or(read.getVariable());
      SmallVector<Value> values = {read.getResult()};
      while (!values.empty())
        for (Operation *user : values.pop_back_val().getUsers()) {
          if (user->hasTrait<mtc::View>())
            values.push_back(user->getResult(0));
          Operation *&known = last[parameter];
          if (!user->hasTrait<OpTrait::IsTerminator>() && (!known || known->isBeforeInBlock(user)))
            known = user;
        }
    }
    return last;
  }

  /// Gradients of at most 1/partKept of the parameters' bytes are kept for a joint update.
  static constexpr int64_t partKept = 256;

  llvm::MapVector<StringRef, Operation *> gradients;
};

} // namespace
