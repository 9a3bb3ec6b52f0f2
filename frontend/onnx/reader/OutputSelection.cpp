//===- OutputSelection.cpp - Required and optional graph outputs ------------------------------===//

#include "frontend/onnx/reader/OutputSelection.h"

#include "frontend/onnx/reader/GraphCheck.h"
#include "frontend/onnx/reader/GraphOrder.h"
#include "frontend/onnx/reader/TensorData.h"
#include "support/terminal/suggestions.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

/// Returns whether the declared type excludes the value as the input of a loss.
bool isNoLossInput(const ::onnx::ValueInfoProto &value) {
  const auto &type = value.type();
  if (type.value_case() == ::onnx::TypeProto::VALUE_NOT_SET)
    return false;
  if (!type.has_tensor_type())
    return true;
  int64_t dataType = type.tensor_type().elem_type();
  return dataType != ::onnx::TensorProto::UNDEFINED && !isFloatingPoint(dataType);
}

class Selector {
public:
  Selector(const ::onnx::GraphProto &graph, Problems &problems) : graph(graph), problems(problems) {
    for (const ::onnx::NodeProto &node : graph.node())
      for (const std::string &output : node.output())
        if (!output.empty())
          producers.try_emplace(output, &node);
  }

  OutputSelection run(StringRef named, bool allOptional, const StringSet<> &hidden) {
    // ONNX permits duplicate outputs, which are merged.
    for (const auto &output : graph.output()) {
      if (hidden.contains(output.name()))
        continue;
      add(output.name(), isNoLossInput(output) || isMap(output.name()));
      if (isMap(output.name()))
        add(producers.lookup(output.name())->input(0), false);
    }
    if (!named.empty())
      require(named);
    else if (llvm::all_of(selection.outputs, [](const auto &each) { return each.isOptional; }))
      setAll(false);
    if (allOptional)
      setAll(true);
    findOptionalNodes();
    return std::move(selection);
  }

private:
  /// Returns whether a value is a map as returned by scikit-learn's classifiers.
  bool isMap(StringRef name) const {
    const ::onnx::NodeProto *node = producers.lookup(name);
    return node && node->op_type() == "ZipMap" && node->domain() == "ai.onnx.ml" &&
           node->input_size() == 1 && !node->input(0).empty();
  }

  void add(StringRef name, bool isOptional) {
    if (selected.insert(name).second)
      selection.outputs.push_back({name.str(), isOptional});
  }

  void setAll(bool isOptional) {
    for (SelectedOutput &output : selection.outputs)
      output.isOptional = isOptional;
  }

  void require(StringRef name) {
    if (isMap(name))
      name = producers.lookup(name)->input(0);
    if (!selected.contains(name) && !checkValue(name))
      return;
    setAll(true);
    add(name, false);
    for (SelectedOutput &output : selection.outputs)
      if (output.name == name)
        output.isOptional = false;
  }

  /// Returns whether a loss can be computed from the inner value of this name; otherwise adds a
  /// problem.
  bool checkValue(StringRef name) {
    std::string flag = "--output " + quoted(name) + ": ";
    if (producers.contains(name)) {
      StringRef why = whyNoOutputName(name);
      if (!why.empty())
        problems.add(flag + "the value " + why + "; rename it in the model");
      return why.empty();
    }
    auto isCalledSo = [&](const auto &value) { return value.name() == name; };
    bool isInput = llvm::any_of(graph.input(), isCalledSo);
    if (isInput || llvm::any_of(graph.initializer(), isCalledSo)) {
      problems.add(flag + (isInput ? "is an input" : "is an initializer") +
                   ", expected a value that a node computes" + listOutputs());
      return false;
    }
    SmallVector<StringRef> candidates;
    for (const auto &entry : producers)
      candidates.push_back(entry.getKey());
    std::string near = terminal::suggestNames(name, candidates);
    problems.add(flag + "the graph has no value of this name" +
                 (near.empty() ? listOutputs() : near));
    return false;
  }

  std::string listOutputs() const {
    std::string text = "; the outputs are ";
    llvm::interleave(
        selection.outputs, [&](const auto &output) { text += quoted(output.name); },
        [&] { text += ", "; });
    return text;
  }

  void findOptionalNodes() {
    SmallVector<StringRef> required, all;
    for (const SelectedOutput &output : selection.outputs) {
      all.push_back(output.name);
      if (!output.isOptional)
        required.push_back(output.name);
    }
    selection.optionalNodes = findAncestors(graph.node(), all);
    selection.optionalNodes.reset(findAncestors(graph.node(), required));
    for (unsigned index : selection.optionalNodes.set_bits())
      for (const std::string &output : graph.node(static_cast<int>(index)).output())
        selection.optionalValues.insert(output);
  }

  const ::onnx::GraphProto &graph;
  Problems &problems;
  StringMap<const ::onnx::NodeProto *> producers;
  StringSet<> selected;
  OutputSelection selection;
};

} // namespace

OutputSelection selectOutputs(const ::onnx::GraphProto &graph, StringRef named, bool allOptional,
                              const StringSet<> &hidden, Problems &problems) {
  return Selector(graph, problems).run(named, allOptional, hidden);
}

} // namespace mtc::onnx
