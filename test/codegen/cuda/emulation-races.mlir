// Races on device memory, between threads of a block and between blocks of a launch, are found on request.
// RUN: env MTC_EMULATED_RACES=0 mtc-run --emulate %s | FileCheck %s --check-prefix=UNSEEN
// RUN: env MTC_EMULATED_RACES=1 mtc-run --emulate %s | FileCheck %s
// RUN: env MTC_EMULATED_RACES=1 MTC_EMULATED_ORDER=reversed mtc-run --emulate %s | FileCheck %s --check-prefix=REVERSED

// Each thread reads a value that another thread of its warp overwrites.
// UNSEEN: @rotate_in_place{{$}}
// CHECK: @rotate_in_place: kernel 'rotate_in_place': thread 1 of block 0 writes 4 bytes at offset 4 of parameter 0, which thread 0 read since the last barrier that both passed: a race
// REVERSED: @rotate_in_place: {{.*}}: thread 2 of block 0 reads 4 bytes at offset 12 of parameter 0, which thread 3 wrote since the last
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

// A shuffle between reading and writing does not order the memory accesses.
// UNSEEN: @rotate_at_shuffle{{$}}
// CHECK: @rotate_at_shuffle: {{.*}}: thread 31 of block 0 writes 4 bytes at offset 124 of parameter 0, which thread 30 read since the last barrier that both passed: a race
// REVERSED: @rotate_at_shuffle: {{.*}}: a race
gpu.module @mtc_kernel.rotate_at_shuffle {
  gpu.func @rotate_at_shuffle(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<5> : tensor<32xi32>]} {
    %thread = gpu.thread_id x
    %one = arith.constant 1 : index
    %last = arith.constant 31 : index
    %after = arith.addi %thread, %one : index
    %next = arith.andi %after, %last : index
    %i = arith.index_cast %thread : index to i64
    %j = arith.index_cast %next : index to i64
    %from = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %a = llvm.load %from : !llvm.ptr<1> -> i32
    %two = arith.constant 2 : i32
    %width = arith.constant 32 : i32
    %b, %valid = gpu.shuffle xor %a, %two, %width : i32
    llvm.store %b, %to : i32, !llvm.ptr<1>
    gpu.return
  }
}

// A warp barrier between reading and writing orders the memory accesses.
// UNSEEN: @rotate_at_warp_barrier{{$}}
// CHECK: @rotate_at_warp_barrier{{$}}
// REVERSED: @rotate_at_warp_barrier{{$}}
gpu.module @mtc_kernel.rotate_at_warp_barrier {
  gpu.func @rotate_at_warp_barrier(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<5> : tensor<32xi32>]} {
    %thread = gpu.thread_id x
    %one = arith.constant 1 : index
    %last = arith.constant 31 : index
    %after = arith.addi %thread, %one : index
    %next = arith.andi %after, %last : index
    %i = arith.index_cast %thread : index to i64
    %j = arith.index_cast %next : index to i64
    %from = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %a = llvm.load %from : !llvm.ptr<1> -> i32
    %all = arith.constant -1 : i32
    nvvm.bar.warp.sync %all : i32
    llvm.store %a, %to : i32, !llvm.ptr<1>
    gpu.return
  }
}

// A barrier separates reading and writing, and another one the reads of the neighbor's value.
// UNSEEN: @rotate_at_barriers{{$}}
// CHECK: @rotate_at_barriers{{$}}
// CHECK: 0 : tensor<64xi32> = 9
// REVERSED: @rotate_at_barriers{{$}}
gpu.module @mtc_kernel.rotate_at_barriers {
  gpu.func @rotate_at_barriers(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<9> : tensor<64xi32>]} {
    %thread = gpu.thread_id x
    %one = arith.constant 1 : index
    %last = arith.constant 63 : index
    %after = arith.addi %thread, %one : index
    %next = arith.andi %after, %last : index
    %i = arith.index_cast %thread : index to i64
    %j = arith.index_cast %next : index to i64
    %from = llvm.getelementptr %x[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    %a = llvm.load %from : !llvm.ptr<1> -> i32
    gpu.barrier
    llvm.store %a, %to : i32, !llvm.ptr<1>
    gpu.barrier
    %b = llvm.load %from : !llvm.ptr<1> -> i32
    gpu.barrier
    llvm.store %b, %to : i32, !llvm.ptr<1>
    gpu.return
  }
}

// Each block writes its own number to the same address.
// UNSEEN: @same_place{{$}}
// CHECK: @same_place: {{.*}}: thread 0 of block 1 writes 4 bytes at offset 0 of parameter 0, which block 0 wrote in the same launch: a race
// REVERSED: @same_place: {{.*}}: thread 0 of block 1 writes {{.*}}, which block 2 wrote in the same launch: a race
gpu.module @mtc_kernel.same_place {
  gpu.func @same_place(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, run.grid = array<i32: 3, 1, 1>, run.parameters = [dense<0> : tensor<1xi32>]} {
    %block = gpu.block_id x
    %number = arith.index_cast %block : index to i32
    llvm.store %number, %x : i32, !llvm.ptr<1>
    gpu.return
  }
}

// Each block writes its own number, and reads the first block's.
// UNSEEN: @broadcast_of_first{{$}}
// CHECK: @broadcast_of_first: {{.*}}: thread 0 of block 1 reads 4 bytes at offset 0 of parameter 0, which block 0 wrote in the same launch: a race
// REVERSED: @broadcast_of_first: {{.*}}: thread 0 of block 0 writes 4 bytes at offset 0 of parameter 0, which block 2 read in the same launch: a race
gpu.module @mtc_kernel.broadcast_of_first {
  gpu.func @broadcast_of_first(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, run.grid = array<i32: 3, 1, 1>, run.parameters = [dense<0> : tensor<3xi32>, tensor<3xi32>]} {
    %block = gpu.block_id x
    %number = arith.index_cast %block : index to i32
    %i = arith.index_cast %block : index to i64
    %own = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %number, %own : i32, !llvm.ptr<1>
    %first = llvm.load %x : !llvm.ptr<1> -> i32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %first, %to : i32, !llvm.ptr<1>
    gpu.return
  }
}

// All blocks read a number, and the last one adds to it after reading it.
// UNSEEN: @counted_by_last{{$}}
// CHECK: @counted_by_last: {{.*}}: thread 0 of block 2 writes 4 bytes at offset 0 of parameter 0, which block 1 read in the same launch: a race
// REVERSED: @counted_by_last: {{.*}}: thread 0 of block 1 reads 4 bytes at offset 0 of parameter 0, which block 2 wrote in the same launch: a race
gpu.module @mtc_kernel.counted_by_last {
  gpu.func @counted_by_last(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, run.grid = array<i32: 3, 1, 1>, run.parameters = [dense<7> : tensor<1xi32>, tensor<3xi32>]} {
    %block = gpu.block_id x
    %i = arith.index_cast %block : index to i64
    %a = llvm.load %x : !llvm.ptr<1> -> i32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %a, %to : i32, !llvm.ptr<1>
    %last = arith.constant 2 : index
    %isLast = arith.cmpi eq, %block, %last : index
    scf.if %isLast {
      %b = arith.addi %a, %a : i32
      llvm.store %b, %x : i32, !llvm.ptr<1>
    }
    gpu.return
  }
}

// Each byte belongs to one block.
// UNSEEN: @neighbours{{$}}
// CHECK: @neighbours{{$}}
// REVERSED: @neighbours{{$}}
// REVERSED: 0 : tensor<4xi8> = 0 1 2 3
gpu.module @mtc_kernel.neighbours {
  gpu.func @neighbours(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, run.grid = array<i32: 4, 1, 1>, run.parameters = [tensor<4xi8>]} {
    %block = gpu.block_id x
    %number = arith.index_cast %block : index to i8
    %i = arith.index_cast %block : index to i64
    %to = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    llvm.store %number, %to : i8, !llvm.ptr<1>
    gpu.return
  }
}
