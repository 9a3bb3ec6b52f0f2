//===- MtcInterfaces.td - What passes ask of operations -----------------------------------------===//
//
// A pass knows these interfaces and no operation; an operation implements them beside its definition.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_INTERFACES
#define MTC_IR_INTERFACES

include "mlir/IR/OpBase.td"
include "ir/interfaces/CallInterfaces.td"

def GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    The vector-Jacobian product of an operation. An operation without it carries the trait `ZeroGradient` or
    `NoGradient`.
  }];
  let methods = [InterfaceMethod<[{
      Gives, for each operand that `gradient.needs(i)`, the cotangent that follows from the results' cotangents, by
      `gradient.set(i, value)`; a needed operand that is not set gets none. The value has the operand's type.
    }], "void", "buildGradient", (ins "::mtc::GradientBuilder &":$gradient)>];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "Arithmetic and memory traffic of one execution on its own.";
  let methods = [InterfaceMethod<"Floating-point operations and bytes read and written.",
      "::mtc::Cost", "getCost", (ins), "", [{
        return ::mtc::detail::defaultCost($_op.getOperation());
      }]>];
}

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "What a narrower storage type does to an operation.";
  let methods = [
    InterfaceMethod<"Contraction, range-sensitive or indifferent.", "::mtc::PrecisionClass", "getPrecisionClass", (ins), "", [{
        return ::mtc::PrecisionClass::Indifferent;
      }]>,
    InterfaceMethod<"Of a contraction: whether an operand of f32 is read narrow, too.",
      "bool", "readsNarrow", (ins "unsigned":$operand), "", "return true;">,
    InterfaceMethod<"Of a contraction with narrow operands.", "::mtc::ResultStorage", "getResultStorage",
      (ins "unsigned":$result), "", "return ::mtc::ResultStorage::Narrow;">];
}

def RecomputableOpInterface : OpInterface<"RecomputableOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "Whether executing an operation again gives the same bits.";
  let methods = [InterfaceMethod<"True for pure operations, counter-based random numbers included.",
      "bool", "isRecomputable", (ins), "", "return true;">];
}

def FusibleOpInterface : OpInterface<"FusibleOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "An operation that a kernel can compute.";
  let methods = [
    InterfaceMethod<"The shape of the kernel that computes this operation alone.",
      "::mtc::FusibleShape", "getFusibleShape">,
    InterfaceMethod<[{
      Builds, at the builder's insertion point, the `mtc.kernel` that computes this operation alone; its results have
      the types of this operation's results.
    }], "::mlir::Operation *", "buildKernel", (ins "::mlir::OpBuilder &":$builder)>];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "Each element of the one result depends on the operands' elements at the same index.";
  let methods = [InterfaceMethod<[{
      Computes one element in `arith` and `math` from the operands' elements, which have the scalar types of a kernel's
      body (`getScalarType` of the operands' element types).
    }], "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$operands)>];
}

def TileableOpInterface : OpInterface<"TileableOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "An operation that can be computed tile by tile: runs of rows, of which a value has many.";
  let methods = [
    InterfaceMethod<"The ways of computing it in so many tiles, each with other values in tiles.",
      "::llvm::SmallVector<::mtc::Tiles>", "getTiles", (ins "int64_t":$count)>,
    InterfaceMethod<[{
      Builds the tile of this number, of operands that are taken as `tiles` says, and gives its results. Of a result that is a
      sum, `sums` has what the tiles before it have added up to, null for the first; where the result has 16 bits, all but
      the last give f32. Null where there is none.
    }], "::llvm::SmallVector<::mlir::Value>", "buildTile",
      (ins "::mlir::OpBuilder &":$builder, "const ::mtc::Tiles &":$tiles, "int64_t":$index,
           "::mlir::ValueRange":$operands, "::llvm::ArrayRef<::mlir::Value>":$sums)>];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "A larger operation that the core can also say; it stays whole until after autodiff.";
  let methods = [InterfaceMethod<"Builds the same results from core operations.",
      "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mtc::TensorBuilder &":$builder)>];
}

def StridedMovementOpInterface : OpInterface<"StridedMovementOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "The result is its one operand read with other strides; no element is computed.";
  let methods = [InterfaceMethod<[{
      Where, in the operand's dense row-major memory, the result's elements lie.
    }], "::mtc::StridedLayout", "getLayout">];
}

def TransposableOpInterface : OpInterface<"TransposableOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "An operation that can as well be computed on an operand with its axes in another order.";
  let methods = [InterfaceMethod<[{
      The operand of this number is an `mtc.transpose`. Builds the same operation of what that reads, other operands
      transposed where they must be, and gives its result with the permutation by which `mtc.transpose` makes it this
      operation's; null if there is none.
    }], "::mtc::TransposedResult", "buildOnTransposed", (ins "::mtc::TensorBuilder &":$builder, "unsigned":$operand)>];
}

def LibraryCallOpInterface : OpInterface<"LibraryCallOpInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    An operation that a library of the target computes in one call, on operands that it reads where and as they lie.
    `mtc-prepare-calls` gives it the layouts that it takes; the target is asked for scratch, and for its level of support,
    by the description that `mtc-allocate` writes.
  }];
  let methods = [
    InterfaceMethod<"Whether a library computes this one; a kernel does otherwise.",
      "bool", "isLibraryCall", (ins), "", "return true;">,
    InterfaceMethod<[{
      Whether the description can say that an operand's neighbours along each axis are `strides` elements apart (0: the
      same element). How well it supports a call with them, the target says.
    }], "bool", "takesLayout", (ins "unsigned":$operand, "::llvm::ArrayRef<int64_t>":$strides)>,
    InterfaceMethod<[{
      An order of the operand's axes, outermost first, of which the dense layout is taken: that of a copy, where the
      operand's own layout is not.
    }], "::llvm::SmallVector<int64_t>", "getDenseOrder", (ins "unsigned":$operand)>,
    InterfaceMethod<[{
      Builds the call that writes a result with the axes permuted as `mtc.transpose` does; null if no library can.
    }], "::mlir::Operation *", "buildTransposed", (ins "::mlir::OpBuilder &":$builder, "unsigned":$result,
                                                    "::llvm::ArrayRef<int64_t>":$permutation), "", [{
        return nullptr;
      }]>,
    InterfaceMethod<[{
      The call, its operands and results as they lie. Where `accumulated` is an operand, the first result lies where that
      does and is added to it, and the call has no such operand.
    }], "::mtc::CallAttrInterface", "describeCall", (ins "::std::optional<unsigned>":$accumulated)>];
}

def EpilogueOpInterface : OpInterface<"EpilogueOpInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    A library call with an epilogue: more work on its first result while it is in registers. Each method builds the
    call with one more epilogue, the others as they are, or gives null if no library has it.
  }];
  let methods = [
    InterfaceMethod<"Adds a value of the result's type to the result.",
      "::mlir::Operation *", "buildAdding", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$value)>,
    InterfaceMethod<[{
      Takes an activation of the result. The gradient of an activation is taken at `preactivation`, and the result is multiplied by
      it. Where `hasAuxiliary`, the second result is what the activation is taken of.
    }], "::mlir::Operation *", "buildActivated", (ins "::mlir::OpBuilder &":$builder, "::mtc::Activation":$activation,
                                                   "bool":$hasAuxiliary, "::mlir::Value":$preactivation)>,
    InterfaceMethod<[{
      Gives one more result: the sum of `summed`, the first result or an operand, over all axes but `kept`, which ascend.
    }], "::mlir::Operation *", "buildSumming", (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$summed,
                                                 "::llvm::ArrayRef<int64_t>":$kept)>,
    InterfaceMethod<[{
      Whether an operand is added to the result from where it lies, so that the result may lie there: each of its elements
      is read before the result's element there is written, and not after.
    }], "bool", "mayAccumulate", (ins "unsigned":$operand)>];
}

def KernelPlanAttrInterface : AttrInterface<"KernelPlanAttrInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    How a target runs a kernel: its loops, or its launches. A target makes it when the kernel's memory is planned, and
    writes the kernel's code by it.
  }];
  let methods = [
    InterfaceMethod<"Bytes of scratch memory that a launch of the kernel needs, to pass values between its stages.",
      "int64_t", "getScratchBytes", (ins)>,
    InterfaceMethod<"Why it is no plan of this `mtc.kernel_function`; empty if code can be written by it.",
      "::std::string", "refuse", (ins "::mlir::Operation *":$kernel)>];
}

def TargetAttrInterface : AttrInterface<"TargetAttrInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    What a program is compiled for: the attribute `mtc.target` of a module. Passes ask it, by way of `TargetInfo`, about
    library calls and kernels.
  }];
  let methods = [
    InterfaceMethod<"How many threads of the host library calls are planned for: the most that the program may use.",
      "unsigned", "getThreads", (ins), [{ return $_attr.getThreads(); }]>,
    InterfaceMethod<"What a training step computes with.", "::mtc::Precision", "getPrecision", (ins),
      [{ return $_attr.getPrecision(); }]>,
    InterfaceMethod<"Bytes of scratch memory that the library needs for the call; negative where it cannot run it.",
      "int64_t", "getScratchBytes", (ins "::mtc::CallAttrInterface":$call)>,
    InterfaceMethod<[{
      How well the library supports the call, from 0 (not at all) up. A copy in front of the call is better than a lower
      level: it takes less time than a slow call, and its memory is planned, which what a library allocates for itself is
      not.
    }], "unsigned", "getSupportLevel", (ins "::mtc::CallAttrInterface":$call)>,
    InterfaceMethod<[{
      Whether a generated kernel computes the call faster: its work is less than the library's overhead, or of a kind that
      the library is slow at.
    }], "bool", "isFasterAsKernel", (ins "::mtc::CallAttrInterface":$call)>,
    InterfaceMethod<[{
      Whether library calls convert operands of a 16-bit type to f32 before they multiply: the target has no products of
      them that are as fast. The call's description says so, because it decides what scratch the call needs.
    }], "bool", "multipliesInF32", (ins "::mlir::Type":$element), "", [{ return false; }]>,
    InterfaceMethod<"How an `mtc.kernel` or `mtc.kernel_function` is run. It follows from the kernel alone.",
      "::mtc::KernelPlanAttrInterface", "planKernel", (ins "::mlir::Operation *":$kernel)>,
    InterfaceMethod<"Seconds that the call is estimated to take.", "double", "getCallSeconds",
      (ins "::mtc::CallAttrInterface":$call)>,
    InterfaceMethod<"Seconds that an `mtc.kernel` or `mtc.kernel_function` is estimated to take.", "double",
      "getKernelSeconds", (ins "::mlir::Operation *":$kernel)>,
    InterfaceMethod<"Seconds that copying so many bytes within the arena is estimated to take.", "double",
      "getCopySeconds", (ins "int64_t":$bytes)>,
    InterfaceMethod<"Where variables and values lie that leave the device's memory between their uses.",
      "::mtc::MemorySpace", "getOffloadSpace", (ins)>,
    InterfaceMethod<"Seconds that copying so many bytes from one space to another is estimated to take.", "double",
      "getTransferSeconds", (ins "::mtc::MemorySpace":$source, "::mtc::MemorySpace":$destination, "int64_t":$bytes)>,
    InterfaceMethod<"What the estimates of time are of, such as `calibrated on AMD EPYC`.", "::std::string",
      "describeRates", (ins)>];
}

#endif // MTC_IR_INTERFACES
