//===- PatternApplier.cpp - Application of --train and --freeze -------------------------------===//

#include "frontend/onnx/parameters/PatternApplier.h"

#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/TrainableConstants.h"
#include "ir/attributes/TensorImage.h"
#include "support/terminal/suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

class PatternApplier {
public:
  PatternApplier(GraphOp graph, StringMap<InitializerClass> &classes, Problems &problems)
      : graph(graph), classes(classes), problems(problems) {
    for (auto initializer : graph.getOps<InitializerOp>())
      if (ArrayAttr images = initializer.getFileImagesAttr())
        for (auto image : images.getAsRange<TensorImageAttr>())
          copies[initializer.getName()].push_back(image.getName());
  }

  void apply(const ParameterPatterns &patterns) {
    takeConstantNodes(patterns.train);
    if (!patterns.train.empty() || patterns.hasAdapters)
      for (auto &entry : classes)
        if (entry.second.role == InitializerRole::Parameter) {
          entry.second.role = InitializerRole::Frozen;
          entry.second.reason = patterns.train.empty() ? "--lora trains only adapters"
                                                       : "no --train pattern matches it";
        }
    for (const std::string &text : patterns.train)
      match("train", text, InitializerRole::Parameter);
    for (const std::string &text : patterns.freeze)
      match("freeze", text, InitializerRole::Frozen);
  }

private:
  /// Converts Constant nodes that match a pattern to initializers. A pattern with wildcards only
  /// matches constants that look trainable.
  void takeConstantNodes(ArrayRef<std::string> patterns) {
    for (const TrainableConstant &constant : findTrainableConstants(graph, classes))
      modules[constant.name] = constant.moduleName;
    SmallVector<ConstantOp> nodes = floatConstantNodes(graph);
    llvm::SetVector<ConstantOp> taken;
    for (const std::string &text : patterns) {
      Expected<GlobPattern> pattern = GlobPattern::create(text);
      if (!pattern) {
        consumeError(pattern.takeError()); // match() reports the error.
        continue;
      }
      for (ConstantOp node : nodes) {
        StringRef name = resultName(node);
        auto found = modules.find(name);
        bool looksTrainable = found != modules.end();
        if (name == text ||
            (looksTrainable && (pattern->match(name) || pattern->match(found->second))))
          taken.insert(node);
      }
    }
    for (ConstantOp node : taken) {
      std::string name = resultName(node).str();
      makeInitializer(graph, node);
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
    std::string passedOver; // A constant that must be named in full.
    for (const std::string &name : initializerNames()) {
      auto entry = classes.find(name);
      bool isKnown = entry != classes.end();
      SmallVector<StringRef> names = namesOf(name);
      if (llvm::none_of(names, [&](StringRef each) { return pattern->match(each); }))
        continue;
      bool isNamed = llvm::is_contained(names, text);
      // A full name is intended; a pattern with wildcards skips initializers that cannot be
      // trained.
      if (!isKnown || entry->second.role == InitializerRole::State) {
        matchesAny = true;
        if (isNamed && role == InitializerRole::Parameter)
          problems.add(label + (isKnown ? ": state that forward passes update cannot be trained"
                                        : ": cannot be trained; expected a floating-point tensor"));
        continue;
      }
      if (role == InitializerRole::Parameter && !isNamed && !entry->second.isParameter &&
          !entry->second.looksTrainable) {
        passedOver = name;
        continue;
      }
      matchesAny = true;
      auto [decided, isNew] = specificity.try_emplace(name, literals);
      if (!isNew && decided->second > literals)
        continue;
      decided->second = literals;
      bool isFree = entry->second.role == InitializerRole::Constant && !entry->second.isParameter;
      if (role == InitializerRole::Parameter || !isFree)
        entry->second.role = role;
      entry->second.reason = label;
    }
    if (matchesAny)
      return;
    if (!passedOver.empty())
      problems.add(label + ": matches only constants that do not look trainable, such as " +
                   quoted(passedOver) + "; use a full name to train one");
    else
      problems.add(label + ": no initializer matches" + terminal::suggestNames(text, knownNames()));
  }

  /// Returns the names of an initializer: its own, that in the module, and those of tied copies.
  SmallVector<StringRef> namesOf(StringRef name) {
    SmallVector<StringRef> names{name};
    if (auto entry = classes.find(name);
        entry != classes.end() && !entry->second.moduleName.empty())
      names.push_back(entry->second.moduleName);
    llvm::append_range(names, copies.lookup(name));
    return names;
  }

  /// Returns the names of all initializers, including integers.
  std::vector<std::string> initializerNames() {
    std::vector<std::string> names;
    for (Operation &op : graph.getBody().front())
      if (auto initializer = dyn_cast<InitializerOp>(op))
        names.push_back(initializer.getName().str());
      else if (auto name = op.getAttrOfType<StringAttr>(initializerAttribute))
        names.push_back(name.str());
    return names;
  }

  SmallVector<StringRef> knownNames() {
    SmallVector<StringRef> names;
    for (InitializerOp initializer : trainableInitializers(graph))
      llvm::append_range(names, namesOf(classes.find(initializer.getName())->first()));
    for (const auto &constant : modules)
      if (!classes.contains(constant.getKey()))
        names.push_back(constant.getKey());
    return names;
  }

  GraphOp graph;
  StringMap<InitializerClass> &classes;
  Problems &problems;
  StringMap<SmallVector<StringRef>> copies; // Names of tied copies, by name.
  StringMap<std::string> modules; // Modules of the constants that look trainable, by name.
  StringMap<size_t> specificity;  // Literal characters of the deciding pattern, by name.
};

} // namespace

void applyPatterns(GraphOp graph, const ParameterPatterns &patterns,
                   StringMap<InitializerClass> &classes, Problems &problems) {
  PatternApplier(graph, classes, problems).apply(patterns);
}

} // namespace mtc::onnx
