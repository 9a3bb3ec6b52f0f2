//===- SharedInitializers.cpp - One initializer for several parameters ------------------------===//
//
// PyTorch's exporters store tensors of equal values once, so in the export of a fresh model all
// norms' scales and zero biases are one initializer with many users. The module trains them apart.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/dialect/Node.h"
#include "frontend/exporters/Passes.h"
#include "frontend/parameters/InitializerUses.h"
#include "frontend/parameters/MovingStatistics.h"
#include "frontend/parameters/Provenance.h"
#include "frontend/parameters/Ties.h"
#include "frontend/parameters/TrainableConstants.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_SPLITSHAREDINITIALIZERSPASS
#include "frontend/exporters/Passes.h.inc"

namespace {

/// The newer exporter merges tensors of up to this many elements.
constexpr int64_t maxMergedElements = 1024;

/// An initializer that stands for several of the module's parameters.
struct MergedInitializer {
  /// A parameter other than the one that the initializer is named after.
  struct Part {
    std::string tensor; // Its name in the module; INITIALIZER@MODULE if that cannot be told.
    std::vector<OpOperand *> sites; // Who reads it.
    NodeOp identity;                // Instead: the node whose result has the tensor's name.
    bool isConstant = false;        // The exporter's, not the module's.
  };
  InitializerOp initializer;
  std::vector<Part> parts;
  /// A matrix of different values, and the file does not tell whether two parameters are one in the
  /// module. What is no matrix is not shared between modules, and equal values say nothing.
  bool mayBeTied = false;
};

class Finder {
public:
  Finder(GraphOp graph, const StringMap<InitializerClass> &classes, SharedInitializerPolicy policy,
         const TieChoices &choices)
      : graph(graph), classes(classes), policy(policy), choices(choices),
        uses(initializerUses(graph)), provenance(graph) {}

  /// In the graph's order.
  std::vector<MergedInitializer> run() {
    if (policy != SharedInitializerPolicy::Keep && hasSignature(graph)) {
      findByArguments();
      findByModules();
    } else if (isProducedBy(graph, "pytorch")) {
      findByIdentities();
    }
    findByRoles();
    llvm::erase_if(found, [](const MergedInitializer &merged) { return merged.parts.empty(); });
    return std::move(found);
  }

private:
  bool isParameter(StringRef name) const {
    auto entry = classes.find(name);
    return entry != classes.end() && entry->second.role == InitializerRole::Parameter;
  }
  bool mayBeTrained(StringRef name) const {
    auto entry = classes.find(name);
    return isParameter(name) || (entry != classes.end() && entry->second.looksTrainable);
  }

  /// The arguments of the module's calls name the tensors. A use of which they tell nothing stays
  /// with the initializer, and is looked at by the module that it is in.
  void findByArguments() {
    for (InitializerOp initializer : trainableInitializers(graph)) {
      auto users = uses.find(initializer.getName());
      if (users == uses.end() || users->second.size() < 2 ||
          isUntied(choices, initializer, classes))
        continue;
      std::string own;
      std::vector<std::pair<std::string, const InitializerUse *>> known;
      for (const InitializerUse &use : users->second)
        if (std::optional<std::string> tensor = provenance.tensorAt(initializer, use)) {
          known.push_back({*tensor, &use});
          told.insert(use.site);
          // The initializer stays with the tensor of its name, or with its first.
          if (own.empty() || *tensor == initializer.getName())
            own = *tensor;
        }
      if (known.empty())
        continue;
      found.push_back({initializer, {}});
      present.insert(own);
      for (auto [tensor, use] : known) {
        if (tensor == own)
          continue;
        bool isConstant = tensor.empty();
        if (isConstant)
          tensor = initializer.getName().str() + ".constant";
        else if (own != initializer.getName() && !provenance.isParameter(own))
          continue; // Folded by the exporter from more than one tensor: one value all the same.
        present.insert(tensor);
        addUse(found.size() - 1, tensor, *use, isConstant);
      }
    }
  }

  /// The signature lists what the module has. What the file lacks of it is looked for at the uses
  /// of what the file has, by the modules that these are in.
  void findByModules() {
    for (const std::string &name : signatureParameters(graph))
      if (!classes.contains(name) && !present.contains(name))
        missing.insert(name);
    for (const auto &entry : classes)
      missing.erase(entry.second.moduleName);
    if (missing.empty())
      return;
    std::vector<std::pair<InitializerOp, ArrayRef<InitializerUse>>> candidates;
    for (InitializerOp initializer : trainableInitializers(graph)) {
      auto users = uses.find(initializer.getName());
      auto type = cast<RankedTensorType>(initializer.getType());
      if (mayBeTrained(initializer.getName()) && users != uses.end() && users->second.size() > 1 &&
          type.getNumElements() <= maxMergedElements && !isUntied(choices, initializer, classes))
        candidates.push_back({initializer, users->second});
    }
    // What an operand's place tells comes first; of what then remains a module's only parameter is
    // the one.
    SmallVector<std::pair<size_t, const InitializerUse *>> open;
    for (auto [initializer, users] : candidates) {
      found.push_back({initializer, {}, mayBeTied(initializer)});
      std::string name = initializer.getName().str();
      const InitializerClass &known = classes.find(name)->second;
      const std::string &own = known.moduleName.empty() ? name : known.moduleName;
      missing.insert(own); // while its uses are looked at
      for (const InitializerUse &use : users) {
        if (told.contains(use.site))
          continue;
        std::string parameter = parameterOfUse(use, missing);
        if (parameter.empty())
          open.push_back({found.size() - 1, &use});
        else if (parameter != own)
          addUse(found.size() - 1, parameter, use);
      }
      missing.erase(own);
    }
    for (const auto &entry : owners)
      missing.erase(entry.getKey());
    for (auto [index, use] : open) {
      std::string module = modulePath(use->node);
      SmallVector<std::string> remaining = missingIn(module);
      if (remaining.size() == 1)
        addUse(index, remaining.front(), *use);
      else if (remaining.size() > 1)
        addUse(index, found[index].initializer.getName().str() + "@" + module, *use);
    }
  }

  /// Running statistics are those of one module each, where modules are known, and nothing else. A
  /// vector of one value that several modules read is one of each. A module that is called several
  /// times is one.
  void findByRoles() {
    llvm::DenseSet<Operation *> split;
    for (const MergedInitializer &merged : found)
      if (!merged.parts.empty())
        split.insert(merged.initializer);
    for (InitializerOp initializer : trainableInitializers(graph)) {
      auto users = uses.find(initializer.getName());
      if (users == uses.end() || split.contains(initializer))
        continue;
      MergedInitializer merged{initializer, {}};
      bool isVector = isVectorOfOneValue(initializer);
      bool isApart = isUntied(choices, initializer, classes);
      for (const InitializerUse &use : users->second)
        partOf(merged, isApart ? tensorOfModule(initializer, use)
                               : tensorByRole(initializer, use, isVector))
            .sites.push_back(use.site);
      std::vector<MergedInitializer::Part> &parts = merged.parts;
      if (parts.size() < 2)
        continue;
      // The initializer stays what its name says, or else a weight.
      StringRef name = initializer.getName();
      auto own = parts.begin();
      for (auto part = parts.begin(); part != parts.end(); ++part)
        if (part->tensor == name || (part->tensor.empty() && !isNamedAsMovingStatistic(name)))
          own = part;
      parts.erase(own);
      for (MergedInitializer::Part &part : parts)
        if (part.tensor.empty())
          part.tensor = name.str() + ".weight";
      found.push_back(std::move(merged));
    }
  }

  bool isVectorOfOneValue(InitializerOp initializer) const {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(initializer.getSampleAttr());
    return policy != SharedInitializerPolicy::Keep && !hasSignature(graph) && elements &&
           elements.isSplat() && elements.getNumElements() > 1 &&
           cast<RankedTensorType>(initializer.getType()).getRank() == 1;
  }

  /// The tensor that each module, or node of none, has of an initializer that is taken apart.
  static std::string tensorOfModule(InitializerOp initializer, const InitializerUse &use) {
    std::string module = modulePath(use.node);
    return initializer.getName().str() + "@" + (module.empty() ? nodeName(use.node).str() : module);
  }

  /// The tensor that an initializer is at a use: a batch normalization's statistic, a module's
  /// parameter of which the file has no other, or (empty) what its name says.
  static std::string tensorByRole(InitializerOp initializer, const InitializerUse &use,
                                  bool isVector) {
    NodeOp node = use.node;
    std::string module = modulePath(node);
    if (node.isOperator("BatchNormalization") && use.operand >= 3)
      return initializer.getName().str() + (use.operand == 3 ? ".running_mean" : ".running_var") +
             (module.empty() ? "" : "@" + module);
    if (!isVector || module.empty())
      return {};
    return module + (isBiasOperand(use) ? ".bias" : ".weight");
  }

  /// Parameters of a module, not of those inside it, that the file lacks.
  SmallVector<std::string> missingIn(StringRef module) const {
    SmallVector<std::string> result;
    std::string prefix = module.empty() ? "" : (module + ".").str();
    for (const auto &entry : missing)
      if (StringRef rest = entry.getKey(); rest.consume_front(prefix) && !rest.contains('.'))
        result.push_back(entry.getKey().str());
    return result;
  }

  /// A parameter belongs to one initializer; what seems to be another's stays where it is.
  void addUse(size_t index, const std::string &tensor, const InitializerUse &use,
              bool isConstant = false) {
    if (owners.try_emplace(tensor, index).first->second != index)
      return;
    MergedInitializer::Part &part = partOf(found[index], tensor);
    part.isConstant = isConstant;
    part.sites.push_back(use.site);
  }

  /// The part of this name, new if there is none.
  static MergedInitializer::Part &partOf(MergedInitializer &merged, const std::string &tensor) {
    auto part = llvm::find_if(
        merged.parts, [&](const MergedInitializer::Part &each) { return each.tensor == tensor; });
    if (part == merged.parts.end())
      part = merged.parts.insert(merged.parts.end(), MergedInitializer::Part{tensor, {}, {}});
    return *part;
  }

  /// The TorchScript exporter leaves an Identity of the tensor's name. A parameter that is tied in
  /// the module has one name there. `onnx::MatMul_12` is a name of the exporter's own, for what it
  /// folded: in the module of another such one it is the same weight, called again.
  void findByIdentities() {
    llvm::DenseMap<Value, size_t> indices;
    for (InitializerOp initializer : trainableInitializers(graph)) {
      indices[initializer] = found.size();
      found.push_back({initializer, {}});
    }
    for (auto node : graph.getOps<NodeOp>())
      if (isNamedTensor(node) &&
          (policy != SharedInitializerPolicy::Keep || isNamedAsMovingStatistic(resultName(node))))
        if (auto merged = indices.find(node.getInputs().front());
            merged != indices.end() && !(isTorchScriptFoldedName(resultName(node)) &&
                                         haveSameModule(found[merged->second].initializer, node)))
          found[merged->second].parts.push_back({resultName(node).str(), {}, node});
  }

  /// Whether an Identity's users are in the module of the initializer's own.
  static bool haveSameModule(InitializerOp initializer, NodeOp identity) {
    auto modulesOf = [&](Value value) {
      llvm::StringSet<> modules;
      for (Operation *user : value.getUsers())
        if (auto node = dyn_cast<NodeOp>(user); node && !isNamedTensor(node))
          modules.insert(modulePath(node));
      return modules;
    };
    llvm::StringSet<> own = modulesOf(initializer), other = modulesOf(identity.getResult(0));
    return !other.contains("") &&
           llvm::all_of(other, [&](const auto &module) { return own.contains(module.getKey()); });
  }

  /// Whether a node is an Identity outside modules, whose result is no output.
  static bool isNamedTensor(NodeOp node) {
    return node.isOperator("Identity") && node.getNodeAttributes().empty() &&
           node.getInputs().size() == 1 && node.getOutputs().size() == 1 &&
           node->hasAttr(resultsAttribute) && !nodeName(node).contains('/') &&
           llvm::none_of(node->getUsers(), [](Operation *user) { return isa<ReturnOp>(user); });
  }

  static bool mayBeTied(InitializerOp initializer) {
    if (cast<RankedTensorType>(initializer.getType()).getRank() < 2)
      return false;
    auto elements = dyn_cast_or_null<DenseElementsAttr>(initializer.getSampleAttr());
    if (!elements)
      return true;
    // Equal to itself one element further.
    ArrayRef<char> bytes = elements.getRawData();
    size_t width = elements.getElementType().getIntOrFloatBitWidth() / 8;
    return !elements.isSplat() && bytes.drop_back(width) != bytes.drop_front(width);
  }

  GraphOp graph;
  const StringMap<InitializerClass> &classes;
  SharedInitializerPolicy policy;
  const TieChoices &choices;
  StringMap<std::vector<InitializerUse>> uses;
  Provenance provenance;
  llvm::StringSet<> missing, present;
  llvm::DenseSet<OpOperand *> told; // Uses of which the arguments tell the tensor.
  StringMap<size_t> owners;         // of what was missing: an index of `found`
  std::vector<MergedInitializer> found;
};

/// Gives each part an initializer of its own, named after the parameter (`val_N` where the exporter
/// transposed it, as it would have), which its users read.
class Splitter {
public:
  explicit Splitter(GraphOp graph) : builder(graph.getContext()), last(lastInitializer(graph)) {
    if (auto inner = graph->getAttrOfType<ArrayAttr>(subgraphNamesAttribute))
      for (auto name : inner.getAsRange<StringAttr>())
        names.insert(name.getValue());
    for (unsigned i = 0; i < graph.getNumArguments(); ++i)
      if (auto name = graph.getArgAttrOfType<StringAttr>(i, "onnx.name"))
        names.insert(name.getValue());
    for (Operation &op : graph.getBody().front())
      if (auto initializer = dyn_cast<InitializerOp>(op))
        names.insert(initializer.getName());
      else if (auto name = op.getAttrOfType<StringAttr>(initializerAttribute))
        names.insert(name.getValue());
      else if (auto results = op.getAttrOfType<ArrayAttr>(resultsAttribute))
        for (auto name : results.getAsRange<StringAttr>())
          names.insert(name.getValue());
  }

  void split(const MergedInitializer &merged) {
    bool isFolded = isFoldedName(InitializerOp(merged.initializer).getName());
    for (const MergedInitializer::Part &part : merged.parts) {
      if (NodeOp identity = part.identity) {
        InitializerOp copy = copyOf(merged.initializer, part.tensor);
        copy->setAttr(indexAttribute, identity->getAttr(indexAttribute));
        identity.getResult(0).replaceAllUsesWith(copy);
        identity.erase();
        continue;
      }
      InitializerOp copy =
          copyOf(merged.initializer, freshName(isFolded ? StringRef("val_0") : part.tensor));
      if (part.isConstant)
        copy.setKind("CONSTANT");
      else if (isFolded)
        copy.setModuleName(part.tensor);
      for (OpOperand *site : part.sites)
        site->set(copy);
    }
  }

private:
  InitializerOp copyOf(InitializerOp original, StringRef name) {
    builder.setInsertionPointAfter(last);
    auto copy = cast<InitializerOp>(builder.clone(*original));
    last = copy;
    copy->setLoc(NameLoc::get(builder.getStringAttr(name)));
    copy.setName(name);
    copy.setSplitFrom(original.getSource());
    copy.removeKindAttr();
    for (StringRef attribute : {foldedFromAttribute, aliasesAttribute})
      copy->removeAttr(attribute);
    return copy;
  }

  /// NAME, or the first of NAME.2, NAME.3, … that is free; for folded ones of val_1, val_2, ….
  std::string freshName(StringRef name) {
    std::string stem = isFoldedName(name) ? "val_" : (name + ".").str(), result = name.str();
    for (size_t i = stem == "val_" ? 1 : 2; !names.insert(result).second; ++i)
      result = stem + std::to_string(i);
    return result;
  }

  OpBuilder builder;
  InitializerOp last;
  llvm::StringSet<> names;
};

/// `initializer 'NAME' stands for 5 parameters (a, b, c, d and 1 more)`.
std::string describe(const MergedInitializer &merged, const InitializerClass &known) {
  constexpr size_t shown = 4;
  std::string name = InitializerOp(merged.initializer).getName().str();
  std::string list = known.moduleName.empty() ? name : known.moduleName;
  for (const MergedInitializer::Part &part : ArrayRef(merged.parts).take_front(shown - 1))
    list += ", " + part.tensor;
  size_t count = merged.parts.size() + 1;
  if (count > shown)
    list += " and " + std::to_string(count - shown) + " more";
  return "initializer " + quoted(name) + ": merges " + std::to_string(count) + " parameters (" +
         list + ")";
}

struct SplitSharedInitializersPass
    : impl::SplitSharedInitializersPassBase<SplitSharedInitializersPass> {
  using SplitSharedInitializersPassBase::SplitSharedInitializersPassBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    StringMap<InitializerClass> classes = classifyInitializers(graph);
    TieChoices choices{{}, {untie.begin(), untie.end()}, false};
    std::vector<MergedInitializer> found = Finder(graph, classes, policy, choices).run();
    Splitter splitter(graph);
    for (const MergedInitializer &merged : found) {
      InitializerOp initializer = merged.initializer;
      bool isLeft = merged.mayBeTied && policy == SharedInitializerPolicy::Auto;
      if (!isLeft)
        splitter.split(merged);
      const InitializerClass &known = classes.find(initializer.getName())->second;
      if (!known.isParameter && known.role != InitializerRole::State)
        continue; // a constant, which is not trained unless its name is given
      report(describe(merged, known), isLeft);
    }
  }

private:
  /// In the words of the flag of `mtc`, of the model as a whole.
  void report(StringRef text, bool isLeft) {
    auto unknown = UnknownLoc::get(&getContext());
    if (isLeft)
      emitWarning(unknown, text) << "; trained as one weight, because the module may tie them. Use "
                                    "--shared-initializers split to train them separately, or "
                                    "--shared-initializers keep to silence this warning";
    else
      emitRemark(unknown, text) << " that were equal when exported; trained separately. Use "
                                   "--shared-initializers keep to train them as one weight";
  }
};

} // namespace
} // namespace mtc::onnx
