//===- StateOps.cpp - Verifiers of variables and their uses -----------------------------------===//

#include "ir/Mtc.h"
#include "ir/ReservedNames.h"
#include "ir/attributes/TensorImage.h"
#include "ir/builders/Shape.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mtc;

void VariableOp::build(OpBuilder &b, OperationState &state, Role role, const Twine &name, Type type,
                       Attribute initial, FlatSymbolRefAttr of, StringAttr moduleName) {
  build(b, state, RoleAttr::get(b.getContext(), role), b.getStringAttr(name), TypeAttr::get(type),
        /*piece_of=*/TypeAttr(), /*part_of=*/TypeAttr(), /*split=*/AxisSplitAttr(), initial, of,
        moduleName, ArrayAttr(), ArrayAttr(), ArrayAttr(), IntegerAttr(), UnitAttr(),
        /*stage=*/IntegerAttr(), b.getI64IntegerAttr(1),
        MemorySpaceAttr::get(b.getContext(), MemorySpace::Device));
}

bool VariableOp::isElsewhere() {
  if (!getStage())
    return false;
  ProgramOp program = ProgramOp::find(*this);
  return program && program.getPipelineStage().value_or(*getStage()) != *getStage();
}

void VariableOp::pad(int64_t axis, int64_t outer, int64_t padding) {
  assert(!isDivided() && "padding comes before division");
  setPartOfAttr(getTypeAttr());
  setSplitAttr(AxisSplitAttr::get(getContext(), axis, outer, /*parts=*/1, /*stride=*/1, padding));
  setType(getSplitAttr().getPartOf(getTensorType()));
}

void VariableOp::becomePart(AxisSplitAttr split) {
  assert(!getPieceOf() && (!getSplit() || getSplit()->getParts() == 1) &&
         "a part is not divided again");
  const RankedTensorType whole = getTensorType();
  setType(split.getPartOf(whole));
  if (AxisSplitAttr padded = getSplitAttr()) {
    assert(padded.getAxis() == split.getAxis() && padded.getOuter() == split.getOuter() &&
           "the padding is for this division");
    setSplitAttr(AxisSplitAttr::get(getContext(), split.getAxis(), split.getOuter(),
                                    split.getParts(), split.getStride(), padded.getPadding()));
    return;
  }
  setPartOfAttr(TypeAttr::get(whole));
  setSplitAttr(split);
}

void VariableOp::becomePiece(RankedTensorType piece) {
  assert(!getPieceOf() && "a piece is not divided again");
  setPieceOfAttr(getTypeAttr());
  setType(piece);
}

RankedTensorType VariableOp::getSourceType() {
  auto stored = dyn_cast<StoredAttr>(getInitial());
  return stored ? stored.getType() : getWholeType();
}

/// Returns the type that the runtime writes.
static RankedTensorType typeOfScalar(MLIRContext *context, RuntimeScalar scalar) {
  Builder b(context);
  bool isRate = scalar == RuntimeScalar::LearningRate;
  return RankedTensorType::get({}, isRate ? Type(b.getF64Type()) : Type(b.getI64Type()));
}

VariableOp VariableOp::findOrAddScalar(SymbolTable &symbols, RuntimeScalar scalar,
                                       Block::iterator end) {
  std::string name = scalarName(scalar);
  if (auto known = symbols.lookup<VariableOp>(name))
    return known;
  Operation *module = symbols.getOp();
  OpBuilder builder(module->getContext());
  auto variable = VariableOp::create(builder, module->getLoc(), Role::Scalar, name,
                                     typeOfScalar(builder.getContext(), scalar),
                                     RuntimeScalarAttr::get(builder.getContext(), scalar));
  symbols.insert(variable, end);
  return variable;
}

VariableOp VariableOp::findOrAddSetting(SymbolTable &symbols, StringRef scope, SettingAttr setting,
                                        Block::iterator end) {
  const std::string name = settingName(scope, setting.getName());
  if (auto known = symbols.lookup<VariableOp>(name))
    return known;
  Operation *module = symbols.getOp();
  OpBuilder builder(module->getContext());
  auto variable = VariableOp::create(builder, module->getLoc(), Role::Scalar, name,
                                     RankedTensorType::get({}, builder.getF64Type()), setting);
  symbols.insert(variable, end);
  return variable;
}

/// Returns the type that the runtime writes; null if it does not write the variable.
static RankedTensorType writtenType(VariableOp variable) {
  if (auto scalar = dyn_cast<RuntimeScalarAttr>(variable.getInitial()))
    return typeOfScalar(variable.getContext(), scalar.getValue());
  if (isa<SettingAttr>(variable.getInitial()))
    return RankedTensorType::get({}, Float64Type::get(variable.getContext()));
  return {};
}

/// Verifies variable_c2.
static LogicalResult verifyScalar(VariableOp variable) {
  const RankedTensorType written = writtenType(variable);
  if ((variable.getRole() == Role::Scalar) != bool(written))
    return variable.emitOpError("has the role ")
           << stringifyRole(variable.getRole()) << " and starts as " << variable.getInitial()
           << ", expected #mtc.scalar or #mtc.setting if and only if the role is scalar "
              "(variable_c2)";
  if (written && variable.getTensorType() != written)
    return variable.emitOpError("is ") << variable.getTensorType() << ", but the runtime writes "
                                       << written << " (variable_c2)";
  return success();
}

/// Verifies variable_c6.
static LogicalResult verifyImages(VariableOp variable) {
  return verifyTensorImages([&] { return variable.emitOpError(); }, variable.getSourceType(),
                            {variable.getModuleImagesAttr(), variable.getPretrainedImagesAttr()},
                            variable.getFileImagesAttr());
}

/// Verifies variable_c7.
static LogicalResult verifyDivision(VariableOp variable) {
  AxisSplitAttr split = variable.getSplitAttr();
  if (bool(split) != variable.getPartOf().has_value())
    return variable.emitOpError(split ? "is divided along an axis, but is no part of a type"
                                      : "is part of a type, but along no axis")
           << " (variable_c7)";
  auto isKnown = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  const RankedTensorType type = variable.getTensorType();
  if (std::optional<Type> of = variable.getPieceOf();
      of && (!isKnown(*of) || type.getRank() != 1 ||
             cast<RankedTensorType>(*of).getElementType() != type.getElementType()))
    return variable.emitOpError("is ")
           << type << ", a piece of " << *of
           << ", expected a flat piece of a tensor with the same elements (variable_c7)";
  if (std::optional<Type> of = variable.getPartOf();
      of &&
      (!isKnown(*of) || variable.getLocalType() != split.getPartOf(cast<RankedTensorType>(*of))))
    return variable.emitOpError("is ") << variable.getLocalType() << ", a part of " << *of
                                       << ", expected its part along " << split << " (variable_c7)";
  return success();
}

LogicalResult VariableOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  auto hasSize = [](RankedTensorType tensor) {
    std::optional<int64_t> count = countElements(tensor.getShape());
    return count && llvm::checkedMul(*count, elementBytes(tensor.getElementType()));
  };
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat() || !hasSize(type))
    return emitOpError() << "has type " << getType()
                         << ", expected a tensor of known extents that memory can hold "
                            "(variable_c1)";
  if (failed(verifyScalar(*this)) || failed(verifyDivision(*this)))
    return failure();
  const bool isOnDevice = getSpace() == MemorySpace::Device;
  if (!isOnDevice && (getTransient() || getRole() == Role::Scalar))
    return emitOpError("of the role ")
           << stringifyRole(getRole()) << (getTransient() ? ", which is transient," : "")
           << " is in the memory space " << stringifyEnum(getSpace())
           << ", expected on the device (variable_c5)";
  const auto copies = static_cast<int64_t>(getCopies());
  if (copies < 1 || (copies > 1 && getRole() != Role::Slot))
    return emitOpError("of the role ")
           << stringifyRole(getRole()) << " has " << copies
           << " copies, expected one, or several of a slot (variable_c8)";
  if (isa<AsParameterAttr>(getInitial()) && !getOf())
    return emitOpError("has the initial value of its parameter, but no `of` (variable_c3)");
  if (auto stored = dyn_cast<StoredAttr>(getInitial())) {
    if (getRole() == Role::Frozen && stored.getType().getRank() == 2 &&
        stored.getType().hasStaticShape() && stored.getType().getElementType().isF32() &&
        stored.getStoredType() == getWholeType())
      return verifyImages(*this);
    return emitOpError() << "of the role " << stringifyRole(getRole()) << " is " << type
                         << ", but starts as " << stored << " (variable_c4)";
  }
  if (isa<InitializerAttr, NormalAttr, UniformAttr, ZerosAttr, AsParameterAttr, AdaptedNormsAttr,
          RuntimeScalarAttr, SettingAttr>(getInitial()))
    return verifyImages(*this);
  auto elements = dyn_cast<ElementsAttr>(getInitial());
  if (!elements)
    return emitOpError() << "starts as " << getInitial()
                         << ", expected #mtc.initializer, #mtc.normal, #mtc.uniform, #mtc.zeros, "
                            "#mtc.as_parameter, #mtc.adapted_norms, #mtc.scalar, #mtc.setting or "
                            "elements (variable_c1)";
  if (elements.getShapedType() != getWholeType())
    return emitOpError() << "starts as elements of " << elements.getShapedType() << ", expected "
                         << getWholeType() << " (variable_c1)";
  return verifyImages(*this);
}

/// Verifies state_c1: the symbol names a variable of the value's type.
static LogicalResult verifyState(Operation *op, FlatSymbolRefAttr symbol, Type type,
                                 SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, symbol);
  if (!variable)
    return op->emitOpError() << symbol << " names no variable (state_c1)";
  if (variable.getType() != type)
    return op->emitOpError() << "value is " << type << ", but " << symbol << " is "
                             << variable.getType() << " (state_c1)";
  return success();
}

/// Verifies flat_c1: the symbols name variables of the flat tensor's element type, whose padded
/// sizes add up to its size.
static LogicalResult verifyFlat(Operation *op, ArrayAttr variables, Type type,
                                SymbolTableCollection &symbols) {
  auto flat = cast<RankedTensorType>(type);
  if (flat.getRank() != 1)
    return op->emitOpError() << "flat tensor is " << flat << ", expected rank 1 (flat_c1)";
  std::optional<int64_t> bytes = 0;
  for (auto symbol : variables.getAsRange<FlatSymbolRefAttr>()) {
    auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, symbol);
    if (!variable)
      return op->emitOpError() << symbol << " names no variable (flat_c1)";
    auto tensor = dyn_cast<RankedTensorType>(variable.getType());
    if (!tensor || tensor.getElementType() != flat.getElementType())
      return op->emitOpError() << symbol << " is " << variable.getType() << ", expected elements "
                               << flat.getElementType() << " (flat_c1)";
    bytes = llvm::checkedAdd(*bytes, paddedBytes(byteSize(tensor)));
    if (!bytes)
      return op->emitOpError() << "the variables' sizes do not fit into 64 bits (flat_c1)";
  }
  int64_t expected = *bytes / elementBytes(flat.getElementType());
  if (flat.getDimSize(0) != expected)
    return op->emitOpError() << "flat tensor has " << flat.getDimSize(0)
                             << " elements, but the padded variables have " << expected
                             << " (flat_c1)";
  return success();
}

LogicalResult BufferOp::verify() {
  ShapedType type = getValue().getShapedType();
  if (!getCountsBatches() || (type.getNumElements() == 1 && type.getElementType().isInteger()))
    return success();
  return emitOpError() << "counts batches, but is " << type << ", expected one integer (buffer_c1)";
}

LogicalResult AdapterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto find = [&](FlatSymbolRefAttr symbol, Role role) -> VariableOp {
    auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(*this, symbol);
    if (variable && variable.getRole() == role)
      return variable;
    emitOpError() << symbol << " names no " << stringifyRole(role) << " variable (adapter_c1)";
    return {};
  };
  VariableOp base = find(getBaseAttr(), Role::Frozen), down = find(getDownAttr(), Role::Parameter),
             up = find(getUpAttr(), Role::Parameter);
  if (!base || !down || !up)
    return failure();
  ArrayRef<int64_t> whole = base.getSourceType().getShape(), first = down.getWholeType().getShape(),
                    second = up.getWholeType().getShape();
  auto axis = static_cast<int64_t>(getAxis());
  if (whole.size() != 2 || first.size() != 2 || second.size() != 2 || (axis != 0 && axis != 1) ||
      first[1] != whole[axis] || second[0] != whole[1 - axis] || first[0] != second[1])
    return emitOpError() << "adapts " << base.getWholeType() << " along axis " << axis << " by "
                         << down.getWholeType() << " and " << up.getWholeType()
                         << ", expected matrices whose product has its shape (adapter_c2)";
  if (!getMagnitude())
    return success();
  VariableOp magnitude = find(getMagnitudeAttr(), Role::Parameter);
  if (!magnitude)
    return failure();
  if (magnitude.getWholeType().getShape() != ArrayRef(second[0]))
    return emitOpError() << "has magnitudes " << magnitude.getWholeType()
                         << ", expected one for each of " << second[0] << " rows (adapter_c3)";
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyState(*this, getVariableAttr(), getResult().getType(), symbols);
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyState(*this, getVariableAttr(), getValue().getType(), symbols);
}

LogicalResult ReadFlatOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyFlat(*this, getVariables(), getResult().getType(), symbols);
}

LogicalResult WriteFlatOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyFlat(*this, getVariables(), getValue().getType(), symbols);
}
