//===- ScanOps.td - Loops with a constant number of iterations ------------------------------------===//

#ifndef MTC_IR_SCAN_OPS
#define MTC_IR_SCAN_OPS

include "ir/MtcBase.td"

def ScanOp : Mtc_ValueOp<"scan", [
    AttrSizedOperandSegments, Mtc_NoGradient, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "call a function once per iteration, with states that it carries";
  let description = [{
    The body is a private function with the attribute `mtc.body`, the numbers of states and of scanned inputs. Its arguments are
    the states, one slice of each scanned input, and the captured values; its results are the states of the next iteration and one
    slice of each stacked output:

        s[0] = states;  s[t + 1], outputs[t] = body(s[t], inputs[t], captured);  results = s[iterations], outputs

    A slice is an element of the first axis. With `reversed`, iterations read and write the slices from the last one to the first
    one. The body is compiled once, and its memory is allocated once.

    `mtc-autodiff` differentiates a scan as another scan in the other direction. The original then also stacks the states before
    each iteration. The gradient's body recomputes an iteration from these states, and carries the cotangents of the states and
    the sums of the cotangents of the captured values.

    ```mlir
    func.func private @cell(%h: tensor<4xf32>, %x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
        attributes {mtc.body = array<i64: 1, 1>} {
      %y = mtc.mul %h, %w : tensor<4xf32>
      %z = mtc.add %y, %x : tensor<4xf32>
      return %z, %y : tensor<4xf32>, tensor<4xf32>
    }
    %h, %y = mtc.scan @cell 8 times from(%h0) over(%x) with(%w)
      : (tensor<4xf32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>)
    ```

    * scan_c1: there is at least one iteration, and the symbol names a body with as many states and scanned inputs.
    * scan_c2: the arguments of the body have the types of the states, of the slices of the inputs, and of the captured values.
    * scan_c3: the results of the body have the types of the states, and of the slices of the outputs.
    * scan_c4: each input and output has one slice per iteration.
    * scan_c5: the body contains no scan.
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, I64Attr:$iterations, UnitAttr:$reversed, Variadic<Mtc_Tensor>:$states,
                       Variadic<Mtc_Tensor>:$inputs, Variadic<Mtc_Tensor>:$captured);
  let results = (outs Variadic<Mtc_Tensor>:$values);
  let assemblyFormat = [{
    $body $iterations `times` (`reversed` $reversed^)? `from` `` `(` $states `)` `over` `` `(` $inputs `)`
      `with` `` `(` $captured `)` attr-dict `:` functional-type(operands, $values)
  }];
  let extraClassDeclaration = rangeSensitive # [{
    ::mtc::Cost getCost();
    /// Returns the states after the last iteration.
    ::mlir::ResultRange getFinals() { return getValues().take_front(getStates().size()); }
    /// Returns the stacked outputs.
    ::mlir::ResultRange getOutputs() { return getValues().drop_front(getStates().size()); }
    /// Returns the function that computes an iteration.
    ::mlir::func::FuncOp lookUpBody();
    /// Returns the type of a slice of a scanned input or stacked output.
    static ::mlir::RankedTensorType sliceType(::mlir::Type stacked);
    /// Returns the type of `count` stacked slices.
    static ::mlir::RankedTensorType stackedType(::mlir::Type slice, int64_t count);
  }];
}

#endif // MTC_IR_SCAN_OPS
