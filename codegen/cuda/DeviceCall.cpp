//===- DeviceCall.cpp - Library calls that device code of mtc's own computes ------------------===//

#include "codegen/cuda/DeviceCall.h"

#include "codegen/cuda/DeviceCode.h"
#include "codegen/cuda/device/AttentionTiles.h"
#include "runtime/abi/attention.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/Internalize.h"

#include <cstring>
#include <limits>

using namespace llvm;
using namespace mtc;
using namespace mtc::cuda;

static const unsigned char attentionBitcode[] = {
#embed "attention.bc"
};

static constexpr unsigned globalSpace = 1, sharedSpace = 3;

//===------------------------------------------------------------------------------------------===//
// Plans
//===------------------------------------------------------------------------------------------===//

SmallVector<Launch> DeviceCall::launches() const {
  return map_to_vector(parts, [](const Part &part) { return part.launch; });
}

/// Bytes from the first to the last element of a strided tensor.
static int64_t extentOf(ArrayRef<int64_t> shape, const int64_t *strides, int64_t elementBytes) {
  int64_t last = 0;
  for (auto [i, extent] : enumerate(shape))
    last += (extent - 1) * strides[i];
  return (last + 1) * elementBytes;
}

static SmallVector<int64_t> extentsOf(const MtcAttention &p, bool isGradient, int64_t bytes) {
  const int64_t query[] = {p.batch, p.heads, p.queries, p.width},
                key[] = {p.batch, p.key_heads, p.keys, p.width},
                value[] = {p.batch, p.key_heads, p.keys, p.value_width},
                out[] = {p.batch, p.heads, p.queries, p.value_width},
                scores[] = {p.batch, p.heads, p.queries, p.keys},
                rowBytes = p.batch * p.heads * p.queries * bytes;
  SmallVector<int64_t> extents = {extentOf(query, p.query, bytes), extentOf(key, p.key, bytes),
                                  extentOf(value, p.value, bytes)};
  if (p.has_bias)
    extents.push_back(extentOf(scores, p.bias, bytes));
  if (p.has_mask)
    extents.push_back(extentOf(scores, p.mask, 1));
  if (isGradient)
    extents.append({rowBytes, rowBytes, extentOf(out, p.out, bytes),
                    extentOf(query, p.d_query, bytes), extentOf(key, p.d_key, bytes),
                    extentOf(value, p.d_value, bytes)});
  else
    extents.append({extentOf(out, p.out, bytes), rowBytes});
  extents.push_back(0); // scratch
  return extents;
}

std::optional<DeviceCall> cuda::planDeviceCall(const CallDescription &call) {
  if (call.kind != MTC_ATTENTION && call.kind != MTC_ATTENTION_GRADIENT)
    return std::nullopt;
  const bool isGradient = call.kind == MTC_ATTENTION_GRADIENT;
  MtcAttention p;
  std::memcpy(&p, call.bytes.data(), sizeof(p));
  if (p.type != MTC_F32 && p.type != MTC_F64)
    return std::nullopt;
  const int bytes = p.type == MTC_F64 ? 8 : 4;
  const int width = paddedWidth(bytes, std::max(p.width, p.value_width));
  if (!width || std::min({p.batch, p.heads, p.queries, p.keys, p.width, p.value_width}) < 1)
    return std::nullopt;

  const std::string symbol = "attention_" + utohexstr(xxh3_64bits(call.bytes), /*LowerCase=*/true),
                    form = (bytes == 8 ? "_f64_" : "_f32_") + std::to_string(width);
  DeviceCall plan;
  plan.extents = extentsOf(p, isGradient, bytes);
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
  const AttentionTiles forward = attentionTiles(bytes, width),
                       backward = attentionGradientTiles(bytes, width);
  const bool fits =
      isGradient ? add("_keys", "mtc_differentiate_keys", backward, p.key_heads, p.keys) &&
                       add("_queries", "mtc_differentiate_queries", backward, p.heads, p.queries)
                 : add("", "mtc_attend", forward, p.heads, p.queries);
  return fits ? std::optional(plan) : std::nullopt;
}

//===------------------------------------------------------------------------------------------===//
// Modules
//===------------------------------------------------------------------------------------------===//

/// Links what the module uses of the device's code, to be inlined.
static Error linkEntries(Module &module) {
  MemoryBufferRef buffer(toStringRef(ArrayRef(attentionBitcode)), "attention.bc");
  Expected<std::unique_ptr<Module>> code = getLazyBitcodeModule(buffer, module.getContext());
  if (!code)
    return code.takeError();
  module.setTargetTriple((*code)->getTargetTriple());
  module.setDataLayout((*code)->getDataLayout());
  if (Linker::linkModules(module, std::move(*code), Linker::LinkOnlyNeeded,
                          [](Module &linked, const StringSet<> &added) {
                            internalizeModule(linked, [&](const GlobalValue &value) {
                              return !value.hasName() || !added.contains(value.getName());
                            });
                          }))
    return createStringError("attention's code cannot be linked to its kernels");
  for (Function &function : module) {
    // It was compiled for the oldest architecture; the kernel's is chosen later.
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
    if (!function.isDeclaration() && function.getCallingConv() != CallingConv::PTX_Kernel)
      function.addFnAttr(Attribute::AlwaysInline);
  }
  return Error::success();
}

/// For each kernel of the module, since all of a call's have the same tiles.
static Constant *addSharedMemory(Module &module, const DeviceCall &plan) {
  auto *storage =
      ArrayType::get(Type::getInt8Ty(module.getContext()), plan.parts.front().launch.sharedBytes);
  auto *shared = new GlobalVariable(module, storage, /*isConstant=*/false,
                                    GlobalValue::InternalLinkage, PoisonValue::get(storage),
                                    "shared", nullptr, GlobalValue::NotThreadLocal, sharedSpace);
  shared->setAlignment(Align(16));
  return shared;
}

/// Calls the part's entry with the description, the operands, null for those that the call has not,
/// and shared memory.
static void buildKernel(Module &module, const DeviceCall &plan, const DeviceCall::Part &part,
                        const MtcAttention &p, Constant *description, Constant *shared) {
  LLVMContext &context = module.getContext();
  auto *global = PointerType::get(context, globalSpace);
  SmallVector<Type *> parameters(plan.extents.size(), global);
  auto *kernel = Function::Create(FunctionType::get(Type::getVoidTy(context), parameters, false),
                                  GlobalValue::ExternalLinkage, part.launch.symbol, module);
  kernel->setCallingConv(CallingConv::PTX_Kernel);
  kernel->addFnAttr("nvvm.maxntid", std::to_string(part.launch.block[0]) + ",1,1");
  setParameterExtents(*kernel, plan.extents);

  SmallVector<Value *> arguments = {description};
  Value *null = ConstantPointerNull::get(global);
  auto *next = kernel->arg_begin();
  for (int i = 0; i < 3; ++i)
    arguments.push_back(next++);
  arguments.push_back(p.has_bias ? next++ : null);
  arguments.push_back(p.has_mask ? next++ : null);
  while (next + 1 != kernel->arg_end()) // all but the scratch
    arguments.push_back(next++);
  arguments.push_back(shared);

  SmallVector<Type *> types = map_to_vector(arguments, [](Value *v) { return v->getType(); });
  FunctionCallee entry = module.getOrInsertFunction(
      part.entry, FunctionType::get(Type::getVoidTy(context), types, false));
  IRBuilder<> builder(BasicBlock::Create(context, "", kernel));
  builder.CreateCall(entry, arguments);
  builder.CreateRetVoid();
}

Expected<std::unique_ptr<Module>>
cuda::buildDeviceCall(const CallDescription &call, const DeviceCall &plan, LLVMContext &context) {
  auto module = std::make_unique<Module>(plan.parts.front().launch.symbol, context);
  MtcAttention p;
  std::memcpy(&p, call.bytes.data(), sizeof(p));
  // Loads of it fold, and then it is gone.
  auto *description = new GlobalVariable(
      *module, ArrayType::get(Type::getInt8Ty(context), call.bytes.size()),
      /*isConstant=*/true, GlobalValue::InternalLinkage,
      ConstantDataArray::getString(context, call.bytes, /*AddNull=*/false), "description");
  description->setAlignment(Align(alignof(MtcAttention)));
  Constant *shared = addSharedMemory(*module, plan);
  for (const DeviceCall::Part &part : plan.parts)
    buildKernel(*module, plan, part, p, description, shared);
  if (Error error = linkEntries(*module))
    return error;
  return module;
}
