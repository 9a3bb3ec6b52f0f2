//===- ThreadBuilder.h - What one thread of a launch is written with --------------------------===//

#ifndef MTC_CODEGEN_CUDA_THREADBUILDER_H
#define MTC_CODEGEN_CUDA_THREADBUILDER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::cuda {

constexpr int64_t kWarp = 32;

/// Indices, control flow, shuffles and shared memory. All indices are of one type.
class ThreadBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  ThreadBuilder(mlir::ImplicitLocOpBuilder &b, mlir::gpu::GPUFuncOp function, mlir::Type indexType)
      : b(b), function(function), indexType(indexType) {}

  mlir::Value index(int64_t value);
  mlir::Value thread();
  mlir::Value block();
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
  mlir::Value scale(mlir::Value x, int64_t factor);
  mlir::Value divide(mlir::Value x, int64_t divisor);
  mlir::Value remainder(mlir::Value x, int64_t divisor);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, int64_t y) { return less(x, index(y)); }
  mlir::Value equals(mlir::Value x, int64_t y);
  mlir::Value minimum(mlir::Value x, int64_t y);
  /// Conditions may be null, which is true.
  mlir::Value both(mlir::Value x, mlir::Value y);

  /// for (i = low; i < high; i += step)
  void loop(mlir::Value low, mlir::Value high, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// The same with values carried from one iteration to the next.
  Values loop(mlir::Value low, mlir::Value high, int64_t step, mlir::ValueRange initial,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  /// For all indices low + k * step below high, `unroll` at a time as long as there are so many;
  /// the body gets one or `unroll` indices.
  Values
  unrolledLoop(mlir::Value low, mlir::Value high, int64_t step, int64_t unroll,
               mlir::ValueRange initial,
               llvm::function_ref<Values(llvm::ArrayRef<mlir::Value>, mlir::ValueRange)> body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);
  /// What the body gives where the condition holds, the values `otherwise` elsewhere.
  Values ifThen(mlir::Value condition, mlir::ValueRange otherwise,
                llvm::function_ref<Values()> body);

  /// All threads of the block arrive before any goes on; what they wrote is seen.
  void barrier();
  /// The same for the threads of the warp.
  void warpBarrier();
  /// The value of lane (own ^ mask) of the warp; for any scalar.
  mlir::Value shuffle(mlir::Value value, int64_t mask);
  /// A place in shared memory for `count` elements of a storage type.
  mlir::Value allocateShared(mlir::Type element, int64_t count);
  mlir::Value elementAt(mlir::Value base, mlir::Type element, mlir::Value offset);

private:
  mlir::ImplicitLocOpBuilder &b;
  mlir::gpu::GPUFuncOp function;
  mlir::Type indexType;
  int sharedCount = 0;
};

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_THREADBUILDER_H
