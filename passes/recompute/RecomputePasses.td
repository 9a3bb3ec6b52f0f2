//===- RecomputePasses.td - What the backward pass computes again -------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE
#define MTC_PASSES_RECOMPUTE

include "mlir/Pass/PassBase.td"

def RecomputeElementwise : Pass<"mtc-recompute-elementwise", "::mlir::func::FuncOp"> {
  let summary = "recompute cheap elementwise operations to save fewer activations";
  let description = [{
    What the backward pass reads of the forward pass is either kept, or computed again by elementwise operations from
    what is kept. The choice is a minimum cut: keeping a value costs its bytes, computing one again its operations times
    `bytes-per-flop`. Reductions, library calls and what is not recomputable are kept, if they are needed; arguments,
    variables and constants are there anyway. (The min-cut partitioner of PyTorch's AOTAutograd works so; He, Chintala,
    "Min-Cut Rematerialization", 2022.)

    The forward pass ends with the result that `mtc-autodiff` has marked `mtc.differentiated`; functions without one stay as
    they are. What is computed again is marked `mtc.recomputed`, so that no pass takes it for the forward pass's own.

    ```mlir
    %t = mtc.tanh %x : tensor<64xf32>      // %x comes from a library call, the gradient of tanh reads %t
    ...
    %g = mtc.mul %dy, %t : tensor<64xf32>
    // becomes
    %t2 = mtc.tanh %x {mtc.recomputed} : tensor<64xf32>
    %g = mtc.mul %dy, %t2 : tensor<64xf32>
    // where %x is kept all the same, or is smaller.
    ```
  }];
  let options = [
    Option<"bytesPerFlop", "bytes-per-flop", "double", "0.125",
           "bytes that it is worth to keep in order not to compute one operation again">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def Recompute : Pass<"mtc-recompute", "::mlir::ModuleOp"> {
  let summary = "recompute activations within the memory budget";
  let description = [{
    What is alive at the peak and read behind it is computed again in front of its first late reader, of what is alive there, and of
    what is computed again too. Calls run again, and of kernels what computes the value, random numbers included, so that nothing
    but time and memory changes. With `recompute=all` this is done to all that lowers the peak, until a step takes half as long
    again for 1/32 of it: the values that free the most bytes for the least time first, equal ones of equal layers together.
    `auto` is left to `mtc-fit`. With `recompute=sqrt` every sqrt(n)-th of the n operations that all of the forward pass goes
    through, such as the ends of layers, is a checkpoint, and all other values are computed again, from one checkpoint to the
    next (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016).

    ```mlir
    %h = mtc.contract %x, %w ...
    ...
    %g = mtc.contract %h, %d ...
    // becomes
    %h = mtc.contract %x, %w ...
    ...
    %again = mtc.contract %x, %w ... {mtc.recomputed}
    %g = mtc.contract %again, %d ...
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def PrintRecomputation : Pass<"mtc-print-recomputation", "::mlir::ModuleOp"> {
  let summary = "print the candidates for recomputation with their cost";
  let description = [{
    For a module of kernels and calls: a line of JSON for each function, which is the problem that `mtc-fit` solves by recomputation,
    for other solvers. The module stays as it is; the standard error is written to.

    `bytes` are those of the function's values, by their numbers, 0 of what lies in a variable; `fixed_bytes` outlive the function, and
    `live_bytes` are alive at its peak, those included. `operations` run in this order; one has its node, whether it may run again,
    the variables to which it `writes`, and ways to compute its values: the first is itself, the others are
    parts of its kernel, of which one runs where that value is computed again. A way takes `picoseconds`, `scratch`, values and variables that it
    reads, and `gives` values. `in_place` has triples: the first result, 0, may be computed over value 3 where that is read last there,
    and the scratch is 64 bytes then.

    ```
    {"function":"micro_step","fixed_bytes":1024,"live_bytes":1536,"bytes":[256,256],
     "operations":[{"node":"Relu","again":true,"writes":[],
                    "ways":[{"picoseconds":500000,"scratch":0,"reads":[0],"gives":[1],"variables":[],"in_place":[[0,0,0]]} ]} ]}
    ```
  }];
}

#endif // MTC_PASSES_RECOMPUTE
