//===- DeviceAttention.cpp - Launches of attention's device code ------------------------------===//

#include "codegen/cuda/DeviceCallKinds.h"
#include "codegen/cuda/device/AttentionTiles.h"
#include "runtime/abi/attention.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

#include <limits>

using namespace llvm;
using namespace mtc;
using namespace mtc::cuda;
using namespace mtc::gpu;

static constexpr unsigned sharedSpace = 3;

/// Returns the number of bytes from the first to the last element of a strided tensor.
static int64_t extentOf(ArrayRef<int64_t> shape, const int64_t *strides, int64_t elementBytes) {
  int64_t last = 0;
  for (auto [i, extent] : enumerate(shape))
    last += (extent - 1) * strides[i];
  return (last + 1) * elementBytes;
}

/// An element type of the device code: its name in entry points, its size, and the size of its
/// accumulator type.
struct AttentionType {
  StringRef name;
  int bytes, sumBytes;
};

static std::optional<AttentionType> typeOf(const MtcAttention &p) {
  switch (p.type) {
  case MTC_F64:
    return AttentionType{"f64", 8, 8};
  case MTC_F32:
    return AttentionType{"f32", 4, 4};
  case MTC_F16:
    return AttentionType{"f16", 2, 4};
  case MTC_BF16:
    return AttentionType{"bf16", 2, 4};
  default:
    return std::nullopt;
  }
}

static SmallVector<int64_t> extentsOf(const MtcAttention &p, bool isGradient,
                                      const AttentionType &type) {
  const int64_t bytes = type.bytes;
  const int64_t query[] = {p.batch, p.heads, p.queries, p.width},
                key[] = {p.batch, p.key_heads, p.keys, p.width},
                value[] = {p.batch, p.key_heads, p.keys, p.value_width},
                out[] = {p.batch, p.heads, p.queries, p.value_width},
                scores[] = {p.batch, p.heads, p.queries, p.keys},
                rowBytes = p.batch * p.heads * p.queries * type.sumBytes;
  SmallVector<int64_t> extents = {extentOf(query, p.query, bytes), extentOf(key, p.key, bytes),
                                  extentOf(value, p.value, bytes)};
  if (p.has_bias)
    extents.push_back(extentOf(scores, p.bias, bytes));
  if (p.has_mask)
    extents.push_back(extentOf(scores, p.mask, 1));
  if (!isGradient) {
    extents.append({extentOf(out, p.out, bytes), rowBytes});
  } else {
    extents.append({rowBytes, rowBytes, extentOf(out, p.out, bytes)});
    if (p.has_out)
      extents.push_back(extentOf(out, p.saved_out, bytes));
    extents.append({extentOf(query, p.d_query, bytes), extentOf(key, p.d_key, bytes),
                    extentOf(value, p.d_value, bytes)});
  }
  extents.push_back(0); // scratch
  return extents;
}

/// Returns the description of an attention call, or null for other calls.
static const MtcAttention *attentionOf(CallAttrInterface call) {
  if (!isa<AttentionCallAttr, AttentionGradientCallAttr>(call))
    return nullptr;
  return reinterpret_cast<const MtcAttention *>(call.getBytes().data());
}

std::optional<DeviceCall> cuda::planAttention(CallAttrInterface call,
                                              ContractionPrecision contractions) {
  const MtcAttention *attention = attentionOf(call);
  if (!attention)
    return std::nullopt;
  const MtcAttention &p = *attention;
  const bool isGradient = isa<AttentionGradientCallAttr>(call);
  std::optional<AttentionType> type = typeOf(p);
  if (!type)
    return std::nullopt;
  const int bytes = type->sumBytes; // of a tile's elements
  const int width = paddedWidth(bytes, std::max(p.width, p.value_width));
  if (!width || std::min({p.batch, p.heads, p.queries, p.keys, p.width, p.value_width}) < 1)
    return std::nullopt;

  const bool usesTensorCores = contractions == ContractionPrecision::TF32;
  const Products products =
      usesTensorCores && p.type == MTC_F32 && hasTensorTiles(width, isGradient) ? Products::Tf32
                                                                                : Products::Plain;
  const std::string precision = products == Products::Tf32 ? "tf32" : type->name.str(),
                    symbol = symbolOf(call, "attention_" + precision),
                    form = "_" + precision + "_" + std::to_string(width);
  DeviceCall plan;
  plan.extents = extentsOf(p, isGradient, *type);
  auto add = [&](const std::string &suffix, StringRef entry, const AttentionTiles &tiles,
                 int64_t heads, int64_t lines) {
    Launch launch;
    launch.symbol = symbol + suffix;
    launch.grid[0] = p.batch * heads * ((lines + tiles.rows - 1) / tiles.rows);
    launch.block[0] = tiles.threads();
    launch.sharedBytes = tiles.sharedBytes();
    plan.parts.push_back({launch, (entry + form).str()});
    return launch.grid[0] <= std::numeric_limits<int32_t>::max();
  };
  const AttentionTiles forward = attentionTiles(bytes, width, products),
                       backward = attentionGradientTiles(bytes, width, products);
  const bool fits =
      isGradient ? add("_keys", "mtc_differentiate_keys", backward, p.key_heads, p.keys) &&
                       add("_queries", "mtc_differentiate_queries", backward, p.heads, p.queries)
                 : add("", "mtc_attend", forward, p.heads, p.queries);
  return fits ? std::optional(plan) : std::nullopt;
}

static Constant *addSharedMemory(Module &module, const Launch &launch) {
  auto *storage = ArrayType::get(Type::getInt8Ty(module.getContext()), launch.sharedBytes);
  auto *shared =
      new GlobalVariable(module, storage, /*isConstant=*/false, GlobalValue::InternalLinkage,
                         PoisonValue::get(storage), launch.symbol + "_shared", nullptr,
                         GlobalValue::NotThreadLocal, sharedSpace);
  shared->setAlignment(Align(16));
  return shared;
}

SmallVector<Value *> cuda::attentionArguments(CallAttrInterface call, const Launch &launch,
                                              Function &kernel) {
  const MtcAttention &p = *attentionOf(call);
  const bool isGradient = isa<AttentionGradientCallAttr>(call);
  SmallVector<Value *> arguments;
  auto *next = kernel.arg_begin();
  Value *null = ConstantPointerNull::get(cast<PointerType>(next->getType()));
  for (int i = 0; i < 3; ++i)
    arguments.push_back(next++);
  arguments.push_back(p.has_bias ? next++ : null);
  arguments.push_back(p.has_mask ? next++ : null);
  auto *results = kernel.arg_end() - (isGradient ? 4 : 3);
  while (next != results)
    arguments.push_back(next++);
  if (isGradient && p.has_out)
    arguments.pop_back();              // only used to compute the offsets
  while (next + 1 != kernel.arg_end()) // all except the scratch buffer
    arguments.push_back(next++);
  arguments.push_back(addSharedMemory(*kernel.getParent(), launch));
  return arguments;
}
