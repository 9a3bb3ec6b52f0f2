//===- CallDescription.cpp - Library calls as the program's ABI describes them ----------------===//

#include "codegen/target/CallDescription.h"

#include "runtime/abi/attention.h"
#include "runtime/abi/contraction.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;

MtcType mtc::typeCode(Type element) {
  if (element.isF64())
    return MTC_F64;
  if (element.isF32())
    return MTC_F32;
  if (element.isBF16())
    return MTC_BF16;
  if (element.isF16())
    return MTC_F16;
  if (isa<Float8E4M3FNType>(element))
    return MTC_F8E4M3;
  if (isa<Float8E5M2Type>(element))
    return MTC_F8E5M2;
  bool isUnsignedType = isUnsigned(element);
  switch (element.getIntOrFloatBitWidth()) {
  case 64:
    return isUnsignedType ? MTC_U64 : MTC_I64;
  case 32:
    return isUnsignedType ? MTC_U32 : MTC_I32;
  case 16:
    return isUnsignedType ? MTC_U16 : MTC_I16;
  case 8:
    return isUnsignedType ? MTC_U8 : MTC_I8;
  default:
    return MTC_BOOL;
  }
}

template <typename Struct> static CallDescription pack(MtcCallKind kind, const Struct &value) {
  return {kind, std::string(reinterpret_cast<const char *>(&value), sizeof(Struct))};
}

static CallDescription describe(CallContractOp call) {
  MtcContraction c = {};
  assert(call.getLhsStrides().size() <= MTC_MAX_RANK && "a contraction has too many axes");
  c.type = typeCode(call.getOut().getType().getElementType());
  c.batch_rank = static_cast<uint32_t>(call.getBatch().size());
  llvm::copy(call.getBatch(), c.batch);
  c.m = call.getM();
  c.n = call.getN();
  c.k = call.getK();
  llvm::copy(call.getLhsStrides(), c.lhs_strides);
  llvm::copy(call.getRhsStrides(), c.rhs_strides);
  llvm::copy(call.getOutStrides(), c.out_strides);
  c.accumulate = call.getAccumulate();
  static_assert(ContractOp::mostAddends == MTC_MAX_ADDENDS);
  c.addend_count = static_cast<uint32_t>(call.getAddends().size());
  size_t rank = call.getOutStrides().size();
  for (uint32_t i = 0; i < c.addend_count; ++i)
    llvm::copy(call.getAddendStrides().slice(i * rank, rank), c.addend_strides[i]);
  static_assert(static_cast<int>(Activation::Relu) == MTC_RELU &&
                static_cast<int>(Activation::Gelu) == MTC_GELU &&
                static_cast<int>(Activation::GeluGradient) == MTC_GELU_GRADIENT);
  static_assert(static_cast<int>(Summed::Result) == MTC_RESULT_SUMMED &&
                static_cast<int>(Summed::Lhs) == MTC_LHS_SUMMED &&
                static_cast<int>(Summed::Rhs) == MTC_RHS_SUMMED);
  if (std::optional<Activation> activation = call.getActivation())
    c.activation = static_cast<uint32_t>(*activation);
  c.keeps_sum = call.getKept().has_value();
  if (std::optional<Summed> summed = call.getSummed())
    c.summed = static_cast<uint32_t>(*summed);
  return pack(MTC_CONTRACTION, c);
}

static CallDescription describe(CallAttentionOp call) {
  MtcAttention a = {};
  a.type = typeCode(cast<AtAttr>(call.getInputs()[0]).getType().getElementType());
  a.has_bias = !call.getBiasStrides().empty();
  a.has_mask = !call.getMaskStrides().empty();
  a.is_causal = call.getCausal().has_value();
  a.causal_offset = static_cast<int64_t>(call.getCausal().value_or(0));
  a.batch = call.getBatch();
  a.heads = call.getHeads();
  a.key_heads = call.getKeyHeads();
  a.queries = call.getQueries();
  a.keys = call.getKeys();
  a.width = call.getWidth();
  a.value_width = call.getValueWidth();
  a.scale = call.getScale().convertToDouble();
  llvm::copy(call.getQueryStrides(), a.query);
  llvm::copy(call.getKeyStrides(), a.key);
  llvm::copy(call.getValueStrides(), a.value);
  llvm::copy(call.getBiasStrides(), a.bias);
  llvm::copy(call.getMaskStrides(), a.mask);
  llvm::copy(call.getOutStrides(), a.out);
  if (!call.getGradient())
    return pack(MTC_ATTENTION, a);
  a.has_out = !call.getSavedOutStrides().empty();
  llvm::copy(call.getSavedOutStrides(), a.saved_out);
  ArrayRef<int64_t> gradients = call.getGradientStrides();
  llvm::copy(gradients.take_front(4), a.d_query);
  llvm::copy(gradients.slice(4, 4), a.d_key);
  llvm::copy(gradients.take_back(4), a.d_value);
  return pack(MTC_ATTENTION_GRADIENT, a);
}

CallDescription mtc::describeCall(Operation *placed) {
  return llvm::TypeSwitch<Operation *, CallDescription>(placed)
      .Case<CallContractOp, CallAttentionOp>([](auto call) { return describe(call); });
}
