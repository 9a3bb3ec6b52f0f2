//===- UpdateRules.cpp - Selection of each parameter's update rule ----------------------------===//

#include "passes/optimizer/UpdateRules.h"

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/attributes/QuantizationTable.h"
#include "passes/GraphSignature.h"
#include "passes/sharding/Pieces.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mtc;

/// Returns the first names of a list, and the number of remaining ones.
static std::string listNames(ArrayRef<StringRef> names) {
  constexpr size_t shown = 8;
  std::string text = llvm::join(names.take_front(shown), ", ");
  if (names.size() > shown)
    text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

UpdateRules::UpdateRules(const OptimizerOptions &options, ModuleOp module)
    : options(options), context(module.getContext()), kind(findOptimizer(options.optimizer)),
      uses(module) {
  for (StringRef text : options.groups)
    static_cast<ParameterGroup &>(groups.emplace_back()) =
        llvm::cantFail(ParameterGroup::parse(text));
}

FailureOr<UpdateRule> UpdateRules::choose(VariableOp parameter) {
  names.push_back(parameter.getSymName());
  Decisions decisions;
  for (Group &group : groups)
    if (failed(decide(parameter, group, decisions)))
      return failure();
  FailureOr<const OptimizerKind *> chosen = chooseKind(parameter, decisions);
  if (failed(chosen))
    return failure();
  UpdateRule rule = options.makeRule(**chosen);
  if (options.noDecay1d && parameter.getTensorType().getRank() < 2)
    rule["weight-decay"] = 0.0;
  if (failed(applyGroups(parameter, decisions, rule)))
    return failure();
  chooseStateBits(parameter, decisions, rule);
  if (rule["lr"] != 0.0 && options.getLearningRate() == 0.0)
    return emitError(parameter.getLoc(), "parameter '")
           << parameter.getSymName()
           << "' has its own learning rate, but the schedule it follows has the learning rate 0";
  return rule;
}

/// Records a group's settings for a parameter that the group matches, unless another group matches
/// with a more specific pattern.
LogicalResult UpdateRules::decide(VariableOp parameter, Group &group, Decisions &decisions) {
  std::optional<size_t> specificity = group.findMatch(parameter);
  if (!specificity)
    return success();
  if (group.isFrozen)
    return emitError(parameter.getLoc(), "--group ")
           << group.text << ": parameters are frozen at import; use --freeze";
  group.isMatched = true;
  auto take = [&](StringRef what, auto sameAs) -> LogicalResult {
    auto [known, isNew] = decisions.try_emplace(what.str(), Decision{&group, *specificity});
    if (isNew)
      return success();
    Decision &before = known->second;
    if (before.specificity == *specificity && !sameAs(*before.group))
      return emitError(parameter.getLoc(), "--group ")
             << before.group->text << " and --group " << group.text << " both set the " << what
             << " of '" << parameter.getSymName()
             << "'; expected patterns with different numbers of literal characters";
    Group *overruled = &group;
    if (before.specificity < *specificity) {
      overruled = before.group;
      before = {&group, *specificity};
    }
    overruled->used.insert(what.str());
    return success();
  };
  if (group.optimizer && failed(take("optimizer", [&](const Group &other) {
        return other.optimizer == group.optimizer;
      })))
    return failure();
  if (group.rateFactor &&
      failed(take("lr", [&](const Group &other) { return other.rateFactor == group.rateFactor; })))
    return failure();
  if (group.stateBits && failed(take("optimizer-bits", [&](const Group &other) {
        return other.stateBits == group.stateBits;
      })))
    return failure();
  for (const auto &[name, value] : group.numbers)
    if (failed(take(name, [&](const Group &other) {
          auto known = other.numbers.find(name);
          return known != other.numbers.end() && known->second == value;
        })))
      return failure();
  return success();
}

/// Returns the optimizer that a group selects, the run's optimizer, or its fallback for parameters
/// outside its domain.
FailureOr<const OptimizerKind *> UpdateRules::chooseKind(VariableOp parameter,
                                                         const Decisions &decisions) {
  StringRef name = parameter.getSymName();
  RankedTensorType type = parameter.getTensorType();
  if (auto decided = decisions.find("optimizer"); decided != decisions.end()) {
    const Group &group = *decided->second.group;
    const OptimizerDomain *domain = group.optimizer->domain;
    if (!domain || domain->contains(type))
      return group.optimizer;
    return emitError(parameter.getLoc(), "--group ")
           << group.text << ": " << group.optimizer->name << " updates " << domain->parameters
           << ", but '" << name << "' is " << print(type);
  }
  const OptimizerDomain *domain = kind->domain;
  if (!domain)
    return kind;
  bool isMember = domain->contains(type);
  bool isTaken = isMember && (!domain->isHidden || uses.isHidden(name));
  ++(isTaken ? updated : left);
  if (isMember && !isTaken)
    leftMembers.push_back(name);
  return isTaken ? kind : findOptimizer(domain->otherwise);
}

/// Reduces the bits of state if requested and worthwhile. Embeddings keep 32 bits because quantized
/// state makes their training unstable, and small parameters because fewer bits would save nothing.
void UpdateRules::chooseStateBits(VariableOp parameter, const Decisions &decisions,
                                  UpdateRule &rule) {
  constexpr int64_t minElements = 4096, minBlock = 16;
  auto bits = static_cast<unsigned>(options.optimizerBits);
  if (auto decided = decisions.find("optimizer-bits"); decided != decisions.end())
    bits = *decided->second.group->stateBits;
  // The choice must not depend on the number of ranks.
  RankedTensorType type = parameter.getPaddedType();
  auto chunks = parameter->getAttrOfType<AxisSplitAttr>(chunksAttribute);
  bool hasState = llvm::any_of(rule.kind->states, [&](const OptimizerState &state) {
    return state.isLikeParameter(type.getShape(), rule);
  });
  if (bits == 32 || !hasState)
    return;
  StringRef reason;
  if (type.getNumElements() < minElements)
    reason = "fewer than 4096 elements";
  else if (uses.isEmbedding(parameter.getSymName()))
    reason = "embeddings";
  else if (type.getElementType().isF64())
    reason = "f64";
  else if (chunks && blockWithin(chunks, type, minBlock) < minBlock)
    reason = "parts of a row without a multiple of 16 elements";
  else if (!chunks && bits == 4 &&
           type.getNumElements() % getQuantizationTable(findQuantizationMap(4, true)).block != 0)
    reason = "not a multiple of 128 elements";
  if (!reason.empty()) {
    unquantized[reason].push_back(parameter.getSymName());
    return;
  }
  rule.stateBits = bits;
  ++quantized;
}

LogicalResult UpdateRules::applyGroups(VariableOp parameter, const Decisions &decisions,
                                       UpdateRule &rule) {
  for (const auto &[name, decision] : decisions) {
    const Hyperparameter *hyperparameter = rule.kind->findHyperparameter(name);
    if (!hyperparameter)
      continue;
    Group &group = *decision.group;
    group.used.insert(name);
    auto given = group.numbers.find(name);
    double &number = rule[name];
    if (given == group.numbers.end() && number == options.getLearningRate())
      rule.rateFactor = group.rateFactor;
    number = given == group.numbers.end() ? number * *group.rateFactor : given->second;
    if (hyperparameter->choices.empty() && !hyperparameter->accepts(number))
      return emitError(parameter.getLoc(), "--group ")
             << group.text << ": " << name << " of " << rule.kind->name << " must be "
             << hyperparameter->describeRange();
  }
  return success();
}

LogicalResult UpdateRules::checkGroups() const {
  LogicalResult result = success();
  for (const Group &group : groups) {
    auto complain = [&] {
      result = failure();
      return emitError(UnknownLoc::get(context), "--group ") << group.text << ": ";
    };
    if (!group.isMatched) {
      complain() << "matches no trained parameter; the trained parameters are " << listNames(names);
      continue;
    }
    for (const auto &[name, value] : group.numbers)
      if (!group.used.contains(name))
        complain() << "no matching parameter has an optimizer with " << name;
  }
  return result;
}

std::string UpdateRules::describeOthers() const {
  if (left == 0)
    return "";
  const OptimizerDomain &domain = *kind->domain;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << kind->name << " updates " << updated << " of " << updated + left << " parameters, "
     << (domain.isHidden ? "the hidden " : "") << domain.parameters << "; " << domain.otherwise
     << " updates the others";
  if (!leftMembers.empty())
    os << ", " << domain.parameters << " among them: " << listNames(leftMembers);
  return text;
}

std::string UpdateRules::describeStateBits() const {
  if (unquantized.empty())
    return "";
  std::string text = "parameters with quantized state: " + std::to_string(quantized) +
                     "; with unquantized state: ";
  llvm::interleave(
      unquantized,
      [&](const auto &entry) {
        text += std::to_string(entry.second.size()) + " (" + entry.first.str() + ": " +
                listNames(entry.second) + ')';
      },
      [&] { text += ", "; });
  return text;
}
