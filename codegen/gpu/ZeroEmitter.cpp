//===- ZeroEmitter.cpp - Zero initialization of scatter results -------------------------------===//

#include "codegen/gpu/LaunchEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

void mtc::gpu::emitZeros(LaunchEmitter &e, const ScatterPlan &plan) {
  ThreadBuilder &threads = e.threads;
  ImplicitLocOpBuilder &b = e.b;
  auto storeZero = [&](Value pointer, Type type, Value offset, unsigned alignment) {
    Value zero = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
    LLVM::StoreOp::create(b, zero, threads.elementAt(pointer, type, offset), alignment);
  };
  Type vector = VectorType::get({4}, b.getI32Type()), byte = b.getI8Type();
  int64_t block = e.launch.block[0], grid = e.launch.grid[0];
  Value first = threads.add(threads.scale(threads.block(), block), threads.thread());
  SmallVector<std::pair<Value, int64_t>> extents;
  if (plan.chunks > 1)
    extents.push_back({e.scratch, e.scratchBytes});
  else
    for (auto [pointer, type] : llvm::zip_equal(e.results, e.kernel.outputs))
      extents.push_back({pointer, byteSize(type)});
  for (auto [pointer, bytes] : extents) {
    int64_t vectors = bytes / 16, rest = bytes % 16;
    threads.loop(first, threads.index(vectors), block * grid,
                 [&, pointer = pointer](Value i) { storeZero(pointer, vector, i, 16); });
    if (rest > 0)
      threads.ifThen(threads.less(first, rest),
                     [&] { storeZero(pointer, byte, threads.add(first, vectors * 16), 1); });
  }
}
