//===- ConstantEvidence.cpp - Evidence that an initializer is no parameter --------------------===//

#include "frontend/onnx/parameters/ConstantEvidence.h"

#include "frontend/onnx/parameters/InputNormalization.h"
#include "frontend/onnx/parameters/Parameters.h"
#include "frontend/onnx/parameters/ValuePatterns.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

bool isContracted(const InitializerUse &use) { return hasRole(use, OperandRole::Factor); }

bool isConvolved(const InitializerUse &use) {
  StringRef op = NodeOp(use.node).getOpType();
  return (op == "Conv" || op == "ConvTranspose") && use.operand == 1;
}

/// Returns whether a value is the result of a contraction, up to its layout and biases.
bool isSumOfProducts(Value value) {
  for (auto node = value.getDefiningOp<NodeOp>(); node && !node.getInputs().empty();
       node = value.getDefiningOp<NodeOp>()) {
    if (hasRole(node, 0, OperandRole::Factor))
      return true;
    if (!llvm::is_contained(
            {"Reshape", "Transpose", "Squeeze", "Unsqueeze", "Cast", "Identity", "Flatten"},
            node.getOpType()))
      return false;
    value = node.getInputs().front();
  }
  return false;
}

/// Returns whether the operand is a bias or scale by its role, or is added to a contraction.
bool isBiasOrScale(const InitializerUse &use) {
  NodeOp node = use.node;
  if (!node.isOperator("Add"))
    return hasRole(use, OperandRole::BiasOrScale);
  return llvm::any_of(node->getOpOperands(), [&](OpOperand &other) {
    return other.getOperandNumber() != use.operand && isSumOfProducts(other.get());
  });
}

/// Returns whether a node computes each element of its result from one element of each operand.
bool isElementwise(const InitializerUse &use) {
  return llvm::StringSwitch<bool>(NodeOp(use.node).getOpType())
      .Cases({"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean", "Mod"}, true)
      .Cases({"Clip", "Where", "Range"}, true)
      .Default(false);
}

/// Returns whether all users of a value are roots, logarithms or divisions by the value.
bool isGuarded(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto node = dyn_cast<NodeOp>(use.getOwner());
    return node &&
           (node.isOperator("Sqrt") || node.isOperator("Reciprocal") || node.isOperator("Log") ||
            node.isOperator("Pow") || (node.isOperator("Div") && use.getOperandNumber() == 1));
  });
}

bool isAddedBeforeRoot(const InitializerUse &use) {
  NodeOp node = use.node;
  return (node.isOperator("Add") || node.isOperator("Max")) && node.getNumResults() == 1 &&
         isGuarded(node.getResult(0));
}

/// Splits a name such as `model/dense_1/bias:0` or `norm.weight` into its last part without
/// suffixes.
StringRef lastPart(StringRef name) {
  name = name.take_until([](char c) { return c == ':'; });
  for (StringRef suffix : {"/ReadVariableOp", "/Read", "/resource"})
    name.consume_back(suffix);
  return name.substr(name.find_last_of("./") + 1);
}

/// Returns whether the name is usual for parameters.
bool isNamedAsParameter(StringRef name) {
  if (name.contains("ReadVariableOp"))
    return true;
  std::string part = lastPart(name).lower();
  return llvm::any_of(ArrayRef<StringRef>{"weight", "bias", "kernel", "gamma", "beta", "alpha",
                                          "embedding", "temperature", "logit_scale", "scale"},
                      [&](StringRef word) { return StringRef(part).contains(word); });
}

/// Returns whether the last word of an attribute's name is usual for buffers. Policies train
/// `log_std`.
bool isNamedAsBuffer(StringRef name) {
  std::string part = lastPart(name).lower();
  auto [rest, last] = StringRef(part).rsplit('_');
  StringRef word = last.empty() ? rest : last;
  return !StringRef(part).contains("log") &&
         llvm::is_contained({"mean", "means", "std", "stds", "var", "variance", "buffer", "window",
                             "mask", "anchors", "grid", "basis", "filterbank", "freqs"},
                            word);
}

/// A tensor with a name of the module and at least this number of elements is a table. Smaller ones
/// may be explicit initial values.
constexpr int64_t minModuleTable = 64;

/// Returns the extent of the last axis with more than one element.
int64_t rowWidth(ArrayRef<int64_t> shape) {
  for (int64_t extent : llvm::reverse(shape))
    if (extent != 1)
      return extent;
  return 1;
}

Evidence constant(StringRef reason, bool isDoubtful = false) {
  return {reason.str(), /*isConstant=*/true, isDoubtful};
}

} // namespace

ConstantEvidence::ConstantEvidence(GraphOp graph,
                                   const StringMap<std::vector<InitializerUse>> &uses)
    : uses(uses), normalization(findInputNormalization(graph)),
      isPytorch(isProducedBy(graph, "pytorch")) {}

SmallVector<InitializerUse> ConstantEvidence::usesOf(InitializerOp initializer) const {
  auto found = uses.find(initializer.getName());
  if (found == uses.end())
    return {};
  SmallVector<InitializerUse> result, open(found->second.begin(), found->second.end());
  while (!open.empty()) {
    InitializerUse use = open.pop_back_val();
    NodeOp node = use.node;
    bool changesLayout =
        use.operand == 0 && node.getNumResults() == 1 && !node.getResult(0).use_empty() &&
        llvm::is_contained({"Cast", "Reshape", "Transpose", "Unsqueeze", "Squeeze", "Flatten"},
                           node.getOpType());
    if (!changesLayout) {
      result.push_back(use);
      continue;
    }
    for (OpOperand &operand : node.getResult(0).getUses())
      if (auto user = dyn_cast<NodeOp>(operand.getOwner()))
        open.push_back({user, operand.getOperandNumber(), use.site});
  }
  return result;
}

bool ConstantEvidence::isModuleNamed(InitializerOp initializer) const {
  StringRef name = initializer.getName();
  return isPytorch && !isGeneratedName(name) && !name.contains('/') && !name.contains("::");
}

std::optional<Evidence> ConstantEvidence::find(InitializerOp initializer) const {
  if (usesOf(initializer).empty())
    return std::nullopt;
  std::optional<Evidence> byUse = findByUse(initializer);
  if (byUse && byUse->isConstant)
    return byUse;
  if (std::optional<Evidence> found = findByValue(initializer))
    return found;
  if (byUse)
    return byUse;
  StringRef name = initializer.getName();
  if (isModuleNamed(initializer) && isNamedAsBuffer(name) && !isNamedAsParameter(name) &&
      llvm::none_of(usesOf(initializer), isBiasOrScale))
    return constant("a buffer, by its name", /*isDoubtful=*/true);
  return std::nullopt;
}

std::optional<Evidence> ConstantEvidence::findByUse(InitializerOp initializer) const {
  const SmallVector<InitializerUse> uses = usesOf(initializer);
  StringRef name = initializer.getName();
  auto elements = dyn_cast_or_null<DenseElementsAttr>(initializer.getSampleAttr());
  const bool isOfOneValue = elements && elements.isSplat();
  const bool isZero = isOfOneValue && elements.getSplatValue<APFloat>().isZero();
  if (haveRole(uses, OperandRole::NoGradient))
    return constant("configures operators or is compared, without a gradient");
  auto hasOperatorOfFirst = [&](const InitializerUse &use) {
    return NodeOp(use.node).getOpType() == NodeOp(uses.front().node).getOpType();
  };
  if (auto found = normalization.find(name); found != normalization.end() &&
                                             !isNamedAsParameter(name) &&
                                             llvm::all_of(uses, hasOperatorOfFirst)) {
    if (!isModuleNamed(initializer) || isNamedAsBuffer(name))
      return constant(found->second);
    // An autoencoder may train a bias that it subtracts from its input.
    return Evidence{found->second + ", and may be a mean or a deviation", /*isConstant=*/false,
                    /*isDoubtful=*/true};
  }
  if (isModuleNamed(initializer))
    return std::nullopt;
  if (isOfOneValue && llvm::all_of(uses, isAddedBeforeRoot)) {
    APFloat value = elements.getSplatValue<APFloat>();
    if (double epsilon = value.convertToDouble(); epsilon > 0 && epsilon <= 0.1)
      return constant("an epsilon, added before a root or a division");
  }
  if (isZero && haveRole(uses, OperandRole::InitialState))
    return constant("the initial state of a recurrent layer");
  if (haveRole(uses, OperandRole::Scattered))
    return constant("written or updated by a Scatter", /*isDoubtful=*/!isOfOneValue);
  if (isZero && isBiasOfConstantFilters(initializer))
    return constant("the zero bias of constant filters");
  return std::nullopt;
}

bool ConstantEvidence::isBiasOfConstantFilters(InitializerOp initializer) const {
  return llvm::all_of(usesOf(initializer), [&](const InitializerUse &use) {
    NodeOp node = use.node;
    if (!node.isOperator("Conv") || use.operand != 2)
      return false;
    auto filter = node.getInputs()[1].getDefiningOp<InitializerOp>();
    std::optional<Evidence> found = filter ? findByValue(filter) : std::nullopt;
    return found && found->isConstant;
  });
}

std::optional<Evidence> ConstantEvidence::findByValue(InitializerOp initializer) const {
  std::vector<double> values = sampledValues(initializer);
  if (values.empty())
    return std::nullopt;
  auto type = cast<RankedTensorType>(initializer.getType());
  const bool mayBeInitial = isModuleNamed(initializer) && type.getNumElements() < minModuleTable;
  if (!mayBeInitial && llvm::none_of(usesOf(initializer), isContracted) &&
      llvm::any_of(values, [](double x) { return !std::isfinite(x) || std::abs(x) >= 1e30; }))
    return constant("a mask of infinite or huge values");
  if (type.getNumElements() == 1)
    return findLiteral(initializer, values);
  if (llvm::all_of(values, [&](double x) { return x == values[0]; }))
    return std::nullopt; // Parameters start with one value, too.
  return findPattern(initializer, values);
}

/// A tensor of one element is a literal if it has a usual value and use. Modules also train such
/// tensors: those with a name of the module, biases, and slopes of activations.
std::optional<Evidence> ConstantEvidence::findLiteral(InitializerOp initializer,
                                                      ArrayRef<double> values) const {
  const SmallVector<InitializerUse> uses = usesOf(initializer);
  StringRef name = initializer.getName();
  auto element = cast<FloatType>(getElementTypeOrSelf(initializer.getType()));
  if (isNamedAsParameter(name) || !llvm::all_of(uses, isElementwise) ||
      llvm::any_of(uses, isBiasOrScale) || !isLiteral(values[0], element))
    return std::nullopt;
  if (!isModuleNamed(initializer))
    return constant("a single literal number");
  bool isInitial = values[0] == 0 || values[0] == 1; // Usual initial values of parameters.
  if (isInitial || isNamedAsBuffer(name))
    return std::nullopt;
  return Evidence{"a single literal number, which may be a buffer", /*isConstant=*/false,
                  /*isDoubtful=*/true};
}

std::optional<Evidence> ConstantEvidence::findPattern(InitializerOp initializer,
                                                      ArrayRef<double> values) const {
  const SmallVector<InitializerUse> uses = usesOf(initializer);
  auto type = cast<RankedTensorType>(initializer.getType());
  ArrayRef<int64_t> shape = type.getShape();
  auto element = cast<FloatType>(type.getElementType());
  StringRef name = initializer.getName();
  const bool isComplete = static_cast<int64_t>(values.size()) == type.getNumElements();
  if (llvm::any_of(uses, isBiasOrScale))
    return std::nullopt;
  // Modules may initialize short tensors with explicit values.
  const bool mayBeInitial = isModuleNamed(initializer);
  const bool isShort = mayBeInitial && type.getNumElements() < minModuleTable;
  constexpr size_t minModuleProgression = 8;
  if (isComplete && isVector(shape) && isProgression(values) &&
      (!mayBeInitial || values.size() >= minModuleProgression))
    return constant("an arithmetic or geometric progression", mayBeInitial);
  // Networks train upsampling filters that are initialized for bilinear interpolation.
  const bool mayUpsample = mayBeInitial && llvm::any_of(uses, [](const InitializerUse &use) {
                             return NodeOp(use.node).isOperator("ConvTranspose");
                           });
  if (areSymmetricRows(values, rowWidth(shape)) && !mayUpsample)
    return constant("a window, a Fourier basis or symmetric filters",
                    llvm::any_of(uses, isConvolved) && isGeneratedName(name));
  if (isComplete && llvm::all_of(uses, isConvolved) && shape.size() > 2 && !mayUpsample &&
      areEqualBlocks(values, llvm::product_of(shape.drop_front(2))))
    return constant("equal filters of all channels", mayBeInitial);
  if (isFilterBank(values, rowWidth(shape)))
    return constant("a filter bank");
  if (isComplete && isVector(shape) && isMonotonic(values) && !mayBeInitial)
    return constant("a table of sorted values", /*isDoubtful=*/true);
  const bool areDecimals =
      llvm::all_of(values, [&](double x) { return isLiteral(x, element); }) &&
      (values.size() >= 4 || llvm::any_of(values, [](double x) { return x != std::round(x); }));
  if (llvm::any_of(uses, isContracted)) {
    if (areHalves(values) && values.size() >= 9 && llvm::all_of(uses, isConvolved) &&
        !isGeneratedName(name) && !isShort &&
        llvm::any_of(values, [](double x) { return x != 0 && x != 1; }))
      return constant("filters of whole numbers", /*isDoubtful=*/true);
    if (areHalves(values) && values.size() >= 9)
      return Evidence{"a matrix of whole numbers, which may select or add up elements",
                      /*isConstant=*/false, /*isDoubtful=*/true};
    return std::nullopt;
  }
  if (isNamedAsParameter(name))
    return std::nullopt;
  if (areHalves(values) && !isShort)
    return constant("a table of whole numbers", mayBeInitial);
  if (areDecimals && !mayBeInitial)
    return constant("literal numbers", /*isDoubtful=*/true);
  if (areDecimals)
    return Evidence{"literal numbers, which may be a buffer", /*isConstant=*/false,
                    /*isDoubtful=*/true};
  return std::nullopt;
}

} // namespace mtc::onnx
