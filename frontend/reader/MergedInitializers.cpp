//===- MergedInitializers.cpp - One initializer for several parameters ------------------------===//

#include "frontend/reader/MergedInitializers.h"

#include "frontend/reader/Functions.h"
#include "frontend/reader/InitializerUses.h"
#include "frontend/reader/NodeNames.h"
#include "frontend/reader/TensorData.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

/// The newer exporter merges tensors of up to this many elements.
constexpr uint64_t mostMergedElements = 1024;

class Finder {
public:
  Finder(Model &model, const StringMap<InitializerClass> &classes)
      : model(model), graph(model.proto().graph()), classes(classes),
        uses(initializerUses(model.proto())) {}

  std::vector<MergedInitializer> run() {
    if (hasSignature(model.proto()))
      findBySignature();
    else if (model.proto().producer_name() == "pytorch")
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
    for (const std::string &name : signatureParameters(model.proto()))
      if (!classes.contains(name))
        missing.insert(name);
    for (const auto &entry : classes)
      missing.erase(entry.second.moduleName);
    if (missing.empty())
      return;
    std::vector<std::pair<const Initializer *, ArrayRef<InitializerUse>>> candidates;
    for (const Initializer &initializer : model.initializers()) {
      auto users = uses.find(initializer.name);
      if (mayBeTrained(initializer.name) && users != uses.end() && users->second.size() > 1 &&
          initializer.bytes <= mostMergedElements * elementBytes(initializer.dataType))
        candidates.push_back({&initializer, users->second});
    }
    // What an operand's place tells comes first; of what then remains a module's only parameter is
    // the one.
    SmallVector<std::pair<size_t, const InitializerUse *>> open;
    for (auto [initializer, users] : candidates) {
      found.push_back({initializer->name, {}, mayBeTied(*initializer)});
      const InitializerClass &known = classes.find(initializer->name)->second;
      const std::string &own = known.moduleName.empty() ? initializer->name : known.moduleName;
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
      std::string module = modulePath(*use->node);
      SmallVector<std::string> remaining = missingIn(module);
      if (remaining.size() == 1)
        addUse(index, remaining.front(), *use);
      else if (remaining.size() > 1)
        addUse(index, found[index].name + "@" + module, *use);
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
      part = parts.insert(parts.end(), MergedInitializer::Part{parameter, {}});
    part->operands.push_back({use.callIndex, use.callOperand});
  }

  /// The TorchScript exporter leaves an Identity of the parameter's name. A parameter that is tied
  /// in the module has one name there.
  void findByIdentities() {
    StringMap<size_t> indices;
    for (const Initializer &initializer : model.initializers())
      if (isParameter(initializer.name)) {
        indices[initializer.name] = found.size();
        found.push_back({initializer.name, {}});
      }
    StringSet<> outputs;
    for (const auto &output : graph.output())
      outputs.insert(output.name());
    for (auto [index, node] : llvm::enumerate(graph.node())) {
      if (!isOperator(node, "Identity") || node.attribute_size() > 0 || node.input_size() != 1 ||
          node.output_size() != 1 || StringRef(node.name()).contains('/') ||
          outputs.contains(node.output(0)))
        continue;
      if (auto merged = indices.find(node.input(0)); merged != indices.end())
        found[merged->second].parts.push_back({node.output(0), {}, static_cast<int64_t>(index)});
    }
  }

  bool mayBeTied(const Initializer &initializer) {
    if (initializer.shape.size() < 2)
      return false;
    Expected<ArrayRef<char>> bytes = model.initializerBytes(initializer.name);
    if (!bytes) {
      consumeError(bytes.takeError());
      return true;
    }
    unsigned width = elementBytes(initializer.dataType);
    // Equal to itself one element further.
    return bytes->size() > width && bytes->drop_back(width) != bytes->drop_front(width);
  }

  Model &model;
  const ::onnx::GraphProto &graph;
  const StringMap<InitializerClass> &classes;
  StringMap<std::vector<InitializerUse>> uses;
  StringSet<> missing;
  StringMap<size_t> owners; // of what was missing: an index of `found`
  std::vector<MergedInitializer> found;
};

class Splitter {
public:
  explicit Splitter(Model &model) : model(model), graph(model.mutableGraph()) {
    for (const auto &input : graph.input())
      names.insert(input.name());
    for (const Initializer &initializer : model.initializers())
      names.insert(initializer.name);
    for (const auto &node : graph.node())
      names.insert(node.output().begin(), node.output().end());
  }

  void split(const MergedInitializer &merged) {
    for (const MergedInitializer::Part &part : merged.parts) {
      if (part.identity >= 0) {
        if (model.hasInitializer(part.parameter))
          continue; // defined twice: the importer says so
        // Its users read that name already.
        identities.insert(static_cast<int>(part.identity));
        model.copyInitializer(merged.name, part.parameter);
        continue;
      }
      std::string name = freshName(isFoldedName(merged.name) ? "val_0" : part.parameter);
      model.copyInitializer(merged.name, name);
      for (auto [node, operand] : part.operands)
        *graph.mutable_node(static_cast<int>(node))->mutable_input(static_cast<int>(operand)) =
            name;
    }
  }

  /// Removes the nodes that are no longer needed.
  void finish() {
    int kept = 0;
    for (int i = 0, count = graph.node_size(); i < count; ++i)
      if (!identities.contains(i))
        graph.mutable_node()->SwapElements(kept++, i);
    graph.mutable_node()->DeleteSubrange(kept, graph.node_size() - kept);
  }

private:
  /// NAME, or the first of NAME.2, NAME.3, … that is free; for folded ones of val_1, val_2, ….
  std::string freshName(StringRef name) {
    std::string stem = isFoldedName(name) ? "val_" : (name + ".").str(), result = name.str();
    for (size_t i = stem == "val_" ? 1 : 2; !names.insert(result).second; ++i)
      result = stem + std::to_string(i);
    return result;
  }

  Model &model;
  ::onnx::GraphProto &graph;
  StringSet<> names;
  DenseSet<int> identities;
};

/// `'NAME' stands for 5 parameters (a, b, c, d and 1 more)`.
std::string describe(const MergedInitializer &merged, const InitializerClass &known) {
  constexpr size_t shown = 4;
  std::string list = known.moduleName.empty() ? merged.name : known.moduleName;
  for (const MergedInitializer::Part &part : ArrayRef(merged.parts).take_front(shown - 1))
    list += ", " + part.parameter;
  size_t count = merged.parts.size() + 1;
  if (count > shown)
    list += " and " + std::to_string(count - shown) + " more";
  return "initializer " + quoted(merged.name) + " stands for " + std::to_string(count) +
         " parameters (" + list + ")";
}

} // namespace

std::vector<MergedInitializer> findMergedInitializers(Model &model,
                                                      const StringMap<InitializerClass> &classes) {
  return Finder(model, classes).run();
}

SplitReport splitMergedInitializers(Model &model, MergedPolicy policy) {
  SplitReport report;
  if (policy == MergedPolicy::Keep)
    return report;
  Problems ignored; // there are no patterns
  StringMap<InitializerClass> classes = classifyInitializers(model, {}, ignored);
  std::vector<MergedInitializer> found = findMergedInitializers(model, classes);
  if (found.empty())
    return report;
  Splitter splitter(model);
  for (const MergedInitializer &merged : found) {
    const InitializerClass &known = classes.find(merged.name)->second;
    bool isLeft = merged.mayBeTied && policy == MergedPolicy::Auto;
    if (!isLeft)
      splitter.split(merged);
    if (!known.isParameter)
      continue; // a constant, which is not trained unless its name is given
    std::string text = describe(merged, known);
    if (isLeft)
      report.warnings.push_back(text +
                                ", which are trained as one, since the module may tie them; "
                                "--merged split trains each apart, --merged keep says that it is "
                                "meant");
    else
      report.notes.push_back(text + " that were equal when exported; each is trained apart, "
                                    "--merged keep trains them as one");
  }
  splitter.finish();
  return report;
}

} // namespace mtc::onnx
