//===- Parameters.cpp - Classification of initializers ----------------------------------------===//

#include "frontend/onnx/parameters/Parameters.h"

#include "frontend/onnx/parameters/ConstantEvidence.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/MovingStatistics.h"
#include "frontend/onnx/parameters/PositionTables.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "frontend/onnx/parameters/TrainableConstants.h"
#include "ir/attributes/TensorImage.h"
#include "support/terminal/suggestions.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

constexpr StringRef updatedReason = "the module's forward pass updates it";
constexpr StringRef roleNames[] = {"parameter", "constant", "state", "frozen"};

/// Classifies initializers by the rules in Parameters.h, without patterns.
class Classifier {
public:
  explicit Classifier(GraphOp graph)
      : graph(graph), initializers(trainableInitializers(graph)), uses(initializerUses(graph)),
        movingStatistics(findMovingStatistics(graph)), tables(findPositionTables(graph)),
        provenance(graph), evidence(graph, uses), bySignature(hasSignature(graph)) {
    for (InitializerOp initializer : initializers)
      byName[initializer.getName()] = initializer;
  }

  StringMap<InitializerClass> run() {
    for (InitializerOp initializer : initializers) {
      InitializerClass &known = classes[initializer.getName()] = classify(initializer);
      known.isParameter =
          known.role == InitializerRole::Parameter || known.role == InitializerRole::Frozen;
    }
    recoverNames();
    return std::move(classes);
  }

private:
  InitializerClass classify(InitializerOp initializer) const {
    StringRef name = initializer.getName();
    if (wasConstantNode(initializer) && !initializer.getSplitFrom())
      return {InitializerRole::Constant, "a Constant node", ""};
    if (isConstantNodeName(name))
      return {InitializerRole::Constant,
              "a Constant node that an optimizer stored as an initializer", ""};
    if (isRunningStatistic(name))
      return {InitializerRole::State, "running statistics of BatchNormalization", ""};
    if (initializer->hasAttr(updatedAttribute))
      return {InitializerRole::State, updatedReason.str(), ""};
    StringRef kind = initializer.getKind().value_or("");
    if (movingStatistics.contains(name) && kind != "PARAMETER")
      return knownConstant(movingStatisticReason.str());
    InitializerClass result =
        bySignature ? classifyListed(initializer) : classifyUnlisted(initializer);
    if (result.role == InitializerRole::Parameter && initializer.getSplitFrom())
      result.reason =
          "split from " + quoted(*initializer.getSplitFrom()) + ", which the exporter merged";
    if (result.role == InitializerRole::Parameter && initializer->hasAttr(untrainedAttribute))
      return {InitializerRole::Frozen, "requires_grad is False in the module", ""};
    return result;
  }

  /// Classifies an initializer of a file that lists the module's parameters (the torch.export-based
  /// exporter, mtc.export).
  InitializerClass classifyListed(InitializerOp initializer) const {
    StringRef name = initializer.getName(), kind = initializer.getKind().value_or("");
    StringRef moduleName = Provenance::splitName(initializer);
    if (kind == "PARAMETER")
      return {InitializerRole::Parameter, "the exporter marks it PARAMETER", ""};
    if (!kind.empty())
      return knownConstant("the exporter marks it " + kind.str());
    std::optional<StringRef> split = initializer.getSplitFrom();
    InitializerOp whole = split ? byName.lookup(*split) : InitializerOp();
    // Parts of a tensor that is not the module's have the class of the whole.
    if (whole && !provenance.isOfModule(whole))
      return classifyListed(whole);
    if (provenance.isParameter(name) || provenance.isParameter(moduleName))
      return {InitializerRole::Parameter, "the file lists it as a parameter of the module", ""};
    if (provenance.isBuffer(name) || provenance.isBuffer(moduleName))
      return knownConstant("the file lists it as a buffer of the module");
    if (whole)
      return classifyListed(whole);
    if (Provenance::isFolded(initializer))
      return classifyFolded(initializer);
    if (isFoldedName(name) && isInitialState(name))
      return {InitializerRole::Constant, "the initial state of a recurrent layer", ""};
    int64_t rank = cast<RankedTensorType>(initializer.getType()).getRank();
    if (isFoldedName(name) && rank >= 2 && !(isOfOneValue(initializer) && !isReadAsWeight(name)))
      return {InitializerRole::Parameter,
              "a weight that the exporter transposed (val_N of two or more dimensions)", ""};
    if (name.ends_with("_bias") && isMarkedParameter(name.drop_back(5)))
      return {InitializerRole::Parameter,
              "the bias of a normalization that the exporter folded into a convolution", ""};
    if (haveRole(usesOf(name), OperandRole::MergedWeight))
      return {InitializerRole::Parameter,
              "weights of queries, keys and values that onnxruntime merged", ""};
    return {InitializerRole::Constant, "computed by the exporter", ""};
  }

  ArrayRef<InitializerUse> usesOf(StringRef name) const {
    auto found = uses.find(name);
    return found == uses.end() ? ArrayRef<InitializerUse>() : ArrayRef(found->second);
  }

  /// Classifies an initializer that the exporter computed: it is a parameter if computed from
  /// parameters, unless it only depends on their shapes.
  InitializerClass classifyFolded(InitializerOp initializer) const {
    std::vector<std::string> parameters = provenance.foldedParameters(initializer);
    if (parameters.empty())
      return knownConstant("computed by the exporter, not from a parameter");
    if (isInitialState(initializer.getName()) && isOfOneValue(initializer))
      return {InitializerRole::Constant, "the initial state of a recurrent layer", ""};
    return {InitializerRole::Parameter,
            "the exporter folded it from " + llvm::join(llvm::map_range(parameters, quoted), ", "),
            ""};
  }

  InitializerClass classifyUnlisted(InitializerOp initializer) const {
    if (auto table = tables.find(initializer.getName()); table != tables.end())
      return knownConstant(table->second);
    // Calibration determines the scales of quantized tensors.
    if (haveRole(usesOf(initializer.getName()), OperandRole::QuantizationScale))
      return knownConstant("a scale of a quantized tensor");
    if (isProducedBy(graph, "skl2onnx") && !isEstimatorWeight(initializer.getName()))
      return knownConstant("not a weight of a scikit-learn estimator");
    if (std::optional<InitializerClass> inferred = infer(initializer))
      return *inferred;
    if (cast<RankedTensorType>(initializer.getType()).getRank() >= 1)
      return {InitializerRole::Parameter, "a floating-point initializer", ""};
    if (isArgument(initializer.getName()))
      return {InitializerRole::Parameter, "a scalar argument of a function", ""};
    return {InitializerRole::Constant, "a scalar", ""};
  }

  /// Classifies an initializer by its use, elements and name; nullopt without evidence. Scalars are
  /// classified by their use only.
  std::optional<InitializerClass> infer(InitializerOp initializer) const {
    if (cast<RankedTensorType>(initializer.getType()).getRank() == 0)
      return std::nullopt;
    std::optional<Evidence> found = evidence.find(initializer);
    if (!found)
      return std::nullopt;
    InitializerClass result = knownConstant(found->reason);
    if (!found->isConstant)
      result = {InitializerRole::Parameter, found->reason, ""};
    result.isInferred = true;
    result.isDoubtful = found->isDoubtful;
    return result;
  }

  /// Returns whether all users are functions whose constant operand an exporter would have folded,
  /// such as exp of a temperature. PyTorch's TorchScript-based exporter keeps the module's names of
  /// scalars.
  bool isArgument(StringRef name) const {
    auto found = uses.find(name);
    return isProducedBy(graph, "pytorch") && !isTorchScriptFoldedName(name) &&
           !name.contains('/') && found != uses.end() && !found->second.empty() &&
           llvm::all_of(found->second, [](const InitializerUse &use) {
             NodeOp node = use.node;
             return llvm::any_of(ArrayRef<StringRef>{"Exp", "Sigmoid", "Softplus", "Tanh"},
                                 [&](StringRef op) { return node.isOperator(op); });
           });
  }

  /// Returns whether the initializer is a weight of a scikit-learn estimator. skl2onnx also stores
  /// precomputed values of preprocessing steps as initializers. Weights are used by matrix
  /// multiplications, and intercepts are added to their results.
  bool isEstimatorWeight(StringRef name) const {
    if (name.starts_with("coef") || name.starts_with("intercept") ||
        name.ends_with(".coefficients"))
      return true;
    if (name == "transform_matrix") // The matrix of a decomposition such as PCA.
      return false;
    auto found = uses.find(name);
    return found != uses.end() && llvm::any_of(found->second, [](const InitializerUse &use) {
             NodeOp node = use.node;
             if (node.isOperator("MatMul") || node.isOperator("Gemm"))
               return true;
             return node.isOperator("Add") && llvm::any_of(node.getInputs(), [](Value input) {
                      auto product = input.getDefiningOp<NodeOp>();
                      return product && product.isOperator("MatMul");
                    });
           });
  }

  static InitializerClass knownConstant(const std::string &reason) {
    InitializerClass result{InitializerRole::Constant, reason, ""};
    result.isKnownConstant = true;
    return result;
  }

  bool isMarkedParameter(StringRef name) const {
    InitializerOp initializer = byName.lookup(name);
    return initializer && (initializer.getKind() == "PARAMETER" || provenance.isParameter(name));
  }

  bool isRunningStatistic(StringRef name) const {
    return llvm::any_of(usesOf(name), [](const InitializerUse &use) {
      return hasRole(use, OperandRole::RunningStatistic);
    });
  }

  /// Returns whether all uses are initial states of recurrent nodes. The exporter creates zeros if
  /// a module is called without a state.
  bool isInitialState(StringRef name) const {
    return haveRole(usesOf(name), OperandRole::InitialState);
  }

  static bool isOfOneValue(InitializerOp initializer) {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(initializer.getSampleAttr());
    return elements && elements.isSplat();
  }

  /// Returns whether a matrix multiplication or convolution uses the initializer.
  bool isReadAsWeight(StringRef name) const {
    auto found = uses.find(name);
    return found != uses.end() && llvm::any_of(found->second, [](InitializerUse use) {
             StringRef op = NodeOp(use.node).getOpType();
             return op == "MatMul" || op == "Gemm" || op == "Conv" || op == "ConvTranspose";
           });
  }

  /// Determines the names in the module of initializers that the exporter renamed. If the file
  /// lists the module's parameters, the name is that of the parameter from which the initializer
  /// was folded, or which the user's module lacks; otherwise it follows from the user's module.
  void recoverNames() {
    llvm::StringSet<> missing, taken;
    for (const std::string &name : signatureParameters(graph))
      if (!classes.contains(name))
        missing.insert(name);
    for (InitializerOp initializer : initializers) {
      StringRef name = initializer.getName();
      InitializerClass &known = classes[name];
      auto found = uses.find(name);
      if (found == uses.end() || !known.isParameter)
        continue;
      if (!known.moduleName.empty()) // The initializer passed its name on to another one.
        continue;
      InitializerUse use = found->second.front();
      if (bySignature && !provenance.isParameter(name)) {
        known.moduleName = listedName(initializer, use, missing);
        // A second copy of a parameter is named after the module that uses it.
        if (!isFree(known.moduleName, taken))
          known.moduleName = provenance.isParameter(scopedName(use)) ? scopedName(use) : "";
        missing.erase(known.moduleName);
      } else if (isTorchScriptFoldedName(name)) {
        known.moduleName = scopedName(use);
      }
      if (!isFree(known.moduleName, taken) && !giveUpName(known.moduleName, taken))
        known.moduleName.clear();
      if (!known.moduleName.empty())
        taken.insert(known.moduleName);
    }
  }

  /// Renames the initializer `name` after the module that uses it, and returns whether it did so.
  /// If two layers share a weight, the exporter keeps one name and folds the copy of the layer with
  /// that name: the embedding `embed` uses `head.weight`, and `head` uses `val_2`. The initializer
  /// `head.weight` is then renamed to `embed.weight`, so that `val_2` can be `head.weight`.
  bool giveUpName(StringRef name, llvm::StringSet<> &taken) {
    auto found = uses.find(name);
    if (!bySignature || taken.contains(name) || found == uses.end())
      return false;
    auto [module, leaf] = name.rsplit('.');
    std::string reader = modulePath(found->second.front().node);
    std::string own = (reader + "." + leaf).str();
    bool isReadElsewhere = llvm::all_of(found->second, [&](const InitializerUse &use) {
      return modulePath(use.node) == reader && reader != module;
    });
    if (leaf.empty() || reader.empty() || !isReadElsewhere || !isFree(own, taken))
      return false;
    classes[name].moduleName = own;
    taken.insert(own);
    return true;
  }

  /// Returns whether no initializer has this name in the file or in the module.
  bool isFree(const std::string &name, const llvm::StringSet<> &taken) const {
    return name.empty() || (!classes.contains(name) && !taken.contains(name));
  }

  std::string listedName(InitializerOp initializer, const InitializerUse &use,
                         const llvm::StringSet<> &missing) const {
    if (StringRef given = Provenance::splitName(initializer); !given.empty())
      return given.str();
    std::vector<std::string> folded = provenance.foldedParameters(initializer);
    if (std::optional<std::string> tensor = provenance.tensorAt(initializer, use);
        tensor && provenance.isParameter(*tensor) && folded.size() <= 1)
      return *tensor;
    if (folded.size() == 1)
      return folded.front();
    return isFoldedName(initializer.getName()) && folded.empty() ? parameterOfUse(use, missing)
                                                                 : "";
  }

  /// Returns the name of the weight or bias of the module that uses an initializer. The
  /// TorchScript-based exporter folds the transposition of a linear layer's weight, and batch
  /// normalizations into convolutions.
  static std::string scopedName(const InitializerUse &use) {
    std::string module = modulePath(use.node);
    StringRef op = NodeOp(use.node).getOpType();
    if (module.empty() || (op != "MatMul" && op != "Gemm" && op != "Conv" && op != "ConvTranspose"))
      return "";
    return module + (isBiasOperand(use) ? ".bias" : ".weight");
  }

  GraphOp graph;
  SmallVector<InitializerOp> initializers;
  StringMap<InitializerOp> byName;
  StringMap<std::vector<InitializerUse>> uses;
  llvm::StringSet<> movingStatistics;
  StringMap<std::string> tables;
  Provenance provenance;
  ConstantEvidence evidence;
  bool bySignature;
  StringMap<InitializerClass> classes;
};

/// Applies the user's patterns. The most specific matching pattern decides.
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

StringRef roleName(InitializerRole role) { return roleNames[static_cast<unsigned>(role)]; }

bool isTorchScriptFoldedName(StringRef name) {
  return name.starts_with("onnx::") || (!name.empty() && llvm::all_of(name, llvm::isDigit));
}

bool isConstantNodeName(StringRef name) {
  auto [scope, leaf] = name.rsplit('/');
  if (!leaf.consume_front("Constant") || !leaf.consume_back("_output_0"))
    return false;
  return leaf.empty() || (leaf.consume_front("_") && !leaf.empty() && all_of(leaf, isDigit));
}

bool isFoldedName(StringRef name) {
  // onnxruntime adds these prefixes to the names of a branch that replaces its If.
  while (name.consume_front("_if_then_branch_") || name.consume_front("_if_else_branch_")) {
  }
  // The exporter appends a number to the names of values in subgraphs, as in `val_0_2`.
  return name.consume_front("val_") && llvm::all_of(llvm::split(name, '_'), [](StringRef number) {
           return !number.empty() && llvm::all_of(number, llvm::isDigit);
         });
}

bool isGeneratedName(StringRef name) {
  if (isFoldedName(name) || isTorchScriptFoldedName(name))
    return true;
  name.consume_front("_v_");
  return !name.empty() && llvm::all_of(name, llvm::isDigit);
}

StringMap<InitializerClass> classifyInitializers(GraphOp graph) {
  StringMap<InitializerClass> classes = Classifier(graph).run();
  for (const TrainableConstant &constant : findTrainableConstants(graph, classes))
    if (auto entry = classes.find(constant.name); entry != classes.end()) {
      entry->second.looksTrainable = true;
      entry->second.moduleName = constant.moduleName;
    }
  return classes;
}

/// Freezes parameters without elements, which have neither gradients nor optimizer state.
static void freezeEmpty(GraphOp graph, StringMap<InitializerClass> &classes) {
  for (auto initializer : graph.getOps<InitializerOp>())
    if (auto known = classes.find(initializer.getName());
        known != classes.end() && known->second.role == InitializerRole::Parameter &&
        cast<RankedTensorType>(initializer.getType()).getNumElements() == 0) {
      known->second.role = InitializerRole::Frozen;
      known->second.reason = "has no element";
    }
}

/// Sets the role, reason and module name of each initializer. Integers are never trained.
static void describeInitializers(GraphOp graph, const StringMap<InitializerClass> &classes) {
  InitializerClass integers{InitializerRole::Constant, "integers are not trained", ""};
  InitializerClass counters{InitializerRole::State, updatedReason.str(), ""};
  for (auto initializer : graph.getOps<InitializerOp>()) {
    auto found = classes.find(initializer.getName());
    const InitializerClass &others = initializer->hasAttr(updatedAttribute) ? counters : integers;
    const InitializerClass &known = found == classes.end() ? others : found->second;
    initializer.setRole(roleName(known.role));
    initializer.setReason(known.reason);
    if (!known.moduleName.empty())
      initializer.setModuleName(known.moduleName);
  }
}

StringMap<InitializerClass> chooseParameters(GraphOp graph, const ParameterPatterns &patterns,
                                             Problems &problems) {
  StringMap<InitializerClass> classes = classifyInitializers(graph);
  PatternApplier(graph, classes, problems).apply(patterns);
  freezeEmpty(graph, classes);
  describeInitializers(graph, classes);
  return classes;
}

StringMap<InitializerClass> chosenClasses(GraphOp graph) {
  StringMap<InitializerClass> classes = classifyInitializers(graph);
  for (InitializerOp initializer : trainableInitializers(graph)) {
    InitializerClass &known = classes[initializer.getName()];
    const StringRef *role = llvm::find(roleNames, initializer.getRole().value_or("constant"));
    known.role = static_cast<InitializerRole>(role - std::begin(roleNames));
    known.reason = initializer.getReason().value_or("").str();
    known.moduleName = initializer.getModuleName().value_or("").str();
    known.looksTrainable |= wasConstantNode(initializer);
  }
  return classes;
}

} // namespace mtc::onnx
