//===- ComputeInUsers.cpp - Recomputation of results in late users ----------------------------===//

#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/kernels/KernelSlice.h"
#include "passes/kernels/ProducerInliner.h"
#include "passes/kernels/UserIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_COMPUTEINUSERS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class ComputeInUsersPass : public mtc::impl::ComputeInUsersBase<ComputeInUsersPass> {
public:
  using ComputeInUsersBase::ComputeInUsersBase;

private:
  void runOnOperation() override {
    UserIndex index(getOperation().front());
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels)
      for (unsigned result = 0; kernel && result < kernel->getNumResults();) {
        if (!computeInUsers(kernel, result, index)) {
          ++result;
          continue;
        }
        remark::passed(kernel.getLoc(),
                       remark::RemarkOpts::name("computed-in-users").category(getArgument()))
            << remark::metric("bytes", bytesOf(kernel->getResult(result)));
        kernel = dropResult(kernel, result, index);
      }
  }

  /// Removes a result without users; null if the kernel has no other result.
  static KernelOp dropResult(KernelOp kernel, unsigned result, UserIndex &index) {
    const int64_t position = index.remove(kernel);
    if (kernel->getNumResults() == 1) {
      kernel.erase();
      return nullptr;
    }
    KernelOp smaller = withoutResult(kernel, result);
    index.insert(smaller, position);
    return smaller;
  }

  /// Recomputes the result in all users; returns false if that is not possible.
  bool computeInUsers(KernelOp kernel, unsigned result, UserIndex &index) {
    Value value = kernel->getResult(result);
    if (bytesOf(value) < minBytes)
      return false;
    SmallVector<KernelOp> users;
    for (OpOperand &use : value.getUses()) {
      auto user = dyn_cast<KernelOp>(use.getOwner());
      if (!user || llvm::is_contained(users, user) || users.size() == maxUsers)
        return false;
      users.push_back(user);
    }
    if (users.empty() ||
        llvm::none_of(users, [&](KernelOp user) { return index.hasCallBetween(kernel, user); }))
      return false;
    for (KernelOp user : users)
      if (!mayCompute(kernel, result, user, index))
        return false;
    // All slices depend on the users of the unchanged kernels.
    SmallVector<KernelOp> slices;
    for (KernelOp user : users)
      slices.push_back(sliceFor(kernel, result, user, index));
    for (auto [user, sliced] : llvm::zip_equal(users, slices)) {
      const int64_t position = index.remove(user);
      compute(kernel->getResult(result), sliced, user);
      index.insert(user, position);
    }
    return true;
  }

  /// Returns whether the value is live at the consumer even without recomputation, because the
  /// consumer or a later operation uses it.
  static bool isThereAt(Value value, KernelOp user, const UserIndex &index) {
    Value root = rootOf(value);
    return isa<BlockArgument>(root) || index.isReadFrom(root, user);
  }

  KernelOp sliceFor(KernelOp kernel, unsigned result, KernelOp user, const UserIndex &index) {
    OpBuilder builder(user);
    return sliceKernel(builder, kernel, result,
                       [&](Value value) { return isThereAt(value, user, index); });
  }

  bool mayCompute(KernelOp kernel, unsigned result, KernelOp user, const UserIndex &index) {
    auto input = static_cast<unsigned>(llvm::find(user.getInputs(), kernel->getResult(result)) -
                                       user.getInputs().begin());
    BlockArgument argument = user.getBody().front().getArgument(input);
    mergeLoads(argument);
    SmallVector<KernelLoadOp> loads = loadsOf(argument);
    if (argument == yieldOf(user).getOnto() || isReadByRows(argument) || loads.size() != 1 ||
        !loads.front().getSymbols().empty())
      return false;
    KernelOp sliced = sliceFor(kernel, result, user, index);
    if (!sliced)
      return false;
    const bool isPossible =
        canInline(sliced, 0) && iterationsOf(user) <= iterationsOf(sliced) &&
        llvm::all_of(sliced.getInputs(),
                     [&](Value value) { return isThereAt(value, user, index); }) &&
        exceedsLimits(sliced, user, {maxInputs, maxOperations}).empty();
    sliced.erase();
    return isPossible;
  }

  /// Inlines a kernel that computes `value` into a user of the value.
  void compute(Value value, KernelOp sliced, KernelOp user) {
    auto input =
        static_cast<unsigned>(llvm::find(user.getInputs(), value) - user.getInputs().begin());
    user.getInputsMutable()[input].set(sliced->getResult(0));
    inlineProducer(sliced, user, input);
    for (unsigned i = 0; i < user.getInputs().size(); ++i)
      while (readThroughView(user, i)) {
      }
  }

  static constexpr unsigned maxUsers = 2;
};

} // namespace
