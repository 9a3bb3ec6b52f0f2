// A missing barrier is found because results differ if threads start in reverse order.
// RUN: env MTC_EMULATED_RACES=0 mtc-run --emulate %s | FileCheck %s --check-prefix=FORWARD
// RUN: env MTC_EMULATED_RACES=0 MTC_EMULATED_ORDER=reversed mtc-run --emulate %s | FileCheck %s --check-prefix=REVERSED

// FORWARD: 0 : tensor<4xi32> = 2 3 4 2
// REVERSED: 0 : tensor<4xi32> = 1 1 1 1
gpu.module @mtc_kernel.rotate_in_place {
  gpu.func @rotate_in_place(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 4, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<[1, 2, 3, 4]> : tensor<4xi32>]} {
    %thread = gpu.thread_id x
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %after = arith.addi %thread, %one : index
    %next = arith.remui %after, %four : index
    %i = arith.index_cast %thread : index to i64
    %j = arith.index_cast %next : index to i64
    %from = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %a = llvm.load %from : !llvm.ptr<1> -> i32
    llvm.store %a, %to : i32, !llvm.ptr<1>
    gpu.return
  }
}
