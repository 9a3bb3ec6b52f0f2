//===- KernelOps.td - Kernels, from which code is generated -------------------------------------===//

#ifndef MTC_IR_KERNEL_OPS
#define MTC_IR_KERNEL_OPS

include "ir/MtcBase.td"

def KernelOp : Mtc_Op<"kernel", [
    Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"KernelYieldOp">, DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "a declarative loop nest over an iteration space";
  let description = [{
    The body computes scalars for each iteration of an iteration space with the extents `space`. It reads operands with
    `mtc.kernel.load` at affine functions of the iteration's indices. `mtc.kernel.reduce` combines values over the dimensions in
    `reduced`: its result has one value for each iteration of the other dimensions, and may be used in every iteration.
    `mtc.kernel.yield` specifies the index of each result's element. With `iterations`, only that many iterations in row-major order
    exist, so the last row is partial; the remaining iterations do not load, combine or store anything.

    The body computes 16-bit and 8-bit floats in f32: loads extend, and the yield rounds. The order of iterations is unspecified,
    but the order of a reduction depends only on the space.

    A kernel with `on_host` runs on the processor of the host, with operands in pinned host memory, while the device computes.

    ```mlir
    %s = mtc.kernel [32, 64] reduce [1] (%x) : (tensor<32x64xf32>) -> tensor<32xf32> {
    ^body(%a: tensor<32x64xf32>):
      %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<32x64xf32> -> f32
      %q = arith.mulf %v, %v : f32
      %r = mtc.kernel.reduce add %q : f32
      mtc.kernel.yield %r at [affine_map<(d0, d1) -> (d0)>] : f32
    }
    ```

    * kernel_c1: extents are positive; reduced dimensions ascend and are dimensions of the space.
    * kernel_c2: the body's arguments have the operands' types.
    * kernel_c3: the body contains only scalar operations of `arith` and `math`, and `mtc.kernel.*`.
    * kernel_c4: for each result, the yield has a value of the element's scalar type and a map with as many results as the result
      has axes; maps are over the dimensions of the space.
    * kernel_c5: a result whose map does not use a reduced dimension is given a value that is invariant along it.
    * kernel_c6: the result numbers in `add` ascend. With symbols, they are all results. Without symbols, they are results of
      floats, and every dimension that is not reduced and that the map of one of them does not use is used by the maps of all
      results that are not in `add`.
    * kernel_c7: if the body reduces, a reduced dimension has an extent other than 1.
    * kernel_c8: a space with `iterations` has two dimensions, the first of which are rows; all rows but the last are complete, and
      the last is partial but not empty. Rows are not reduced, and `add` is empty.
    * kernel_c9: with `onto`, the kernel is a scatter with one result; `onto` is an argument of the body of the result's type.
    * kernel_c10: without `iterations`, indices that the yield's maps compute without symbols are within the result in every
      iteration.
  }];
  let arguments = (ins DenseI64ArrayAttr:$space, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$reduced,
                       OptionalAttr<I64Attr>:$iterations, UnitAttr:$on_host, Variadic<Mtc_Tensor>:$inputs);
  let results = (outs Variadic<Mtc_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $space (`iterations` $iterations^)? (`reduce` $reduced^)? (`on_host` $on_host^)? `(` $inputs `)` attr-dict-with-keyword
      `:` functional-type($inputs, $outputs) $body
  }];
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$outputs, "::llvm::ArrayRef<int64_t>":$space, "::llvm::ArrayRef<int64_t>":$reduced,
                   "::std::optional<int64_t>":$iterations, "::mlir::ValueRange":$inputs,
                   CArg<"bool", "false">:$onHost)>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Returns the shape of the kernel, which follows from `reduced` and the yield.
    ::mtc::FusibleShape getShape();
    ::mtc::Cost getCost();
    /// Returns the memory space of the operands and results when the kernel runs.
    ::mtc::MemorySpace getSpaceOfOperands() { return getOnHost() ? ::mtc::MemorySpace::PinnedHost : ::mtc::MemorySpace::Device; }
  }];
}

def KernelLoadOp : Mtc_Op<"kernel.load", [Pure, AttrSizedOperandSegments, ParentOneOf<["KernelOp", "KernelFunctionOp"]>]> {
  let summary = "load an element of an operand";
  let description = [{
    The map maps the iteration's indices and the symbols (i64 values of the body) to the element's indices. If a guard is false,
    nothing is read and the value is `otherwise`. If the guard is true or absent, the indices are within the operand.

    ```mlir
    %v = mtc.kernel.load %a at affine_map<(d0, d1)[s0] -> (s0, d1)> [%i] if %g else %z : f32 : tensor<9x4xf32> -> f32
    ```

    * load_c1: the map has as many results as the operand has axes, and as many symbols as are given.
    * load_c2: `otherwise` is present if there is a guard; it and the value have the scalar type of the operand's element type.
    * load_c3: without a guard, and in a kernel without `iterations`, indices computed without symbols are within the operand.
  }];
  let arguments = (ins Mtc_Tensor:$source, AffineMapAttr:$map, Variadic<I64>:$symbols, Optional<I1>:$guard,
                       Optional<Mtc_Scalar>:$otherwise);
  let results = (outs Mtc_Scalar:$value);
  let assemblyFormat = [{
    $source `at` $map (`[` $symbols^ `]`)? (`if` $guard^ `else` $otherwise `:` type($otherwise))? attr-dict
      `:` type($source) `->` type($value)
  }];
  let hasVerifier = 1;
}

def KernelAddRowsOp : Mtc_Op<"kernel.add_rows", [Pure, AttrSizedOperandSegments, ParentOneOf<["KernelOp", "KernelFunctionOp"]>]> {
  let summary = "add an element of each row of an operand, in order";
  let description = [{
    The rows are the indices of the operand's first axis. The map maps the iteration's indices and the number of a row (`s0`) to the
    indices of an element. The value is `onto` plus the element of row 0, plus that of row 1 and so on, with one rounding for each
    addition. Without `onto`, it starts as the element of row 0. With `decay`, the sum is multiplied by `decay` before each addition.
    If a guard is false, nothing is read and the value is unspecified.

    ```mlir
    %s = mtc.kernel.add_rows %a at affine_map<(d0)[s0] -> (s0, d0)> onto %sum : f32 : tensor<512x64xf32> -> f32
    ```

    * kernel_add_rows_c1: the map has one symbol, which is its first result and is in no other, and as many results as the operand
      has axes.
    * kernel_add_rows_c2: `onto`, `decay` and the value have the scalar type of the operand's element type, a float.
    * kernel_add_rows_c3: without a guard, and in a kernel without `iterations`, the indices are within the operand.
  }];
  let arguments = (ins Mtc_FloatTensor:$source, AffineMapAttr:$map, Optional<Mtc_Scalar>:$onto, Optional<Mtc_Scalar>:$decay,
                       Optional<I1>:$guard);
  let results = (outs Mtc_Scalar:$value);
  let assemblyFormat = [{
    $source `at` $map (`onto` $onto^ `:` type($onto))? (`decay` $decay^ `:` type($decay))? (`if` $guard^)? attr-dict
      `:` type($source) `->` type($value)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getRowCount() { return ::mlir::cast<::mlir::RankedTensorType>(getSource().getType()).getDimSize(0); }
  }];
}

def KernelIndexOp : Mtc_Op<"kernel.index", [Pure, ParentOneOf<["KernelOp", "KernelFunctionOp"]>]> {
  let summary = "an affine function of the iteration's indices";
  let description = [{
    ```mlir
    %i = mtc.kernel.index affine_map<(d0, d1) -> (d0 * 64 + d1)>
    ```
  }];
  let arguments = (ins AffineMapAttr:$map);
  let results = (outs I64:$value);
  let assemblyFormat = "$map attr-dict";
  let hasVerifier = 1;
}

def KernelCheckOp : Mtc_Op<"kernel.check", [ParentOneOf<["KernelOp", "KernelFunctionOp"]>]> {
  let summary = "normalize an index and report it if it is out of bounds";
  let description = [{
    An index i with -extent <= i < 0 counts from the end. An index outside -extent..extent-1 raises the run's fault, and the value
    is 0.

    ```mlir
    %j = mtc.kernel.check %i below 50257
    ```
  }];
  let arguments = (ins I64:$index, I64Attr:$extent);
  let results = (outs I64:$value);
  let assemblyFormat = "$index `below` $extent attr-dict";
}

def KernelReduceOp : Mtc_Op<"kernel.reduce", [Pure, SameOperandsAndResultType, ParentOneOf<["KernelOp", "KernelFunctionOp"]>]> {
  let summary = "combine a value over the kernel's reduced dimensions";
  let description = [{
    `unsigned` makes `max` and `min` compare integers as unsigned. NaN is propagated for floats.

    ```mlir
    %r = mtc.kernel.reduce add %v : f32
    ```
  }];
  let arguments = (ins Mtc_ReductionKindAttr:$kind, Mtc_Scalar:$value, UnitAttr:$is_unsigned);
  let results = (outs Mtc_Scalar:$result);
  let assemblyFormat = "$kind $value (`unsigned` $is_unsigned^)? attr-dict `:` type($value)";
}

def KernelYieldOp : Mtc_Op<"kernel.yield", [Terminator, ParentOneOf<["KernelOp", "KernelFunctionOp"]>,
                                            AttrSizedOperandSegments]> {
  let summary = "store the element of each result";
  let description = [{
    Results whose numbers are in `add` start as zero, and iterations add their values. A single result may instead start as the
    operand `onto`, with which it shares memory.

    Without symbols, each such result is a sum over the dimensions that its map does not use, except the reduced ones: column sums
    are accumulated while rows are computed. With symbols, iterations scatter: each adds its values at the indices that the maps
    compute from the iteration and the symbols. Iterations that differ in a dimension that is not reduced never write the same
    element; those that differ only in reduced dimensions are added in order.

    ```mlir
    mtc.kernel.yield %dx, %dx at [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>] add [1] : f32, f32
    mtc.kernel.yield %v at [affine_map<(d0, d1)[s0] -> (s0, d1)>] [%i] add [0] : f32
    ```
  }];
  let arguments = (ins Variadic<Mtc_Scalar>:$values, AffineMapArrayAttr:$maps, Variadic<I64>:$symbols,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$added, Optional<Mtc_Tensor>:$onto);
  let assemblyFormat = [{
    ($values^)? `at` $maps (`[` $symbols^ `]`)? (`add` $added^)? (`onto` $onto^ `:` type($onto))? attr-dict
      (`:` type($values)^)?
  }];
  let extraClassDeclaration = [{
    bool isAdded(unsigned result) { return ::llvm::is_contained(getAdded(), static_cast<int64_t>(result)); }
    /// Returns whether iterations add at computed indices.
    bool scatters() { return !getSymbols().empty(); }
    /// Returns whether the result is summed over the dimensions that its map does not use.
    bool isColumnSum(unsigned result) { return !scatters() && isAdded(result); }
  }];
  let builders = [OpBuilder<(ins), [{ $_state.addAttribute("maps", $_builder.getArrayAttr({})); }]>];
}

#endif // MTC_IR_KERNEL_OPS
