//===- Parameters.cpp - Which initializers are trained ----------------------------------------===//

#include "frontend/reader/Parameters.h"

#include "frontend/reader/Functions.h"
#include "frontend/reader/InitializerUses.h"
#include "frontend/reader/NodeNames.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;
using ::onnx::TensorProto;

namespace mtc::onnx {

namespace {

constexpr StringRef kindKey = "pkg.torch.export.graph_signature.InputSpec.kind";

bool isFloat(int64_t dataType) {
  switch (dataType) {
  case TensorProto::FLOAT:
  case TensorProto::DOUBLE:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return true;
  default:
    return false;
  }
}

/// `onnx::MatMul_12`: the name that the TorchScript exporter gives to what it folded.
bool isTorchScriptFoldedName(StringRef name) { return name.starts_with("onnx::"); }

class Classifier {
public:
  explicit Classifier(const Model &model)
      : model(model), uses(initializerUses(model.proto())),
        bySignature(hasSignature(model.proto())) {}

  StringMap<InitializerClass> run() {
    for (const auto &info : model.proto().graph().value_info())
      for (const auto &entry : info.metadata_props())
        if (entry.key() == kindKey)
          kinds[info.name()] = entry.value();
    for (const Initializer &initializer : model.initializers())
      if (isFloat(initializer.dataType))
        classes[initializer.name] = classify(initializer);
    recoverNames();
    return std::move(classes);
  }

private:
  InitializerClass classify(const Initializer &initializer) const {
    StringRef name = initializer.name;
    size_t rank = initializer.shape.size();
    if (!initializer.splitFrom.empty())
      return {InitializerRole::Parameter,
              "split from " + quoted(initializer.splitFrom) + ", which the exporter merged", ""};
    if (isRunningStatistic(name))
      return {InitializerRole::State, "running statistics of BatchNormalization", ""};
    if (!bySignature) {
      if (rank >= 1)
        return {InitializerRole::Parameter, "a floating-point initializer", ""};
      return {InitializerRole::Constant, "a scalar", ""};
    }
    std::string kind = kinds.lookup(name);
    if (kind == "PARAMETER")
      return {InitializerRole::Parameter, "the exporter marks it PARAMETER", ""};
    if (!kind.empty())
      return {InitializerRole::Constant, "the exporter marks it " + kind, ""};
    if (isFoldedName(name) && rank >= 2)
      return {InitializerRole::Parameter,
              "a weight that the exporter transposed (val_N of two or more dimensions)", ""};
    if (name.ends_with("_bias") && kinds.lookup(name.drop_back(5)) == "PARAMETER")
      return {InitializerRole::Parameter,
              "the bias of a normalization that the exporter took into a convolution", ""};
    return {InitializerRole::Constant, "computed by the exporter", ""};
  }

  bool isRunningStatistic(StringRef name) const {
    auto found = uses.find(name);
    return found != uses.end() && llvm::any_of(found->second, [](const InitializerUse &use) {
             return isOperator(*use.node, "BatchNormalization") && use.operand >= 3;
           });
  }

  /// A folded parameter belongs to the module that reads it: under the name that the signature
  /// lists and no initializer has, or as `weight` where there is no signature.
  void recoverNames() {
    StringSet<> missing;
    for (const std::string &name : signatureParameters(model.proto()))
      if (!classes.contains(name))
        missing.insert(name);
    for (const Initializer &initializer : model.initializers()) {
      auto entry = classes.find(initializer.name);
      auto found = uses.find(initializer.name);
      if (entry == classes.end() || found == uses.end() ||
          entry->second.role != InitializerRole::Parameter)
        continue;
      const InitializerUse &use = found->second.front();
      if (bySignature && isFoldedName(initializer.name)) {
        entry->second.moduleName = parameterOfUse(use, missing);
        missing.erase(entry->second.moduleName);
      } else if (isTorchScriptFoldedName(initializer.name) && use.node->op_type() == "MatMul") {
        std::string module = modulePath(*use.node);
        if (!module.empty() && !classes.contains(module + ".weight"))
          entry->second.moduleName = module + ".weight";
      }
    }
  }

  const Model &model;
  StringMap<std::vector<InitializerUse>> uses;
  bool bySignature;
  StringMap<std::string> kinds; // by initializer
  StringMap<InitializerClass> classes;
};

/// Applies the user's patterns: of those that match, the most specific decides.
class PatternApplier {
public:
  PatternApplier(const Model &model, StringMap<InitializerClass> &classes, Problems &problems)
      : model(model), classes(classes), problems(problems) {}

  void apply(const ParameterPatterns &patterns) {
    for (const std::string &text : patterns.train)
      match("train", text, InitializerRole::Parameter);
    for (const std::string &text : patterns.freeze)
      match("freeze", text, InitializerRole::Constant);
  }

private:
  void match(StringRef flag, StringRef text, InitializerRole role) {
    std::string label = ("--" + flag + " " + text).str();
    Expected<GlobPattern> pattern = GlobPattern::create(text);
    if (!pattern) {
      problems.add(label + ": " + toString(pattern.takeError()));
      return;
    }
    size_t literals = llvm::count_if(text, [](char c) { return c != '*' && c != '?'; });
    bool matchesAny = false;
    for (const Initializer &initializer : model.initializers()) {
      auto entry = classes.find(initializer.name);
      if (!pattern->match(initializer.name) &&
          (entry == classes.end() || entry->second.moduleName.empty() ||
           !pattern->match(entry->second.moduleName)))
        continue;
      matchesAny = true;
      // Whoever names one thing means it; a wildcard may pass over what cannot be trained.
      if (entry == classes.end() || entry->second.role == InitializerRole::State) {
        if (initializer.name == text && role == InitializerRole::Parameter)
          problems.add(label + (entry == classes.end()
                                    ? ": it is no floating-point tensor, so it cannot be trained"
                                    : ": running statistics are not trained"));
        continue;
      }
      auto [decided, isNew] = specificity.try_emplace(initializer.name, literals);
      if (!isNew && decided->second > literals)
        continue;
      decided->second = literals;
      entry->second.role = role;
      entry->second.reason = label;
    }
    if (!matchesAny)
      problems.add(label + ": no initializer matches");
  }

  const Model &model;
  StringMap<InitializerClass> &classes;
  Problems &problems;
  StringMap<size_t> specificity; // literal characters of the pattern that decided
};

} // namespace

bool isFoldedName(StringRef name) {
  return name.consume_front("val_") && !name.empty() && llvm::all_of(name, llvm::isDigit);
}

StringMap<InitializerClass>
classifyInitializers(const Model &model, const ParameterPatterns &patterns, Problems &problems) {
  StringMap<InitializerClass> classes = Classifier(model).run();
  PatternApplier(model, classes, problems).apply(patterns);
  return classes;
}

} // namespace mtc::onnx
