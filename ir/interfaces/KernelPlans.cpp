//===- KernelPlans.cpp - Cached plans of equal kernels ----------------------------------------===//

#include "ir/interfaces/KernelPlans.h"

#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Writes attributes and types as pointers, which are unique in a context, and values as numbers.
class StructureWriter {
public:
  std::string write(KernelOp kernel) {
    add(kernel.getSpaceAttr());
    add(kernel.getReducedAttr());
    add(kernel.getIterationsAttr());
    add(kernel.getOnHostAttr());
    add(kernel->getAttr(fixedOrderAttribute));
    addTypes(kernel.getOutputs().getTypes());
    Block &body = kernel.getBody().front();
    addTypes(body.getArgumentTypes());
    for (BlockArgument argument : body.getArguments())
      define(argument);
    for (Operation &op : body)
      add(op);
    return {reinterpret_cast<const char *>(words.data()), words.size() * sizeof(words[0])};
  }

private:
  void add(Attribute attribute) { add(attribute.getAsOpaquePointer()); }
  void add(const void *pointer) { words.push_back(reinterpret_cast<uintptr_t>(pointer)); }
  void addTypes(TypeRange types) {
    words.push_back(types.size());
    for (Type type : types)
      add(type.getAsOpaquePointer());
  }
  void define(Value value) { numbers.try_emplace(value, numbers.size()); }

  void add(Operation &op) {
    add(op.getName().getAsOpaquePointer());
    add(op.getDiscardableAttrDictionary());
    addProperties(op);
    words.push_back(op.getNumOperands());
    for (Value operand : op.getOperands())
      words.push_back(numbers.at(operand));
    addTypes(op.getResultTypes());
    for (Value result : op.getResults())
      define(result);
  }

  /// Adds the properties of an operation. Properties of the most frequent operations are added
  /// without the dictionary of all properties, which is slow to create.
  void addProperties(Operation &op) {
    if (auto load = dyn_cast<KernelLoadOp>(op)) {
      add(load.getMapAttr());
      words.push_back(load.getSymbols().size());
      words.push_back(load.getGuard() != nullptr);
    } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      add(constant.getValue());
    } else {
      add(op.getPropertiesAsAttribute());
    }
  }

  llvm::SmallVector<uintptr_t, 512> words;
  llvm::SmallDenseMap<Value, uintptr_t, 64> numbers;
};

} // namespace

std::string mtc::structureOf(KernelOp kernel) { return StructureWriter().write(kernel); }

KernelPlanAttrInterface KernelPlans::getPlan(TargetAttrInterface target, KernelOp kernel) const {
  std::string key = structureOf(kernel);
  const void *pointer = target.getAsOpaquePointer();
  key.append(reinterpret_cast<const char *>(&pointer), sizeof(pointer));
  {
    const std::scoped_lock lock(mutex);
    if (KernelPlanAttrInterface known = plans.lookup(key))
      return known;
  }
  KernelPlanAttrInterface plan = target.planKernel(kernel);
  const std::scoped_lock lock(mutex);
  plans[key] = plan;
  return plan;
}
