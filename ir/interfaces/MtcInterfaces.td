//===- MtcInterfaces.td - Interfaces of operations and targets ----------------------------------===//
//
// Passes depend on these interfaces and not on individual operations. Each operation implements them next to its definition.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_INTERFACES
#define MTC_IR_INTERFACES

include "mlir/IR/OpBase.td"
include "ir/interfaces/CallInterfaces.td"

def GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    The vector-Jacobian product (VJP) of an operation. An operation without this interface has the trait `ZeroGradient` or
    `NoGradient`.
  }];
  let methods = [
    InterfaceMethod<[{
      Computes the cotangents of the operands from the cotangents of the results. For each operand i with `gradient.needs(i)`, the
      implementation calls `gradient.set(i, value)` with a value of the operand's type; an operand that is not set has no
      cotangent.
    }], "void", "buildGradient", (ins "::mtc::GradientBuilder &":$gradient)>,
    InterfaceMethod<[{
      Returns whether a result or a derivative of an elementwise operation may be infinite or NaN although the operands are finite,
      as of a logarithm at 0.
    }], "bool", "isUnbounded", (ins), "", "return false;">];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "Arithmetic and memory traffic of one execution of the operation alone.";
  let methods = [InterfaceMethod<"Returns the floating-point operations and the bytes read and written.",
      "::mtc::Cost", "getCost", (ins), "", [{
        return ::mtc::detail::defaultCost($_op.getOperation());
      }]>];
}

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "How an operation is affected by storage of its operands and results in types narrower than f32.";
  let methods = [
    InterfaceMethod<"Returns the precision class of the operation.", "::mtc::PrecisionClass", "getPrecisionClass", (ins), "", [{
        return ::mtc::PrecisionClass::Indifferent;
      }]>,
    InterfaceMethod<"Returns whether a contraction reads this f32 operand with elements of type `stored`, too.",
      "bool", "acceptsOperandType", (ins "unsigned":$operand, "::mlir::Type":$stored), "", "return true;">,
    InterfaceMethod<"Returns whether a contraction of operands of type `operands` gives this result with elements of type `stored`.",
      "bool", "acceptsResultType", (ins "unsigned":$result, "::mlir::Type":$operands, "::mlir::Type":$stored), "",
      "return stored == operands;">];
}

def RecomputableOpInterface : OpInterface<"RecomputableOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "Whether re-executing an operation is bit-exact.";
  let methods = [InterfaceMethod<"Returns true for pure operations, including counter-based random numbers.",
      "bool", "isRecomputable", (ins), "", "return true;">];
}

def FusibleOpInterface : OpInterface<"FusibleOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "An operation that can be lowered to one kernel.";
  let methods = [
    InterfaceMethod<"Returns the shape of the kernel that computes this operation alone.",
      "::mtc::FusibleShape", "getFusibleShape">,
    InterfaceMethod<[{
      Builds the `mtc.kernel` that computes this operation alone, at the builder's insertion point; the kernel's results have the
      types of this operation's results.
    }], "::mlir::Operation *", "buildKernel", (ins "::mlir::OpBuilder &":$builder)>];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "Each element of the single result depends only on the operands' elements at the same index.";
  let methods = [InterfaceMethod<[{
      Computes one element with `arith` and `math` operations from the operands' elements, which have the scalar types of a kernel
      body (`getScalarType` of the operands' element types).
    }], "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$operands)>];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "An operation that exchanges values with the other ranks of the program.";
  let methods = [InterfaceMethod<"Returns the exchange, with the pieces of each rank.",
      "::mtc::CollectiveAttr", "getCollective">];
}

def TileableOpInterface : OpInterface<"TileableOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "An operation that can be computed in tiles: contiguous chunks of its values in row-major order.";
  let methods = [
    InterfaceMethod<"Returns the ways to compute the operation in `count` tiles, which differ in the values that are tiled.",
      "::llvm::SmallVector<::mtc::Tiles>", "getTiles", (ins "int64_t":$count)>,
    InterfaceMethod<[{
      Builds tile `index` and returns its results. `operands` are whole values or tiles, as `tiles` specifies. For a result that
      is a sum over the tiles, `sums` has the partial sum of the preceding tiles, or null for the first tile; if the result has a
      type narrower than f32, all tiles but the last return f32. Entries of `sums` for other results are null.
    }], "::llvm::SmallVector<::mlir::Value>", "buildTile",
      (ins "::mlir::OpBuilder &":$builder, "const ::mtc::Tiles &":$tiles, "int64_t":$index,
           "::mlir::ValueRange":$operands, "::llvm::ArrayRef<::mlir::Value>":$sums)>];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "A composite operation that can be expressed in core operations; it is kept whole until after autodiff.";
  let methods = [
    InterfaceMethod<"Builds the same results with core operations.",
      "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mtc::TensorBuilder &":$builder)>,
    InterfaceMethod<[{
      Returns why the decomposition is too large to be compiled in reasonable time, or an empty string.
    }], "::std::string", "refuseDecomposition", (ins), "", [{ return {}; }]>];
}

def StridedMovementOpInterface : OpInterface<"StridedMovementOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "A data movement: the result is the single operand read with other strides, and no element is computed.";
  let methods = [InterfaceMethod<[{
      Returns the offset and strides of the result's elements in the operand's dense row-major memory.
    }], "::mtc::StridedLayout", "getLayout">];
}

def TransposableOpInterface : OpInterface<"TransposableOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "An operation that can also be computed on an operand with permuted axes.";
  let methods = [InterfaceMethod<[{
      The given operand is an `mtc.transpose`. Builds this operation on the input of that transpose, transposing other operands if
      necessary. Returns the new result and the permutation with which `mtc.transpose` turns it into the original result, or null
      if this is not possible.
    }], "::mtc::TransposedResult", "buildOnTransposed", (ins "::mtc::TensorBuilder &":$builder, "unsigned":$operand)>];
}

def LibraryCallOpInterface : OpInterface<"LibraryCallOpInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    An operation that one call of a target library computes, on operands that it reads in place with their strides.
    `mtc-prepare-calls` provides supported layouts. The target reports scratch size and level of support for the call description
    that `mtc-allocate` attaches.
  }];
  let methods = [
    InterfaceMethod<"Returns whether a library computes this operation; otherwise a kernel does.",
      "bool", "isLibraryCall", (ins), "", "return true;">,
    InterfaceMethod<[{
      Returns whether the call description can express an operand with these strides, in elements (0: broadcast). The target
      reports how well it supports such a call.
    }], "bool", "takesLayout", (ins "unsigned":$operand, "::llvm::ArrayRef<int64_t>":$strides)>,
    InterfaceMethod<[{
      Returns an order of the operand's axes, outermost first, whose dense layout the call accepts. An operand whose own layout is
      not accepted is copied to this layout.
    }], "::llvm::SmallVector<int64_t>", "getDenseOrder", (ins "unsigned":$operand)>,
    InterfaceMethod<[{
      Builds the call that writes a result with its axes permuted as by `mtc.transpose`; returns null if no library supports this.
    }], "::mlir::Operation *", "buildTransposed", (ins "::mlir::OpBuilder &":$builder, "unsigned":$result,
                                                    "::llvm::ArrayRef<int64_t>":$permutation), "", [{
        return nullptr;
      }]>,
    InterfaceMethod<[{
      Returns the description of the call with the strides of its operands and results. If `accumulated` is an operand, the first
      result is stored in that operand's memory and computed from its elements, and the call has no such operand.
    }], "::mtc::CallAttrInterface", "describeCall", (ins "::std::optional<unsigned>":$accumulated)>];
}

def EpilogueOpInterface : OpInterface<"EpilogueOpInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    A library call with an epilogue: additional work on the first result while it is in registers. Each method builds the call
    with one more epilogue and keeps the existing ones. It returns null if no library supports the combination.
  }];
  let methods = [
    InterfaceMethod<"Adds a value of the result's extents to the result.",
      "::mlir::Operation *", "buildAdding", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$value)>,
    InterfaceMethod<[{
      Applies an activation to the result. The gradient of an activation is evaluated at `preactivation` and multiplied with the
      result. If `hasAuxiliary`, the second result is the pre-activation.
    }], "::mlir::Operation *", "buildActivated", (ins "::mlir::OpBuilder &":$builder, "::mtc::Activation":$activation,
                                                   "bool":$hasAuxiliary, "::mlir::Value":$preactivation)>,
    InterfaceMethod<[{
      Adds a result: the sum of `summed`, which is the first result or an operand, over all axes but `kept` (in ascending order).
    }], "::mlir::Operation *", "buildSumming", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$summed,
                                                 "::llvm::ArrayRef<int64_t>":$kept)>,
    InterfaceMethod<[{
      Returns whether the first result may be stored in the memory of this operand: each element of the operand is read before the
      result's element at that address is written, and not after.
    }], "bool", "mayAccumulate", (ins "unsigned":$operand)>];
}

def KernelPlanAttrInterface : AttrInterface<"KernelPlanAttrInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    The plan by which a target runs a kernel: its loop nests or launches. A target creates the plan when the kernel's memory is
    planned, and generates the kernel's code from it.
  }];
  let methods = [
    InterfaceMethod<"Returns the bytes of scratch memory with which a launch passes values between the kernel's stages.",
      "int64_t", "getScratchBytes", (ins)>,
    InterfaceMethod<"Returns why this is not a valid plan of the `mtc.kernel_function`, or an empty string if it is.",
      "::std::string", "refuse", (ins "::mlir::Operation *":$kernel)>];
}

def TargetAttrInterface : AttrInterface<"TargetAttrInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    The target of a program: the attribute `mtc.target` of a module. Passes query it through `TargetInfo` about library calls and
    kernels.
  }];
  let methods = [
    InterfaceMethod<"Returns the number of host threads that library calls are planned for, an upper bound.",
      "unsigned", "getThreads", (ins), [{ return $_attr.getThreads(); }]>,
    InterfaceMethod<"Returns the compute precision of a training step.", "::mtc::Precision", "getPrecision", (ins),
      [{ return $_attr.getPrecision(); }]>,
    InterfaceMethod<"Returns the bytes of scratch memory that the library needs for the call; negative if unsupported.",
      "int64_t", "getScratchBytes", (ins "::mtc::CallAttrInterface":$call)>,
    InterfaceMethod<[{
      Returns how well the library supports the call, from 0 (unsupported) up. Copying an operand before the call is preferable to
      a lower level: the copy takes less time than a slow call, and its memory is planned, unlike memory that a library allocates
      itself.
    }], "unsigned", "getSupportLevel", (ins "::mtc::CallAttrInterface":$call)>,
    InterfaceMethod<[{
      Returns whether a generated kernel is faster than the call: the call does less work than the library's overhead, or is of a
      kind that the library is slow at.
    }], "bool", "isFasterAsKernel", (ins "::mtc::CallAttrInterface":$call)>,
    InterfaceMethod<[{
      Returns the type to which library calls convert operands of this type before they multiply: another one if the target has
      no faster multiplication for it. The call description records this, since it determines the scratch size.
    }], "::mlir::Type", "getProductType", (ins "::mlir::Type":$element), "", [{ return element; }]>,
    InterfaceMethod<[{
      Returns the fastest way to compute a call, which the target may measure. The description must be one that reads the operands
      as stored.
    }], "::mtc::ChosenAlgorithm", "chooseAlgorithm", (ins "::mtc::CallAttrInterface":$call), "", [{ return {}; }]>,
    InterfaceMethod<[{
      Returns the target of kernels that run on the host while the device computes (`on_host`); null if the target has none.
    }], "::mtc::TargetAttrInterface", "getHostTarget", (ins), "", [{ return {}; }]>,
    InterfaceMethod<[{
      Returns the estimated time in seconds of an `mtc.kernel` or `mtc.kernel_function` on the host, with operands in its memory.
    }], "double", "getHostKernelSeconds", (ins "::mlir::Operation *":$kernel), "", [{ return 0; }]>,
    InterfaceMethod<"Returns the plan of an `mtc.kernel` or `mtc.kernel_function`. It depends only on the kernel.",
      "::mtc::KernelPlanAttrInterface", "planKernel", (ins "::mlir::Operation *":$kernel)>,
    InterfaceMethod<"Returns the estimated time of the call in seconds.", "double", "getCallSeconds",
      (ins "::mtc::CallAttrInterface":$call)>,
    InterfaceMethod<"Returns the estimated time of an `mtc.kernel` or `mtc.kernel_function` in seconds.", "double",
      "getKernelSeconds", (ins "::mlir::Operation *":$kernel)>,
    InterfaceMethod<"Returns the estimated time in seconds to copy `bytes` bytes within the arena.", "double",
      "getCopySeconds", (ins "int64_t":$bytes)>,
    InterfaceMethod<"Returns the memory space for offloaded variables and values.",
      "::mtc::MemorySpace", "getOffloadSpace", (ins)>,
    InterfaceMethod<"Returns the estimated time in seconds to copy `bytes` bytes between memory spaces.", "double",
      "getTransferSeconds", (ins "::mtc::MemorySpace":$source, "::mtc::MemorySpace":$destination, "int64_t":$bytes)>,
    InterfaceMethod<"Returns the source of the time estimates, such as `calibrated on AMD EPYC`.", "::std::string",
      "describeRates", (ins)>];
}

#endif // MTC_IR_INTERFACES
