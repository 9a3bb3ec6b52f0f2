// A gpu.module becomes PTX of each architecture, and machine code that the assembler accepts.
// RUN: mtc-run --target=cuda --emit=asm %s | FileCheck %s --implicit-check-not=__nv_ --implicit-check-not='.extern'
// RUN: mtc-run --target=cuda:sm_80,sm_90,sm_90a,sm_100,compute_100,sm_120,sm_121a --emit=cubin %s | FileCheck %s --check-prefix=CUBIN

// CUBIN: mtc_kernel.exponential sm_80: ELF
// CUBIN: mtc_kernel.total sm_80: ELF
// CUBIN: mtc_kernel.exponential sm_90: ELF
// CUBIN: mtc_kernel.exponential sm_90a: ELF
// CUBIN: mtc_kernel.exponential sm_100: ELF
// CUBIN: mtc_kernel.exponential compute_100: ELF
// CUBIN: mtc_kernel.exponential sm_120: ELF
// CUBIN: mtc_kernel.exponential sm_121a: ELF

// Each thread accesses its 16 bytes at once, and math functions are inlined from libdevice.
// CHECK: .target sm_90
// CHECK-LABEL: .visible .entry exponential(
// CHECK: .maxntid 256, 1, 1
// CHECK: ld.global.v4.b32
// CHECK: ex2.approx
// CHECK: st.global.v4.b32
gpu.module @mtc_kernel.exponential {
  gpu.func @exponential(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %four = arith.constant 4 : index
    %threads = arith.constant 256 : index
    %first = arith.muli %block, %threads : index
    %item = arith.addi %first, %thread : index
    %element = arith.muli %item, %four : index
    %i = arith.index_cast %element : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %b = math.exp %a : vector<4xf32>
    %c = math.erf %b : vector<4xf32>
    %d = math.tanh %c : vector<4xf32>
    llvm.store %d, %to {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    gpu.return
  }
}

// The kernel uses shared memory, shuffles, barriers, and divisions that round up.
// CHECK-LABEL: .visible .entry total(
// CHECK: .shared .align 4 .f32 partial
// CHECK: shfl.sync.bfly.b32
// CHECK: st.shared.b32
// CHECK: bar.sync 0
// CHECK: ld.shared.b32
gpu.module @mtc_kernel.total {
  llvm.mlir.global internal @partial() {addr_space = 3 : i32, alignment = 4 : i64} : f32
  gpu.func @total(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %thread = gpu.thread_id x
    %zero = arith.constant 0 : index
    %three = arith.constant 3 : index
    %third = arith.ceildivsi %thread, %three : index
    %i = arith.index_cast %third : index to i64
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %b, %valid = gpu.shuffle xor %a, %one, %width : f32
    %shared = llvm.mlir.addressof @partial : !llvm.ptr<3>
    %first = arith.cmpi eq, %thread, %zero : index
    scf.if %first {
      llvm.store %b, %shared : f32, !llvm.ptr<3>
    }
    gpu.barrier
    %c = llvm.load %shared : !llvm.ptr<3> -> f32
    llvm.store %c, %y : f32, !llvm.ptr<1>
    gpu.return
  }
}
