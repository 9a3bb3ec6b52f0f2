//===- ParameterStorage.cpp - Variables that store a parameter --------------------------------===//

#include "passes/variables/ParameterStorage.h"

#include "ir/ReservedNames.h"

using namespace mlir;
using namespace mtc;

llvm::StringMap<ParameterStorage> mtc::findParameterStorage(ModuleOp module) {
  llvm::StringMap<ParameterStorage> storages;
  for (auto variable : module.getOps<VariableOp>()) {
    if (variable.getRole() == Role::Parameter)
      storages[variable.getSymName()].parameter = variable;
    else if (variable.getRole() == Role::LowHalf)
      storages[*variable.getOf()].lowHalf = variable;
    else if (variable.getRole() == Role::Copy)
      storages[*variable.getOf()].copy = variable;
    else if (variable.getRole() == Role::Gradient && variable.getOf() && // not sums over ranks
             !variable.getSymName().ends_with(lookupsSuffix))
      storages[*variable.getOf()].gradient = variable;
  }
  return storages;
}

static Type elementOf(VariableOp variable) {
  return variable ? variable.getTensorType().getElementType() : Type();
}

static int64_t paddedElements(VariableOp variable) {
  return paddedBytes(byteSize(variable.getTensorType())) / elementBytes(elementOf(variable));
}

Type ParameterStorage::getElementType() {
  return lowHalf ? Float32Type::get(parameter.getContext()) : elementOf(parameter);
}

bool ParameterStorage::isLike(ParameterStorage &other) {
  return elementOf(parameter) == elementOf(other.parameter) &&
         elementOf(lowHalf) == elementOf(other.lowHalf) &&
         elementOf(copy) == elementOf(other.copy) &&
         elementOf(gradient) == elementOf(other.gradient);
}

bool ParameterStorage::isPaddedAlike() {
  int64_t elements = paddedElements(parameter);
  RankedTensorType updated = parameter.getTensorType().clone(getElementType());
  return paddedBytes(byteSize(updated)) / elementBytes(getElementType()) == elements &&
         (!copy || paddedElements(copy) == elements) &&
         (!gradient || paddedElements(gradient) == elements);
}

static std::optional<VariableView> viewOfAny(VariableOp variable,
                                             llvm::function_ref<VariableView(VariableOp)> viewOf) {
  return variable ? std::optional(viewOf(variable)) : std::nullopt;
}

/// Returns a view of one member of all storages, or nothing if they do not have this member. All or
/// none of the storages must have it.
static std::optional<VariableView> viewOf(ArrayRef<ParameterStorage> storages,
                                          VariableOp ParameterStorage::*member) {
  if (!(storages.front().*member))
    return std::nullopt;
  return VariableView(llvm::map_to_vector(
      storages, [&](const ParameterStorage &storage) { return storage.*member; }));
}

ParameterView::ParameterView(const ParameterStorage &storage,
                             llvm::function_ref<VariableView(VariableOp)> viewOf)
    : stored(viewOf(storage.parameter)), lowHalf(viewOfAny(storage.lowHalf, viewOf)),
      copy(viewOfAny(storage.copy, viewOf)) {}

ParameterView::ParameterView(ArrayRef<ParameterStorage> storages)
    : stored(*viewOf(storages, &ParameterStorage::parameter)),
      lowHalf(viewOf(storages, &ParameterStorage::lowHalf)),
      copy(viewOf(storages, &ParameterStorage::copy)) {}

Value ParameterView::read(TensorBuilder &b) const {
  Value value = stored.read(b);
  if (!lowHalf)
    return value;
  return b.create<JoinHalvesOp>(typeOf(value).clone(b.getF32Type()), value, lowHalf->read(b));
}

SmallVector<std::pair<VariableView, Value>> ParameterView::divide(TensorBuilder &b,
                                                                  Value value) const {
  SmallVector<std::pair<VariableView, Value>> parts;
  RankedTensorType type = typeOf(value);
  if (lowHalf) {
    parts.push_back({*lowHalf, b.create<LowHalfOp>(type.clone(b.getI16Type()), value)});
    parts.push_back({stored, b.create<HighHalfOp>(type.clone(b.getBF16Type()), value)});
    return parts;
  }
  if (copy)
    parts.push_back({*copy, b.cast(value, copy->getElementType())});
  parts.push_back({stored, value});
  return parts;
}
