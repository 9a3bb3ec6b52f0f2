//===- InitializeParameters.cpp - Random initialization of parameters -------------------------===//

#include "ir/attributes/InitialRow.h"
#include "ir/attributes/TensorImage.h"
#include "passes/GraphSignature.h"
#include "passes/Passes.h"
#include "passes/program/Initialization.h"
#include "passes/program/LayerParameters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

#include <cmath>

namespace mtc {
#define GEN_PASS_DEF_INITIALIZEPARAMETERS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct InitializeParametersPass
    : PassWithOptions<mtc::impl::InitializeParametersBase<InitializeParametersPass>,
                      InitializationOptions> {
  using PassWithOptions::PassWithOptions;
  void runOnOperation() override;

private:
  const InitialRule *ruleFor(VariableOp variable, bool isMissing) const;
  LogicalResult initializeVariable(VariableOp variable, ArrayRef<ReadOp> reads);
  Attribute valueFor(VariableOp variable, const InitialRule &rule,
                     const std::optional<LayerParameter> &layer);

  std::vector<InitialRule> rules;
  llvm::StringSet<> matched;
  SmallVector<std::string> unknown; ///< Parameters that no rule initializes.
};

Attribute normal(MLIRContext *context, double deviation) {
  return NormalAttr::get(context, Builder(context).getF64FloatAttr(deviation));
}

Attribute uniform(MLIRContext *context, double bound) {
  return UniformAttr::get(context, Builder(context).getF64FloatAttr(bound));
}

Attribute constant(RankedTensorType type, double value) {
  if (value == 0)
    return ZerosAttr::get(type.getContext());
  return DenseElementsAttr::get(type, Attribute(FloatAttr::get(type.getElementType(), value)));
}

/// Returns the initial value of a parameter by the defaults of PyTorch's modules. kaiming_uniform
/// with a = sqrt(5) has the bound 1 / sqrt(fan in), as biases have.
Attribute pytorchDefault(RankedTensorType type, const LayerParameter &layer) {
  MLIRContext *context = type.getContext();
  switch (layer.role) {
  case LayerRole::Weight:
  case LayerRole::Bias:
  case LayerRole::Recurrent:
    return uniform(context, 1 / std::sqrt(static_cast<double>(layer.fanIn)));
  case LayerRole::Embedding:
    return normal(context, 1);
  case LayerRole::Scale:
    return constant(type, 1);
  case LayerRole::Shift:
    return constant(type, 0);
  }
  llvm_unreachable("all roles are handled");
}

/// Returns the fans of a tensor as torch.nn.init computes them from its first two axes.
LayerParameter withFansOfShape(RankedTensorType type) {
  const int64_t count = type.getNumElements();
  return {LayerRole::Weight, count / type.getDimSize(0), count / type.getDimSize(1)};
}

/// Returns the value of a form for a weight: Glorot and Bengio, "Understanding the difficulty of
/// training deep feedforward neural networks", AISTATS 2010; He et al., "Delving Deep into
/// Rectifiers", ICCV 2015, with the gain of ReLU.
Attribute drawn(MLIRContext *context, const InitialRule &rule, const LayerParameter &layer) {
  const auto in = static_cast<double>(layer.fanIn), out = static_cast<double>(layer.fanOut);
  switch (rule.form) {
  case InitialForm::XavierUniform:
    return uniform(context, std::sqrt(6 / (in + out)));
  case InitialForm::XavierNormal:
    return normal(context, std::sqrt(2 / (in + out)));
  case InitialForm::KaimingUniform:
    return uniform(context, std::sqrt(6 / in));
  case InitialForm::KaimingNormal:
    return normal(context, std::sqrt(2 / in));
  case InitialForm::Uniform:
    return uniform(context, rule.number);
  default:
    return normal(context, rule.number);
  }
}

/// Returns whether a parameter has a name that PyTorch's and Keras's layers give to the role. A
/// name that the exporter made up says nothing.
bool isNamedAs(VariableOp variable, LayerRole role) {
  static constexpr StringLiteral weights[] = {"weight", "kernel", "gamma", "embeddings",
                                              "in_proj_weight"},
                                 biases[] = {"bias", "beta", "in_proj_bias"};
  if (role == LayerRole::Recurrent || variable.getRole() == Role::State)
    return true;
  const bool isBias = role == LayerRole::Bias || role == LayerRole::Shift;
  return llvm::any_of(namesOf(variable), [&](StringRef name) {
    const StringRef last = name.rsplit('.').second.empty() ? name : name.rsplit('.').second;
    return name.starts_with("onnx::") ||
           llvm::is_contained(isBias ? ArrayRef(biases) : ArrayRef(weights), last);
  });
}

/// torch.nn.MultiheadAttention has initial values of its own.
Attribute attentionDefault(VariableOp variable, ModuleOp module) {
  const RankedTensorType type = variable.getTensorType();
  for (StringRef name : namesOf(variable)) {
    if (name.ends_with("in_proj_weight") && type.getRank() == 2) {
      InitialRule xavier;
      xavier.form = InitialForm::XavierUniform;
      return drawn(type.getContext(), xavier, withFansOfShape(type));
    }
    StringRef start = name;
    const bool isOutput = start.consume_back("out_proj.bias");
    if (name.ends_with("in_proj_bias") ||
        (isOutput && llvm::any_of(module.getOps<VariableOp>(), [&](VariableOp other) {
           return llvm::is_contained(namesOf(other), (start + "in_proj_bias").str());
         })))
      return constant(type, 0);
  }
  return {};
}

} // namespace

/// Returns the rule with the most literal characters; a general rule has none.
const InitialRule *InitializeParametersPass::ruleFor(VariableOp variable, bool isMissing) const {
  const InitialRule *best = nullptr;
  size_t most = 0;
  const bool isState = variable.getRole() == Role::State;
  for (const InitialRule &rule : rules) {
    if (!rule.pattern.empty() && isState && !isMissing)
      continue; // Patterns are of parameters.
    if (!rule.pattern.empty()) {
      const llvm::GlobPattern glob = llvm::cantFail(llvm::GlobPattern::create(rule.pattern));
      if (llvm::none_of(namesOf(variable), [&](StringRef name) { return glob.match(name); }))
        continue;
    }
    const size_t literals = rule.pattern.empty() ? 0 : 1 + llvm::count_if(rule.pattern, [](char c) {
                                                         return c != '*' && c != '?';
                                                       });
    if (!best || literals > most) {
      best = &rule;
      most = literals;
    }
  }
  return best;
}

/// Returns the initial value of a variable by its rule; null if the rule does not say one.
Attribute InitializeParametersPass::valueFor(VariableOp variable, const InitialRule &rule,
                                             const std::optional<LayerParameter> &layer) {
  const RankedTensorType type = variable.getTensorType();
  const bool isGeneral = rule.pattern.empty();
  if (rule.form == InitialForm::Constant)
    return constant(type, rule.number);
  const bool isPlain = rule.form == InitialForm::Normal || rule.form == InitialForm::Uniform;
  if (!isGeneral && isPlain)
    return drawn(&getContext(), rule, {});
  if (!isGeneral && rule.form != InitialForm::PyTorch) {
    if (layer && layer->role == LayerRole::Weight)
      return drawn(&getContext(), rule, *layer);
    return type.getRank() < 2 ? Attribute() : drawn(&getContext(), rule, withFansOfShape(type));
  }
  if (rule.form == InitialForm::PyTorch)
    if (Attribute own = attentionDefault(variable, getOperation()))
      return own;
  if (!layer || (isGeneral && !isNamedAs(variable, layer->role)))
    return {};
  if (rule.form == InitialForm::PyTorch)
    return pytorchDefault(type, *layer);
  const bool isMatrix = layer->role == LayerRole::Weight ||
                        (layer->role == LayerRole::Embedding && isPlain) ||
                        (layer->role == LayerRole::Recurrent && type.getRank() > 1);
  if (isMatrix)
    return drawn(&getContext(), rule,
                 layer->role == LayerRole::Weight ? *layer : withFansOfShape(type));
  if (layer->role == LayerRole::Embedding)
    return pytorchDefault(type, *layer);
  return constant(type, layer->role == LayerRole::Scale ? 1 : 0);
}

LogicalResult InitializeParametersPass::initializeVariable(VariableOp variable,
                                                           ArrayRef<ReadOp> reads) {
  auto source = dyn_cast<InitializerAttr>(variable.getInitial());
  const RankedTensorType type = variable.getTensorType();
  if (!source || !isa<FloatType>(type.getElementType()))
    return success();
  const InitialRule *rule = ruleFor(variable, source.getMissing());
  if (!rule)
    return success();
  const bool isState = variable.getRole() == Role::State && rule->pattern.empty();
  const bool isDrawn = variable.getRole() == Role::Parameter || isState;
  if (!isDrawn && !source.getMissing())
    return success();
  matched.insert(rule->text);
  if (!isDrawn) { // A table whose data is missing.
    if (rule->form == InitialForm::Normal)
      variable.setInitialAttr(normal(&getContext(), rule->number));
    return success();
  }
  const std::optional<LayerParameter> layer = findLayer(variable, reads);
  Attribute value = valueFor(variable, *rule, layer);
  if (!value && !rule->pattern.empty())
    return emitError(variable.getLoc(), "--init ")
           << rule->text << ": parameter '" << variable.getSymName() << "' (" << print(type)
           << ") is not the weight of a layer; expected normal=S, uniform=B or constant=V";
  if (!value) {
    unknown.push_back(("'" + variable.getSymName() + "' (" + print(type) + ")").str());
    return success();
  }
  variable.setInitialAttr(value);
  if (layer && layer->zeroRow && isa<NormalAttr, UniformAttr>(value))
    variable->setAttr(zeroRowAttribute, Builder(&getContext()).getI64IntegerAttr(*layer->zeroRow));
  return success();
}

void InitializeParametersPass::runOnOperation() {
  FailureOr<InitializationOptions> options = readOptions();
  if (failed(options))
    return signalPassFailure();
  rules = options->rules();
  if (rules.empty())
    return;
  llvm::StringMap<SmallVector<ReadOp>> reads;
  getOperation().walk([&](ReadOp read) { reads[read.getVariable()].push_back(read); });
  matched.clear();
  unknown.clear();
  for (auto variable : getOperation().getOps<VariableOp>())
    if (failed(initializeVariable(variable, reads[variable.getSymName()])))
      return signalPassFailure();
  Location unnamed = UnknownLoc::get(&getContext());
  for (const InitialRule &rule : rules)
    if (!rule.pattern.empty() && !matched.contains(rule.text)) {
      emitError(unnamed, "--init ") << rule.text
                                    << ": no parameter has a name that matches, or "
                                       "other patterns are more specific";
      return signalPassFailure();
    }
  if (unknown.empty())
    return;
  constexpr size_t shown = 8;
  const size_t count = unknown.size();
  const InitialRule &general =
      *llvm::find_if(rules, [](const InitialRule &rule) { return rule.pattern.empty(); });
  emitError(unnamed, "--init ")
      << general.text << ": no layer is known to which these parameters belong: "
      << llvm::join(ArrayRef(unknown).take_front(shown), ", ")
      << (count > shown ? " and " + std::to_string(count - shown) + " more" : "")
      << "; specify their initial values, such as --init 'NAME:normal=0.02'";
  signalPassFailure();
}

std::unique_ptr<Pass> mtc::createInitializeParameters(const InitializationOptions &options) {
  return std::make_unique<InitializeParametersPass>(options);
}
