// Device code that is compiled for the CPU computes the results of a device: indices, shuffles, votes, barriers, shared memory and math
// functions.
// RUN: mtc-run --emulate %s | FileCheck %s

// The grid and the blocks have two axes.
// CHECK-LABEL: @indices
// CHECK-NEXT: 0 : tensor<24xi32> = 0 1 100 101 1000 1001 1100 1101 2000 2001 2100 2101 10000 10001 10100 10101 11000 11001 11100 11101 12000 12001 12100 12101
gpu.module @mtc_kernel.indices {
  gpu.func @indices(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 2, 2, 1>, run.grid = array<i32: 3, 2, 1>, run.parameters = [tensor<24xi32>]} {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %two = arith.constant 2 : index
    %gx = gpu.grid_dim x
    %hundred = arith.constant 100 : index
    %thousand = arith.constant 1000 : index
    %tenThousand = arith.constant 10000 : index
    %a = arith.muli %by, %gx : index
    %b = arith.addi %a, %bx : index
    %c = arith.muli %b, %two : index
    %d = arith.addi %c, %ty : index
    %e = arith.muli %d, %two : index
    %f = arith.addi %e, %tx : index
    %i = arith.index_cast %f : index to i64
    %g = arith.muli %ty, %hundred : index
    %h = arith.muli %bx, %thousand : index
    %j = arith.muli %by, %tenThousand : index
    %k = arith.addi %g, %h : index
    %l = arith.addi %k, %j : index
    %m = arith.addi %l, %tx : index
    %v = arith.index_cast %m : index to i32
    %p = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %v, %p : i32, !llvm.ptr<1>
    gpu.return
  }
}

// 64 threads add 64 numbers: butterflies in warps, then through shared memory. 0 + 1 + … + 63.
// CHECK-LABEL: @sum
// CHECK: 1 : tensor<2xf32> = 2016 4032
gpu.module @mtc_kernel.sum {
  llvm.mlir.global internal @partial() {addr_space = 3 : i32, alignment = 4 : i64} : !llvm.array<2 x f32>
  gpu.func @sum(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, run.grid = array<i32: 2, 1, 1>, run.parameters = [dense<"0x000000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F84100000042000004420000084200000C4200001042000014420000184200001C4200002042000024420000284200002C4200003042000034420000384200003C4200004042000044420000484200004C4200005042000054420000584200005C4200006042000064420000684200006C4200007042000074420000784200007C42"> : tensor<64xf32>, tensor<2xf32>]} {
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %i = arith.index_cast %thread : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %n = arith.index_cast %block : index to i32
    %blockFactor = arith.sitofp %n : i32 to f32
    %blockPart = arith.mulf %a, %blockFactor : f32
    %s0 = arith.addf %a, %blockPart : f32
    %width = arith.constant 32 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %t1, %v1 = gpu.shuffle xor %s0, %c1, %width : f32
    %s1 = arith.addf %s0, %t1 : f32
    %t2, %v2 = gpu.shuffle xor %s1, %c2, %width : f32
    %s2 = arith.addf %s1, %t2 : f32
    %t3, %v3 = gpu.shuffle xor %s2, %c4, %width : f32
    %s3 = arith.addf %s2, %t3 : f32
    %t4, %v4 = gpu.shuffle xor %s3, %c8, %width : f32
    %s4 = arith.addf %s3, %t4 : f32
    %t5, %v5 = gpu.shuffle xor %s4, %c16, %width : f32
    %s5 = arith.addf %s4, %t5 : f32
    %shared = llvm.mlir.addressof @partial : !llvm.ptr<3>
    %thirtyTwo = arith.constant 32 : i64
    %zero = arith.constant 0 : i64
    %warp = arith.divui %i, %thirtyTwo : i64
    %lane = arith.remui %i, %thirtyTwo : i64
    %isFirst = arith.cmpi eq, %lane, %zero : i64
    scf.if %isFirst {
      %own = llvm.getelementptr %shared[%warp] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
      llvm.store %s5, %own : f32, !llvm.ptr<3>
    }
    gpu.barrier
    %p0 = llvm.load %shared : !llvm.ptr<3> -> f32
    %second = llvm.getelementptr %shared[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
    %p1 = llvm.load %second : !llvm.ptr<3> -> f32
    %total = arith.addf %p0, %p1 : f32
    %b = arith.index_cast %block : index to i64
    %to = llvm.getelementptr %y[%b] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %isWriter = arith.cmpi eq, %i, %zero : i64
    scf.if %isWriter {
      llvm.store %total, %to : f32, !llvm.ptr<1>
    }
    gpu.return
  }
}

// Each shuffle mode returns the value of another lane, and whether that lane exists.
// CHECK-LABEL: @shuffles
// CHECK-NEXT: 0 : tensor<32xi32> = 30 31 32 33 34 35 36 37 22 23 24 25 26 27 28 29 14 15 16 17 18 19 20 21 6 7 8 9 10 11 12 13
// CHECK-NEXT: 1 : tensor<32xi32> = 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0
gpu.module @mtc_kernel.shuffles {
  gpu.func @shuffles(%y: !llvm.ptr<1>, %z: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [tensor<32xi32>, tensor<32xi32>]} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %lane = arith.index_cast %thread : index to i32
    %width = arith.constant 32 : i32
    %three = arith.constant 3 : i32
    %one = arith.constant 1 : i32
    %twentyFour = arith.constant 24 : i32
    %a, %va = gpu.shuffle xor %lane, %twentyFour, %width : i32
    %b, %vb = gpu.shuffle down %lane, %one, %width : i32
    %c, %vc = gpu.shuffle idx %lane, %three, %width : i32
    %d, %vd = gpu.shuffle up %lane, %one, %width : i32
    %inRange = arith.extui %vb : i1 to i32
    %e = arith.addi %a, %c : i32
    %f = arith.subi %lane, %d : i32
    %upInRange = arith.extui %vd : i1 to i32
    %g = arith.subi %f, %upInRange : i32
    %h = arith.addi %e, %g : i32
    %k = arith.addi %h, %three : i32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %k, %to : i32, !llvm.ptr<1>
    %to2 = llvm.getelementptr %z[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
    llvm.store %inRange, %to2 : i32, !llvm.ptr<1>
    gpu.return
  }
}

// CHECK-LABEL: @mathematics
// CHECK: 1 : tensor<4xf32> = 1.31326 0.842701 0.761594 2
// CHECK: 2 : tensor<4xbf16> = 1.3125 0.84375 0.761719 2
gpu.module @mtc_kernel.mathematics {
  gpu.func @mathematics(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %z: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, run.grid = array<i32: 1, 1, 1>, run.parameters = [dense<[1.0, 1.0, 1.0, 0.25]> : tensor<4xf32>, tensor<4xf32>, tensor<4xbf16>]} {
    %a = llvm.load %x {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %a0 = vector.extract %a[0] : f32 from vector<4xf32>
    %a1 = vector.extract %a[1] : f32 from vector<4xf32>
    %a2 = vector.extract %a[2] : f32 from vector<4xf32>
    %a3 = vector.extract %a[3] : f32 from vector<4xf32>
    %e = math.exp %a0 : f32
    %b0 = math.log1p %e : f32
    %b1 = math.erf %a1 : f32
    %b2 = math.tanh %a2 : f32
    %b3 = math.rsqrt %a3 : f32
    %b = vector.from_elements %b0, %b1, %b2, %b3 : vector<4xf32>
    llvm.store %b, %y {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    %h = arith.truncf %b : vector<4xf32> to vector<4xbf16>
    llvm.store %h, %z {alignment = 8 : i64} : vector<4xbf16>, !llvm.ptr<1>
    gpu.return
  }
}
