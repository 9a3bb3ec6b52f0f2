//===- MergedInitializers.cpp - Initializers that represent several parameters ----------------===//

#include "frontend/onnx/exporters/MergedInitializers.h"

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/dialect/Schema.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/MovingStatistics.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "frontend/onnx/parameters/TrainableConstants.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

/// The maximum number of elements of a tensor that the torch.export-based exporter deduplicates.
constexpr int64_t maxMergedElements = 1024;

class Finder {
public:
  Finder(GraphOp graph, const StringMap<InitializerClass> &classes, SharedInitializerPolicy policy,
         const TieChoices &choices)
      : graph(graph), classes(classes), policy(policy), choices(choices),
        uses(initializerUses(graph)), provenance(graph) {
    for (auto node : graph.getOps<NodeOp>())
      isOptimized |= node.getDomain() == "com.microsoft";
  }

  MergedInitializers run() {
    if (policy != SharedInitializerPolicy::Keep && hasSignature(graph)) {
      findByArguments();
      findByModules();
    } else if (isProducedBy(graph, "pytorch")) {
      findByIdentities();
    }
    findByRoles();
    llvm::erase_if(found, [](const MergedInitializer &merged) { return merged.parts.empty(); });
    return {std::move(found), std::move(notes)};
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

  /// Finds shared initializers by the arguments of FX nodes, which name the module's tensors. A use
  /// without this information stays with the initializer and is examined by `findByModules`.
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
          // The initializer represents the tensor of its name, or else the first tensor found.
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
          continue; // The exporter folded it from several tensors, so it is one value.
        present.insert(tensor);
        addUse(found.size() - 1, tensor, *use, isConstant);
      }
    }
  }

  /// Finds shared initializers by module paths: parameters that the signature lists but the file
  /// lacks are matched to uses of existing initializers within the same module.
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
    // Uses are first matched by the role of their operand. Each remaining use is matched to a
    // module's only missing parameter.
    SmallVector<std::pair<size_t, const InitializerUse *>> open;
    for (auto [initializer, users] : candidates) {
      found.push_back({initializer, {}, mayBeTied(initializer)});
      std::string name = initializer.getName().str();
      const InitializerClass &known = classes.find(name)->second;
      const std::string &own = known.moduleName.empty() ? name : known.moduleName;
      missing.insert(own); // Must be present while its uses are examined.
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
      else if (std::string tensor = tensorOfNode(*use);
               !tensor.empty() && isVectorOfOneValue(found[index].initializer))
        addUse(index, tensor, *use);
    }
  }

  /// Finds shared initializers by the role of their uses. If modules are known, running statistics
  /// belong to exactly one module. A vector of equal values used in several modules is one
  /// parameter of each module. Repeated calls of a module count as one.
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
      bool isVector = policy != SharedInitializerPolicy::Keep && !hasSignature(graph) &&
                      isVectorOfOneValue(initializer);
      bool isApart = isUntied(choices, initializer, classes);
      for (const InitializerUse &use : users->second)
        partOf(merged, isApart ? tensorOfModule(initializer, use)
                               : tensorByRole(initializer, use, isVector))
            .sites.push_back(use.site);
      std::vector<MergedInitializer::Part> &parts = merged.parts;
      if (parts.size() < 2)
        continue;
      // The initializer keeps the part that matches its name, or else the weight.
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

  static bool isVectorOfOneValue(InitializerOp initializer) {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(initializer.getSampleAttr());
    return elements && elements.isSplat() && elements.getNumElements() > 1 &&
           cast<RankedTensorType>(initializer.getType()).getRank() == 1;
  }

  /// Returns a name for the tensor that a module, or a node outside modules, has of an untied
  /// initializer.
  static std::string tensorOfModule(InitializerOp initializer, const InitializerUse &use) {
    std::string module = modulePath(use.node);
    return initializer.getName().str() + "@" + (module.empty() ? nodeName(use.node).str() : module);
  }

  /// Returns NODE.OPERAND for a use by a node without a module in a graph that onnxruntime's
  /// optimizer changed, and an empty string for other uses. The optimizer drops the paths of the
  /// nodes that it replaces.
  std::string tensorOfNode(const InitializerUse &use) const {
    NodeOp node = use.node;
    const Schema *schema = Schema::find(node.getDomain().value_or(""), node.getOpType(),
                                        static_cast<int64_t>(node.getVersion()));
    if (!isOptimized || !modulePath(node).empty() || nodeName(node).empty() || !schema)
      return {};
    const Signature::Formal *operand = schema->operands.find(use.operand);
    return operand ? (nodeName(node) + "." + operand->name).str() : std::string();
  }

  /// Returns the name of the tensor that an initializer represents at a use. This is a statistic of
  /// a batch normalization, or, if the initializer is a vector of equal values, a parameter of a
  /// module. An empty string stands for the initializer's own name.
  std::string tensorByRole(InitializerOp initializer, const InitializerUse &use,
                           bool isVector) const {
    NodeOp node = use.node;
    std::string module = modulePath(node);
    if (node.isOperator("BatchNormalization") && use.operand >= 3)
      return initializer.getName().str() + (use.operand == 3 ? ".running_mean" : ".running_var") +
             (module.empty() ? "" : "@" + module);
    if (!isVector)
      return {};
    if (!module.empty())
      return module + (isBiasOperand(use) ? ".bias" : ".weight");
    return tensorOfNode(use);
  }

  /// Returns the missing parameters of a module, without those of its submodules.
  SmallVector<std::string> missingIn(StringRef module) const {
    SmallVector<std::string> result;
    std::string prefix = module.empty() ? "" : (module + ".").str();
    for (const auto &entry : missing)
      if (StringRef rest = entry.getKey(); rest.consume_front(prefix) && !rest.contains('.'))
        result.push_back(entry.getKey().str());
    return result;
  }

  /// Records a use of a parameter. A parameter belongs to one initializer; its use of a second
  /// initializer is not recorded.
  void addUse(size_t index, const std::string &tensor, const InitializerUse &use,
              bool isConstant = false) {
    if (owners.try_emplace(tensor, index).first->second != index)
      return;
    MergedInitializer::Part &part = partOf(found[index], tensor);
    part.isConstant = isConstant;
    part.sites.push_back(use.site);
  }

  /// Returns the part with this name, which is created if it does not exist.
  static MergedInitializer::Part &partOf(MergedInitializer &merged, const std::string &tensor) {
    auto part = llvm::find_if(
        merged.parts, [&](const MergedInitializer::Part &each) { return each.tensor == tensor; });
    if (part == merged.parts.end())
      part = merged.parts.insert(merged.parts.end(), MergedInitializer::Part{tensor, {}, {}});
    return *part;
  }

  /// Finds shared initializers by the Identity nodes that the TorchScript-based exporter writes,
  /// whose results have the parameters' names. A parameter that is tied in the module has a single
  /// name there. A name such as `onnx::MatMul_12` is generated for a folded tensor; if the Identity
  /// has the same module, it is the same weight in another call.
  void findByIdentities() {
    llvm::DenseMap<Value, size_t> indices;
    for (InitializerOp initializer : trainableInitializers(graph)) {
      indices[initializer] = found.size();
      found.push_back({initializer, {}});
    }
    for (auto node : graph.getOps<NodeOp>())
      if (isNamedTensor(node) &&
          (policy != SharedInitializerPolicy::Keep || isNamedAsMovingStatistic(resultName(node))))
        if (auto merged = indices.find(node.getInputs().front()); merged != indices.end())
          addIdentity(found[merged->second], node);
  }

  /// Adds the part that an Identity names. A tensor of the module's name is a parameter of its own.
  /// A folded tensor is the same weight if another call of the module or a tied module uses it.
  void addIdentity(MergedInitializer &merged, NodeOp identity) {
    if (isTorchScriptFoldedName(resultName(identity))) {
      if (haveSameModule(merged.initializer, identity))
        return;
      switch (compareModules(merged.initializer, identity)) {
      case Modules::Copies:
        break;
      case Modules::Tied:
        notes.push_back("initializer " + quoted(InitializerOp(merged.initializer).getName()) +
                        ": one weight of modules whose other parameters differ; use --untie " +
                        InitializerOp(merged.initializer).getName().str() +
                        " to train them separately");
        return;
      case Modules::Unknown:
        merged.mayBeTied |= mayBeTied(merged.initializer);
      }
    }
    merged.parts.push_back({resultName(identity).str(), {}, identity});
  }

  /// The relation of two modules that use equal tensors.
  enum class Modules { Copies, Tied, Unknown };

  /// Compares the other parameters of the modules that use an initializer and an Identity of it.
  /// The exporter stores equal tensors once. Copies of a layer are therefore equal in all
  /// parameters, and tied layers differ in some. Parameters of one value, such as zeros, may be
  /// equal by chance.
  Modules compareModules(InitializerOp initializer, NodeOp identity) const {
    llvm::StringSet<> first = modulesOf(initializer), second = modulesOf(identity.getResult(0));
    bool haveCommon = false, inFirst = false, inSecond = false;
    for (InitializerOp other : trainableInitializers(graph)) {
      auto users = uses.find(other.getName());
      if (other == initializer || users == uses.end() || isOfOneValue(other))
        continue;
      auto isIn = [&](const llvm::StringSet<> &modules) {
        return llvm::any_of(users->second, [&](const InitializerUse &use) {
          return modules.contains(modulePath(use.node));
        });
      };
      const bool a = isIn(first), b = isIn(second);
      haveCommon |= a && b;
      inFirst |= a;
      inSecond |= b;
    }
    if (haveCommon)
      return Modules::Copies;
    return inFirst && inSecond ? Modules::Tied : Modules::Unknown;
  }

  static bool isOfOneValue(InitializerOp initializer) {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(initializer.getSampleAttr());
    return elements && elements.isSplat();
  }

  /// Returns the modules of the nodes that use a value. Identity nodes that only name tensors are
  /// ignored.
  static llvm::StringSet<> modulesOf(Value value) {
    llvm::StringSet<> modules;
    SmallVector<Operation *> users(value.getUsers());
    while (!users.empty()) {
      auto node = dyn_cast<NodeOp>(users.pop_back_val());
      if (node && isGate(node))
        users.append(node->user_begin(), node->user_end());
      else if (node && !isNamedTensor(node))
        modules.insert(modulePath(node));
    }
    return modules;
  }

  /// Returns whether all users of an Identity are in modules that use the initializer too.
  static bool haveSameModule(InitializerOp initializer, NodeOp identity) {
    llvm::StringSet<> own = modulesOf(initializer), other = modulesOf(identity.getResult(0));
    return !other.contains("") &&
           llvm::all_of(other, [&](const auto &module) { return own.contains(module.getKey()); });
  }

  /// Returns whether a node is an Identity outside modules whose result is not an output.
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
    // Compares the elements with themselves at an offset of one element.
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
  bool isOptimized = false; ///< Whether the graph has operators of onnxruntime.
  llvm::StringSet<> missing, present;
  llvm::DenseSet<OpOperand *> told; // Uses whose tensor the FX arguments name.
  StringMap<size_t> owners;         // Maps missing parameters to indices of `found`.
  std::vector<MergedInitializer> found;
  std::vector<std::string> notes;
};

} // namespace

MergedInitializers findMergedInitializers(GraphOp graph, const StringMap<InitializerClass> &classes,
                                          SharedInitializerPolicy policy,
                                          const TieChoices &choices) {
  return Finder(graph, classes, policy, choices).run();
}

} // namespace mtc::onnx
