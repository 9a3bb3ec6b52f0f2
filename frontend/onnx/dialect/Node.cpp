//===- Node.cpp - Access to a node's operands, attributes and results -------------------------===//

#include "frontend/onnx/dialect/Node.h"

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/dialect/Schema.h"
#include "frontend/onnx/dialect/Shapes.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {

StringRef nodeName(Operation *op) {
  StringRef name;
  op->getLoc()->walk([&](Location location) {
    auto named = dyn_cast<NameLoc>(location);
    if (!named)
      return WalkResult::advance();
    name = named.getName().getValue();
    return WalkResult::interrupt();
  });
  return name;
}

SmallVector<std::string> dataSources(Value value) {
  llvm::SetVector<Value> visited;
  SmallVector<std::string> names;
  visited.insert(value);
  for (size_t next = 0; next < visited.size(); ++next) {
    if (auto argument = dyn_cast<BlockArgument>(visited[next])) {
      auto graph = dyn_cast<GraphOp>(argument.getOwner()->getParentOp());
      auto name = graph ? graph.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "onnx.name")
                        : StringAttr();
      names.push_back(name ? name.str() : "argument " + std::to_string(argument.getArgNumber()));
      continue;
    }
    Operation *definition = visited[next].getDefiningOp();
    visited.insert(definition->operand_begin(), definition->operand_end());
  }
  return names;
}

//===--- Operands -----------------------------------------------------------------------------===//

bool NodeView::has(size_t i) const {
  return i < operandCount() && !isa<NoneType>(operand(i).getType());
}

RankedTensorType NodeView::type(size_t i) const {
  return cast<RankedTensorType>(operand(i).getType());
}

std::string NodeView::operandName(size_t i) const {
  std::string text = "operand " + std::to_string(i);
  const Schema *schema = Schema::find(domain(), opType(), version());
  if (const Signature::Formal *formal = schema ? schema->operands.find(i) : nullptr)
    text += " (" + formal->name.str() + ")";
  return text;
}

//===--- Checks that report errors ------------------------------------------------------------===//

bool NodeView::sameElementType(size_t i, size_t j) {
  if (elementType(i) == elementType(j))
    return true;
  (void)failure(Twine(operandName(j)) + " has element type " + llvm::to_string(elementType(j)) +
                ", expected " + llvm::to_string(elementType(i)) + ", as " + operandName(i));
  return false;
}

bool NodeView::floatElements(size_t i) {
  if (isa<FloatType>(elementType(i)))
    return true;
  (void)failure(Twine(operandName(i)) + " has element type " + llvm::to_string(elementType(i)) +
                ", expected a floating-point type");
  return false;
}

bool NodeView::integerElements(size_t i) {
  if (isa<IntegerType>(elementType(i)) && !elementType(i).isInteger(1))
    return true;
  (void)failure(Twine(operandName(i)) + " has element type " + llvm::to_string(elementType(i)) +
                ", expected an integer type");
  return false;
}

bool NodeView::booleanElements(size_t i) {
  if (elementType(i).isInteger(1))
    return true;
  (void)failure(Twine(operandName(i)) + " has element type " + llvm::to_string(elementType(i)) +
                ", expected i1");
  return false;
}

bool NodeView::hasRank(size_t i, int64_t minimum, int64_t maximum) {
  if (rank(i) >= minimum && rank(i) <= maximum)
    return true;
  std::string expected = std::to_string(minimum);
  if (maximum == INT64_MAX)
    expected += " or more";
  else if (maximum != minimum)
    expected += ".." + std::to_string(maximum);
  (void)failure(Twine(operandName(i)) + " has rank " + Twine(rank(i)) + ", expected " + expected);
  return false;
}

bool NodeView::hasShape(size_t i, ArrayRef<int64_t> expected) {
  if (!has(i) || shape(i) == expected)
    return true;
  (void)failure(Twine(operandName(i)) + " has shape " + shapeText(shape(i)) + ", expected " +
                shapeText(expected));
  return false;
}

bool NodeView::hasOneElement(size_t i) {
  if (!has(i) || type(i).getNumElements() == 1)
    return true;
  (void)failure(Twine(operandName(i)) + " has shape " + shapeText(shape(i)) +
                ", expected one element");
  return false;
}

//===--- Constant operands --------------------------------------------------------------------===//

std::optional<Tensor> NodeView::constant(size_t i) const {
  std::optional<Tensor> value = storedConstant(i);
  return value ? value->expanded() : value;
}

std::optional<Tensor> NodeView::storedConstant(size_t i) const {
  if (!has(i))
    return std::nullopt;
  if (lookup)
    return lookup(operand(i));
  if (auto definition = operand(i).getDefiningOp<ConstantOp>())
    return Tensor::fromAttribute(definition.getValue(), type(i));
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> NodeView::constantInts(size_t i) const {
  std::optional<Tensor> value = constant(i);
  if (!value || value->size() > maxFoldedElements ||
      !isa<IntegerType>(value->type().getElementType()))
    return std::nullopt;
  return llvm::to_vector(value->values<int64_t>());
}

std::optional<SmallVector<double>> NodeView::constantFloats(size_t i) const {
  std::optional<Tensor> value = constant(i);
  if (!value || value->size() > maxFoldedElements)
    return std::nullopt;
  return llvm::to_vector(value->values<double>());
}

FailureOr<std::optional<SmallVector<int64_t>>> NodeView::intsOperandOrAttribute(size_t i,
                                                                                StringRef name) {
  if (has(i)) {
    std::optional<SmallVector<int64_t>> value = constantInts(i);
    if (!value)
      return needsConstant(i);
    return value;
  }
  std::optional<SmallVector<int64_t>> value = integersOr(name);
  if (failed())
    return mlir::failure();
  return value;
}

bool NodeView::wants(size_t i) const {
  return i < resultCount() && !isa<NoneType>(node.getOutputs()[i].getType());
}

//===--- Attributes ---------------------------------------------------------------------------===//

Attribute NodeView::attribute(StringRef name) const { return node.getNodeAttributes().get(name); }

int64_t NodeView::integer(StringRef name, std::optional<int64_t> byDefault) {
  Attribute found = attribute(name);
  if (auto value = dyn_cast_or_null<IntegerAttr>(found))
    return value.getValue().getSExtValue();
  if (found)
    (void)failure("attribute " + name + " = " + llvm::to_string(found) + ", expected an integer");
  else if (!byDefault)
    (void)failure("attribute " + name + " is missing, expected an integer");
  return byDefault.value_or(0);
}

bool NodeView::flag(StringRef name, bool byDefault) {
  int64_t value = integer(name, byDefault);
  if (value != 0 && value != 1)
    (void)failure("attribute " + name + " = " + Twine(value) + ", expected 0 or 1");
  return value == 1;
}

double NodeView::floating(StringRef name, std::optional<double> byDefault) {
  Attribute found = attribute(name);
  if (auto value = dyn_cast_or_null<FloatAttr>(found))
    return value.getValueAsDouble();
  if (found)
    (void)failure("attribute " + name + " = " + llvm::to_string(found) + ", expected a float");
  else if (!byDefault)
    (void)failure("attribute " + name + " is missing, expected a float");
  return byDefault.value_or(0);
}

StringRef NodeView::string(StringRef name, StringRef byDefault) {
  Attribute found = attribute(name);
  if (auto value = dyn_cast_or_null<StringAttr>(found))
    return value.getValue();
  if (found)
    (void)failure("attribute " + name + " = " + llvm::to_string(found) + ", expected a string");
  return byDefault;
}

StringRef NodeView::choice(StringRef name, StringRef byDefault, ArrayRef<StringRef> allowed) {
  StringRef value = string(name, byDefault);
  if (llvm::is_contained(allowed, value))
    return value;
  (void)failure("attribute " + name + " = \"" + value + "\", expected one of " +
                llvm::join(allowed, ", "));
  return byDefault;
}

std::optional<SmallVector<int64_t>> NodeView::integersOr(StringRef name) {
  Attribute found = attribute(name);
  if (!found)
    return std::nullopt;
  if (auto values = dyn_cast<DenseI64ArrayAttr>(found))
    return SmallVector<int64_t>(values.asArrayRef());
  (void)failure("attribute " + name + " = " + llvm::to_string(found) +
                ", expected a list of integers");
  return std::nullopt;
}

SmallVector<int64_t> NodeView::integers(StringRef name, ArrayRef<int64_t> byDefault) {
  return integersOr(name).value_or(SmallVector<int64_t>(byDefault));
}

SmallVector<double> NodeView::floats(StringRef name, ArrayRef<double> byDefault) {
  Attribute found = attribute(name);
  if (auto values = dyn_cast_or_null<DenseF32ArrayAttr>(found))
    return SmallVector<double>(values.asArrayRef());
  if (found)
    (void)failure("attribute " + name + " = " + llvm::to_string(found) +
                  ", expected a list of floats");
  return SmallVector<double>(byDefault);
}

SmallVector<StringRef> NodeView::strings(StringRef name, ArrayRef<StringRef> byDefault) {
  Attribute found = attribute(name);
  auto list = dyn_cast_or_null<ArrayAttr>(found);
  if (list && llvm::all_of(list, llvm::IsaPred<StringAttr>))
    return llvm::map_to_vector(list.getAsRange<StringAttr>(),
                               [](StringAttr text) { return text.getValue(); });
  if (found)
    (void)failure("attribute " + name + " = " + llvm::to_string(found) +
                  ", expected a list of strings");
  return SmallVector<StringRef>(byDefault);
}

ElementsAttr NodeView::elements(StringRef name) {
  Attribute found = attribute(name);
  auto value = dyn_cast_or_null<ElementsAttr>(found);
  if (found && !value)
    (void)failure("attribute " + name + " = " + llvm::to_string(found) + ", expected a tensor");
  return value;
}

int64_t NodeView::axis(StringRef name, std::optional<int64_t> byDefault, int64_t rank) {
  return normalized(integer(name, byDefault), rank, "attribute " + name);
}

std::optional<SmallVector<int64_t>> NodeView::axes(StringRef name, int64_t rank) {
  std::optional<SmallVector<int64_t>> values = integersOr(name);
  if (values)
    *values = normalizedAxes(*values, rank, "attribute " + name);
  return values;
}

Type NodeView::elementTypeOf(StringRef name, Type byDefault) {
  if (!hasAttribute(name) && byDefault)
    return byDefault;
  int64_t dataType = integer(name);
  Type type = elementTypeFromOnnx(context(), dataType);
  if (!type) {
    (void)failure("attribute " + name + " = " + Twine(dataType) + " (" +
                  onnxDataTypeName(dataType) + "), expected the data type of numbers or booleans");
    return byDefault ? byDefault : Type(Float32Type::get(context()));
  }
  return type;
}

//===--- Axes ---------------------------------------------------------------------------------===//

int64_t NodeView::normalized(int64_t value, int64_t rank, const Twine &what) {
  if (value >= -rank && value < rank)
    return value < 0 ? value + rank : value;
  if (rank == 0)
    (void)failure(what + " = " + Twine(value) + "; a scalar has no axes");
  else
    (void)failure(what + " = " + Twine(value) + ", expected " + Twine(-rank) + ".." +
                  Twine(rank - 1));
  return 0;
}

SmallVector<int64_t> NodeView::normalizedAxes(ArrayRef<int64_t> values, int64_t rank,
                                              const Twine &what) {
  SmallVector<int64_t> axes;
  for (int64_t value : values) {
    int64_t axis = normalized(value, rank, what);
    if (llvm::is_contained(axes, axis))
      (void)failure(what + " lists axis " + Twine(axis) + " twice");
    else
      axes.push_back(axis);
  }
  return axes;
}

//===--- Errors -------------------------------------------------------------------------------===//

LogicalResult NodeView::failure(const Twine &reason) {
  if (!hasFailed) {
    InFlightDiagnostic diagnostic = mlir::emitError(location());
    if (!domain().empty())
      diagnostic << domain() << ".";
    // The name of the node is part of the location.
    diagnostic << opType() << " version " << version() << ": " << reason.str();
  }
  hasFailed = true;
  return mlir::failure();
}

LogicalResult NodeView::needsConstant(size_t i) {
  SmallVector<std::string> names = dataSources(operand(i));
  std::string reason = operandName(i) + " must be known at compile time, but depends on ";
  if (names.empty())
    return failure(reason + "values that are not folded");
  return failure(reason + "the data of " + llvm::join(names, ", ") + "; use --bind " +
                 names.front() +
                 "=VALUE if all steps use one value; otherwise export the model without this node "
                 "(a loss: see --loss)");
}

} // namespace mtc::onnx
