//===- Converters.cpp - Which function converts which operator --------------------------------===//

#include "frontend/convert/Converters.h"

#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {

const Converters &Converters::get() {
  static const Converters converters = [] {
    Converters all;
    registerActivationConverters(all);
    registerAttentionConverters(all);
    registerBinaryConverters(all);
    registerContractionConverters(all);
    registerDropoutConverters(all);
    registerEinsumConverters(all);
    registerElementwiseConverters(all);
    registerIndexingConverters(all);
    registerLossConverters(all);
    registerMovementConverters(all);
    registerNormalizationConverters(all);
    registerPaddingConverters(all);
    registerReductionConverters(all);
    registerScatterConverters(all);
    registerSelectionConverters(all);
    registerShapeConverters(all);
    registerSoftmaxConverters(all);
    return all;
  }();
  return converters;
}

void Converters::add(StringRef name, int64_t sinceVersion, Function convert) {
  entries[name].push_back({sinceVersion, std::move(convert)});
}

const SmallVector<Converters::Entry, 1> *Converters::find(StringRef domain, StringRef name) const {
  auto found = domain.empty() || domain == "ai.onnx" ? entries.find(name)
                                                     : entries.find((domain + "::" + name).str());
  return found == entries.end() ? nullptr : &found->second;
}

std::vector<StringRef> Converters::names() const {
  std::vector<StringRef> all(entries.keys().begin(), entries.keys().end());
  llvm::sort(all);
  return all;
}

/// mtc has no tensors of some element types that ONNX has.
static LogicalResult checkElementTypes(Conversion &node) {
  auto supported = [](Type type) {
    if (!isa<RankedTensorType>(type))
      return true;
    Type element = getElementTypeOrSelf(type);
    return isa<Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType,
               Float8E5M2Type>(element) ||
           (isa<IntegerType>(element) &&
            llvm::is_contained({1, 8, 16, 32, 64}, element.getIntOrFloatBitWidth()));
  };
  for (Type type : llvm::concat<const Type>(llvm::to_vector(node.op().getInputs().getTypes()),
                                            llvm::to_vector(node.op().getOutputs().getTypes())))
    if (!supported(type))
      return node.failure("element type " + llvm::to_string(getElementTypeOrSelf(type)) +
                          " is not supported; convert the model to another type");
  return success();
}

/// Results without elements need no arithmetic.
static bool defineEmptyResults(Conversion &node) {
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (node.wants(i) && node.resultType(i).getNumElements() != 0)
      return false;
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (node.wants(i))
      (void)node.result(
          i, node.b.constant(DenseElementsAttr::get(node.resultType(i), ArrayRef<Attribute>())));
  return true;
}

LogicalResult convert(Conversion &node) {
  const auto *entries = Converters::get().find(node.domain(), node.opType());
  if (!entries)
    return node.failure("the operator is not supported");
  const Converters::Entry *best = nullptr;
  int64_t oldest = INT64_MAX;
  for (const Converters::Entry &entry : *entries) {
    oldest = std::min(oldest, entry.sinceVersion);
    if (entry.sinceVersion <= node.version() && (!best || entry.sinceVersion > best->sinceVersion))
      best = &entry;
  }
  if (!best)
    return node.failure("the definition of this version is not supported, that of version " +
                        Twine(oldest) + " and later is; convert the model to a newer opset");
  if (failed(checkElementTypes(node)))
    return failure();
  if (defineEmptyResults(node))
    return success();
  return best->convert(node);
}

} // namespace mtc::onnx
