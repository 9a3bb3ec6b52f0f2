//===- RandomModule.h - Random modules, and random changes of them ----------------------------===//

#ifndef MTC_TEST_PASSES_RANDOMMODULE_H
#define MTC_TEST_PASSES_RANDOMMODULE_H

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"

#include <random>

namespace mtc::test {

using namespace mlir;

/// A target in which scratch memory and times depend on the kernel, and on the operands of a call.
struct ScratchTarget : TargetAttrInterface::ExternalModel<ScratchTarget, StringAttr> {
  unsigned getThreads(Attribute) const { return 1; }
  Precision getPrecision(Attribute) const { return Precision::F32; }
  int64_t getScratchBytes(Attribute, CallAttrInterface call) const {
    return 64 * static_cast<int64_t>(1 + call.getShapes().operands.size());
  }
  unsigned getSupportLevel(Attribute, CallAttrInterface) const { return 1; }
  bool isFasterAsKernel(Attribute, CallAttrInterface) const { return false; }
  double getCallSeconds(Attribute, CallAttrInterface call) const {
    return 1e-6 * static_cast<double>(call.getShapes().operands.size());
  }
  double getKernelSeconds(Attribute, Operation *kernel) const {
    return 1e-7 * static_cast<double>(cast<KernelOp>(kernel).getInputs().size());
  }
  double getCopySeconds(Attribute, int64_t) const { return 0; }
  MemorySpace getOffloadSpace(Attribute) const { return MemorySpace::Disk; }
  double getTransferSeconds(Attribute, MemorySpace, MemorySpace, int64_t bytes) const {
    return 1e-9 * static_cast<double>(bytes);
  }
  std::string describeRates(Attribute) const { return "as a test has them"; }
  KernelPlanAttrInterface planKernel(Attribute, Operation *kernel) const {
    auto bytes = cast<KernelOp>(kernel).getInputs().size() > 1 ? 128 : 0;
    return cast<KernelPlanAttrInterface>(
        IntegerAttr::get(IntegerType::get(kernel->getContext(), 64), bytes));
  }
};

/// The plans of this target contain only scratch memory.
struct ScratchPlan : KernelPlanAttrInterface::ExternalModel<ScratchPlan, IntegerAttr> {
  int64_t getScratchBytes(Attribute plan) const { return cast<IntegerAttr>(plan).getInt(); }
  std::string refuse(Attribute, Operation *) const { return ""; }
};

/// A module with functions of random kernels, contractions, views, reads and writes.
class RandomModule {
public:
  explicit RandomModule(unsigned seed) : random(seed) {
    registry.insert<MtcDialect, func::FuncDialect>();
    registry.addExtension(+[](MLIRContext *context, MtcDialect *) {
      StringAttr::attachInterface<ScratchTarget>(*context);
      IntegerAttr::attachInterface<ScratchPlan>(*context);
    });
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> build(int operationCount) {
    text = "module attributes {mtc.target = \"scratch\"} {\n";
    for (int i = 0; i < variableCount; ++i)
      text += "mtc.variable parameter @w" + std::to_string(i) + " : " + flat + " = #mtc.zeros\n";
    text += "mtc.variable gradient transient @g : " + flat + " = #mtc.zeros of @w0\n";
    buildFunction("step", operationCount, "@w");
    buildFunction("gradients", operationCount / 4, "@g");
    return parseSourceString<ModuleOp>(text + "}\n", &context);
  }

  unsigned below(size_t bound) { return static_cast<unsigned>(random() % bound); }
  MLIRContext context;

private:
  static constexpr int variableCount = 3;

  std::string pick() {
    return values[values.size() - 1 - below(std::min<size_t>(values.size(), 5))];
  }

  void buildFunction(const std::string &name, int operationCount, const std::string &written) {
    values = {"%x"};
    text += "func.func @" + name + "(%x: " + flat + " {mtc.name = \"x\"}) -> " + flat + " {\n";
    for (int i = 0; i < variableCount; ++i) {
      values.push_back("%w" + std::to_string(i));
      text += values.back() + " = mtc.read @w" + std::to_string(i) + " : " + flat + "\n";
    }
    for (int i = 0; i < operationCount; ++i)
      buildOperation("%v" + std::to_string(i));
    for (int i = 0; i < (written == "@w" ? variableCount : 1); ++i)
      text += "mtc.write " + written + (written == "@w" ? std::to_string(i) : "") + ", " + pick() +
              " : " + flat + "\n";
    text += "return " + pick() + " : " + flat + "\n}\n";
  }

  void buildOperation(const std::string &name) {
    const std::string a = pick(), b = pick();
    switch (below(6)) {
    case 0: // A view, and a kernel of another shape that reads it.
      text += name + "r = mtc.reshape " + a + " : " + flat + " -> tensor<4x4xf32>\n";
      text += name + "s = mtc.reshape " + name + "r : tensor<4x4xf32> -> " + flat + "\n";
      values.push_back(name + "s");
      return;
    case 1: // Accumulates in the buffer of an operand.
      for (const auto &[suffix, from] :
           {std::pair("p", a), std::pair("q", b), std::pair("y", pick())})
        text += name + suffix + " = mtc.reshape " + from + " : " + flat + " -> tensor<4x4xf32>\n";
      text += name + "z = mtc.fused_contract " + name + "p, " + name +
              "q batch [] x [] over [1] x [0] adding " + name +
              "y : tensor<4x4xf32> : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>\n";
      text += name + " = mtc.reshape " + name + "z : tensor<4x4xf32> -> " + flat + "\n";
      break;
    case 2: // Reads elements that it has written, were they in one buffer.
      text += name + " = mtc.kernel [16](" + a + ") : (" + flat + ") -> " + flat + " {\n" +
              "^bb0(%p: " + flat + "):\n" + load("%u", "%p", "15 - d0") +
              "mtc.kernel.yield %u at [affine_map<(d0) -> (d0)>] : f32\n}\n";
      break;
    default:
      text += name + " = mtc.kernel [16](" + a + ", " + b + ") : (" + flat + ", " + flat + ") -> " +
              flat + " {\n^bb0(%p: " + flat + ", %q: " + flat + "):\n" + load("%u", "%p", "d0") +
              load("%v", "%q", "d0") + "%s = arith.addf %u, %v : f32\n" +
              "mtc.kernel.yield %s at [affine_map<(d0) -> (d0)>] : f32\n}\n";
    }
    values.push_back(name);
  }

  std::string load(const char *result, const char *from, const char *index) {
    return std::string(result) + " = mtc.kernel.load " + from + " at affine_map<(d0) -> (" + index +
           ")> : " + flat + " -> f32\n";
  }

  std::mt19937 random;
  DialectRegistry registry;
  std::string text;
  const std::string flat = "tensor<16xf32>";
  std::vector<std::string> values;
};

/// Makes random changes to a module that resemble those of passes.
class Editor {
public:
  Editor(RandomModule &random, ModuleOp module, RewriterBase::Listener &listener)
      : random(random), rewriter(&random.context, &listener) {
    for (auto function : module.getOps<func::FuncOp>())
      functions.push_back(function);
  }

  void edit() {
    Block &block = functions[random.below(functions.size())].front();
    SmallVector<Operation *> all;
    for (Operation &op : block.without_terminator())
      all.push_back(&op);
    Operation *op = all[random.below(all.size())];
    switch (random.below(5)) {
    case 0:
      return op->use_empty() ? rewriter.eraseOp(op) : replaceOperand(op);
    case 1:
      return duplicate(op);
    case 2:
      return move(op, all);
    case 3:
      return changeInside(op);
    default:
      return replaceOperand(op);
    }
  }

private:
  /// Returns another value of the type that is defined before the operation.
  Value findReplacement(Operation *op, Value value) {
    SmallVector<Value> found;
    for (Operation &other : *op->getBlock()) {
      if (&other == op)
        break;
      for (Value result : other.getResults())
        if (result.getType() == value.getType())
          found.push_back(result);
    }
    return found.empty() ? value : found[random.below(found.size())];
  }

  void replaceOperand(Operation *op) {
    if (op->getNumOperands() == 0)
      return;
    OpOperand &operand = op->getOpOperand(random.below(op->getNumOperands()));
    Value value = findReplacement(op, operand.get());
    rewriter.modifyOpInPlace(op, [&] { operand.set(value); });
  }

  /// Makes later operations use a copy of the operation's result.
  void duplicate(Operation *op) {
    if (op->getNumResults() == 0)
      return;
    rewriter.setInsertionPointAfter(op);
    Operation *copy = rewriter.clone(*op);
    rewriter.replaceUsesWithIf(op->getResult(0), copy->getResult(0), [&](OpOperand &use) {
      return use.getOwner() != copy && random.below(2) == 0;
    });
  }

  /// Moves the operation between its operands and its users.
  void move(Operation *op, ArrayRef<Operation *> all) {
    Operation *target = all[random.below(all.size())];
    bool isAfterOperands = llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *definition = operand.getDefiningOp();
      return !definition || definition->isBeforeInBlock(target);
    });
    bool isBeforeUsers = llvm::all_of(op->getUsers(), [&](Operation *user) {
      return user == target || target->isBeforeInBlock(user);
    });
    if (target != op && isAfterOperands && isBeforeUsers)
      rewriter.moveOpBefore(op, target);
  }

  /// Makes a kernel load its operand at another index, so that it can no longer be computed in the
  /// buffer of the operand.
  void changeInside(Operation *op) {
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel)
      return;
    auto load = *kernel.getBody().getOps<KernelLoadOp>().begin();
    AffineExpr d0 = rewriter.getAffineDimExpr(0);
    AffineMap reversed = AffineMap::get(1, 0, 15 - d0), plain = AffineMap::get(1, 0, d0);
    rewriter.modifyOpInPlace(load, [&] { load.setMap(load.getMap() == plain ? reversed : plain); });
  }

  RandomModule &random;
  IRRewriter rewriter;
  std::vector<func::FuncOp> functions;
};

} // namespace mtc::test

#endif // MTC_TEST_PASSES_RANDOMMODULE_H
