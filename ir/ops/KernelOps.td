//===- KernelOps.td - The one form from which code is generated ---------------------------------===//

#ifndef MTC_IR_KERNEL_OPS
#define MTC_IR_KERNEL_OPS

include "ir/MtcBase.td"

def KernelOp : Mtc_Op<"kernel", [
    Pure, IsolatedFromAbove, SingleBlockImplicitTerminator<"KernelYieldOp">, DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "a loop nest described, not written";
  let description = [{
    The body computes scalars for each point of the iteration space, whose extents are `space`; it reads the operands
    with `mtc.kernel.load` at affine functions of the point. `reduced` are the dimensions over which
    `mtc.kernel.reduce` combines: its result has one value for each point of the other dimensions, and may be used at
    every point again. `mtc.kernel.yield` says where each result's element goes. Where there are `points`, only so many
    of the space's exist, in row-major order: its last row is not whole. The others read, combine and store nothing.

    The body computes with f32 where elements are narrower floats; loads widen and the yield narrows. It does not say in
    which order points are visited, but a reduction's order is fixed by the space alone.

    ```mlir
    %s = mtc.kernel [32, 64] reduce [1] (%x) : (tensor<32x64xf32>) -> tensor<32xf32> {
    ^body(%a: tensor<32x64xf32>):
      %v = mtc.kernel.load %a at affine_map<(d0, d1) -> (d0, d1)> : tensor<32x64xf32> -> f32
      %q = arith.mulf %v, %v : f32
      %r = mtc.kernel.reduce add %q : f32
      mtc.kernel.yield %r at [affine_map<(d0, d1) -> (d0)>] : f32
    }
    ```

    * kernel_c1: extents are positive; reduced dimensions ascend and lie within the space.
    * kernel_c2: the body's arguments have the operands' types.
    * kernel_c3: the body holds operations of `arith` and `math` on scalars, and `mtc.kernel.*`.
    * kernel_c4: the yield has a value of the element's scalar type and a map of the result's rank for each result; maps
      are over the space's dimensions.
    * kernel_c5: a result whose map misses a reduced dimension gets a value that does not depend on it.
    * kernel_c6: the results in `add` ascend. With symbols these are all results; without, they are of floats, and every
      dimension that one of their maps leaves out is a dimension of the maps of all results that are not added.
    * kernel_c7: where the body reduces, a reduced dimension has an extent other than 1.
    * kernel_c8: a space with `points` has two dimensions, the rows first, of which all but the last exist as a whole;
      of the last row some points do, and not all. Rows are not reduced, and no result is added to.
    * kernel_c9: what a result starts as is an argument of the body, of the type of the only result, which is scattered to.
  }];
  let arguments = (ins DenseI64ArrayAttr:$space, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$reduced,
                       OptionalAttr<I64Attr>:$points, Variadic<Mtc_Tensor>:$inputs);
  let results = (outs Variadic<Mtc_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $space (`points` $points^)? (`reduce` $reduced^)? `(` $inputs `)` attr-dict-with-keyword
      `:` functional-type($inputs, $outputs) $body
  }];
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$outputs, "::llvm::ArrayRef<int64_t>":$space, "::llvm::ArrayRef<int64_t>":$reduced,
                   "::std::optional<int64_t>":$points, "::mlir::ValueRange":$inputs)>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The shape of the kernel, as it follows from `reduced` and the yield.
    ::mtc::FusibleShape getShape();
    ::mtc::Cost getCost();
  }];
}

def KernelLoadOp : Mtc_Op<"kernel.load", [Pure, AttrSizedOperandSegments, ParentOneOf<["KernelOp", "KernelFunctionOp"]>]> {
  let summary = "an element of an operand";
  let description = [{
    The map takes the point's indices and the symbols (i64 values of the body) to the element's indices. Where a guard
    is given and false nothing is read, and the value is `otherwise`; where it is true or absent the indices lie within
    the operand.

    ```mlir
    %v = mtc.kernel.load %a at affine_map<(d0, d1)[s0] -> (s0, d1)> [%i] if %g else %z : f32 : tensor<9x4xf32> -> f32
    ```

    * load_c1: the map has as many results as the operand has axes, and as many symbols as are given.
    * load_c2: the value has the scalar type of the operand's element type.
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

def KernelIndexOp : Mtc_Op<"kernel.index", [Pure, ParentOneOf<["KernelOp", "KernelFunctionOp"]>]> {
  let summary = "an affine function of the point's indices";
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
  let summary = "an index made valid, and a fault raised if it was not";
  let description = [{
    An index i with -extent <= i < 0 counts from the end; one outside -extent..extent-1 raises the run's fault, and the
    value is 0.

    ```mlir
    %j = mtc.kernel.check %i below 50257
    ```
  }];
  let arguments = (ins I64:$index, I64Attr:$extent);
  let results = (outs I64:$value);
  let assemblyFormat = "$index `below` $extent attr-dict";
}

def KernelReduceOp : Mtc_Op<"kernel.reduce", [Pure, SameOperandsAndResultType, ParentOneOf<["KernelOp", "KernelFunctionOp"]>]> {
  let summary = "combines a value over the kernel's reduced dimensions";
  let description = [{
    `unsigned` orders integers as unsigned ones in `max` and `min`; with floats NaN wins.

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
  let summary = "where each result's element goes";
  let description = [{
    Results named in `add` start as zero, and points add their values to them. A single result may start as an operand instead,
    `onto`, over which it lies. Without symbols each is a sum over the
    dimensions that its map leaves out, but for the reduced ones: columns are added up while the rows are computed. With
    symbols points scatter: each adds its values at the indices that the maps give from the point and the symbols. Points
    that differ in a dimension that is not reduced never meet then; those that differ only in reduced ones are added in order.

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
    /// Whether points add at computed indices.
    bool scatters() { return !getSymbols().empty(); }
    /// Whether the result is summed over the dimensions that its map leaves out.
    bool isColumnSum(unsigned result) { return !scatters() && isAdded(result); }
  }];
  let builders = [OpBuilder<(ins), [{ $_state.addAttribute("maps", $_builder.getArrayAttr({})); }]>];
}

#endif // MTC_IR_KERNEL_OPS
