//===- DeviceCall.cpp - Library calls computed by built-in device code ------------------------===//

#include "codegen/cuda/DeviceCall.h"

#include "codegen/cuda/DeviceCallKinds.h"
#include "codegen/cuda/DeviceCode.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;
using namespace mtc;
using namespace mtc::cuda;
using namespace mtc::gpu;

static const unsigned char attentionBitcode[] = {
#embed "attention.bc"
};
static const unsigned char recurrenceBitcode[] = {
#embed "recurrence.bc"
};

static constexpr DeviceCallKind kinds[] = {
    {attentionBitcode, planAttention, attentionArguments},
    {recurrenceBitcode, planRecurrence, recurrenceArguments},
};

static constexpr unsigned globalSpace = 1;

//===------------------------------------------------------------------------------------------===//
// Planning
//===------------------------------------------------------------------------------------------===//

SmallVector<Launch> DeviceCall::launches() const {
  return map_to_vector(parts, [](const Part &part) { return part.launch; });
}

std::string cuda::symbolOf(CallAttrInterface call, const Twine &name) {
  return (name + "_" + utohexstr(xxh3_64bits(call.getBytes()), /*LowerCase=*/true)).str();
}

std::optional<DeviceCall> cuda::planDeviceCall(CallAttrInterface call,
                                               ContractionPrecision contractions) {
  for (const DeviceCallKind &kind : kinds)
    if (std::optional<DeviceCall> plan = kind.plan(call, contractions)) {
      plan->kind = &kind;
      return plan;
    }
  return std::nullopt;
}

//===------------------------------------------------------------------------------------------===//
// Module construction
//===------------------------------------------------------------------------------------------===//

/// Defines mma.sync on a warp's 16 x 8 and 8 x 8 elements of tf32, because C++ has no name for this
/// instruction.
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
static Error linkEntries(Module &module, ArrayRef<unsigned char> bitcode) {
  MemoryBufferRef buffer(toStringRef(bitcode), "device code");
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
    return createStringError("the device code of a call cannot be linked to its kernels");
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

/// Emits a kernel that calls the entry function with the description and the kind's arguments.
static void buildKernel(Module &module, CallAttrInterface call, const DeviceCall &plan,
                        const DeviceCall::Part &part, Constant *description) {
  LLVMContext &context = module.getContext();
  SmallVector<Type *> parameters(plan.extents.size(), PointerType::get(context, globalSpace));
  auto *kernel = Function::Create(FunctionType::get(Type::getVoidTy(context), parameters, false),
                                  GlobalValue::ExternalLinkage, part.launch.symbol, module);
  kernel->setCallingConv(CallingConv::PTX_Kernel);
  kernel->addFnAttr("nvvm.maxntid", std::to_string(part.launch.block[0]) + ",1,1");
  setParameterExtents(*kernel, plan.extents);

  SmallVector<Value *> arguments = {description};
  append_range(arguments, plan.kind->arguments(call, part.launch, *kernel));
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
  // Loads from the constant are folded, so that the constant is removed.
  auto *description = new GlobalVariable(
      *module, ArrayType::get(Type::getInt8Ty(context), call.getBytes().size()),
      /*isConstant=*/true, GlobalValue::InternalLinkage,
      ConstantDataArray::getString(context, call.getBytes(), /*AddNull=*/false), "description");
  description->setAlignment(Align(alignof(int64_t))); // of every description
  for (const DeviceCall::Part &part : plan.parts)
    buildKernel(*module, call, plan, part, description);
  if (Error error = linkEntries(*module, plan.kind->bitcode))
    return error;
  return module;
}
