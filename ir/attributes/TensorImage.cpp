//===- TensorImage.cpp - Tensors in other files that contain elements of variables ------------===//

#include "ir/attributes/TensorImage.h"

#include "ir/builders/Shape.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <numeric>

using namespace mlir;
using namespace mtc;

int64_t ImagePartAttr::getNumElements() {
  return std::accumulate(getExtents().begin(), getExtents().end(), int64_t{1}, std::multiplies<>());
}

int64_t TensorImageAttr::getNumElements() {
  return std::accumulate(getShape().begin(), getShape().end(), int64_t{1}, std::multiplies<>());
}

int64_t TensorImageAttr::countHeld() {
  if (isWhole())
    return getNumElements();
  int64_t count = 0;
  for (ImagePartAttr part : getParts())
    count += part.getNumElements();
  return count;
}

TensorImageAttr TensorImageAttr::whole(MLIRContext *context, StringRef name,
                                       ArrayRef<int64_t> shape) {
  return get(context, name, shape, {});
}

TensorImageAttr TensorImageAttr::transposed(MLIRContext *context, StringRef name,
                                            ArrayRef<int64_t> shape,
                                            ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> variableStrides = rowMajorStrides(shape), imageShape, imageOrder;
  for (int64_t axis : permutation) {
    imageShape.push_back(shape[axis]);
    imageOrder.push_back(variableStrides[axis]);
  }
  bool isInOrder = llvm::is_sorted(permutation);
  if (isInOrder || llvm::is_contained(shape, 0))
    return whole(context, name, imageShape);
  auto part =
      ImagePartAttr::get(context, 0, 0, imageShape, imageOrder, rowMajorStrides(imageShape));
  return get(context, name, imageShape, part);
}

/// Returns the index after the last element. Returns nullopt if offset, extents or strides are
/// invalid, if an index overflows 64 bits, or if an element would be reached twice: each axis must
/// step over all elements that axes of smaller strides reach.
static std::optional<int64_t> endOf(int64_t offset, ArrayRef<int64_t> extents,
                                    ArrayRef<int64_t> strides) {
  if (offset < 0 || extents.empty() || strides.size() != extents.size())
    return std::nullopt;
  SmallVector<size_t> axes(extents.size());
  std::iota(axes.begin(), axes.end(), size_t{0});
  llvm::sort(axes, [&](size_t a, size_t b) { return strides[a] < strides[b]; });
  std::optional<int64_t> last = 0;
  for (size_t axis : axes) {
    if (extents[axis] < 1 || strides[axis] < 1)
      return std::nullopt;
    if (extents[axis] > 1 && strides[axis] <= *last)
      return std::nullopt;
    std::optional<int64_t> more = llvm::checkedMul(extents[axis] - 1, strides[axis]);
    last = more ? llvm::checkedAdd(*last, *more) : std::nullopt;
    if (!last)
      return std::nullopt;
  }
  std::optional<int64_t> end = llvm::checkedAdd(offset, *last);
  return end ? llvm::checkedAdd(*end, int64_t{1}) : std::nullopt;
}

LogicalResult TensorImageAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                      StringRef name, ArrayRef<int64_t> shape,
                                      ArrayRef<ImagePartAttr> parts) {
  if (name.empty())
    return emitError() << "a tensor image has no name (tensor_image_c1)";
  std::optional<int64_t> count = countElements(shape);
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }) || !count)
    return emitError() << "tensor image '" << name << "' has a shape that no tensor has "
                       << "(tensor_image_c1)";
  int64_t left = *count;
  for (ImagePartAttr part : parts) {
    std::optional<int64_t> end = endOf(part.getImage(), part.getExtents(), part.getImageStrides());
    if (!end)
      return emitError() << "tensor image '" << name << "' has the part " << part
                         << ", expected extents and strides of at least 1 that reach no element "
                            "twice (tensor_image_c2)";
    if (*end > *count)
      return emitError() << "tensor image '" << name << "' has " << *count << " elements, but its "
                         << "part " << part << " ends at " << *end << " (tensor_image_c3)";
    left -= part.getNumElements();
    if (left < 0)
      return emitError() << "tensor image '" << name << "' has " << *count
                         << " elements, but its parts hold more (tensor_image_c3)";
  }
  return success();
}

static LogicalResult verifyImage(llvm::function_ref<InFlightDiagnostic()> emitError,
                                 RankedTensorType variable, TensorImageAttr image) {
  if (image.isWhole()) {
    if (image.getNumElements() == variable.getNumElements())
      return success();
    return emitError() << "has the image " << image << ", expected one of "
                       << variable.getNumElements() << " elements (variable_c6)";
  }
  for (ImagePartAttr part : image.getParts()) {
    std::optional<int64_t> end =
        endOf(part.getVariable(), part.getExtents(), part.getVariableStrides());
    if (!end || *end > variable.getNumElements())
      return emitError() << "has " << variable.getNumElements() << " elements, but its image '"
                         << image.getName() << "' has the part " << part
                         << ", which exceeds the image or covers an element twice (variable_c6)";
  }
  return success();
}

/// Verifies that the groups of a list contain every element of the variable.
static LogicalResult verifyGroups(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t count,
                                  ArrayAttr images) {
  int64_t held = 0;
  for (auto image : images.getAsRange<TensorImageAttr>()) {
    held = (held == count ? 0 : held) + image.countHeld();
    if (held > count)
      return emitError() << "has " << count << " elements, but its images up to '"
                         << image.getName() << "' hold " << held << " (variable_c6)";
  }
  if (held != 0 && held != count)
    return emitError() << "has " << count << " elements, but its images hold " << held
                       << " (variable_c6)";
  return success();
}

LogicalResult mtc::verifyTensorImages(llvm::function_ref<InFlightDiagnostic()> emitError,
                                      RankedTensorType variable, ArrayRef<ArrayAttr> complete,
                                      ArrayAttr fileImages) {
  auto verifyAll = [&](ArrayAttr images) {
    for (Attribute each : images) {
      auto image = dyn_cast<TensorImageAttr>(each);
      if (!image)
        return LogicalResult(emitError() << "has the image " << each
                                         << ", expected #mtc.tensor_image (variable_c6)");
      if (failed(verifyImage(emitError, variable, image)))
        return failure();
    }
    return success();
  };
  for (ArrayAttr images : complete)
    if (images && (failed(verifyAll(images)) ||
                   failed(verifyGroups(emitError, variable.getNumElements(), images))))
      return failure();
  if (!fileImages)
    return success();
  if (failed(verifyAll(fileImages)))
    return failure();
  for (auto image : fileImages.getAsRange<TensorImageAttr>())
    if (image.countHeld() != image.getNumElements())
      return emitError() << "has the file image '" << image.getName() << "' of "
                         << image.getNumElements() << " elements, of which parts hold "
                         << image.countHeld() << " (variable_c6)";
  return success();
}

bool mtc::isInModule(VariableOp variable) {
  std::optional<ArrayAttr> images = variable.getModuleImages();
  return llvm::is_contained({Role::Parameter, Role::Constant, Role::State, Role::Frozen},
                            variable.getRole()) &&
         (!images || !images->empty());
}

SmallVector<TensorImageAttr> mtc::firstImages(VariableOp variable) {
  SmallVector<TensorImageAttr> first;
  int64_t held = 0, count = variable.getSourceType().getNumElements();
  if (ArrayAttr images = variable.getModuleImagesAttr())
    for (auto image : images.getAsRange<TensorImageAttr>()) {
      if (!first.empty() && held >= count)
        break;
      first.push_back(image);
      held += image.countHeld();
    }
  return first;
}

SmallVector<StringRef> mtc::namesOf(VariableOp variable) {
  SmallVector<StringRef> names = {variable.getSymName()};
  if (std::optional<StringRef> name = variable.getModuleName())
    names.push_back(*name);
  if (ArrayAttr images = variable.getModuleImagesAttr())
    for (auto image : images.getAsRange<TensorImageAttr>())
      names.push_back(image.getName());
  return names;
}

/// Returns the largest subset of `variables` that contains all elements of the tensors in its first
/// images.
static SmallVector<VariableOp> findComplete(ArrayRef<VariableOp> variables) {
  SmallVector<VariableOp> complete(variables);
  for (size_t count = 0; count != complete.size();) {
    count = complete.size();
    llvm::StringMap<int64_t> held;
    for (VariableOp variable : complete)
      for (TensorImageAttr image : firstImages(variable))
        held[image.getName()] += image.countHeld();
    llvm::erase_if(complete, [&](VariableOp variable) {
      return llvm::any_of(firstImages(variable), [&](TensorImageAttr image) {
        return held[image.getName()] < image.getNumElements();
      });
    });
  }
  return complete;
}

namespace {

/// Collects tensors by name.
class ModuleTensors {
public:
  LogicalResult add(VariableOp variable, StringRef name, ArrayRef<int64_t> shape,
                    TensorImageAttr image) {
    ModuleTensor &tensor = tensors[name.str()];
    tensor.name = name;
    tensor.shape = SmallVector<int64_t>(shape);
    tensor.pieces.push_back({variable, image});
    ModuleTensor::Piece &first = tensor.pieces.front();
    if (tensor.pieces.size() == 1)
      return success();
    int64_t held = 0;
    for (ModuleTensor::Piece &piece : tensor.pieces)
      held += piece.image ? piece.image.countHeld() : 1;
    bool isShared = first.image && image && first.image.getShape() == shape &&
                    held <= image.getNumElements() &&
                    first.variable.getSourceType().getElementType() ==
                        variable.getSourceType().getElementType();
    if (!isShared)
      return variable.emitOpError()
             << "and @" << first.variable.getSymName() << " are both stored as '" << name << "'";
    return success();
  }

  std::vector<ModuleTensor> take() {
    std::vector<ModuleTensor> all;
    for (auto &entry : tensors)
      all.push_back(std::move(entry.second));
    return all;
  }

private:
  llvm::MapVector<std::string, ModuleTensor, std::map<std::string, unsigned>> tensors;
};

} // namespace

FailureOr<std::vector<ModuleTensor>>
mtc::collectModuleTensors(ModuleOp module, llvm::function_ref<bool(VariableOp)> includes) {
  SmallVector<VariableOp> variables(llvm::make_filter_range(module.getOps<VariableOp>(), includes));
  SmallVector<VariableOp> complete = findComplete(variables);
  llvm::DenseSet<Operation *> inModule(complete.begin(), complete.end());
  ModuleTensors tensors;
  for (VariableOp variable : variables) {
    SmallVector<TensorImageAttr> images = firstImages(variable);
    if (images.empty() || !inModule.contains(variable)) {
      ArrayRef<int64_t> shape = variable.getSourceType().getShape();
      if (failed(tensors.add(variable, variable.getSymName(), shape, {})))
        return failure();
      continue;
    }
    for (TensorImageAttr image : images)
      if (failed(tensors.add(variable, image.getName(), image.getShape(), image)))
        return failure();
  }
  return tensors.take();
}
