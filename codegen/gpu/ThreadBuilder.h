//===- ThreadBuilder.h - Builder for the code of one thread -----------------------------------===//

#ifndef MTC_CODEGEN_GPU_THREADBUILDER_H
#define MTC_CODEGEN_GPU_THREADBUILDER_H

#include "codegen/gpu/Hardware.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::gpu {

/// Emits index arithmetic, control flow, shuffles and shared memory. All indices have the same
/// type.
class ThreadBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value>;

  ThreadBuilder(mlir::ImplicitLocOpBuilder &b, mlir::gpu::GPUFuncOp function, mlir::Type indexType,
                const Hardware &hardware)
      : b(b), function(function), indexType(indexType), hardware(hardware) {}

  /// Returns the number of threads of a warp.
  int64_t warp() const { return hardware.warp; }

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
  /// Returns the conjunction of two conditions. A null condition is true.
  mlir::Value both(mlir::Value x, mlir::Value y);

  /// Emits for (i = low; i < high; i += step).
  void loop(mlir::Value low, mlir::Value high, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  /// Emits a loop with loop-carried values.
  Values loop(mlir::Value low, mlir::Value high, int64_t step, mlir::ValueRange initial,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  /// Emits a loop over the indices low + k * step below high, unrolled by `unroll`, with a
  /// remainder loop. `body` receives `unroll` indices or one.
  Values
  unrolledLoop(mlir::Value low, mlir::Value high, int64_t step, int64_t unroll,
               mlir::ValueRange initial,
               llvm::function_ref<Values(llvm::ArrayRef<mlir::Value>, mlir::ValueRange)> body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);
  /// Returns the values of `body` if the condition holds, and `otherwise` if it does not.
  Values ifThen(mlir::Value condition, mlir::ValueRange otherwise,
                llvm::function_ref<Values()> body);

  /// Synchronizes all threads of the block; their previous writes become visible.
  void barrier();
  /// Synchronizes the threads of the warp; their previous writes become visible.
  void warpBarrier();
  /// Returns the value, of any scalar type, of lane (own ^ mask) of the warp.
  mlir::Value shuffle(mlir::Value value, int64_t mask);
  /// Allocates shared memory for `count` elements of a storage type.
  mlir::Value allocateShared(mlir::Type element, int64_t count);
  mlir::Value elementAt(mlir::Value base, mlir::Type element, mlir::Value offset);

private:
  mlir::ImplicitLocOpBuilder &b;
  mlir::gpu::GPUFuncOp function;
  mlir::Type indexType;
  const Hardware &hardware;
  int sharedCount = 0;
};

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_THREADBUILDER_H
