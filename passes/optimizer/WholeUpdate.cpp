//===- WholeUpdate.cpp - Splits the update function by parameter ------------------------------===//

#include "passes/optimizer/WholeUpdate.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;

//===----------------------------------------------------------------------------------------===//
// Ownership of operations by parameters
//===----------------------------------------------------------------------------------------===//

/// Returns whether all elements of a value equal one scalar, through operations that can be emitted
/// in another shape.
static bool isUniform(Value value) {
  Operation *op = value.getDefiningOp();
  DenseElementsAttr elements;
  if (matchPattern(op, m_Constant(&elements)))
    return elements.isSplat();
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return broadcast.getInput().getType().getRank() == 0;
  return op->hasTrait<OpTrait::Elementwise>() && llvm::all_of(op->getOperands(), isUniform);
}

StringRef WholeUpdate::check() {
  for (Operation &op : function.front())
    if (!place(&op))
      return "the update of one parameter depends on another's gradient";
  return {};
}

/// Returns the parameter whose variable an operation reads or writes, or null.
StringAttr WholeUpdate::findOwner(Operation *op) {
  FlatSymbolRefAttr symbol;
  if (auto read = dyn_cast<ReadOp>(op))
    symbol = read.getVariableAttr();
  else if (auto write = dyn_cast<WriteOp>(op))
    symbol = write.getVariableAttr();
  if (!symbol)
    return {};
  auto variable = symbols.lookup<VariableOp>(symbol.getValue());
  if (variable.getRole() == Role::Scalar)
    return {};
  return StringAttr::get(op->getContext(), variable.getOf().value_or(symbol.getValue()));
}

/// Determines whether an operation belongs to one parameter or to flat tensors. Returns false if it
/// depends on several parameters in any other way.
bool WholeUpdate::place(Operation *op) {
  if (isa<ReadFlatOp>(op))
    flat.insert(op->getResult(0));
  StringAttr owner = findOwner(op);
  bool isFlat = isa<WriteFlatOp>(op);
  for (Value operand : op->getOperands()) {
    StringAttr other = ownerOf(operand);
    if (owner && other && owner != other)
      return false;
    owner = other ? other : owner;
    isFlat |= flat.contains(operand);
  }
  if (isFlat) {
    flat.insert(op->result_begin(), op->result_end());
    return !owner && (op->hasTrait<OpTrait::Elementwise>() || isa<WriteFlatOp>(op)) &&
           llvm::all_of(op->getOperands(),
                        [&](Value value) { return flat.contains(value) || isUniform(value); });
  }
  if (owner && isa<func::ReturnOp>(op))
    return false;
  if (owner) {
    owners[op] = owner;
    owned[owner.getValue()].push_back(op);
  }
  return true;
}

bool WholeUpdate::isGradient(StringRef variable) const {
  return symbols.lookup<VariableOp>(variable).getRole() == Role::Gradient;
}

//===----------------------------------------------------------------------------------------===//
// Update of one parameter
//===----------------------------------------------------------------------------------------===//

/// Copies operands that do not depend on a parameter and are not mapped yet, such as constants.
static void copyOperands(OpBuilder &b, Operation *op, IRMapping &known) {
  for (Value operand : op->getOperands())
    if (!known.contains(operand)) {
      copyOperands(b, operand.getDefiningOp(), known);
      b.clone(*operand.getDefiningOp(), known);
    }
}

void WholeUpdate::copyScalars(OpBuilder &builder) {
  shared = IRMapping(); // Of another function, if there are several shapes.
  for (Operation &op : function.front())
    if (op.getNumResults() == 1 && typeOf(op.getResult(0)).getRank() == 0 && !owners.lookup(&op)) {
      copyOperands(builder, &op, shared);
      builder.clone(op, shared);
    }
}

void WholeUpdate::build(TensorBuilder &b, VariableOp parameter, Value gradient) {
  SmallVector<std::pair<StringRef, Value>> written;
  if (isFlat(parameter.getSymName()))
    buildFlat(b, parameter, gradient, written);
  else
    buildOwned(b, parameter, gradient, written);
  for (auto [name, value] : written)
    b.create<WriteOp>(name, value);
}

void WholeUpdate::buildFlat(TensorBuilder &b, VariableOp parameter, Value gradient,
                            Written &written) {
  DenseMap<Value, Value> known;
  for (auto [scalar, copy] : shared.getValueMap())
    known[scalar] = copy;
  for (auto read : function.front().getOps<ReadFlatOp>())
    if (std::optional<unsigned> i = indexIn(read.getVariables(), parameter)) {
      StringRef name = cast<FlatSymbolRefAttr>(read.getVariables()[*i]).getValue();
      known[read.getResult()] =
          isGradient(name)
              ? gradient
              : b.create<ReadOp>(symbols.lookup<VariableOp>(name).getTensorType(), name);
    }
  for (auto write : function.front().getOps<WriteFlatOp>())
    if (std::optional<unsigned> i = indexIn(write.getVariables(), parameter)) {
      StringRef name = cast<FlatSymbolRefAttr>(write.getVariables()[*i]).getValue();
      if (!isGradient(name))
        written.push_back({name, compute(b, write.getValue(), typeOf(gradient), known)});
    }
}

void WholeUpdate::buildOwned(TensorBuilder &b, VariableOp parameter, Value gradient,
                             Written &written) {
  IRMapping known = shared;
  for (Operation *op : owned.find(parameter.getSymName())->second) {
    if (auto write = dyn_cast<WriteOp>(op)) {
      if (!isGradient(write.getVariable()))
        written.push_back({write.getVariable(), known.lookup(write.getValue())});
    } else if (auto read = dyn_cast<ReadOp>(op); read && isGradient(read.getVariable())) {
      known.map(read.getResult(), gradient);
    } else {
      copyOperands(b, op, known);
      b.clone(*op, known);
    }
  }
}

/// Emits the computation of a flat value in another shape. `known` maps scalars and flat variables.
Value WholeUpdate::compute(TensorBuilder &b, Value flat, RankedTensorType shape,
                           DenseMap<Value, Value> &known) {
  if (Value value = known.lookup(flat))
    return value;
  Operation *op = flat.getDefiningOp();
  auto type = RankedTensorType::get(shape.getShape(), typeOf(flat).getElementType());
  Value value;
  if (DenseElementsAttr elements; matchPattern(op, m_Constant(&elements))) {
    value = b.create<mtc::ConstantOp>(
        DenseElementsAttr::get(type, elements.getSplatValue<Attribute>()));
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    value = b.broadcastTo(known.lookup(broadcast.getInput()), type.getShape());
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(compute(b, operand, shape, known));
    OperationState state(b.getLoc(), op->getName(), operands, type, op->getAttrs());
    value = b.OpBuilder::create(state)->getResult(0);
  }
  return known[flat] = value;
}

/// Returns the position of a parameter, its gradient or its state in a flat tensor's variables.
std::optional<unsigned> WholeUpdate::indexIn(ArrayAttr variables, VariableOp parameter) {
  llvm::StringMap<unsigned> &positions = positionsIn[variables];
  if (positions.empty())
    for (auto [i, symbol] : llvm::enumerate(variables.getAsRange<FlatSymbolRefAttr>())) {
      auto variable = symbols.lookup<VariableOp>(symbol.getValue());
      positions[variable.getOf().value_or(variable.getSymName())] = i;
    }
  auto found = positions.find(parameter.getSymName());
  return found == positions.end() ? std::nullopt : std::optional(found->second);
}

//===----------------------------------------------------------------------------------------===//
// Update of a subset of the parameters
//===----------------------------------------------------------------------------------------===//

/// Returns the variables that belong to the given parameters, or null if there are none.
ArrayAttr WholeUpdate::select(ArrayAttr variables, const llvm::StringSet<> &parameters) const {
  SmallVector<Attribute> kept;
  for (auto symbol : variables.getAsRange<FlatSymbolRefAttr>()) {
    auto variable = symbols.lookup<VariableOp>(symbol.getValue());
    if (parameters.contains(variable.getOf().value_or(variable.getSymName())))
      kept.push_back(symbol);
  }
  return kept.empty() ? ArrayAttr() : ArrayAttr::get(variables.getContext(), kept);
}

RankedTensorType WholeUpdate::flatType(ArrayAttr variables) const {
  int64_t elements = 0;
  Type element;
  for (auto symbol : variables.getAsRange<FlatSymbolRefAttr>()) {
    RankedTensorType type = symbols.lookup<VariableOp>(symbol.getValue()).getTensorType();
    element = type.getElementType();
    elements += paddedBytes(byteSize(type)) / elementBytes(element);
  }
  return RankedTensorType::get({elements}, element);
}

void WholeUpdate::restrict(TensorBuilder &b, const llvm::StringSet<> &parameters) {
  SmallVector<Operation *> old(llvm::make_pointer_range(function.front().without_terminator()));
  DenseMap<Value, Value> known;
  for (Operation *op : old) {
    if (auto read = dyn_cast<ReadFlatOp>(op)) {
      if (ArrayAttr kept = select(read.getVariables(), parameters))
        known[read.getResult()] = b.create<ReadFlatOp>(flatType(kept), kept);
    } else if (op->getNumResults() == 1 && typeOf(op->getResult(0)).getRank() == 0) {
      known[op->getResult(0)] = op->getResult(0);
    }
  }
  SmallVector<std::pair<ArrayAttr, Value>> written;
  for (Operation *op : old)
    if (auto write = dyn_cast<WriteFlatOp>(op))
      if (ArrayAttr kept = select(write.getVariables(), parameters))
        written.push_back({kept, compute(b, write.getValue(), flatType(kept), known)});
  for (auto [variables, value] : written)
    b.create<WriteFlatOp>(variables, value);
  for (Operation *op : llvm::reverse(old))
    if (op->use_empty())
      op->erase();
}
