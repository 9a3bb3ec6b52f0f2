//===- MergedInitializers.cpp - One initializer for several parameters ------------------------===//
//
// PyTorch's exporters store tensors of equal values once, so in the export of a fresh model all
// norms' scales and zero biases are one initializer with many users. The module trains them apart.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/dialect/Node.h"
#include "frontend/exporters/Passes.h"
#include "frontend/parameters/InitializerUses.h"
#include "frontend/parameters/TrainableConstants.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_SPLITMERGEDINITIALIZERSPASS
#include "frontend/exporters/Passes.h.inc"

namespace {

/// The newer exporter merges tensors of up to this many elements.
constexpr int64_t maxMergedElements = 1024;

/// An initializer that stands for several of the module's parameters.
struct MergedInitializer {
  /// A parameter other than the one that the initializer is named after.
  struct Part {
    std::string parameter; // Its name in the module; INITIALIZER@MODULE if that cannot be told.
    std::vector<OpOperand *> sites; // Who reads it.
    NodeOp identity;                // Instead: the node whose result has the parameter's name.
  };
  InitializerOp initializer;
  std::vector<Part> parts;
  /// A matrix of different values: two parameters may well be one in the module, and the files do
  /// not tell. What is no matrix is not shared between modules, and equal values say nothing.
  bool mayBeTied = false;
};

class Finder {
public:
  Finder(GraphOp graph, const StringMap<InitializerClass> &classes)
      : graph(graph), classes(classes), uses(initializerUses(graph)) {}

  /// In the graph's order.
  std::vector<MergedInitializer> run() {
    auto producer = graph->getAttrOfType<StringAttr>(producerAttribute);
    if (hasSignature(graph))
      findBySignature();
    else if (producer && producer.getValue() == "pytorch")
      findByIdentities();
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

  /// The signature lists what the module has. What the file lacks of it is looked for at the uses
  /// of what the file has.
  void findBySignature() {
    for (const std::string &name : signatureParameters(graph))
      if (!classes.contains(name))
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
          type.getNumElements() <= maxMergedElements)
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
  void addUse(size_t index, const std::string &parameter, const InitializerUse &use) {
    if (owners.try_emplace(parameter, index).first->second != index)
      return;
    std::vector<MergedInitializer::Part> &parts = found[index].parts;
    auto part = llvm::find_if(
        parts, [&](const MergedInitializer::Part &part) { return part.parameter == parameter; });
    if (part == parts.end())
      part = parts.insert(parts.end(), MergedInitializer::Part{parameter, {}, {}});
    part->sites.push_back(use.site);
  }

  /// The TorchScript exporter leaves an Identity of the parameter's name. A parameter that is tied
  /// in the module has one name there.
  void findByIdentities() {
    llvm::DenseMap<Value, size_t> indices;
    for (InitializerOp initializer : trainableInitializers(graph))
      if (isParameter(initializer.getName())) {
        indices[initializer] = found.size();
        found.push_back({initializer, {}});
      }
    for (auto node : graph.getOps<NodeOp>())
      if (isNamedParameter(node))
        if (auto merged = indices.find(node.getInputs().front()); merged != indices.end())
          found[merged->second].parts.push_back({resultName(node).str(), {}, node});
  }

  /// Whether a node is an Identity outside modules, whose result is no output.
  static bool isNamedParameter(NodeOp node) {
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
  StringMap<std::vector<InitializerUse>> uses;
  llvm::StringSet<> missing;
  StringMap<size_t> owners; // of what was missing: an index of `found`
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
        InitializerOp copy = copyOf(merged.initializer, part.parameter);
        copy->setAttr(indexAttribute, identity->getAttr(indexAttribute));
        identity.getResult(0).replaceAllUsesWith(copy);
        identity.erase();
        continue;
      }
      InitializerOp copy =
          copyOf(merged.initializer, freshName(isFolded ? "val_0" : part.parameter));
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
    list += ", " + part.parameter;
  size_t count = merged.parts.size() + 1;
  if (count > shown)
    list += " and " + std::to_string(count - shown) + " more";
  return "initializer " + quoted(name) + " stands for " + std::to_string(count) + " parameters (" +
         list + ")";
}

struct SplitMergedInitializersPass
    : impl::SplitMergedInitializersPassBase<SplitMergedInitializersPass> {
  using SplitMergedInitializersPassBase::SplitMergedInitializersPassBase;

  void runOnOperation() override {
    if (policy == MergedPolicy::Keep)
      return;
    GraphOp graph = getOperation();
    StringMap<InitializerClass> classes = classifyInitializers(graph);
    std::vector<MergedInitializer> found = Finder(graph, classes).run();
    Splitter splitter(graph);
    for (const MergedInitializer &merged : found) {
      InitializerOp initializer = merged.initializer;
      bool isLeft = merged.mayBeTied && policy == MergedPolicy::Auto;
      if (!isLeft)
        splitter.split(merged);
      const InitializerClass &known = classes.find(initializer.getName())->second;
      if (!known.isParameter)
        continue; // a constant, which is not trained unless its name is given
      report(describe(merged, known), isLeft);
    }
  }

private:
  /// In the words of the flag of `mtc`, of the model as a whole.
  void report(StringRef text, bool isLeft) {
    auto unknown = UnknownLoc::get(&getContext());
    if (isLeft)
      emitWarning(unknown, text)
          << ", which are trained as one, since the module may tie them; --merged split trains "
             "each apart, --merged keep says that it is meant";
    else
      emitRemark(unknown, text) << " that were equal when exported; each is trained apart, "
                                   "--merged keep trains them as one";
  }
};

} // namespace
} // namespace mtc::onnx
