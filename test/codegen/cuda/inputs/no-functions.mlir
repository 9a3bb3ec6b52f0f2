gpu.module @mtc_kernel.plain {
  gpu.func @plain(%x: !llvm.ptr<1>) kernel {
    %zero = arith.constant 0.0 : f32
    llvm.store %zero, %x : f32, !llvm.ptr<1>
    gpu.return
  }
}
