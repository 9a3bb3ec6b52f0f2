//===- Weights.cpp - File of initial weights --------------------------------------------------===//

#include "driver/Weights.h"

#include "ir/Mtc.h"
#include "ir/TypeCode.h"
#include "runtime/abi/program.h"
#include "runtime/abi/tensor_image.h"
#include "runtime/abi/weights_file.h"
#include "support/files/safetensors.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

/// Returns whether the program converts elements of type `from` to `to` when it reads the file.
static bool isConverted(Type from, Type to) {
  auto isFloat = [](Type type) { return type.isF32() || isNarrowFloat(type); };
  return isFloat(from) && isFloat(to) && from != to;
}

/// Returns the type of an initializer in the model. Fails if a text declares an incompatible type.
static llvm::Expected<RankedTensorType> typeInModel(SourceModel &model, InitializerAttr source,
                                                    RankedTensorType type) {
  auto found = model.getInitialType(type.getContext(), source.getName());
  if (found && *found != type &&
      !(found->getShape() == type.getShape() &&
        isConverted(found->getElementType(), type.getElementType()))) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "the type in the model is " << *found << ", expected " << type;
    return llvm::createStringError(text);
  }
  return found;
}

namespace {
struct FileTensor {
  RankedTensorType type;
  ArrayRef<char> bytes;
};
} // namespace

static llvm::Expected<FileTensor> tensorOf(SourceModel *model, InitializerAttr source,
                                           RankedTensorType type) {
  if (!model)
    return llvm::createStringError("the model is missing");
  auto found = typeInModel(*model, source, type);
  if (!found)
    return found.takeError();
  auto bytes = model->getInitialBytes(source.getName());
  if (!bytes)
    return bytes.takeError();
  return FileTensor{*found, *bytes};
}

/// Returns the initializer that a variable starts with, or null if it starts with something else.
static InitializerAttr sourceOf(VariableOp variable) {
  auto stored = dyn_cast<StoredAttr>(variable.getInitial());
  return dyn_cast<InitializerAttr>(stored ? stored.getSource() : variable.getInitial());
}

/// Returns the XXH64 checksum in the format of programs.
static std::string checksumText(StringRef bytes) {
  return llvm::utohexstr(llvm::xxHash64(bytes), /*LowerCase=*/true, /*Width=*/16);
}

FailureOr<Weights> Weights::collect(ModuleOp module, SourceModel *model, bool onlyConstants) {
  FailureOr<std::vector<ModuleTensor>> named =
      collectModuleTensors(module, [&](VariableOp variable) {
        return bool(sourceOf(variable)) && (!onlyConstants || variable.getRole() == Role::Constant);
      });
  if (failed(named))
    return failure();
  Weights weights;
  files::SafetensorsHeader header;
  llvm::StringSet<> unreadable;
  for (const ModuleTensor &each : *named) {
    if (llvm::any_of(each.pieces, [](const ModuleTensor::Piece &piece) {
          return sourceOf(piece.variable).getMissing();
        })) {
      weights.absent.push_back(each.name);
      continue;
    }
    Tensor tensor = {};
    Type element;
    for (const ModuleTensor::Piece &piece : each.pieces) {
      VariableOp variable = piece.variable;
      InitializerAttr source = sourceOf(variable);
      llvm::Expected<FileTensor> found = tensorOf(model, source, variable.getSourceType());
      if (!found) {
        std::string reason = llvm::toString(found.takeError());
        if (unreadable.insert(source.getName()).second && unreadable.size() <= 3)
          emitError(UnknownLoc::get(module.getContext()))
              << "initializer '" << source.getName() << "': " << reason;
        continue;
      }
      if (element && element != found->type.getElementType())
        return emitError(UnknownLoc::get(module.getContext()))
               << "initializers of '" << each.name << "' have different types, " << element
               << " and " << found->type.getElementType() << "; expected one type";
      element = found->type.getElementType();
      tensor.pieces.push_back({found->bytes, piece.image});
    }
    if (!element)
      continue;
    tensor.elementBytes = elementBytes(element);
    tensor.bytes = byteSize(RankedTensorType::get(each.shape, element));
    header.add(each.name, typeCode(element), {each.shape.begin(), each.shape.end()}, tensor.bytes);
    read(tensor, [&](ArrayRef<char> bytes) {
      header.metadata[MTC_WEIGHTS_CHECKSUM + each.name] =
          checksumText(StringRef(bytes.data(), bytes.size()));
    });
    weights.tensors.push_back(std::move(tensor));
  }
  if (!unreadable.empty())
    return emitError(UnknownLoc::get(module.getContext()))
           << "the data of " << unreadable.size() << " initializers cannot be read";
  if (weights.empty())
    return weights;

  const std::string noDigest(16, '0');
  header.metadata[MTC_WEIGHTS_DIGEST] = noDigest;
  header.metadata[MTC_WEIGHTS_NAMES] = MTC_MODULE_NAMES;
  std::string &text = weights.header;
  text = header.sortedText();
  weights.digest = checksumText(text);
  const std::string start = "\"" MTC_WEIGHTS_DIGEST "\":\"";
  text.replace(text.find(start + noDigest) + start.size(), noDigest.size(), weights.digest);
  return weights;
}

void Weights::read(const Tensor &tensor, llvm::function_ref<void(ArrayRef<char>)> use) {
  const Piece &first = tensor.pieces.front();
  if (!first.image || TensorImageAttr(first.image).isWhole())
    return use(first.bytes);
  std::vector<char> composed(tensor.bytes);
  for (const Piece &piece : tensor.pieces)
    for (ImagePartAttr part : piece.image.getParts()) {
      MtcImagePart described = {part.getVariable(),
                                part.getImage(),
                                static_cast<uint32_t>(part.getExtents().size()),
                                part.getExtents().data(),
                                part.getVariableStrides().data(),
                                part.getImageStrides().data()};
      abi::copyToImage(described, piece.bytes.data(), composed.data(), tensor.elementBytes);
    }
  use(composed);
}

void Weights::write(raw_ostream &os) const {
  os << files::SafetensorsHeader::startOfFile(header);
  for (const Tensor &tensor : tensors)
    read(tensor, [&](ArrayRef<char> bytes) { os.write(bytes.data(), bytes.size()); });
}
