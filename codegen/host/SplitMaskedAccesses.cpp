//===- SplitMaskedAccesses.cpp - Splitting of wide masked loads and stores --------------------===//

#include "codegen/host/SplitMaskedAccesses.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Analysis/InstSimplifyFolder.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

/// A masked load or store with common accessors.
struct MaskedAccess {
  explicit MaskedAccess(IntrinsicInst &call)
      : call(call), loads(call.getIntrinsicID() == Intrinsic::masked_load),
        pointer(call.getArgOperand(loads ? 0 : 1)), mask(call.getArgOperand(loads ? 1 : 2)),
        value(call.getArgOperand(loads ? 2 : 0)), type(cast<FixedVectorType>(value->getType())),
        alignment(call.getParamAlign(loads ? 0 : 1).valueOrOne()) {}

  IntrinsicInst &call;
  bool loads;
  Value *pointer, *mask;
  Value *value; ///< the stored value, or the pass-through value of a load
  FixedVectorType *type;
  Align alignment;
};

class Splitter {
public:
  Splitter(const MaskedAccess &access, unsigned lanes)
      : access(access), lanes(lanes),
        b(access.call.getContext(), InstSimplifyFolder(access.call.getDataLayout())) {
    b.SetInsertPoint(&access.call);
  }

  void run() {
    SmallVector<Value *> loaded;
    for (unsigned first = 0; first < access.type->getNumElements(); first += lanes) {
      Value *mask = part(access.mask, first), *value = part(access.value, first);
      Value *at = b.CreateConstGEP1_64(access.type->getElementType(), access.pointer, first);
      uint64_t bytes = first * access.type->getScalarSizeInBits() / 8;
      Align alignment = commonAlignment(access.alignment, bytes);
      bool nothing = match(mask, m_Zero());
      if (access.loads)
        loaded.push_back(
            nothing ? value : b.CreateMaskedLoad(value->getType(), at, alignment, mask, value));
      else if (!nothing)
        b.CreateMaskedStore(value, at, alignment, mask);
    }
    if (access.loads)
      access.call.replaceAllUsesWith(concatenateVectors(b, loaded));
    access.call.eraseFromParent();
  }

private:
  /// Returns the lanes of a vector from `first` on. Splits the operations that compute the vector,
  /// so that constant parts fold.
  Value *part(Value *vector, unsigned first, unsigned depth = 0) {
    constexpr unsigned deepest = 6;
    if (Value *scalar = getSplatValue(vector))
      return b.CreateVectorSplat(lanes, scalar);
    auto *op = dyn_cast<Instruction>(vector);
    auto partOf = [&](unsigned operand) { return part(op->getOperand(operand), first, depth + 1); };
    if (op && depth < deepest) {
      if (auto *binary = dyn_cast<BinaryOperator>(op);
          binary && binary->getType()->isIntOrIntVectorTy(1))
        return b.CreateBinOp(binary->getOpcode(), partOf(0), partOf(1));
      if (auto *compare = dyn_cast<CmpInst>(op))
        return b.CreateCmp(compare->getPredicate(), partOf(0), partOf(1));
      if (isa<SelectInst>(op) && op->getType()->isIntOrIntVectorTy(1)) {
        Value *condition = op->getOperand(0);
        bool isVector = condition->getType()->isVectorTy();
        return b.CreateSelect(isVector ? partOf(0) : condition, partOf(1), partOf(2));
      }
    }
    return b.CreateShuffleVector(vector, llvm::to_vector(llvm::seq<int>(first, first + lanes)));
  }

  const MaskedAccess &access;
  unsigned lanes;
  IRBuilder<InstSimplifyFolder> b;
};

} // namespace

void mtc::cpu::splitMaskedAccesses(Module &module, TargetMachine &machine) {
  // AVX-512 has mask registers.
  if (!machine.getTargetTriple().isX86() || machine.getMCSubtargetInfo()->checkFeatures("+avx512f"))
    return;
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    TargetTransformInfo info = machine.getTargetTransformInfo(function);
    uint64_t bits = info.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector);
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call || (call->getIntrinsicID() != Intrinsic::masked_load &&
                    call->getIntrinsicID() != Intrinsic::masked_store))
        continue;
      MaskedAccess access(*call);
      if (access.type->getElementType()->isPointerTy())
        continue;
      unsigned lanes = bits / access.type->getScalarSizeInBits();
      if (!isa<Constant>(access.mask) && access.type->getNumElements() > lanes &&
          access.type->getNumElements() % lanes == 0 &&
          info.isLegalMaskedLoad(access.type, access.alignment, 0))
        Splitter(access, lanes).run();
    }
  }
}
