//===- UpdateGroups.cpp - Parameters that are updated in the same way -------------------------===//

#include "passes/optimizer/UpdateGroups.h"

#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "ir/attributes/QuantizationTable.h"
#include "passes/GraphSignature.h"

using namespace mlir;
using namespace mtc;

FailureOr<llvm::StringMap<UpdateRule>> mtc::chooseUpdateRules(ModuleOp module, UpdateRules &rules) {
  llvm::StringMap<UpdateRule> chosen;
  llvm::StringMap<ParameterStorage> storages = findParameterStorage(module);
  for (auto parameter : module.getOps<VariableOp>()) {
    if (parameter.getRole() != Role::Parameter)
      continue;
    ParameterStorage &storage = storages[parameter.getSymName()];
    if (!storage.gradient)
      return emitError(parameter.getLoc(), "parameter '")
             << parameter.getSymName() << "' has no gradient; run mtc-autodiff first";
    Type element = storage.getElementType();
    if (!element.isF32() && !element.isF64())
      return emitError(parameter.getLoc(), "parameter '")
             << parameter.getSymName() << "' is " << print(parameter.getTensorType())
             << "; expected f32 or f64";
    FailureOr<UpdateRule> rule = rules.choose(parameter);
    if (failed(rule))
      return failure();
    chosen.try_emplace(parameter.getSymName(), *rule);
  }
  if (failed(rules.checkGroups()))
    return failure();
  return chosen;
}

/// Adds a variable that belongs to a parameter.
VariableOp UpdateGroupBuilder::addVariable(VariableOp parameter, Role role, StringRef suffix,
                                           Type type, Attribute initial) {
  OpBuilder builder(parameter.getContext());
  auto variable = VariableOp::create(builder, parameter.getLoc(), role,
                                     (parameter.getSymName() + "." + suffix).str(), type, initial,
                                     FlatSymbolRefAttr::get(parameter.getSymNameAttr()));
  symbols.insert(variable, variablesEnd);
  division.divideLike(variable, parameter);
  return variable;
}

/// Adds a state of a parameter. Returns null if the parameter does not have the state.
VariableOp UpdateGroupBuilder::addState(ParameterStorage &storage, const OptimizerState &state,
                                        const UpdateRule &rule) {
  VariableOp parameter = storage.parameter;
  ArrayRef<int64_t> whole = parameter.getWholeType().getShape();
  std::optional<Shape> shape = state.shape(whole, rule);
  if (!shape)
    return {};
  const bool isLikeParameter = state.isLikeParameter(whole, rule);
  auto type = RankedTensorType::get(
      isLikeParameter ? division.viewOf(parameter).getType().getShape() : ArrayRef<int64_t>(*shape),
      storage.getElementType());
  double value = state.initial.empty() ? 0.0 : rule[state.initial];
  MLIRContext *context = parameter.getContext();
  Builder builder(context);
  Attribute initial = ZerosAttr::get(context);
  if (value != 0.0)
    initial =
        DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), value).getValue());
  VariableOp variable = addVariable(parameter, Role::Optimizer, state.suffix, type, initial);
  if (auto elements = dyn_cast<DenseElementsAttr>(initial))
    variable.setInitialAttr(elements.resizeSplat(variable.getWholeType()));
  if (rule.stateBits != 32 && isLikeParameter)
    variable->setAttr(
        quantizationAttribute,
        QuantizationMapAttr::get(context, findQuantizationMap(rule.stateBits,
                                                              /*isSigned=*/!state.isNonNegative)));
  return variable;
}

std::vector<UpdateGroup> UpdateGroupBuilder::build(const llvm::StringMap<UpdateRule> &rules,
                                                   bool hasAverages) {
  auto module = cast<ModuleOp>(symbols.getOp());
  llvm::StringMap<ParameterStorage> storages = findParameterStorage(module);
  std::vector<UpdateGroup> groups;
  for (auto parameter : llvm::to_vector(module.getOps<VariableOp>())) {
    if (parameter.getRole() != Role::Parameter)
      continue;
    ParameterStorage &storage = storages[parameter.getSymName()];
    const UpdateRule &rule = rules.at(parameter.getSymName());
    bool isFlat = rule.kind->isElementwise() && rule.stateBits == 32 && storage.isPaddedAlike() &&
                  !division.includes(parameter) &&
                  !symbols.lookup((storage.gradient.getSymName() + lookupsSuffix).str());
    auto group = llvm::find_if(groups, [&](UpdateGroup &each) {
      return each.isFlat == isFlat && each.rule == rule && storage.isLike(each.parameters.front());
    });
    if (group == groups.end()) {
      groups.push_back({rule, isFlat, {}, {}, {}, {}});
      group = std::prev(groups.end());
      group->states.resize(rule.kind->states.size());
    }
    group->parameters.push_back(storage);
    group->gradients.push_back(storage.gradient);
    for (auto [variables, state] : llvm::zip_equal(group->states, rule.kind->states))
      variables.push_back(addState(storage, state, rule));
    if (hasAverages)
      group->averages.push_back(
          addVariable(parameter, Role::Average, "ema",
                      division.viewOf(parameter).getType().clone(storage.getElementType()),
                      AsParameterAttr::get(parameter.getContext())));
  }
  return groups;
}

/// Sorts gradients by the position of their variables in the module.
static SmallVector<UpdatedGradient> inOrderOfVariables(ArrayRef<UpdatedGradient> gradients,
                                                       ArrayRef<StringRef> names, ModuleOp module) {
  llvm::StringMap<size_t> positions;
  for (auto [position, name] : llvm::enumerate(names))
    positions[name] = position;
  SmallVector<UpdatedGradient> sorted;
  for (auto variable : module.getOps<VariableOp>())
    if (auto found = positions.find(variable.getSymName()); found != positions.end())
      sorted.push_back(gradients[found->second]);
  return sorted;
}

SmallVector<UpdatedGradient> mtc::collectGradients(ArrayRef<UpdateGroup> groups, ModuleOp module,
                                                   Division &division, bool inModuleOrder) {
  SmallVector<UpdatedGradient> gradients;
  SmallVector<StringRef> names;
  for (const UpdateGroup &group : groups)
    for (auto [parameter, gradient] : llvm::zip_equal(group.parameters, group.gradients)) {
      const bool isDivided = division.includes(parameter.parameter);
      RankedTensorType type = VariableOp(gradient).getTensorType();
      AxisSplitAttr split = VariableOp(parameter.parameter).getSplitAttr();
      if (split && split.getParts() == 1) // The whole variable with padding.
        split = {};
      gradients.push_back({division.viewOf(gradient), isDivided ? type.getNumElements() : 0, split,
                           parameter.parameter->getAttrOfType<AxisSplitAttr>(chunksAttribute),
                           VariableOp(gradient).getPaddedType()});
      names.push_back(VariableOp(gradient).getSymName());
    }
  return inModuleOrder ? inOrderOfVariables(gradients, names, module) : gradients;
}
