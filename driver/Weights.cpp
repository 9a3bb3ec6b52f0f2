//===- Weights.cpp - Initial weights beside the program ---------------------------------------===//

#include "driver/Weights.h"

#include "ir/Mtc.h"
#include "runtime/abi/program.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

/// The name that safetensors has for an element type.
static StringRef safetensorsType(Type element) {
  if (element.isF64())
    return "F64";
  if (element.isF32())
    return "F32";
  if (element.isF16())
    return "F16";
  if (element.isBF16())
    return "BF16";
  if (element.isInteger(1))
    return "BOOL";
  bool isUnsigned = mtc::isUnsigned(element);
  switch (element.getIntOrFloatBitWidth()) {
  case 8:
    return isUnsigned ? "U8" : "I8";
  case 16:
    return isUnsigned ? "U16" : "I16";
  case 32:
    return isUnsigned ? "U32" : "I32";
  default:
    return isUnsigned ? "U64" : "I64";
  }
}

/// Of a file without its metadata.
static std::string digestOf(StringRef header, ArrayRef<ArrayRef<char>> pieces) {
  llvm::TruncatedBLAKE3<16> digest;
  digest.update(header);
  for (ArrayRef<char> piece : pieces)
    digest.update(StringRef(piece.data(), piece.size()));
  return llvm::toHex(digest.final(), /*LowerCase=*/true);
}

/// Whether the program makes values of one type of those of another when it reads the file.
static bool isConverted(Type from, Type to) {
  auto isFloat = [](Type type) { return type.isF32() || type.isF16() || type.isBF16(); };
  return isFloat(from) && isFloat(to) && from != to;
}

/// The type that an initializer has in the model. A text may name one that the model does not have
/// so.
static llvm::Expected<RankedTensorType> typeInModel(mtc::onnx::Model &model, InitializerAttr source,
                                                    RankedTensorType type) {
  auto found = model.initializerType(type.getContext(), source.getName());
  if (found && *found != type &&
      !(found->getShape() == type.getShape() &&
        isConverted(found->getElementType(), type.getElementType()))) {
    std::string text;
    llvm::raw_string_ostream(text) << "it is " << *found << " in the model, expected " << type;
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

static llvm::Expected<FileTensor> tensorOf(mtc::onnx::Model *model, InitializerAttr source,
                                           RankedTensorType type) {
  if (!model)
    return llvm::createStringError("the model is missing");
  auto found = typeInModel(*model, source, type);
  if (!found)
    return found.takeError();
  auto bytes = model->initializerBytes(source.getName());
  if (!bytes)
    return bytes.takeError();
  return FileTensor{*found, *bytes};
}

FailureOr<Weights> Weights::collect(ModuleOp module, onnx::Model *model) {
  Weights weights;
  llvm::json::Object header;
  int64_t offset = 0;
  unsigned missing = 0;
  for (auto variable : module.getOps<VariableOp>()) {
    auto stored = dyn_cast<StoredAttr>(variable.getInitial());
    auto source = dyn_cast<InitializerAttr>(stored ? stored.getSource() : variable.getInitial());
    if (!source)
      continue;
    llvm::Expected<FileTensor> tensor = tensorOf(model, source, variable.getSourceType());
    if (!tensor) {
      std::string reason = llvm::toString(tensor.takeError());
      if (++missing <= 3)
        emitError(UnknownLoc::get(module.getContext()))
            << "initializer '" << source.getName() << "': " << reason;
      continue;
    }
    RankedTensorType type = tensor->type;
    int64_t end = offset + tensor->bytes.size();
    header[variable.getSymName()] =
        llvm::json::Object{{"dtype", safetensorsType(type.getElementType())},
                           {"shape", llvm::json::Array(type.getShape())},
                           {"data_offsets", llvm::json::Array{offset, end}}};
    weights.pieces.push_back(tensor->bytes);
    offset = end;
  }
  if (missing)
    return emitError(UnknownLoc::get(module.getContext()))
           << "the data of " << missing
           << " initializers is missing; put the file beside the model, or draw the parameters "
              "with --init normal:0.02";

  weights.digest = digestOf(
      llvm::formatv("{0}", llvm::json::Value(llvm::json::Object(header))).str(), weights.pieces);
  header["__metadata__"] = llvm::json::Object{{MTC_WEIGHTS_DIGEST, weights.digest}};
  weights.header = llvm::formatv("{0}", llvm::json::Value(std::move(header)));
  weights.header.append((8 - weights.header.size() % 8) % 8, ' ');
  return weights;
}

void Weights::write(raw_ostream &os) const {
  char length[8];
  llvm::support::endian::write64le(length, header.size());
  os.write(length, 8);
  os << header;
  for (ArrayRef<char> piece : pieces)
    os.write(piece.data(), piece.size());
}
