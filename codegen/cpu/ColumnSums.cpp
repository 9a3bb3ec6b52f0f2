//===- ColumnSums.cpp - Column sums computed in a kernel's row loops --------------------------===//

#include "codegen/cpu/ColumnSums.h"

#include "codegen/kernels/Storage.h"
#include "ir/builders/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

StageFunction cpu::beginStage(ImplicitLocOpBuilder &b, const NormalKernel &kernel, StringRef symbol,
                              ModuleOp module) {
  b.setInsertionPointToEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          {pointer, i64, i64, pointer});
  auto function = LLVM::LLVMFuncOp::create(b, symbol, type);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  Block &entry = function.getBody().front();
  auto operand = [&](int32_t i) -> Value {
    Value address =
        LLVM::GEPOp::create(b, pointer, pointer, entry.getArgument(0), ArrayRef<LLVM::GEPArg>{i});
    return LLVM::LoadOp::create(b, pointer, address);
  };
  StageFunction stage;
  int32_t count = kernel.inputs.size() + kernel.outputs.size();
  for (int32_t i = 0; i < count; ++i)
    stage.operands.push_back(operand(i));
  if (!kernel.columnSums.empty())
    stage.scratch = operand(count);
  stage.begin = entry.getArgument(1);
  stage.end = entry.getArgument(2);
  stage.fault = entry.getArgument(3);
  return stage;
}

std::string cpu::columnSumsSymbol(StringRef symbol) { return (symbol + ".column_sums").str(); }

int64_t cpu::bytesOfPartial(const NormalKernel &kernel, unsigned result) {
  return typeOfPartial(kernel, result).getIntOrFloatBitWidth() / 8;
}

namespace {

class ColumnSumsEmitter {
public:
  ColumnSumsEmitter(const NormalKernel &kernel, const LoopPlan &plan, ImplicitLocOpBuilder &b,
                    const StageFunction &stage)
      : kernel(kernel), plan(plan), b(b), stage(stage) {}

  /// Emits loops over work items, which are blocks of elements, for one result after the other.
  void run() {
    int64_t first = 0;
    for (auto [result, partials] : llvm::zip_equal(kernel.columnSums, plan.partials)) {
      int64_t elements = kernel.outputs[result].getNumElements();
      int64_t blocks = llvm::divideCeil(elements, kSumBlock);
      Value low = arith::MaxSIOp::create(b, stage.begin, index(first));
      Value high = arith::MinSIOp::create(b, stage.end, index(first + blocks));
      loop(low, high, index(1), [&](Value item) {
        Value block = arith::SubIOp::create(b, item, index(first));
        Value begin = arith::MulIOp::create(b, block, index(kSumBlock));
        Value end = arith::AddIOp::create(b, begin, index(kSumBlock));
        end = arith::MinSIOp::create(b, end, index(elements));
        emitBlock(result, partials, begin, end);
      });
      first += blocks;
    }
  }

private:
  static constexpr int64_t kLanes = 16;

  Value index(int64_t value) { return arith::ConstantOp::create(b, b.getI64IntegerAttr(value)); }

  void loop(Value low, Value high, Value step, llvm::function_ref<void(Value)> body) {
    auto forOp = scf::ForOp::create(b, low, high, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forOp.getBody());
    body(forOp.getInductionVar());
  }

  /// Adds up elements [begin, end): full vectors first, then single elements.
  void emitBlock(unsigned result, int64_t partials, Value begin, Value end) {
    Value length = arith::SubIOp::create(b, end, begin);
    Value rest = arith::RemUIOp::create(b, length, index(kLanes));
    Value full = arith::SubIOp::create(b, end, rest);
    loop(begin, full, index(kLanes),
         [&](Value element) { emitElements(result, partials, element, kLanes); });
    loop(full, end, index(1), [&](Value element) { emitElements(result, partials, element, 1); });
  }

  void emitElements(unsigned result, int64_t partials, Value element, int64_t lanes) {
    Type scalar = typeOfPartial(kernel, result);
    Type type = lanes == 1 ? scalar : Type(VectorType::get({lanes}, scalar));
    int64_t elements = kernel.outputs[result].getNumElements();
    Value zero = splatConstant(b, b.getZeroAttr(scalar), type);
    auto forOp = scf::ForOp::create(b, index(0), index(plan.extent), index(1), ValueRange{zero});
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(forOp.getBody());
      Value row = arith::MulIOp::create(b, forOp.getInductionVar(), index(elements));
      Value from = elementAt(elementAt(stage.scratch, b.getI8Type(), index(partials)), scalar,
                             arith::AddIOp::create(b, row, element));
      Value partial = LLVM::LoadOp::create(b, type, from, bytesOfPartial(kernel, result));
      Value sum = arith::AddFOp::create(b, forOp.getRegionIterArgs().front(), partial);
      scf::YieldOp::create(b, sum);
    }
    Type stored = kernel.outputs[result].getElementType();
    Value to =
        elementAt(stage.operands[kernel.inputs.size() + result], getStorageType(stored), element);
    LLVM::StoreOp::create(b, toStorage(b, forOp.getResult(0), stored), to, elementBytes(stored));
  }

  Value elementAt(Value base, Type element, Value offset) {
    return LLVM::GEPOp::create(b, base.getType(), element, base, offset);
  }

  const NormalKernel &kernel;
  const LoopPlan &plan;
  ImplicitLocOpBuilder &b;
  const StageFunction &stage;
};

} // namespace

void cpu::emitColumnSums(const NormalKernel &kernel, const LoopPlan &plan, StringRef symbol,
                         ModuleOp module) {
  ImplicitLocOpBuilder b(kernel.body->getParentOp()->getLoc(), module.getContext());
  StageFunction stage = beginStage(b, kernel, symbol, module);
  ColumnSumsEmitter(kernel, plan, b, stage).run();
  LLVM::ReturnOp::create(b, ValueRange());
}
