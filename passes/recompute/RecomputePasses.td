//===- RecomputePasses.td - Rematerialization of saved activations ----------------------------===//

#ifndef MTC_PASSES_RECOMPUTE
#define MTC_PASSES_RECOMPUTE

include "mlir/Pass/PassBase.td"

def RecomputeElementwise : Pass<"mtc-recompute-elementwise", "::mlir::func::FuncOp"> {
  let summary = "recompute cheap elementwise operations to save fewer activations";
  let description = [{
    Decides for each saved activation whether to save it or to recompute it in the backward pass by elementwise operations from
    other saved values. The decision is a minimum cut: saving a value costs its bytes, and recomputing it costs its operations
    times `bytes-per-flop`; integers that depend on nothing but positions and constants cost nothing. Of two values of the same
    size, the result of a library call or a reduction is saved rather than what one subtraction, multiplication or cast computes
    from it, which then is never stored. Results of reductions, library calls and other non-recomputable operations are saved if they are
    needed. Arguments, variables and constants are always available. The algorithm follows the min-cut partitioner of PyTorch's
    AOTAutograd (He and Chintala, "Min-Cut Rematerialization", 2022).

    The forward pass ends with the result that `mtc-autodiff` has marked `mtc.differentiated`; functions without such a result do
    not change. Recomputed operations are marked `mtc.recomputed`, so that no pass merges them with operations of the forward
    pass.

    ```mlir
    %t = mtc.tanh %x : tensor<64xf32>      // %x is the result of a library call, %t is saved for the gradient
    ...
    %g = mtc.mul %dy, %t : tensor<64xf32>
    // becomes
    %t2 = mtc.tanh %x {mtc.recomputed} : tensor<64xf32>
    %g = mtc.mul %dy, %t2 : tensor<64xf32>
    // if %x is saved anyway, or is smaller.
    ```
  }];
  let options = [
    Option<"bytesPerFlop", "bytes-per-flop", "double", "0.125",
           "cost of one recomputed floating-point operation, in bytes of saved activations">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def Recompute : Pass<"mtc-recompute", "::mlir::ModuleOp"> {
  let summary = "recompute activations within the memory budget";
  let description = [{
    Recomputes values that are live at the peak and used after it. A value is recomputed immediately before its first use after
    the peak, from values that are live there or are recomputed as well. Library calls are repeated; of a kernel, only the
    operations that compute the value are repeated, including random number generation, so that results are bit-identical. With
    `recompute=all`, every recomputation that lowers the peak is applied, in the order of bytes freed per estimated time, with
    equal values of equal layers together, until the step time grows by half for the last 1/32 of the memory. `auto` is handled by
    `mtc-fit`. With `recompute=sqrt`, every sqrt(n)-th of the n operations on which all later operations of the forward pass
    depend, such as the ends of layers, is a checkpoint, and all other values are recomputed segment by segment (Chen et al.,
    "Training Deep Nets with Sublinear Memory Cost", 2016).

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
    Prints one line of JSON to standard error for each function of a module of kernels and library calls. The line describes the
    rematerialization problem that `mtc-fit` solves, for use with other solvers. The module does not change.

    `bytes` lists the sizes of the function's values by index; the size is 0 for a value stored in a variable. `fixed_bytes` are
    live during the whole function. `live_bytes` are live at its peak and include `fixed_bytes`. `operations` are in execution
    order. Each has the name of its node, whether it may run `again`, the variables that it `writes`, and the `alternatives` to compute
    its values. The first alternative is the operation itself; the others are slices of its kernel, one of which runs when that value is
    recomputed. Each alternative has an estimated time in `picoseconds`, its `scratch`, the values and variables that it reads, and the
    values that it `gives`. Each entry of `in_place` is a triple [result, value, scratch]: [0, 3, 64] means that the first result
    may be computed in place of value 3 if this is the value's last use, with 64 bytes of scratch in this case.

    ```
    {"function":"micro_step","fixed_bytes":1024,"live_bytes":1536,"bytes":[256,256],
     "operations":[{"node":"Relu","again":true,"writes":[],
                    "alternatives":[{"picoseconds":500000,"scratch":0,"reads":[0],"gives":[1],"variables":[],"in_place":[[0,0,0]]} ]} ]}
    ```
  }];
}

#endif // MTC_PASSES_RECOMPUTE
