//===- Program.cpp - Function and variables built by the conversion ---------------------------===//

#include "frontend/onnx/operators/support/Program.h"

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/dialect/Modes.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/support/Blocks.h"

#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"

using namespace mlir;

namespace mtc::onnx {

/// Converts `onnx.name` attributes of the graph to the core dialect's name attributes.
static ArrayAttr renamed(Builder &builder, unsigned count,
                         llvm::function_ref<Attribute(unsigned)> nameOf) {
  SmallVector<Attribute> attributes;
  for (unsigned i = 0; i < count; ++i) {
    NamedAttrList list;
    if (Attribute name = nameOf(i))
      list.append(nameAttribute, name);
    attributes.push_back(list.getDictionary(builder.getContext()));
  }
  return builder.getArrayAttr(attributes);
}

Program::Program(GraphOp graph, bool attentionInParts, BatchNormMode batchNorm, int64_t ranks,
                 double dropout)
    : graph(graph), attentionInParts(attentionInParts), batchNorm(batchNorm), ranks(ranks),
      dropout(dropout) {
  auto module = graph->getParentOfType<ModuleOp>();
  for (Operation &op : module.getBody()->without_terminator())
    if (auto symbol = dyn_cast<SymbolOpInterface>(op); symbol && &op != graph.getOperation())
      symbols.insert(symbol.getName());
  symbols.insert(forwardName);

  OpBuilder builder(graph);
  forward = func::FuncOp::create(builder, graph.getLoc(), forwardName, graph.getFunctionType());
  forward.setArgAttrsAttr(renamed(builder, graph.getNumArguments(),
                                  [&](unsigned i) { return graph.getArgAttr(i, "onnx.name"); }));
  current = forward;
  Block *body = forward.addEntryBlock();
  for (auto [from, to] : llvm::zip(graph.getBody().getArguments(), body->getArguments())) {
    to.setLoc(from.getLoc());
    define(from, to);
  }
  onlyOfInference = nodesOnlyOfInference(graph);
}

double Program::dropoutRate(double inGraph) {
  ++dropouts;
  return dropout < 0 ? inGraph : dropout;
}

TensorBuilder Program::builderAt(Location loc) {
  TensorBuilder builder(loc, graph.getContext());
  builder.setInsertionPointToEnd(&current.getBody().front());
  return builder;
}

void Program::beginBody(Region &graph, ScanBody signature, StringRef name) {
  OpBuilder builder(forward);
  current = func::FuncOp::create(builder, graph.getLoc(), freshSymbol(name),
                                 builder.getFunctionType(graph.getArgumentTypes(), {}));
  signature.mark(current);
  bodies.push_back(current);
  Block *body = current.addEntryBlock();
  for (auto [from, to] : llvm::zip_equal(graph.getArguments(), body->getArguments()))
    define(from, to);
}

func::FuncOp Program::endBody(Region &graph) {
  auto terminator = cast<onnx::ReturnOp>(graph.front().getTerminator());
  SmallVector<Value> results =
      llvm::map_to_vector(terminator.getValues(), [&](Value output) { return value(output); });
  TensorBuilder builder = builderAt(terminator.getLoc());
  func::ReturnOp::create(builder, results);
  current.setFunctionType(
      builder.getFunctionType(current.getArgumentTypes(), ValueRange(results).getTypes()));
  return std::exchange(current, forward);
}

void Program::finish() {
  auto terminator = cast<onnx::ReturnOp>(graph.getBody().front().getTerminator());
  SmallVector<Value> results;
  for (Value output : terminator.getValues())
    results.push_back(value(output));
  OpBuilder atModule(forward);
  for (auto buffer : graph.getOps<onnx::BufferOp>())
    mtc::BufferOp::create(atModule, buffer.getLoc(), buffer.getNameAttr(),
                          buffer.getCountsBatchesAttr(), buffer.getValueAttr(),
                          buffer.getPretrainedNameAttr());
  TensorBuilder builder = builderAt(terminator.getLoc());
  func::ReturnOp::create(builder, results);
  forward.setFunctionType(
      builder.getFunctionType(forward.getArgumentTypes(), ValueRange(results).getTypes()));
  forward.setResAttrsAttr(renamed(builder, results.size(),
                                  [&](unsigned i) { return graph.getResultAttr(i, "onnx.name"); }));
}

void Program::discard() {
  forward->erase();
  for (func::FuncOp body : bodies)
    body->erase();
  for (VariableOp variable : variables)
    variable->erase();
}

/// Returns the axis of a tensor of packed integers along which a constant is packed again. It is
/// the axis whose extent has the greatest factor of two, so that the edge of a block is rarely
/// inside a byte. Returns nullopt if no axis has an integer for each part of a byte.
static std::optional<int64_t> packedAxis(RankedTensorType type) {
  std::optional<int64_t> best;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (!best || llvm::countr_zero(static_cast<uint64_t>(type.getDimSize(axis))) >
                     llvm::countr_zero(static_cast<uint64_t>(type.getDimSize(*best))))
      best = axis;
  int64_t perByte = 8 / type.getElementTypeBitWidth();
  return best && type.getDimSize(*best) % perByte == 0 ? best : std::nullopt;
}

/// Packs the integers of a constant as `unpackPlanes` expects them.
static DenseElementsAttr packedBytes(const Tensor &value, int64_t axis) {
  SmallVector<int64_t> shape(value.shape());
  int64_t bits = value.type().getElementTypeBitWidth(), perByte = 8 / bits;
  int64_t inner = elementCount(ArrayRef<int64_t>(shape).drop_front(axis + 1));
  int64_t plane = shape[axis] / perByte * inner;
  shape[axis] /= perByte;
  auto type = RankedTensorType::get(shape, storedElementType(value.type().getElementType()));
  Tensor bytes = *Tensor::allocate(type);
  MutableArrayRef<char> out = bytes.mutableBytes();
  ArrayRef<char> in = value.bytes(); // Each integer occupies a byte.
  for (int64_t i = 0, count = type.getNumElements(); i < count; ++i) {
    uint32_t byte = 0;
    for (int64_t part = 0; part < perByte; ++part) {
      int64_t from = (i / plane * perByte + part) * plane + i % plane;
      byte |= (static_cast<uint8_t>(in[from]) & ((1U << bits) - 1)) << (part * bits);
    }
    out[i] = static_cast<char>(byte);
  }
  return bytes.toAttribute();
}

/// Builds a constant of packed integers as integers of 8 bits, which programs compute with. The
/// users of a large constant unpack it, so that programs store it with as few bits as the file.
static Value buildPackedConstant(TensorBuilder &b, ElementsAttr elements, RankedTensorType type) {
  constexpr int64_t smallest = 1024;
  Type element = type.getElementType(), stored = storedElementType(element);
  if (type.getNumElements() == 0)
    return b.constant(DenseElementsAttr::get(RankedTensorType::get(type.getShape(), stored),
                                             ArrayRef<Attribute>()));
  Tensor value = Tensor::fromAttribute(elements, type)->expanded();
  std::optional<int64_t> axis = packedAxis(type);
  if (axis && type.getNumElements() >= smallest && !value.simplified().isSplat()) {
    Value bytes = b.constant(packedBytes(value, *axis));
    int64_t bits = type.getElementTypeBitWidth();
    Value unpacked = unpackPlanes(b, bytes, *axis, bits);
    return element.isUnsignedInteger() ? unpacked : signExtend(b, unpacked, bits);
  }
  const auto bytes = RankedTensorType::get(type.getShape(), stored);
  return b.constant(Tensor::fromValues<int64_t>(bytes, ArrayRef<int64_t>(value.values<int64_t>()))
                        ->toAttribute());
}

Value Program::value(Value onnxValue) {
  if (Value known = values.lookup(onnxValue))
    return known;
  Operation *definition = onnxValue.getDefiningOp();
  Value result;
  if (auto initializer = dyn_cast<InitializerOp>(definition)) {
    result = materialize(initializer);
  } else {
    TensorBuilder builder = builderAt(definition->getLoc());
    ElementsAttr elements = cast<onnx::ConstantOp>(definition).getValue();
    auto type = cast<RankedTensorType>(onnxValue.getType());
    result = isPacked(elements.getElementType()) ? buildPackedConstant(builder, elements, type)
                                                 : buildConstant(builder, elements, type);
  }
  define(onnxValue, result);
  return result;
}

std::optional<Tensor> Program::constant(Value onnxValue) const {
  if (auto constant = onnxValue.getDefiningOp<onnx::ConstantOp>())
    return Tensor::fromAttribute(constant.getValue(), cast<RankedTensorType>(onnxValue.getType()));
  Value converted = values.lookup(onnxValue);
  auto constant = converted ? converted.getDefiningOp<mtc::ConstantOp>() : mtc::ConstantOp();
  return constant ? Tensor::fromAttribute(constant.getValue()) : std::nullopt;
}

StringAttr Program::freshSymbol(StringRef name) {
  std::string symbol = name.str();
  for (unsigned i = 1; !symbols.insert(symbol).second; ++i)
    symbol = (name + "." + Twine(i)).str();
  return StringAttr::get(graph.getContext(), symbol);
}

Value Program::readVariable(StringAttr symbol, RankedTensorType type, Location loc) {
  TensorBuilder builder = builderAt(loc);
  return ReadOp::create(builder, type, FlatSymbolRefAttr::get(symbol));
}

Role Program::roleOf(InitializerOp initializer) {
  return llvm::StringSwitch<Role>(initializer.getRole().value_or("constant"))
      .Case("parameter", Role::Parameter)
      .Case("state", Role::State)
      .Case("frozen", Role::Frozen)
      .Default(Role::Constant);
}

Value Program::materialize(InitializerOp initializer) {
  if (auto type = cast<RankedTensorType>(initializer.getType());
      type.getNumElements() == 0 && roleOf(initializer) == Role::Frozen)
    return builderAt(initializer.getLoc())
        .constant(DenseElementsAttr::get(type, ArrayRef<Attribute>()));
  StringAttr symbol = freshSymbol(initializer.getName());
  symbolOf[initializer] = symbol;
  auto type = cast<RankedTensorType>(initializer.getType());
  OpBuilder builder(forward);
  auto variable = VariableOp::create(
      builder, initializer.getLoc(), roleOf(initializer), symbol.getValue(), type,
      InitializerAttr::get(builder.getContext(), initializer.getSource(), initializer.getMissing()),
      FlatSymbolRefAttr(), initializer.getModuleNameAttr());
  if (ArrayAttr images = initializer.getModuleImagesAttr())
    variable.setModuleImagesAttr(images);
  if (ArrayAttr images = initializer.getPretrainedImagesAttr())
    variable.setPretrainedImagesAttr(images);
  if (ArrayAttr images = initializer.getFileImagesAttr())
    variable.setFileImagesAttr(images);
  variables.push_back(variable);
  return readVariable(symbol, type, initializer.getLoc());
}

void Program::updateState(Value onnxValue, Value value) {
  auto initializer = onnxValue.getDefiningOp<InitializerOp>();
  if (!initializer || roleOf(initializer) != Role::State)
    return;
  writeState(initializer, value);
  define(onnxValue, value);
}

FailureOr<Value> Program::updateNamedState(StringAttr name, Value value) {
  auto isNamed = [&](InitializerOp each) { return each.getNameAttr() == name; };
  auto initializers = graph.getOps<InitializerOp>();
  auto found = llvm::find_if(initializers, isNamed);
  if (found == initializers.end() || roleOf(*found) != Role::State ||
      (*found).getType() != value.getType())
    return failure();
  Value updated = builderAt(value.getLoc()).selectByMode(value, this->value(*found));
  writeState(*found, updated);
  return updated;
}

void Program::writeState(InitializerOp initializer, Value value) {
  this->value(initializer); // Creates the variable on first use.
  WriteOp &write = stateWrites[initializer];
  if (write)
    write->erase(); // Only the last write of a step takes effect.
  TensorBuilder builder = builderAt(value.getLoc());
  write = WriteOp::create(builder, FlatSymbolRefAttr::get(symbolOf.at(initializer)), value);
}

Value Program::readScalar(const std::string &name, Type element, Attribute initial, Location loc) {
  Value &read = scalars[name];
  if (read)
    return read;
  OpBuilder builder(forward);
  auto type = RankedTensorType::get({}, element);
  auto module = graph->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol<VariableOp>(name)) {
    variables.push_back(
        VariableOp::create(builder, graph.getLoc(), Role::Scalar, name, type, initial));
    symbols.insert(name);
  }
  read = readVariable(builder.getStringAttr(name), type, loc);
  return read;
}

Value Program::readScalar(RuntimeScalar scalar, Location loc) {
  Builder b(graph.getContext());
  return readScalar(scalarName(scalar), b.getI64Type(),
                    RuntimeScalarAttr::get(b.getContext(), scalar), loc);
}

Number Program::readNumber(const SettingKind &kind, StringRef scope, double value, Location loc) {
  if (!hasSettings(graph->getParentOfType<ModuleOp>()))
    return value;
  Builder b(graph.getContext());
  return Number(readScalar(settingName(scope, kind.name), b.getF64Type(),
                           initialValueOf(b, kind, value), loc));
}

} // namespace mtc::onnx
