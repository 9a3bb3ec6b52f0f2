//===- Parameters.cpp - Which initializers are trained ----------------------------------------===//

#include "frontend/reader/Parameters.h"

#include "frontend/Suggestions.h"
#include "frontend/reader/Functions.h"
#include "frontend/reader/InitializerUses.h"
#include "frontend/reader/MovingStatistics.h"
#include "frontend/reader/NodeNames.h"
#include "frontend/reader/TensorData.h"
#include "frontend/reader/TrainableConstants.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

constexpr StringRef kindKey = "pkg.torch.export.graph_signature.InputSpec.kind";

/// `onnx::MatMul_12`: the name that the TorchScript exporter gives to what it folded.
bool isTorchScriptFoldedName(StringRef name) { return name.starts_with("onnx::"); }

class Classifier {
public:
  explicit Classifier(const Model &model)
      : model(model), uses(initializerUses(model.proto())),
        movingStatistics(findMovingStatistics(model.proto().graph())),
        bySignature(hasSignature(model.proto())) {}

  StringMap<InitializerClass> run() {
    for (const auto &info : model.proto().graph().value_info())
      for (const auto &entry : info.metadata_props())
        if (entry.key() == kindKey)
          kinds[info.name()] = entry.value();
    for (const Initializer &initializer : model.initializers())
      if (isFloatingPoint(initializer.dataType))
        classes[initializer.name] = classify(initializer);
    for (auto &entry : classes)
      entry.second.isParameter = entry.second.role == InitializerRole::Parameter;
    recoverNames();
    return std::move(classes);
  }

private:
  InitializerClass classify(const Initializer &initializer) const {
    StringRef name = initializer.name;
    size_t rank = initializer.shape.size();
    if (const Initializer *original = model.findInitializer(initializer.splitFrom))
      if (classify(*original).role == InitializerRole::Parameter)
        return {InitializerRole::Parameter,
                "split from " + quoted(initializer.splitFrom) + ", which the exporter merged", ""};
    if (isRunningStatistic(name))
      return {InitializerRole::State, "running statistics of BatchNormalization", ""};
    if (movingStatistics.contains(name) && kinds.lookup(name) != "PARAMETER")
      return knownConstant(movingStatisticReason.str());
    if (!bySignature) {
      if (rank >= 1)
        return {InitializerRole::Parameter, "a floating-point initializer", ""};
      return {InitializerRole::Constant, "a scalar", ""};
    }
    std::string kind = kinds.lookup(name);
    if (kind == "PARAMETER")
      return {InitializerRole::Parameter, "the exporter marks it PARAMETER", ""};
    if (!kind.empty())
      return knownConstant("the exporter marks it " + kind);
    if (isFoldedName(name) && rank >= 2)
      return {InitializerRole::Parameter,
              "a weight that the exporter transposed (val_N of two or more dimensions)", ""};
    if (name.ends_with("_bias") && kinds.lookup(name.drop_back(5)) == "PARAMETER")
      return {InitializerRole::Parameter,
              "the bias of a normalization that the exporter took into a convolution", ""};
    return {InitializerRole::Constant, "computed by the exporter", ""};
  }

  static InitializerClass knownConstant(const std::string &reason) {
    InitializerClass result{InitializerRole::Constant, reason, ""};
    result.isKnownConstant = true;
    return result;
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
  StringSet<> movingStatistics;
  bool bySignature;
  StringMap<std::string> kinds; // by initializer
  StringMap<InitializerClass> classes;
};

/// Applies the user's patterns: of those that match, the most specific decides.
class PatternApplier {
public:
  PatternApplier(Model &model, StringMap<InitializerClass> &classes, Problems &problems)
      : model(model), classes(classes), problems(problems) {}

  void apply(const ParameterPatterns &patterns) {
    takeConstantNodes(patterns.train);
    if (!patterns.train.empty())
      for (auto &entry : classes)
        if (entry.second.role == InitializerRole::Parameter) {
          entry.second.role = InitializerRole::Constant;
          entry.second.reason = "no --train names it";
        }
    for (const std::string &text : patterns.train)
      match("train", text, InitializerRole::Parameter);
    for (const std::string &text : patterns.freeze)
      match("freeze", text, InitializerRole::Constant);
  }

private:
  /// Constant nodes that a pattern names become initializers; a wildcard takes those that look
  /// trainable.
  void takeConstantNodes(ArrayRef<std::string> patterns) {
    for (const TrainableConstant &constant : findTrainableConstants(model, classes))
      modules[constant.name] = constant.moduleName;
    std::vector<std::string> nodes = floatConstantNodes(model);
    StringSet<> taken;
    for (const std::string &text : patterns) {
      Expected<GlobPattern> pattern = GlobPattern::create(text);
      if (!pattern) {
        consumeError(pattern.takeError()); // said by match()
        continue;
      }
      for (const std::string &name : nodes) {
        auto found = modules.find(name);
        bool looksTrainable = found != modules.end();
        if (name == text ||
            (looksTrainable && (pattern->match(name) || pattern->match(found->second))))
          taken.insert(name);
      }
    }
    for (const std::string &name : makeInitializers(model, taken)) {
      InitializerClass &made = classes[name];
      made.reason = "a Constant node";
      made.moduleName = modules.lookup(name);
      made.looksTrainable = true;
    }
  }

  void match(StringRef flag, StringRef text, InitializerRole role) {
    std::string label = ("--" + flag + " " + text).str();
    Expected<GlobPattern> pattern = GlobPattern::create(text);
    if (!pattern) {
      problems.add(label + ": " + toString(pattern.takeError()));
      return;
    }
    size_t literals = llvm::count_if(text, [](char c) { return c != '*' && c != '?'; });
    bool matchesAny = false;
    std::string passedOver; // A constant that has to be named in full.
    for (const Initializer &initializer : model.initializers()) {
      auto entry = classes.find(initializer.name);
      bool isKnown = entry != classes.end();
      StringRef moduleName = isKnown ? StringRef(entry->second.moduleName) : StringRef();
      if (!pattern->match(initializer.name) && (moduleName.empty() || !pattern->match(moduleName)))
        continue;
      bool isNamed = initializer.name == text || moduleName == text;
      // Whoever names one thing means it; a wildcard passes over what is not to be trained.
      if (!isKnown || entry->second.role == InitializerRole::State) {
        matchesAny = true;
        if (isNamed && role == InitializerRole::Parameter)
          problems.add(label + (isKnown ? ": running statistics are not trained"
                                        : ": it is no floating-point tensor, so it cannot be "
                                          "trained"));
        continue;
      }
      if (role == InitializerRole::Parameter && !isNamed && !entry->second.isParameter &&
          !entry->second.looksTrainable) {
        passedOver = initializer.name;
        continue;
      }
      matchesAny = true;
      auto [decided, isNew] = specificity.try_emplace(initializer.name, literals);
      if (!isNew && decided->second > literals)
        continue;
      decided->second = literals;
      entry->second.role = role;
      entry->second.reason = label;
    }
    if (matchesAny)
      return;
    if (!passedOver.empty())
      problems.add(label + ": matches only constants that do not look trainable, such as " +
                   quoted(passedOver) + "; a name in full trains one");
    else
      problems.add(label + ": no initializer matches" + suggestNames(text, knownNames()));
  }

  SmallVector<StringRef> knownNames() const {
    SmallVector<StringRef> names;
    for (const Initializer &initializer : model.initializers()) {
      auto entry = classes.find(initializer.name);
      if (entry == classes.end())
        continue;
      names.push_back(initializer.name);
      if (!entry->second.moduleName.empty())
        names.push_back(entry->second.moduleName);
    }
    for (const auto &constant : modules)
      if (!model.hasInitializer(constant.getKey()))
        names.push_back(constant.getKey());
    return names;
  }

  Model &model;
  StringMap<InitializerClass> &classes;
  Problems &problems;
  StringMap<std::string> modules; // Of constants that look trainable, by name.
  StringMap<size_t> specificity;  // literal characters of the pattern that decided
};

} // namespace

bool isFoldedName(StringRef name) {
  return name.consume_front("val_") && !name.empty() && llvm::all_of(name, llvm::isDigit);
}

StringMap<InitializerClass> classifyInitializers(Model &model, const ParameterPatterns &patterns,
                                                 Problems &problems) {
  StringMap<InitializerClass> classes = Classifier(model).run();
  for (const TrainableConstant &constant : findTrainableConstants(model, classes))
    if (auto entry = classes.find(constant.name); entry != classes.end()) {
      entry->second.looksTrainable = true;
      entry->second.moduleName = constant.moduleName;
    }
  PatternApplier(model, classes, problems).apply(patterns);
  return classes;
}

} // namespace mtc::onnx
