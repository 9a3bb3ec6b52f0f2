// The emulator reports errors in device code, with the kernel, the block and the thread.
// RUN: mtc-run --emulate %s | FileCheck %s

// Each thread reads what the opposite thread wrote.
// CHECK: @right{{$}}
gpu.module @mtc_kernel.right {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<64 x f32>
  gpu.func @right(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    llvm.store %a, %own : f32, !llvm.ptr<3>
    gpu.barrier
    %last = arith.constant 63 : i64
    %opposite = arith.subi %last, %i : i64
    %other = llvm.getelementptr %shared[%opposite] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %b = llvm.load %other : !llvm.ptr<3> -> f32
    llvm.store %b, %from : f32, !llvm.ptr<1>
    gpu.return
  }
}

// This kernel is the previous one without the barrier.
// CHECK: @missing_barrier: kernel 'missing_barrier': thread 0 of block 0 reads 4 bytes at offset 252 of shared memory, where no thread of the block has written: an uninitialized read
gpu.module @mtc_kernel.missing_barrier {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<64 x f32>
  gpu.func @missing_barrier(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    llvm.store %a, %own : f32, !llvm.ptr<3>
    %last = arith.constant 63 : i64
    %opposite = arith.subi %last, %i : i64
    %other = llvm.getelementptr %shared[%opposite] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %b = llvm.load %other : !llvm.ptr<3> -> f32
    llvm.store %b, %from : f32, !llvm.ptr<1>
    gpu.return
  }
}

// Each value is stored again while other threads still read it.
// CHECK: @stored_twice: {{.*}}: thread 0 of block 0 writes 4 bytes at offset 0 of shared memory, which thread 63 read since the last barrier that both passed: a race
gpu.module @mtc_kernel.stored_twice {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<64 x f32>
  gpu.func @stored_twice(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    llvm.store %a, %own : f32, !llvm.ptr<3>
    gpu.barrier
    %b0 = arith.addf %a, %a : f32
    llvm.store %b0, %own : f32, !llvm.ptr<3>
    %last = arith.constant 63 : i64
    %opposite = arith.subi %last, %i : i64
    %other = llvm.getelementptr %shared[%opposite] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %b = llvm.load %other : !llvm.ptr<3> -> f32
    llvm.store %b, %from : f32, !llvm.ptr<1>
    gpu.return
  }
}

// The buffer is filled again without a barrier after it was read.
// CHECK: @filled_again: {{.*}}: thread 0 of block 0 reads 4 bytes at offset 252 of shared memory, which thread 63 wrote since the last barrier that both passed: a race
gpu.module @mtc_kernel.filled_again {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<64 x f32>
  gpu.func @filled_again(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    llvm.store %a, %own : f32, !llvm.ptr<3>
    gpu.barrier
    %last = arith.constant 63 : i64
    %opposite = arith.subi %last, %i : i64
    %other = llvm.getelementptr %shared[%opposite] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %b = llvm.load %other : !llvm.ptr<3> -> f32
    llvm.store %b, %from : f32, !llvm.ptr<1>
    llvm.store %b, %own : f32, !llvm.ptr<3>
    gpu.return
  }
}

// The grid has one block too many.
// CHECK: @out_of_bounds: kernel 'out_of_bounds': thread 0 of block 2 reads 4 bytes at offset 512 of parameter 0, which are 4 bytes at offset 512 of an allocation of 512 bytes: out of bounds
gpu.module @mtc_kernel.out_of_bounds {
  gpu.func @out_of_bounds(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 3, 1, 1>, run.parameters = [dense<1.0> : tensor<128xf32>]} {
    %block = gpu.block_id x
    %size = arith.constant 64 : index
    %start = arith.muli %block, %size : index
    %t = gpu.thread_id x
    %thread = arith.addi %start, %t : index
    %i = arith.index_cast %thread : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %b = arith.addf %a, %a : f32
    llvm.store %b, %from : f32, !llvm.ptr<1>
    gpu.return
  }
}

// The access is within the allocation, but outside of the parameter's buffer.
// CHECK: @beyond_parameter: {{.*}}: thread 32 of block 0 writes 4 bytes at offset 128 of parameter 0, which has 128 bytes: out of bounds
gpu.module @mtc_kernel.beyond_parameter {
  gpu.func @beyond_parameter(%x: !llvm.ptr<1> {llvm.dereferenceable = 128 : i64}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %to = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = arith.constant 1.0 : f32
    llvm.store %a, %to : f32, !llvm.ptr<1>
    gpu.return
  }
}

// The 16-byte accesses are only aligned to four bytes.
// CHECK: @misaligned: {{.*}}: thread 1 of block 0 reads 16 bytes at offset 4 of parameter 0, an address that is no multiple of 16: misaligned
gpu.module @mtc_kernel.misaligned {
  gpu.func @misaligned(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %b = arith.addf %a, %a : vector<4xf32>
    llvm.store %b, %from {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr<1>
    gpu.return
  }
}

// Only the first 40 threads reach the barrier.
// CHECK: @divergent_barrier: {{.*}}: thread 0 of block 0 waits at barrier 1, and thread 40 has ended: a divergent barrier
gpu.module @mtc_kernel.divergent_barrier {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<64 x f32>
  gpu.func @divergent_barrier(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %limit = arith.constant 40 : i64
    %is = arith.cmpi ult, %i, %limit : i64
    scf.if %is {
      llvm.store %a, %own : f32, !llvm.ptr<3>
      gpu.barrier
      %next = llvm.load %shared : !llvm.ptr<3> -> f32
      llvm.store %next, %from : f32, !llvm.ptr<1>
    }
    gpu.return
  }
}

// Each half of the block waits at a different barrier.
// CHECK: @two_barriers: {{.*}}: thread {{[0-9]+}} of block 0 waits at barrier {{[12]}}, and thread {{[0-9]+}} at barrier {{[12]}}: a divergent barrier
gpu.module @mtc_kernel.two_barriers {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<64 x f32>
  gpu.func @two_barriers(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %limit = arith.constant 40 : i64
    %is = arith.cmpi ult, %i, %limit : i64
    scf.if %is {
      llvm.store %a, %own : f32, !llvm.ptr<3>
      gpu.barrier
      %next = llvm.load %shared : !llvm.ptr<3> -> f32
      llvm.store %next, %from : f32, !llvm.ptr<1>
    } else {
      gpu.barrier
    }
    gpu.return
  }
}

// Twelve lanes of a warp never reach the shuffle.
// CHECK: @divergent_shuffle: {{.*}}: thread 0 of block 0 waits in shuffle 1, and thread 20 waits at barrier 1: a divergent warp
gpu.module @mtc_kernel.divergent_shuffle {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<64 x f32>
  gpu.func @divergent_shuffle(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %limit = arith.constant 20 : i64
    %is = arith.cmpi ult, %i, %limit : i64
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %c = scf.if %is -> f32 {
      %other, %valid = gpu.shuffle xor %a, %one, %width : f32
      scf.yield %other : f32
    } else {
      scf.yield %a : f32
    }
    gpu.barrier
    llvm.store %c, %from : f32, !llvm.ptr<1>
    gpu.return
  }
}

// The block has 20 threads, and lane 8 reads from lane 24.
// CHECK: @absent_lane: {{.*}}: thread {{[0-9]+}} of block 0 reads in shuffle 1 from lane {{2[0-9]|3[01]}}, which takes no part in it
gpu.module @mtc_kernel.absent_lane {
  gpu.func @absent_lane(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 20, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %sixteen = arith.constant 16 : i32
    %width = arith.constant 32 : i32
    %b, %valid = gpu.shuffle xor %a, %sixteen, %width : f32
    llvm.store %b, %from : f32, !llvm.ptr<1>
    gpu.return
  }
}

// The kernel adds to a result to which nothing was stored.
// CHECK: @uninitialized: {{.*}}: thread 0 of block 0 reads 4 bytes at offset 0 of parameter 0, which are 4 bytes of which nothing was written to that at offset 0 of an allocation of 256 bytes: an uninitialized read
gpu.module @mtc_kernel.uninitialized {
  gpu.func @uninitialized(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [tensor<64xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %b = arith.addf %a, %a : f32
    llvm.store %b, %from : f32, !llvm.ptr<1>
    gpu.return
  }
}

// The block has 128 threads, but shared memory for 64.
// CHECK: @shared_out_of_bounds: {{.*}}: thread 64 of block 0 writes 4 bytes at offset 256 of shared memory, of which the block has 256 bytes: out of bounds
gpu.module @mtc_kernel.shared_out_of_bounds {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<64 x f32>
  gpu.func @shared_out_of_bounds(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<1.0> : tensor<128xf32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %shared = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    llvm.store %a, %own : f32, !llvm.ptr<3>
    gpu.barrier
    %b = llvm.load %own : !llvm.ptr<3> -> f32
    llvm.store %b, %from : f32, !llvm.ptr<1>
    gpu.return
  }
}
