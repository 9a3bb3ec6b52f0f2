//===- Parameters.cpp - Which initializers are parameters
//---------------------------------------===//

#include "frontend/reader/Parameters.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

#include <map>
#include <set>

using namespace mtc::onnx;
using llvm::StringRef;
using ::onnx::TensorProto;

namespace {

template <typename Message> StringRef metadata(const Message &message, StringRef key) {
  for (const auto &entry : message.metadata_props())
    if (entry.key() == key)
      return entry.value();
  return {};
}

bool isFloat(const TensorProto &tensor) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
  case TensorProto::DOUBLE:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return true;
  default:
    return false;
  }
}

bool isFoldedName(StringRef name) {
  return name.consume_front("val_") && !name.empty() && llvm::all_of(name, llvm::isDigit);
}

/// Modules' paths of the nodes that read a value: `pkg.torch.onnx.name_scopes` lists the scopes,
/// outermost first, and last the operator's own name.
std::string moduleOf(const ::onnx::NodeProto &node) {
  StringRef scopes = metadata(node, "pkg.torch.onnx.name_scopes");
  llvm::SmallVector<StringRef> parts;
  scopes.trim("[]").split(parts, ", ");
  if (parts.size() < 2)
    return {};
  return parts[parts.size() - 2].trim("'\"").str();
}

/// Parameters by name that the signature lists: lines `p_name: PARAMETER target='the.name'`.
std::vector<std::string> signatureParameters(StringRef signature) {
  std::vector<std::string> result;
  llvm::SmallVector<StringRef> lines;
  signature.split(lines, '\n');
  for (StringRef line : lines) {
    auto [before, target] = line.split("PARAMETER target='");
    if (!target.empty())
      result.push_back(target.split('\'').first.str());
  }
  return result;
}

class Classifier {
public:
  explicit Classifier(const Model &model) : graph(model.proto().graph()) {}

  llvm::StringMap<InitializerClass> run() {
    StringRef signature = metadata(graph, "pkg.torch.export.ExportedProgram.graph_signature");
    for (const auto &info : graph.value_info())
      kinds[info.name()] = metadata(info, "pkg.torch.export.graph_signature.InputSpec.kind").str();
    for (const TensorProto &tensor : graph.initializer())
      if (isFloat(tensor))
        classes[tensor.name()] = signature.empty() ? byRank(tensor) : bySignature(tensor);
    markState();
    if (!signature.empty())
      recoverNames(signature);
    return std::move(classes);
  }

private:
  InitializerClass bySignature(const TensorProto &tensor) {
    std::string kind = kinds.lookup(tensor.name());
    if (kind == "PARAMETER")
      return {InitializerRole::Parameter, "the exporter marks it PARAMETER", ""};
    if (isFoldedName(tensor.name()) && tensor.dims_size() >= 2)
      return {InitializerRole::Parameter,
              "a weight that the exporter transposed (val_N, 2 or more dimensions)", ""};
    if (kind.empty())
      return {InitializerRole::Constant, "computed by the exporter", ""};
    return {InitializerRole::Constant, "the exporter marks it " + kind, ""};
  }

  InitializerClass byRank(const TensorProto &tensor) {
    if (tensor.dims_size() >= 1)
      return {InitializerRole::Parameter, "a floating-point initializer", ""};
    return {InitializerRole::Constant, "a scalar", ""};
  }

  void markState() {
    for (const auto &node : graph.node())
      if (node.op_type() == "BatchNormalization")
        for (int i : {3, 4})
          if (i < node.input_size())
            if (auto it = classes.find(node.input(i)); it != classes.end())
              it->second = {InitializerRole::State, "running statistics of BatchNormalization", ""};
  }

  /// A val_N is a parameter of the module that reads it; the signature names those that are
  /// missing.
  void recoverNames(StringRef signature) {
    std::set<std::string> missing;
    for (std::string &name : signatureParameters(signature))
      if (!classes.contains(name))
        missing.insert(std::move(name));
    for (const auto &node : graph.node())
      for (const std::string &input : node.input()) {
        auto it = classes.find(input);
        if (it == classes.end() || !isFoldedName(input) ||
            it->second.role != InitializerRole::Parameter || !it->second.moduleName.empty())
          continue;
        std::string candidate = moduleOf(node) + ".weight";
        if (missing.erase(candidate))
          it->second.moduleName = candidate;
      }
  }

  const ::onnx::GraphProto &graph;
  llvm::StringMap<InitializerClass> classes;
  llvm::StringMap<std::string> kinds;
};

/// Applies one pattern to all initializers.
void applyPattern(StringRef flag, StringRef text, InitializerRole role, const Model &model,
                  llvm::StringMap<InitializerClass> &classes, Problems &problems) {
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
  if (!pattern) {
    problems.add("--" + flag + " " + text + ": " + llvm::toString(pattern.takeError()));
    return;
  }
  bool matchesAny = false;
  for (const TensorProto &tensor : model.proto().graph().initializer()) {
    auto it = classes.find(tensor.name());
    bool matches = pattern->match(tensor.name()) ||
                   (it != classes.end() && pattern->match(it->second.moduleName));
    if (!matches)
      continue;
    matchesAny = true;
    if (it == classes.end()) {
      if (tensor.name() == text)
        problems.add("--" + flag + " " + text + ": it is no floating-point tensor");
      continue;
    }
    it->second.role = role;
    it->second.reason = ("--" + flag + " " + text).str();
  }
  if (!matchesAny)
    problems.add("--" + flag + " " + text + ": no initializer matches");
}

} // namespace

llvm::StringMap<InitializerClass> mtc::onnx::classifyInitializers(const Model &model,
                                                                  const ParameterPatterns &patterns,
                                                                  Problems &problems) {
  llvm::StringMap<InitializerClass> classes = Classifier(model).run();
  for (const std::string &text : patterns.train)
    applyPattern("train", text, InitializerRole::Parameter, model, classes, problems);
  for (const std::string &text : patterns.freeze)
    applyPattern("freeze", text, InitializerRole::Constant, model, classes, problems);
  return classes;
}

std::vector<std::string>
mtc::onnx::findMergedParameters(const Model &model,
                                const llvm::StringMap<InitializerClass> &classes) {
  const ::onnx::GraphProto &graph = model.proto().graph();
  StringRef signature = metadata(graph, "pkg.torch.export.ExportedProgram.graph_signature");
  size_t listed = signatureParameters(signature).size();
  size_t present = llvm::count_if(
      classes, [](const auto &entry) { return entry.second.role == InitializerRole::Parameter; });
  if (listed <= present)
    return {};
  std::map<std::string, std::set<std::string>> modules; // By initializer.
  for (const auto &node : graph.node())
    for (const std::string &input : node.input())
      if (auto it = classes.find(input);
          it != classes.end() && it->second.role == InitializerRole::Parameter)
        modules[input].insert(moduleOf(node));
  std::vector<std::string> warnings;
  for (const auto &[name, users] : modules)
    if (users.size() > 2) // Two may be a tied weight, as embeddings and output projections are.
      warnings.push_back(
          "initializer '" + name + "' is read by " + std::to_string(users.size()) +
          " modules: the exporter merges tensors of equal values, and trained as one "
          "they stay equal. Export trained weights, or weights that differ, to keep "
          "them apart");
  return warnings;
}
