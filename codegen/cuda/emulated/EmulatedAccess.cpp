//===- EmulatedAccess.cpp - Memory access checks in emulated code -----------------------------===//

#include "codegen/cuda/emulated/EmulatedAccess.h"

#include "runtime/abi/emulation.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace mtc::cuda;

namespace {

/// Address spaces of NVPTX.
enum AddressSpace : unsigned { genericSpace = 0, globalSpace = 1, sharedSpace = 3 };

/// The maximum size of a device load or store, in bytes.
constexpr unsigned widestAccess = 16;

/// Determines the memory space of an access. Returns false for thread-private and constant memory.
bool locate(EmulatedAccess &access) {
  const Value *object = getUnderlyingObject(*access.pointer, /*MaxLookup=*/0);
  access.parameter = -1;
  access.space = EmulatedAccess::Unknown;
  if (isa<AllocaInst>(object))
    return false;
  if (auto *global = dyn_cast<GlobalVariable>(object)) {
    access.space = EmulatedAccess::Shared;
    return global->getAddressSpace() == sharedSpace;
  }
  if (auto *argument = dyn_cast<Argument>(object)) {
    access.parameter = argument->getArgNo();
    access.space = EmulatedAccess::Global;
    return true;
  }
  switch ((*access.pointer)->getType()->getPointerAddressSpace()) {
  case globalSpace:
    access.space = EmulatedAccess::Global;
    break;
  case sharedSpace:
    access.space = EmulatedAccess::Shared;
    break;
  default: // The space is determined from the address at run time.
    break;
  }
  return true;
}

} // namespace

std::vector<EmulatedAccess> mtc::cuda::findAccesses(Function &kernel) {
  const DataLayout &layout = kernel.getParent()->getDataLayout();
  std::vector<EmulatedAccess> result;
  auto add = [&](Instruction &instruction, unsigned operand, unsigned kind, Type *type, Align align,
                 Value *length = nullptr) {
    EmulatedAccess access;
    access.instruction = &instruction;
    access.pointer = &instruction.getOperandUse(operand);
    access.length = length;
    access.kind = kind;
    access.bytes = type ? layout.getTypeStoreSize(type).getFixedValue() : 0;
    access.alignment =
        std::min<uint64_t>({align.value(), widestAccess, PowerOf2Ceil(std::max(access.bytes, 1u))});
    if (locate(access))
      result.push_back(access);
  };
  for (Instruction &instruction : instructions(kernel)) {
    if (auto *load = dyn_cast<LoadInst>(&instruction)) {
      add(*load, load->getPointerOperandIndex(), MTC_READ, load->getType(), load->getAlign());
    } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
      add(*store, store->getPointerOperandIndex(), MTC_WRITE, store->getValueOperand()->getType(),
          store->getAlign());
    } else if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
      add(*update, update->getPointerOperandIndex(), MTC_ATOMIC, update->getType(),
          update->getAlign());
    } else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
      add(*exchange, exchange->getPointerOperandIndex(), MTC_ATOMIC,
          exchange->getNewValOperand()->getType(), exchange->getAlign());
    } else if (auto *fill = dyn_cast<MemIntrinsic>(&instruction)) {
      add(*fill, 0, MTC_WRITE, nullptr, Align(1), fill->getLength());
      if (auto *copy = dyn_cast<MemTransferInst>(fill))
        add(*copy, 1, MTC_READ, nullptr, Align(1), copy->getLength());
    }
  }
  return result;
}

/// Returns a constant MtcEmulatedAccess.
static Constant *describe(const EmulatedAccess &access, int64_t extent, Module &module) {
  LLVMContext &context = module.getContext();
  auto *i32 = Type::getInt32Ty(context), *i64 = Type::getInt64Ty(context);
  Constant *value = ConstantStruct::getAnon(
      {ConstantInt::get(i32, access.kind), ConstantInt::get(i32, access.bytes),
       ConstantInt::get(i32, access.alignment), ConstantInt::getSigned(i32, access.parameter),
       ConstantInt::getSigned(i64, extent)});
  auto *global = new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                    GlobalValue::PrivateLinkage, value, "access");
  global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return global;
}

void mtc::cuda::insertCheck(const EmulatedAccess &access, const AccessContext &context) {
  IRBuilder<> b(access.instruction);
  Module &module = *access.instruction->getModule();
  Type *none = b.getVoidTy(), *pointer = b.getPtrTy(), *i64 = b.getInt64Ty();
  int64_t extent = access.parameter < 0 ? -1 : context.extents[access.parameter];
  Constant *description = describe(access, extent, module);
  Value *address = b.CreateAddrSpaceCast(*access.pointer, pointer);
  if (access.length || access.space == EmulatedAccess::Unknown) {
    Value *length = access.length ? b.CreateZExt(access.length, i64) : b.getInt64(access.bytes);
    b.CreateCall(module.getOrInsertFunction("mtc_emulated_any_access", none, pointer, i64, pointer),
                 {address, length, description});
    return;
  }
  if (access.space == EmulatedAccess::Shared) {
    b.CreateCall(module.getOrInsertFunction("mtc_emulated_shared_access", none, pointer, pointer),
                 {address, description});
    return;
  }

  Value *parameter = access.parameter < 0 ? ConstantPointerNull::get(b.getPtrTy())
                                          : context.parameters[access.parameter];
  FunctionCallee callee =
      module.getOrInsertFunction("mtc_emulated_global_access", none, pointer, pointer, pointer);
  if (!isPowerOf2_32(access.bytes) || access.bytes > widestAccess) {
    b.CreateCall(callee, {address, parameter, description});
    return;
  }
  // The inline check tests the state of each byte. The call diagnoses failures.
  Value *number = b.CreatePtrToInt(address, i64);
  Value *offset = b.CreateSub(number, context.memory);
  Value *isRight = b.CreateICmpULT(offset, context.memoryBytes);
  Value *inside = b.CreateSelect(isRight, offset, b.getInt64(0));
  Type *states = b.getIntNTy(access.bytes * 8);
  Value *place = b.CreateGEP(b.getInt8Ty(), context.shadow, inside);
  Value *state = b.CreateAlignedLoad(states, place, Align(1));
  auto splat = [&](uint8_t byte) {
    return ConstantInt::get(states, APInt::getSplat(access.bytes * 8, APInt(8, byte)));
  };
  uint8_t needed =
      access.kind == MTC_WRITE ? MTC_SHADOW_ALLOCATED : MTC_SHADOW_ALLOCATED | MTC_SHADOW_DEFINED;
  isRight = b.CreateAnd(isRight, b.CreateICmpEQ(b.CreateAnd(state, splat(needed)), splat(needed)));
  if (access.alignment > 1)
    isRight = b.CreateAnd(isRight,
                          b.CreateICmpEQ(b.CreateAnd(number, access.alignment - 1), b.getInt64(0)));
  if (extent >= 0) {
    Value *fromStart = b.CreateSub(number, b.CreatePtrToInt(parameter, i64));
    isRight =
        b.CreateAnd(isRight, extent < access.bytes
                                 ? b.getFalse()
                                 : b.CreateICmpULE(fromStart, b.getInt64(extent - access.bytes)));
  }
  MDNode *unlikely = MDBuilder(module.getContext()).createUnlikelyBranchWeights();
  Instruction *otherwise = SplitBlockAndInsertIfThen(b.CreateNot(isRight), access.instruction,
                                                     /*Unreachable=*/false, unlikely);
  b.SetInsertPoint(otherwise);
  b.CreateCall(callee, {address, parameter, description});
  // The call returns only if the access is valid after all.
  b.SetInsertPoint(access.instruction);
  if (access.kind == MTC_WRITE)
    b.CreateAlignedStore(splat(MTC_SHADOW_ALLOCATED | MTC_SHADOW_DEFINED), place, Align(1));
}
