//===- SplittingPasses.td - Division of layers among ranks
//---------------------------------------===//

#ifndef MTC_PASSES_SPLITTING_PASSES
#define MTC_PASSES_SPLITTING_PASSES

include "mlir/Pass/PassBase.td"

def PadAxes : Pass<"mtc-pad-axes", "::mlir::ModuleOp"> {
  let summary = "pad axes of weights that cannot be divided among ranks";
  let description = [{
    An axis of a weight may have an extent that the number of parts does not divide, as 50257 classes or 25 heads. This pass adds padding
    of at most an eighth to the axis, and to all that `mtc-split-axes` would divide with it, if the division pays. A variable with padding
    is a part of itself (`#mtc.axis_split` with `padding`): neither loaded nor saved, its padding is 0 and stays 0. Values with padding are
    unspecified there. Sums, maxima and contractions read neutral elements instead (`FunctionPadder`), so that padded classes have no
    probability and no gradient.

    The padding does not depend on the number of ranks that have the parts.

    ```mlir
    mtc.variable parameter @w : tensor<5x8xf32> = #mtc.initializer<"w">
    %w = mtc.read @w : tensor<5x8xf32>
    %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
    %m = mtc.reduce max %y axes [1] : tensor<4x5xf32> -> tensor<4xf32>
    // becomes, with 2 parts:
    mtc.variable parameter @w : tensor<6x8xf32> part of tensor<5x8xf32> along #mtc.axis_split<axis = 0, parts = 1, padding = 1>
      = #mtc.initializer<"w">
    %w = mtc.read @w : tensor<6x8xf32>
    %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %z = mtc.select %isClass, %y, %infinity : tensor<4x6xf32>
    %m = mtc.reduce max %z axes [1] : tensor<4x6xf32> -> tensor<4xf32>
    ```
  }];
  let options = [Option<"parts", "parts", "int64_t", "0", "number of parts; 0: the chunks of `mtc.program`">,
                 Option<"seed", "seed", "int64_t", "0", "for tests: pad axes drawn with this seed by up to their extent; 0: none">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def SplitAxes : Pass<"mtc-split-axes", "::mlir::ModuleOp"> {
  let summary =
      "divide axes of weights and inputs, and what is computed with them, among ranks";
  let description = [{
    Axes that must be divided together form a group (`AxisGroup`): the heads of a layer, its hidden features, or the classes. The pass
    divides the groups that divide most bytes of variables for the bytes that they send. A divided variable is a part along an axis
    (`#mtc.axis_split`). Operations on divided values become operations on their parts by the rules of `SplitRules`. A result of which
    each rank has an addend, such as that of a contraction over a divided axis, is a partial value (`#mtc.partial`) until
    `mtc.all_reduce` or `mtc.reduce_scatter` adds the values of all ranks. Every rank gathers a divided value for an operation that
    needs it whole. Everything else is computed by all ranks of the group. `mtc-exchange-partials` must follow.

    If the program has context groups, an axis of the inputs is divided first, and all that follows from it without dividing variables:
    the axis that divides most floating-point operations of contractions (`SequenceSplits`). `mtc.reshard` exchanges elements of
    sequences for heads of attention.

    A sum over a divided axis has one addend for each of `chunks` parts of the axis, of which a rank computes its own: any number of
    ranks that divides `chunks` has the same sums. With one rank, nothing but these sums changes.

    ```mlir
    %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x64xf32> -> tensor<8x64xf32>
    %y = mtc.contract %h, %w2 batch [] x [] over [1] x [0] : tensor<8x64xf32>, tensor<64x16xf32> -> tensor<8x16xf32>
    // becomes, with 2 ranks:
    %h = mtc.contract %x, %w1 batch [] x [] over [1] x [0] : tensor<8x16xf32>, tensor<16x32xf32> -> tensor<8x32xf32>
    %a = mtc.contract %h, %w2 batch [] x [] over [1] x [0] : tensor<8x32xf32>, tensor<32x16xf32> -> tensor<8x16xf32>
    %p = mtc.partial %a : tensor<8x16xf32> -> tensor<8x16xf32, #mtc.partial<add, ranks = 2>>
    %y = mtc.all_reduce %p : tensor<8x16xf32, #mtc.partial<add, ranks = 2>> -> tensor<8x16xf32>
    ```
  }];
  let options = [Option<"ranks", "ranks", "int64_t", "0",
                        "number of ranks of a tensor group; 0: those of `mtc.program`">,
                 Option<"chunks", "chunks", "int64_t", "0",
                        "number of addends of a sum over a divided axis; 0: that of `mtc.program`, or of the ranks">,
                 Option<"seed", "seed", "int64_t", "0",
                        "for tests: divide axes drawn with this seed, instead of those that send least; 0: none">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def FixSumOrder : Pass<"mtc-fix-sum-order", "::mlir::ModuleOp"> {
  let summary = "let the order of sums depend on their lengths only";
  let description = [{
    The order in which a kernel or a library adds the terms of a sum usually depends on the number of sums and on the layouts of operands. A
    rank has fewer rows, columns and channels than one rank that has all. In programs with `--tensor`, `--context` or their numbers of
    chunks, this pass marks kernels that reduce or scatter with `mtc.fixed_order`, so that targets add up each sum in an order that
    depends on its length only. On the target `cpu`, the runtime's own panels compute contractions: they add terms in order.
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def ExchangePartials : Pass<"mtc-exchange-partials", "::mlir::func::FuncOp"> {
  let summary = "lower reductions over ranks to exchanges and kernels";
  let description = [{
    Replaces `mtc.all_reduce`: each rank receives its piece of the partial values of all ranks, reduces them in a balanced tree in the
    order of ranks, and sends the result to all ranks. Small values are gathered and reduced by every rank. `mtc.reduce_scatter` needs
    the first exchange only. A rank reduces the values of its own chunks first. The pass removes `mtc.partial` and the encoding of
    partial values from all types. Functions with partial arguments or results are refused.

    ```mlir
    %y = mtc.all_reduce %p : tensor<512x16xf32, #mtc.partial<add, ranks = 2>> -> tensor<512x16xf32>
    // becomes, where %p is an mtc.partial of %a:
    %rows = mtc.all_to_all %a pieces [4096] {mtc.addends} : tensor<512x16xf32> -> tensor<2x4096xf32>
    …
    %sum = mtc.add %row0, %row1 : tensor<4096xf32>
    %y = mtc.all_gather %sum ranks 2 : tensor<4096xf32> -> tensor<512x16xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def TestSplits : Pass<"mtc-test-splits", "::mlir::ModuleOp"> {
  let summary = "divide the last operation of each function in every way";
  let description = [{
    Tests the rules of `SplitRules`. For each division of the operation that computes the first result of `@f`, adds a function
    `@f_split0`, `@f_split1`, … with the arguments and results of `@f`, in which each rank computes the operation on its parts. The
    divisions are those that follow from every axis of every operand and result, with one to three blocks. With one rank, the
    functions have the sums of `chunks` addends. The attribute `split` names the operand or result and the axis.

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = mtc.exp %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    // gains
    func.func @f_split0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {split = "operand 0 axis 0 outer 1"} {
      %r = mtc.reshape %x : tensor<4xf32> -> tensor<1x2x2xf32>
      %t = mtc.transpose %r [1, 0, 2] : tensor<1x2x2xf32> -> tensor<2x1x2xf32>
      %p = mtc.own_piece %t ranks 2 : tensor<2x1x2xf32> -> tensor<2xf32>
      %e = mtc.exp %p : tensor<2xf32>
      …
    ```
  }];
  let options = [Option<"ranks", "ranks", "int64_t", "2", "number of ranks">,
                 Option<"chunks", "chunks", "int64_t", "2", "number of parts of an axis, and of addends of a sum over it">,
  ];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::func::FuncDialect"];
}

#endif // MTC_PASSES_SPLITTING_PASSES
