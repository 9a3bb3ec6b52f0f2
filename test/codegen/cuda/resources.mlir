// Resources of kernels on a multiprocessor, as the assembler reports them; a kernel that spills registers is marked.
// RUN: mtc-run --target=cuda:sm_90,sm_120 --emit=resources %s | FileCheck %s
// For PTX, the resources are those of the first architecture that can run it, unless an architecture is given.
// RUN: mtc-run --target=cuda:compute_80,compute_90,sm_90 --emit=resources %s | FileCheck %s --check-prefix=PTX
// PTX: {{^}}compute_80, as sm_80 runs it{{$}}
// PTX: crowded
// PTX: {{^}}sm_90{{$}}
// PTX-NOT: compute_90

// CHECK: sm_90
// CHECK-NEXT: launch{{ +}}threads registers  shared  stack spills  occupancy  limited by
// CHECK-NEXT: crowded{{ +}}1024{{ +}}64{{ +}}4096{{ +}}{{[1-9][0-9]*}}{{ +}}{{[1-9][0-9]*}}{{ +}}50%  registers  SPILLS
// CHECK: sm_90
// CHECK: roomy{{ +}}32{{ +}}{{[0-9]+}}{{ +}}0{{ +}}0{{ +}}0{{ +}}50%  blocks{{$}}
// CHECK: sm_120
// CHECK: crowded{{ +}}1024{{ +}}64{{ +}}4096{{.*}} 66%  threads  SPILLS

// Each thread holds 128 values, and 1024 threads of a block have 64 registers each.
gpu.module @mtc_kernel.crowded {
  llvm.mlir.global internal @exchange() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x f32>
  gpu.func @crowded(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1024, 1, 1>} {
    %thread = gpu.thread_id x
    %i = arith.index_cast %thread : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.array<128 x f32>
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.array<128 x f32>
    %a = llvm.load %from {alignment = 16 : i64} : !llvm.ptr<1> -> vector<128xf32>
    %shared = llvm.mlir.addressof @exchange : !llvm.ptr<3>
    %own = llvm.getelementptr %shared[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
    %sum = vector.reduction <add>, %a : vector<128xf32> into f32
    llvm.store %sum, %own : f32, !llvm.ptr<3>
    gpu.barrier
    %total = llvm.load %shared : !llvm.ptr<3> -> f32
    %totals = vector.broadcast %total : f32 to vector<128xf32>
    %b = arith.mulf %a, %totals : vector<128xf32>
    llvm.store %b, %to {alignment = 16 : i64} : vector<128xf32>, !llvm.ptr<1>
    gpu.return
  }
}

gpu.module @mtc_kernel.roomy {
  gpu.func @roomy(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    llvm.store %zero, %x : f32, !llvm.ptr<1>
    gpu.return
  }
}
