gpu.module @mtc_kernel.unknown {
  llvm.func @__nv_no_such_function(f32) -> f32
  gpu.func @unknown(%x: !llvm.ptr<1>) kernel {
    %a = llvm.load %x : !llvm.ptr<1> -> f32
    %b = llvm.call @__nv_no_such_function(%a) : (f32) -> f32
    llvm.store %b, %x : f32, !llvm.ptr<1>
    gpu.return
  }
}
