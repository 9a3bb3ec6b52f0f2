//===- Classifier.cpp - Classification of initializers without patterns -----------------------===//

#include "frontend/onnx/parameters/Classifier.h"

#include "frontend/onnx/parameters/ConstantEvidence.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/MovingStatistics.h"
#include "frontend/onnx/parameters/PositionTables.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "frontend/onnx/parameters/TrainableConstants.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

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
    // Parts of a tensor that does not belong to the module have the class of the whole tensor.
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

  /// Classifies an initializer that the exporter computed. It is a parameter if it was computed
  /// from the values of parameters, and not only from their shapes.
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
  /// was folded, or of the parameter that the module of the node lacks. Otherwise, the name follows
  /// from the module of the node.
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

} // namespace

StringMap<InitializerClass> classifyByRules(GraphOp graph) { return Classifier(graph).run(); }

} // namespace mtc::onnx
