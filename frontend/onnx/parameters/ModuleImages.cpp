//===- ModuleImages.cpp - Mapping of initializers to the module's tensors ---------------------===//

#include "frontend/onnx/parameters/ModuleImages.h"

#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/ModuleAliases.h"
#include "frontend/onnx/parameters/Parameters.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "frontend/onnx/parameters/RecurrentImages.h"
#include "frontend/onnx/parameters/TrainableConstants.h"
#include "ir/attributes/TensorImage.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::onnx {

/// Returns whether a node multiplies by the untransposed operand; PyTorch's linear layers multiply
/// by the transposed weight.
static bool multipliesByRows(const InitializerUse &use) {
  NodeOp node = use.node;
  if (use.operand != 1)
    return false;
  if (node.isOperator("MatMul"))
    return true;
  auto isTransposed = node.getNodeAttributes().getAs<IntegerAttr>("transB");
  return node.isOperator("Gemm") && (!isTransposed || isTransposed.getSInt() == 0);
}

namespace {

/// The layout in which the module stores an initializer.
enum class Layout { AsItIs, Transposed, Unknown };

/// Determines the images of initializers in the module; see describeModuleImages.
class ImageFinder {
public:
  explicit ImageFinder(GraphOp graph)
      : graph(graph), uses(initializerUses(graph)), provenance(graph), recurrent(graph),
        isListed(hasSignature(graph)) {}

  void describe() {
    llvm::StringMap<std::string> names;
    for (InitializerOp initializer : initializers())
      if (Layout layout = layoutOf(initializer); layout != Layout::Unknown)
        names[initializer.getName()] = nameOf(initializer);
    llvm::StringMap<std::vector<std::string>> aliases = findModuleAliases(graph, names);
    for (InitializerOp initializer : initializers()) {
      if (cast<RankedTensorType>(initializer.getType()).getNumElements() == 0)
        addEmpty(initializer, aliases.lookup(initializer.getName()));
      else
        describe(initializer, aliases.lookup(initializer.getName()));
    }
    addCounts();
  }

private:
  /// Returns the initializers that the module may have and whose images are not known yet.
  SmallVector<InitializerOp> initializers() const {
    SmallVector<InitializerOp> found;
    for (InitializerOp initializer : trainableInitializers(graph))
      if (!initializer.getModuleImages() &&
          initializer.getRole().value_or("constant") != "constant" &&
          cast<RankedTensorType>(initializer.getType()).hasStaticShape())
        found.push_back(initializer);
    return found;
  }

  static std::string nameOf(InitializerOp initializer) {
    return initializer.getModuleName().value_or(initializer.getName()).str();
  }

  ArrayRef<InitializerUse> usesOf(StringRef name) const {
    auto found = uses.find(name);
    return found == uses.end() ? ArrayRef<InitializerUse>() : ArrayRef(found->second);
  }

  /// Returns whether the initializer has the same name in the file and in the module.
  bool isNamedByModule(InitializerOp initializer) const {
    StringRef name = initializer.getName();
    if (isListed && (provenance.isParameter(name) || provenance.isBuffer(name)))
      return true;
    return !isFoldedName(name) && !isTorchScriptFoldedName(name) && !wasConstantNode(initializer) &&
           !Provenance::isFolded(initializer) &&
           initializer.getModuleName().value_or(name) == name &&
           (!isListed || initializer.getKind() == "PARAMETER" || initializer.getRole() == "state");
  }

  Layout layoutOf(InitializerOp initializer) const {
    if (isNamedByModule(initializer))
      return Layout::AsItIs;
    StringRef name = initializer.getName(), folded = initializer.getSplitFrom().value_or(name);
    if (!initializer.getModuleName() || wasConstantNode(initializer) ||
        !provenance.keepsValues(initializer))
      return Layout::Unknown;
    int64_t rank = cast<RankedTensorType>(initializer.getType()).getRank();
    if (rank == 2 && (isFoldedName(folded) || isTorchScriptFoldedName(folded)) &&
        llvm::all_of(usesOf(name), multipliesByRows))
      return Layout::Transposed;
    bool isSplit = initializer.getSplitFrom().has_value();
    return rank <= 1 && (isSplit || !Provenance::isFolded(initializer)) ? Layout::AsItIs
                                                                        : Layout::Unknown;
  }

  void describe(InitializerOp initializer, ArrayRef<std::string> aliases) {
    Builder builder(graph.getContext());
    Layout layout = layoutOf(initializer);
    std::string name = nameOf(initializer);
    ArrayRef<InitializerUse> uses = usesOf(initializer.getName());
    SmallVector<TensorImageAttr> copies = namedCopies(initializer);
    SmallVector<Attribute> images;
    if (!isNamedByModule(initializer) && isRecurrentWeight(uses))
      images = recurrent.find(initializer, uses);
    else if (layout == Layout::AsItIs && name == initializer.getName() && aliases.empty() &&
             copies.empty())
      return; // The file's name and layout are the module's.
    else if (layout != Layout::Unknown) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(initializer.getType()).getShape();
      auto add = [&](StringRef each) {
        images.push_back(
            layout == Layout::Transposed
                ? TensorImageAttr::transposed(builder.getContext(), each, shape, {1, 0})
                : TensorImageAttr::whole(builder.getContext(), each, shape));
      };
      add(name);
      for (const std::string &alias : aliases)
        add(alias);
    }
    llvm::append_range(images, copies);
    initializer.setModuleImagesAttr(builder.getArrayAttr(images));
  }

  /// Adds a tensor without elements under each of its names in the module. The operations that use
  /// it compute nothing, so no variable is left of it.
  void addEmpty(InitializerOp initializer, ArrayRef<std::string> aliases) {
    auto type = cast<RankedTensorType>(initializer.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (layoutOf(initializer) == Layout::Transposed)
      std::reverse(shape.begin(), shape.end());
    OpBuilder builder(initializer);
    auto add = [&](StringRef name, ArrayRef<int64_t> shape) {
      auto nothing = DenseElementsAttr::get(RankedTensorType::get(shape, type.getElementType()),
                                            ArrayRef<Attribute>());
      BufferOp::create(builder, initializer.getLoc(), builder.getStringAttr(name), UnitAttr(),
                       nothing, StringAttr());
    };
    add(nameOf(initializer), shape);
    for (const std::string &alias : aliases)
      add(alias, shape);
    for (TensorImageAttr copy : namedCopies(initializer))
      add(copy.getName(), copy.getShape());
  }

  /// Returns the tied copies that have a name of the module.
  SmallVector<TensorImageAttr> namedCopies(InitializerOp initializer) const {
    SmallVector<TensorImageAttr> copies;
    if (ArrayAttr images = initializer.getFileImagesAttr())
      for (auto image : images.getAsRange<TensorImageAttr>())
        if (isListed ? provenance.isParameter(image.getName()) : !isGeneratedName(image.getName()))
          copies.push_back(image);
    return copies;
  }

  /// Returns the name of `num_batches_tracked` in files of save_pretrained, if the running mean of
  /// its batch normalization has another name there; otherwise null.
  static StringAttr pretrainedCount(InitializerOp mean) {
    ArrayAttr images = mean.getPretrainedImagesAttr();
    StringRef module =
        images && images.size() == 1 ? cast<TensorImageAttr>(images[0]).getName() : StringRef();
    return module.consume_back(".running_mean")
               ? StringAttr::get(mean.getContext(), module + ".num_batches_tracked")
               : StringAttr();
  }

  /// Adds `num_batches_tracked` of PyTorch's batch normalizations, which no ONNX operator uses.
  void addCounts() {
    if (!isProducedBy(graph, "pytorch"))
      return;
    for (InitializerOp initializer : initializers()) {
      StringRef module = initializer.getName();
      if (initializer.getRole() != "state" || !module.consume_back(".running_mean"))
        continue;
      std::string name = (module + ".num_batches_tracked").str();
      if (isListed && !provenance.isBuffer(name))
        continue;
      bool isTrained = llvm::any_of(usesOf(initializer.getName()), [](const InitializerUse &use) {
        auto mode = NodeOp(use.node).getNodeAttributes().getAs<IntegerAttr>("training_mode");
        return mode && mode.getSInt() == 1;
      });
      OpBuilder builder(initializer);
      auto zero =
          DenseElementsAttr::get(RankedTensorType::get({}, builder.getI64Type()), int64_t{0});
      BufferOp::create(builder, initializer.getLoc(), builder.getStringAttr(name),
                       isTrained ? builder.getUnitAttr() : UnitAttr(), zero,
                       pretrainedCount(initializer));
    }
  }

  GraphOp graph;
  llvm::StringMap<std::vector<InitializerUse>> uses;
  Provenance provenance;
  RecurrentImages recurrent;
  bool isListed;
};

} // namespace

void describeModuleImages(GraphOp graph) { ImageFinder(graph).describe(); }

} // namespace mtc::onnx
