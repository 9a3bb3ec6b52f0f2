//===- Weights.cpp - Initial weights beside the program ---------------------------------------===//

#include "Weights.h"

#include "ir/Mtc.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
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

bool mtc::tool::needsWeights(ModuleOp module) {
  return llvm::any_of(module.getOps<VariableOp>(), [](VariableOp variable) {
    return isa<InitializerAttr>(variable.getInitial());
  });
}

LogicalResult mtc::tool::writeWeights(ModuleOp module, onnx::Model &model, StringRef path) {
  llvm::json::Object header;
  SmallVector<ArrayRef<char>> pieces;
  int64_t offset = 0;
  unsigned missing = 0;
  for (auto variable : module.getOps<VariableOp>()) {
    auto source = dyn_cast<InitializerAttr>(variable.getInitial());
    if (!source)
      continue;
    auto bytes = model.initializerBytes(module.getContext(), source.getName());
    if (!bytes) {
      std::string reason = llvm::toString(bytes.takeError());
      if (++missing <= 3)
        emitError(UnknownLoc::get(module.getContext()))
            << "initializer '" << source.getName() << "': " << reason;
      continue;
    }
    RankedTensorType type = variable.getTensorType();
    int64_t end = offset + bytes->size();
    header[variable.getSymName()] =
        llvm::json::Object{{"dtype", safetensorsType(type.getElementType())},
                           {"shape", llvm::json::Array(type.getShape())},
                           {"data_offsets", llvm::json::Array{offset, end}}};
    pieces.push_back(*bytes);
    offset = end;
  }
  if (missing)
    return emitError(UnknownLoc::get(module.getContext()))
           << "the data of " << missing
           << " initializers is missing; put the file beside the model, or draw the parameters "
              "with --init normal:0.02";

  std::string text = llvm::formatv("{0}", llvm::json::Value(std::move(header)));
  text.append((8 - text.size() % 8) % 8, ' ');
  auto temporary = llvm::sys::fs::TempFile::create(path + ".%%%%%%", 0666);
  if (!temporary)
    return emitError(UnknownLoc::get(module.getContext()))
           << path << ": cannot be written: " << llvm::toString(temporary.takeError());
  auto discard = [&](const Twine &reason) {
    llvm::consumeError(temporary->discard());
    return emitError(UnknownLoc::get(module.getContext()))
           << path << ": cannot be written: " << reason.str();
  };
  {
    llvm::raw_fd_ostream stream(temporary->FD, /*shouldClose=*/false);
    char length[8];
    llvm::support::endian::write64le(length, text.size());
    stream.write(length, 8);
    stream << text;
    for (ArrayRef<char> piece : pieces)
      stream.write(piece.data(), piece.size());
    stream.flush();
    if (stream.has_error()) {
      std::string reason = stream.error().message();
      stream.clear_error();
      return discard(reason);
    }
  }
  if (llvm::Error error = temporary->keep(path))
    return discard(llvm::toString(std::move(error)));
  return success();
}
