//===- Emulation.cpp - Compilation of device code for the CPU ---------------------------------===//

#include "codegen/cuda/emulated/Emulation.h"

#include "codegen/cuda/DeviceCode.h"
#include "codegen/cuda/emulated/EmulatedAccess.h"
#include "codegen/host/LLVMPasses.h"
#include "codegen/host/Processor.h"
#include "runtime/abi/emulation.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"

#include <cstddef>

using namespace llvm;
using namespace mtc;
using namespace mtc::cuda;

namespace {

constexpr unsigned sharedSpace = 3, warpSize = 32;

/// Converts a kernel to a function that runs one thread.
class KernelEmulation {
public:
  KernelEmulation(Function &kernel, uint32_t sharedBytes,
                  const DenseMap<GlobalVariable *, uint32_t> &sharedOffsets)
      : kernel(kernel), module(*kernel.getParent()), builder(kernel.getContext()),
        sharedBytes(sharedBytes), sharedOffsets(sharedOffsets) {}

  Error run();

private:
  void moveBody(uint32_t granule);
  void replaceShared();
  Error replaceCall(CallInst &call);
  Value *replaceSpecialRegister(Intrinsic::ID id);
  Value *replaceShuffle(CallInst &call, Intrinsic::ID id);
  Value *replaceVote(CallInst &call, Intrinsic::ID id);
  Value *replaceProduct(CallInst &call, Intrinsic::ID id);
  Value *store(ArrayRef<Value *> values);
  Error replaceMath(CallInst &call, StringRef name);

  Value *loadField(Value *base, size_t offset, Type *type) {
    return builder.CreateLoad(type, builder.CreateConstGEP1_64(builder.getInt8Ty(), base, offset));
  }
  Value *emulatorCall(StringRef name, Type *result, ArrayRef<Value *> arguments) {
    SmallVector<Type *> types(map_range(arguments, [](Value *v) { return v->getType(); }));
    return builder.CreateCall(
        module.getOrInsertFunction(name, FunctionType::get(result, types, false)), arguments);
  }

  Function &kernel;
  Module &module;
  IRBuilder<> builder;
  uint32_t sharedBytes;
  const DenseMap<GlobalVariable *, uint32_t> &sharedOffsets;

  Function *emulated = nullptr;
  Value *thread = nullptr, *block = nullptr;
  SmallVector<Value *> parameters;
  unsigned barriers = 0, warpOperations = 0;
};

/// Rewrites void kernel(p0, p1, …) to void emulated(char *const *parameters), which first loads the
/// parameters and the state of the emulated thread.
void KernelEmulation::moveBody(uint32_t granule) {
  builder.SetInsertPoint(&*kernel.getEntryBlock().getFirstInsertionPt());
  auto *type = FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  emulated = Function::Create(type, GlobalValue::ExternalLinkage, emulatedSymbol(kernel.getName()),
                              module);
  emulated->splice(emulated->end(), &kernel);
  thread = emulatorCall("mtc_emulated_enter", builder.getPtrTy(),
                        {builder.getInt32(sharedBytes), builder.getInt32(granule)});
  block = loadField(thread, offsetof(MtcEmulatedThread, block), builder.getPtrTy());
  for (Argument &argument : kernel.args()) {
    Value *parameter =
        loadField(emulated->getArg(0), argument.getArgNo() * sizeof(char *), builder.getPtrTy());
    parameters.push_back(parameter);
    argument.replaceAllUsesWith(builder.CreateAddrSpaceCast(parameter, argument.getType()));
  }
}

/// Replaces shared variables by addresses in the emulated block's shared memory.
void KernelEmulation::replaceShared() {
  if (sharedOffsets.empty())
    return;
  Value *shared = loadField(block, offsetof(MtcEmulatedBlock, shared), builder.getPtrTy());
  for (auto [global, offset] : sharedOffsets) {
    Value *place = builder.CreateAddrSpaceCast(
        builder.CreateConstGEP1_64(builder.getInt8Ty(), shared, offset), global->getType());
    global->replaceUsesWithIf(place, [&](Use &use) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      return user && user->getFunction() == emulated;
    });
  }
}

Value *KernelEmulation::replaceSpecialRegister(Intrinsic::ID id) {
  auto ofThread = [&](unsigned axis) {
    return loadField(thread, offsetof(MtcEmulatedThread, index) + axis * sizeof(uint32_t),
                     builder.getInt32Ty());
  };
  auto ofBlock = [&](size_t field, unsigned axis) {
    return loadField(block, field + axis * sizeof(uint32_t), builder.getInt32Ty());
  };
  switch (id) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    return ofThread(0);
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    return ofThread(1);
  case Intrinsic::nvvm_read_ptx_sreg_tid_z:
    return ofThread(2);
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    return ofBlock(offsetof(MtcEmulatedBlock, index), 0);
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
    return ofBlock(offsetof(MtcEmulatedBlock, index), 1);
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    return ofBlock(offsetof(MtcEmulatedBlock, index), 2);
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
    return ofBlock(offsetof(MtcEmulatedBlock, size), 0);
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
    return ofBlock(offsetof(MtcEmulatedBlock, size), 1);
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
    return ofBlock(offsetof(MtcEmulatedBlock, size), 2);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    return ofBlock(offsetof(MtcEmulatedBlock, grid), 0);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
    return ofBlock(offsetof(MtcEmulatedBlock, grid), 1);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
    return ofBlock(offsetof(MtcEmulatedBlock, grid), 2);
  case Intrinsic::nvvm_read_ptx_sreg_laneid:
    return loadField(thread, offsetof(MtcEmulatedThread, lane), builder.getInt32Ty());
  case Intrinsic::nvvm_read_ptx_sreg_warpsize:
    return builder.getInt32(warpSize);
  default:
    return nullptr;
  }
}

Value *KernelEmulation::replaceShuffle(CallInst &call, Intrinsic::ID id) {
  unsigned kind;
  switch (id) {
  case Intrinsic::nvvm_shfl_sync_up_i32:
  case Intrinsic::nvvm_shfl_sync_up_f32:
  case Intrinsic::nvvm_shfl_sync_up_i32p:
  case Intrinsic::nvvm_shfl_sync_up_f32p:
    kind = MTC_SHUFFLE_UP;
    break;
  case Intrinsic::nvvm_shfl_sync_down_i32:
  case Intrinsic::nvvm_shfl_sync_down_f32:
  case Intrinsic::nvvm_shfl_sync_down_i32p:
  case Intrinsic::nvvm_shfl_sync_down_f32p:
    kind = MTC_SHUFFLE_DOWN;
    break;
  case Intrinsic::nvvm_shfl_sync_bfly_i32:
  case Intrinsic::nvvm_shfl_sync_bfly_f32:
  case Intrinsic::nvvm_shfl_sync_bfly_i32p:
  case Intrinsic::nvvm_shfl_sync_bfly_f32p:
    kind = MTC_SHUFFLE_BUTTERFLY;
    break;
  case Intrinsic::nvvm_shfl_sync_idx_i32:
  case Intrinsic::nvvm_shfl_sync_idx_f32:
  case Intrinsic::nvvm_shfl_sync_idx_i32p:
  case Intrinsic::nvvm_shfl_sync_idx_f32p:
    kind = MTC_SHUFFLE_INDEX;
    break;
  default:
    return nullptr;
  }
  Type *i32 = builder.getInt32Ty();
  Value *value = call.getArgOperand(1);
  Value *both = emulatorCall("mtc_emulated_shuffle", builder.getInt64Ty(),
                             {builder.getInt32(kind), call.getArgOperand(0),
                              builder.CreateBitCast(value, i32), call.getArgOperand(2),
                              call.getArgOperand(3), builder.getInt32(++warpOperations)});
  Value *result = builder.CreateBitCast(builder.CreateTrunc(both, i32), value->getType());
  if (!call.getType()->isStructTy())
    return result;
  Value *inRange = builder.CreateICmpNE(builder.CreateLShr(both, 32), builder.getInt64(0));
  Value *pair = builder.CreateInsertValue(PoisonValue::get(call.getType()), result, 0);
  return builder.CreateInsertValue(pair, inRange, 1);
}

Value *KernelEmulation::replaceVote(CallInst &call, Intrinsic::ID id) {
  auto ballot = [&](Value *predicate) {
    Type *i32 = builder.getInt32Ty();
    return emulatorCall("mtc_emulated_ballot", i32,
                        {call.getArgOperand(0), builder.CreateZExt(predicate, i32),
                         builder.getInt32(++warpOperations)});
  };
  switch (id) {
  case Intrinsic::nvvm_vote_ballot_sync:
    return ballot(call.getArgOperand(1));
  case Intrinsic::nvvm_vote_any_sync:
    return builder.CreateIsNotNull(ballot(call.getArgOperand(1)));
  case Intrinsic::nvvm_vote_all_sync:
    return builder.CreateIsNull(ballot(builder.CreateNot(call.getArgOperand(1))));
  default:
    return nullptr;
  }
}

/// Stores values to thread-private memory.
Value *KernelEmulation::store(ArrayRef<Value *> values) {
  Type *type = ArrayType::get(values.front()->getType(), values.size());
  IRBuilder<> start(&emulated->getEntryBlock(), emulated->getEntryBlock().begin());
  Value *place = start.CreateAlloca(type);
  for (auto [i, value] : enumerate(values))
    builder.CreateStore(value, builder.CreateConstInBoundsGEP2_64(type, place, 0, i));
  return place;
}

/// Replaces mma.m16n8k8 of tf32 and the rounding to tf32.
Value *KernelEmulation::replaceProduct(CallInst &call, Intrinsic::ID id) {
  if (id == Intrinsic::nvvm_f2tf32_rna)
    return emulatorCall("mtc_emulated_round_tf32", call.getType(), {call.getArgOperand(0)});
  if (id != Intrinsic::nvvm_mma_m16n8k8_row_col_tf32)
    return nullptr;
  SmallVector<Value *> operands(call.args());
  ArrayRef<Value *> all = operands;
  Value *sums = store(all.drop_front(6));
  emulatorCall(
      "mtc_emulated_multiply_tf32", builder.getVoidTy(),
      {store(all.take_front(4)), store(all.slice(4, 2)), sums, builder.getInt32(++warpOperations)});
  Value *result = PoisonValue::get(call.getType());
  for (unsigned i = 0; i < 4; ++i)
    result = builder.CreateInsertValue(
        result,
        builder.CreateLoad(builder.getFloatTy(),
                           builder.CreateConstInBoundsGEP1_64(builder.getFloatTy(), sums, i)),
        i);
  return result;
}

/// Replaces CUDA's math functions, including the fast variants, by those of the C library.
Error KernelEmulation::replaceMath(CallInst &call, StringRef name) {
  static constexpr StringLiteral known[] = {
      "acos",  "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt",  "ceil", "copysign",
      "cos",   "cosh",  "erf",  "erfc",  "exp",  "exp2",  "exp10", "expm1", "fabs", "floor",
      "fma",   "fmax",  "fmin", "fmod",  "log",  "log10", "log1p", "log2",  "pow",  "rint",
      "round", "sin",   "sinh", "sqrt",  "tan",  "tanh",  "trunc"};
  StringRef base = name;
  base.consume_front("__nv_");
  base.consume_front("fast_");
  std::string replacement = base.str();
  StringRef stem = call.getType()->isFloatTy() ? base.drop_back() : base;
  if (stem == "rsqrt")
    replacement = "mtc_emulated_" + replacement;
  else if (!is_contained(known, stem))
    return createStringError("'" + name +
                             "' cannot be emulated; expected a function of the C library");
  call.setCalledFunction(module.getOrInsertFunction(
      replacement, call.getFunctionType(),
      AttributeList::get(module.getContext(), AttributeList::FunctionIndex,
                         {Attribute::NoUnwind, Attribute::WillReturn})));
  call.setCallingConv(CallingConv::C);
  call.setAttributes({});
  return Error::success();
}

Error KernelEmulation::replaceCall(CallInst &call) {
  Function *callee = call.getCalledFunction();
  if (!callee)
    return createStringError("inline assembly and calls by address cannot be emulated");
  if (!callee->isIntrinsic())
    return replaceMath(call, callee->getName());
  Intrinsic::ID id = callee->getIntrinsicID();
  builder.SetInsertPoint(&call);
  Type *none = builder.getVoidTy();
  switch (id) {
  case Intrinsic::assume:          // the assumption is not checked
  case Intrinsic::nvvm_membar_cta: // the emulator's threads see memory in order
  case Intrinsic::nvvm_membar_gl:
    break;
  case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
  case Intrinsic::nvvm_barrier_cta_sync_all:
    if (auto *number = dyn_cast<ConstantInt>(call.getArgOperand(0)); !number || !number->isZero())
      return createStringError("barriers other than 0 cannot be emulated");
    emulatorCall("mtc_emulated_barrier", none, {builder.getInt32(++barriers)});
    break;
  case Intrinsic::nvvm_bar_warp_sync:
    emulatorCall("mtc_emulated_warp_barrier", none,
                 {call.getArgOperand(0), builder.getInt32(++warpOperations)});
    break;
  default: {
    Value *replacement = replaceSpecialRegister(id);
    if (!replacement)
      replacement = replaceShuffle(call, id);
    if (!replacement)
      replacement = replaceVote(call, id);
    if (!replacement)
      replacement = replaceProduct(call, id);
    if (!replacement && callee->getName().starts_with("llvm.nvvm."))
      return createStringError("'" + callee->getName() + "' cannot be emulated");
    if (!replacement)
      return Error::success();
    call.replaceAllUsesWith(replacement);
  }
  }
  call.eraseFromParent();
  return Error::success();
}

/// Returns the largest power of two that divides the begin and end of every access to shared
/// memory.
uint32_t sharedGranule(ArrayRef<EmulatedAccess> accesses) {
  uint32_t granule = 16;
  for (const EmulatedAccess &access : accesses)
    if (access.space != EmulatedAccess::Global)
      granule = std::min<uint32_t>({granule, access.alignment, access.bytes & -access.bytes});
  return std::max(granule, 1u);
}

Error KernelEmulation::run() {
  std::vector<EmulatedAccess> accesses = findAccesses(kernel);
  SmallVector<int64_t> extents = parameterExtents(kernel);
  SmallVector<CallInst *> calls;
  for (Instruction &instruction : instructions(kernel))
    if (auto *call = dyn_cast<CallInst>(&instruction))
      calls.push_back(call);
  moveBody(sharedGranule(accesses));
  replaceShared();
  Type *i64 = builder.getInt64Ty();
  AccessContext context{loadField(block, offsetof(MtcEmulatedBlock, memory), i64),
                        loadField(block, offsetof(MtcEmulatedBlock, memory_bytes), i64),
                        loadField(block, offsetof(MtcEmulatedBlock, shadow), builder.getPtrTy()),
                        parameters, extents};
  for (CallInst *call : calls)
    if (Error error = replaceCall(*call))
      return error;
  for (const EmulatedAccess &access : accesses)
    insertCheck(access, context);
  return Error::success();
}

/// Returns the shared variables of all kernels, after expanding constant expressions that use them.
SmallVector<GlobalVariable *> findShared(Module &module) {
  SmallVector<GlobalVariable *> shared;
  for (GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == sharedSpace)
      shared.push_back(&global);
  SmallVector<Constant *> constants(shared.begin(), shared.end());
  convertUsersOfConstantsToInstructions(constants);
  return shared;
}

/// Assigns consecutive offsets to the shared variables that a kernel uses; returns the end offset.
uint32_t layOutShared(const Function &kernel, ArrayRef<GlobalVariable *> shared,
                      DenseMap<GlobalVariable *, uint32_t> &offsets) {
  const DataLayout &layout = kernel.getParent()->getDataLayout();
  uint64_t end = 0;
  for (GlobalVariable *global : shared) {
    if (none_of(global->users(), [&](const User *user) {
          auto *instruction = dyn_cast<Instruction>(user);
          return instruction && instruction->getFunction() == &kernel;
        }))
      continue;
    end = alignTo(end, layout.getPreferredAlign(global));
    offsets[global] = end;
    end += layout.getTypeAllocSize(global->getValueType());
  }
  return end;
}

/// Replaces masked accesses by branches around scalar accesses, which are checked individually.
void scalarizeMaskedAccesses(Module &module) {
  PassBuilder builder;
  ModulePassManager passes;
  passes.addPass(createModuleToFunctionPassAdaptor(ScalarizeMaskedMemIntrinPass()));
  runPasses(module, builder, std::move(passes));
}

} // namespace

std::string cuda::emulatedSymbol(StringRef symbol) { return ("mtc_emulated." + symbol).str(); }

Error cuda::emulateDeviceModule(Module &module, unsigned optLevel) {
  // Optimizes for the oldest architecture. Architectures differ in instruction selection only,
  // which follows later.
  auto machine = createDeviceMachine(Architecture{8, 0}, optLevel);
  if (!machine)
    return machine.takeError();
  for (Function &function : module)
    if (!function.isDeclaration() && function.getCallingConv() != CallingConv::PTX_Kernel)
      function.addFnAttr(Attribute::AlwaysInline);
  cpu::optimize(module, **machine, optLevel);
  scalarizeMaskedAccesses(module);

  constexpr uint32_t maxSharedBytes = 48 << 10;
  SmallVector<GlobalVariable *> shared = findShared(module);
  SmallVector<Function *> functions(make_pointer_range(module.functions()));
  for (Function *function : functions) {
    if (function->isDeclaration())
      continue;
    if (function->getCallingConv() != CallingConv::PTX_Kernel)
      return createStringError(
          "'" + function->getName() +
          "', called by a kernel, cannot be emulated, because it cannot be inlined");
    DenseMap<GlobalVariable *, uint32_t> sharedOffsets;
    uint32_t sharedBytes = layOutShared(*function, shared, sharedOffsets);
    if (sharedBytes > maxSharedBytes)
      return createStringError("a block has 48 KiB of static shared memory, '" +
                               function->getName() + "' has " + Twine(sharedBytes) + " bytes");
    if (Error error = KernelEmulation(*function, sharedBytes, sharedOffsets).run())
      return error;
  }
  for (Function *function : functions)
    if (function->use_empty())
      function->eraseFromParent();
  for (GlobalVariable *global : shared)
    global->eraseFromParent();
  return Error::success();
}
