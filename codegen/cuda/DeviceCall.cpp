//===- DeviceCall.cpp - Library calls computed by built-in device code ------------------------===//

#include "codegen/cuda/DeviceCall.h"

#include "codegen/cuda/DeviceCode.h"
#include "codegen/cuda/device/AttentionTiles.h"
#include "runtime/abi/attention.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
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
// Planning
//===------------------------------------------------------------------------------------------===//

SmallVector<Launch> DeviceCall::launches() const {
  return map_to_vector(parts, [](const Part &part) { return part.launch; });
}

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

std::optional<DeviceCall> cuda::planDeviceCall(CallAttrInterface call,
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
                    symbol = "attention_" + precision + "_" +
                             utohexstr(xxh3_64bits(call.getBytes()), /*LowerCase=*/true),
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

//===------------------------------------------------------------------------------------------===//
// Module construction
//===------------------------------------------------------------------------------------------===//

/// Defines mma.sync on a warp's 16 x 8 and 8 x 8 elements of tf32, which C++ has no name for.
static void defineMultiply(Function &function) {
  LLVMContext &context = function.getContext();
  IRBuilder<> builder(BasicBlock::Create(context, "", &function));
  Type *f32 = builder.getFloatTy();
  auto place = [&](unsigned i) {
    return builder.CreateConstInBoundsGEP1_64(f32, function.getArg(0), i);
  };
  SmallVector<Value *> operands(make_pointer_range(drop_begin(function.args())));
  for (unsigned i = 0; i < 4; ++i)
    operands.push_back(builder.CreateLoad(f32, place(i)));
  Value *sums = builder.CreateIntrinsic(Intrinsic::nvvm_mma_m16n8k8_row_col_tf32, {}, operands);
  for (unsigned i = 0; i < 4; ++i)
    builder.CreateStore(builder.CreateExtractValue(sums, i), place(i));
  builder.CreateRetVoid();
}

/// Links the used functions of the device code into the module, to be inlined.
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
  if (Function *multiply = module.getFunction("mtc_multiply_tf32")) {
    defineMultiply(*multiply);
    multiply->setLinkage(GlobalValue::InternalLinkage);
  }
  for (Function &function : module) {
    // The code was compiled for the oldest architecture; the architecture is selected later.
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
    if (!function.isDeclaration() && function.getCallingConv() != CallingConv::PTX_Kernel)
      function.addFnAttr(Attribute::AlwaysInline);
  }
  return Error::success();
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

/// Emits a kernel that calls the entry function with the description, the operands (null for absent
/// ones) and shared memory.
static void buildKernel(Module &module, const DeviceCall &plan, const DeviceCall::Part &part,
                        const MtcAttention &p, bool isGradient, Constant *description) {
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
  auto *results = kernel->arg_end() - (isGradient ? 4 : 3);
  while (next != results)
    arguments.push_back(next++);
  if (isGradient && p.has_out)
    arguments.pop_back();               // only used to compute the offsets
  while (next + 1 != kernel->arg_end()) // all except the scratch buffer
    arguments.push_back(next++);
  arguments.push_back(addSharedMemory(module, part.launch));

  SmallVector<Type *> types = map_to_vector(arguments, [](Value *v) { return v->getType(); });
  FunctionCallee entry = module.getOrInsertFunction(
      part.entry, FunctionType::get(Type::getVoidTy(context), types, false));
  IRBuilder<> builder(BasicBlock::Create(context, "", kernel));
  builder.CreateCall(entry, arguments);
  builder.CreateRetVoid();
}

Expected<std::unique_ptr<Module>>
cuda::buildDeviceCall(CallAttrInterface call, const DeviceCall &plan, LLVMContext &context) {
  auto module = std::make_unique<Module>(plan.parts.front().launch.symbol, context);
  // Loads of the constant fold, so that it is removed.
  auto *description = new GlobalVariable(
      *module, ArrayType::get(Type::getInt8Ty(context), call.getBytes().size()),
      /*isConstant=*/true, GlobalValue::InternalLinkage,
      ConstantDataArray::getString(context, call.getBytes(), /*AddNull=*/false), "description");
  description->setAlignment(Align(alignof(MtcAttention)));
  for (const DeviceCall::Part &part : plan.parts)
    buildKernel(*module, plan, part, *attentionOf(call), isa<AttentionGradientCallAttr>(call),
                description);
  if (Error error = linkEntries(*module))
    return error;
  return module;
}
