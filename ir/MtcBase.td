//===- MtcBase.td - The mtc dialect, its types, enums, attributes and traits --------------------===//

#ifndef MTC_IR_BASE
#define MTC_IR_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ir/interfaces/MtcInterfaces.td"

def MtcDialect : Dialect {
  let name = "mtc";
  let cppNamespace = "::mtc";
  let summary = "training programs over statically shaped tensors";
  let description = [{
    A small core that is closed under differentiation, explicit state in module-level variables, and `mtc.kernel`, the only
    operation that code is generated from.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::func::FuncDialect"];
}

//===----------------------------------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------------------------------===//

def Mtc_Float : AnyTypeOf<[F64, F32, BF16, F16, F8E4M3FN, F8E5M2], "float">;
def Mtc_Integer : AnyTypeOf<[I64, I32, I16, I8, UI64, UI32, UI16, UI8], "integer">;
def Mtc_Element : AnyTypeOf<[Mtc_Float, Mtc_Integer, I1], "element type">;
def Mtc_Number : AnyTypeOf<[Mtc_Float, Mtc_Integer], "number">;

def Mtc_Tensor : StaticShapeTensorOf<[Mtc_Element]>;
def Mtc_FloatTensor : StaticShapeTensorOf<[Mtc_Float]>;
def Mtc_IntegerTensor : StaticShapeTensorOf<[Mtc_Integer]>;
def Mtc_NumberTensor : StaticShapeTensorOf<[Mtc_Number]>;
def Mtc_BoolTensor : StaticShapeTensorOf<[I1]>;
def Mtc_BitsTensor : StaticShapeTensorOf<[I1, Mtc_Integer]>;

// Scalars of a kernel body: 16-bit and 8-bit floats are extended to f32 on load; integers are signless.
def Mtc_Scalar : AnyTypeOf<[F64, F32, I64, I32, I16, I8, I1], "scalar of a kernel's body">;

// A completion token of an asynchronous copy or transfer.
def Mtc_Token : TypeDef<MtcDialect, "Token"> {
  let summary = "completion token of an asynchronous copy or transfer";
  let mnemonic = "token";
  let builderCall = "$_builder.getType<::mtc::TokenType>()";
}

//===----------------------------------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------------------------------===//

def Mtc_LocationAttr : Attr<CPred<"::llvm::isa<::mlir::LocationAttr>($_self)">, "location"> {
  let storageType = "::mlir::LocationAttr";
  let returnType = "::mlir::LocationAttr";
  let convertFromStorage = "$_self";
}

def Mtc_FloatAttr : Attr<CPred<"::llvm::isa<::mlir::FloatAttr>($_self)">, "float"> {
  let storageType = "::mlir::FloatAttr";
  let returnType = "::mlir::FloatAttr";
  let convertFromStorage = "$_self";
}

class Mtc_Enum<string name, string summary, list<I32EnumCase> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::mtc";
}
class Mtc_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<MtcDialect, info, mnemonic>;

def Mtc_ReductionKind : Mtc_Enum<"ReductionKind", "combining function of a reduction",
  [I32EnumCase<"Add", 0, "add">, I32EnumCase<"Mul", 1, "mul">, I32EnumCase<"Max", 2, "max">,
   I32EnumCase<"Min", 3, "min">, I32EnumCase<"And", 4, "and">, I32EnumCase<"Or", 5, "or">]>;
def Mtc_ReductionKindAttr : Mtc_EnumAttr<Mtc_ReductionKind, "reduction"> { let assemblyFormat = "$value"; }

def Mtc_Predicate : Mtc_Enum<"Predicate", "comparison predicate; only `ne` holds for NaN operands",
  [I32EnumCase<"Eq", 0, "eq">, I32EnumCase<"Ne", 1, "ne">, I32EnumCase<"Lt", 2, "lt">,
   I32EnumCase<"Le", 3, "le">, I32EnumCase<"Gt", 4, "gt">, I32EnumCase<"Ge", 5, "ge">]>;
def Mtc_PredicateAttr : Mtc_EnumAttr<Mtc_Predicate, "predicate"> { let assemblyFormat = "$value"; }

def Mtc_Activation : Mtc_Enum<"Activation",
  "activation in the epilogue of a library call; values match the ABI",
  [I32EnumCase<"Relu", 1, "relu">, I32EnumCase<"Gelu", 2, "gelu">, I32EnumCase<"GeluGradient", 3, "gelu_gradient">]>;
def Mtc_ActivationAttr : Mtc_EnumAttr<Mtc_Activation, "activation"> { let assemblyFormat = "$value"; }

def Mtc_RecurrentCell : Mtc_Enum<"RecurrentCell", "kind of cell of a recurrent layer; values match the ABI",
  [I32EnumCase<"Lstm", 0, "lstm">, I32EnumCase<"Gru", 1, "gru">, I32EnumCase<"GruResetAfter", 2, "gru_reset_after">,
   I32EnumCase<"Tanh", 3, "tanh">, I32EnumCase<"Relu", 4, "relu">]>;
def Mtc_RecurrentCellAttr : Mtc_EnumAttr<Mtc_RecurrentCell, "recurrent_cell"> { let assemblyFormat = "$value"; }

def Mtc_Summed : Mtc_Enum<"Summed", "tensor that a contraction also reduces; values match the ABI",
  [I32EnumCase<"Result", 1, "result">, I32EnumCase<"Lhs", 2, "lhs">, I32EnumCase<"Rhs", 3, "rhs">]>;
def Mtc_SummedAttr : Mtc_EnumAttr<Mtc_Summed, "summed"> { let assemblyFormat = "$value"; }

def Mtc_CallAlgorithm : Mtc_Enum<"CallAlgorithm", "algorithm of a library call on the CPU; values match the ABI",
  [I32EnumCase<"PackedRhs", 1, "packed_rhs">, I32EnumCase<"PackedOperands", 2, "packed_operands">,
   I32EnumCase<"OwnPanels", 3, "own_panels">, I32EnumCase<"Winograd", 4, "winograd">]>;

def Mtc_ContractionPrecision : Mtc_Enum<"ContractionPrecision",
  "precision of the operands of an f32 contraction; values match the ABI",
  [I32EnumCase<"F32", 0, "f32">, I32EnumCase<"TF32", 1, "tf32">]>;
def Mtc_Precision : Mtc_Enum<"Precision", "compute precision of a training step",
  [I32EnumCase<"F32", 0, "f32">, I32EnumCase<"TF32", 1, "tf32">, I32EnumCase<"BF16", 2, "bf16">,
   I32EnumCase<"F16", 3, "f16">]>;
def Mtc_Role : Mtc_Enum<"Role", "purpose of a variable; values match the ABI, which has no slots",
  [I32EnumCase<"Parameter", 0, "parameter">, I32EnumCase<"Constant", 1, "constant">, I32EnumCase<"State", 2, "state">,
   I32EnumCase<"Gradient", 3, "gradient">, I32EnumCase<"Optimizer", 4, "optimizer">,
   I32EnumCase<"Scalar", 5, "scalar">, I32EnumCase<"Average", 6, "average">, I32EnumCase<"Frozen", 7, "frozen">,
   I32EnumCase<"Copy", 8, "copy">, I32EnumCase<"LowHalf", 9, "low_half">,
   I32EnumCase<"Slot", 10, "slot">]>;
def Mtc_RoleAttr : Mtc_EnumAttr<Mtc_Role, "role"> { let assemblyFormat = "$value"; }

def Mtc_Storage : Mtc_Enum<"Storage", "storage format of a frozen matrix; values match the ABI",
  [I32EnumCase<"BF16", 1, "bf16">, I32EnumCase<"NF4", 2, "nf4">]>;
def Mtc_StorageAttr : Mtc_EnumAttr<Mtc_Storage, "storage"> { let assemblyFormat = "$value"; }

def Mtc_RuntimeScalar : Mtc_Enum<"RuntimeScalar", "scalar that the runtime writes before each step",
  [I32EnumCase<"LearningRate", 0, "learning_rate">, I32EnumCase<"Step", 1, "step">,
   I32EnumCase<"MicroStep", 2, "micro_step">, I32EnumCase<"Seed", 3, "seed">]>;

def Mtc_MemorySpace : Mtc_Enum<"MemorySpace",
  "memory space of an arena; values match the ABI",
  [I32EnumCase<"Device", 0, "device">, I32EnumCase<"PinnedHost", 1, "pinned_host">, I32EnumCase<"Host", 2, "host">,
   I32EnumCase<"Disk", 3, "disk">]>;
def Mtc_MemorySpaceAttr : Mtc_EnumAttr<Mtc_MemorySpace, "space"> { let assemblyFormat = "$value"; }

//===----------------------------------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------------------------------===//

class Mtc_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<MtcDialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Mtc_InitializerAttr : Mtc_Attr<"Initializer", "initializer"> {
  let summary = "initialize from an initializer of the model; `missing`: without data";
  let parameters = (ins StringRefParameter<>:$name, DefaultValuedParameter<"bool", "false">:$missing);
  let assemblyFormat = "`<` $name `` custom<Missing>($missing) `>`";
}

def Mtc_CallAlgorithmAttr : Mtc_Attr<"CallAlgorithm", "call_algorithm"> {
  let summary = "algorithm of a library call on the CPU";
  let description = [{
    The values are `packed_rhs`, `packed_operands`, `own_panels` and `winograd`. The speedup over reading the operands as stored is
    absent if it was not measured.

    ```mlir
    #mtc<call_algorithm own_panels, speedup = 1.25 : f64>
    ```
  }];
  let parameters = (ins "::mtc::CallAlgorithm":$value, OptionalParameter<"::mlir::FloatAttr">:$speedup);
  let assemblyFormat = "$value (`,` `speedup` `=` $speedup^)?";
  let extraClassDeclaration = [{
    /// Returns the factor by which the call takes longer if it reads the operands as stored; 1 if it was not measured.
    double getSlowdownAsStored() const { return getSpeedup() ? getSpeedup().getValueAsDouble() : 1.0; }
  }];
}

def Mtc_NormalAttr : Mtc_Attr<"Normal", "normal"> {
  let summary = "initialize from a normal distribution of mean 0";
  let parameters = (ins "::mlir::FloatAttr":$deviation);
  let assemblyFormat = "`<` $deviation `>`";
}

def Mtc_UniformAttr : Mtc_Attr<"Uniform", "uniform"> {
  let summary = "initialize from a uniform distribution over [-bound, bound]";
  let parameters = (ins "::mlir::FloatAttr":$bound);
  let assemblyFormat = "`<` $bound `>`";
}

def Mtc_AdaptedNormsAttr : Mtc_Attr<"AdaptedNorms", "adapted_norms"> {
  let summary = "initialize with the norms of the adapted matrix";
}

def Mtc_RuntimeScalarAttr : Mtc_EnumAttr<Mtc_RuntimeScalar, "scalar"> {
  let summary = "value that the runtime writes before each step (f64 rate or i64 count)";
  let assemblyFormat = "`<` $value `>`";
}

def Mtc_SettingAttr : Mtc_Attr<"Setting", "setting"> {
  let summary = "number that a flag of the program sets (f64)";
  let description = [{
    The runtime writes the number before the first step: that of the flag, and otherwise `value`. Numbers with one `flag` are given
    together, in the order of their variables. Accepted are `minimum` and more, and less than `limit`.

    ```mlir
    #mtc.setting<name = "beta1", flag = "betas", value = 9.000000e-01 : f64, minimum = 0.000000e+00 : f64, limit = 1.000000e+00 : f64,
                 help = "decay rate of the first moment">
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, StringRefParameter<>:$flag, "::mlir::FloatAttr":$value,
                        "::mlir::FloatAttr":$minimum, "::mlir::FloatAttr":$limit, StringRefParameter<>:$help);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Mtc_ZerosAttr : Mtc_Attr<"Zeros", "zeros"> { let summary = "initialize with zeros"; }

def Mtc_AsParameterAttr : Mtc_Attr<"AsParameter", "as_parameter"> {
  let summary = "initialize with the initial value of the variable's parameter";
}

def Mtc_StoredAttr : Mtc_Attr<"Stored", "stored"> {
  let summary = "initialize from a compressed matrix";
  let description = [{
    The initial value is `source`, a matrix of `type`, stored in the 16-bit or 4-bit format `storage`, in row-major order. With
    `transposed`, the transpose of the matrix is stored.
  }];
  let parameters = (ins "::mtc::Storage":$storage, "::mlir::RankedTensorType":$type, "::mlir::Attribute":$source,
                        DefaultValuedParameter<"bool", "false">:$transposed);
  let assemblyFormat = "`<` $storage `,` $type `,` $source `` custom<Transposed>($transposed) `>`";
  let extraClassDeclaration = [{
    /// The matrix whose elements are stored in row-major order.
    ::mlir::RankedTensorType getStoredMatrix();
    /// The type of a variable with this initial value: bf16 elements, or bytes that hold codes and scales.
    ::mlir::RankedTensorType getStoredType();
  }];
}

def Mtc_AtAttr : Mtc_Attr<"At", "at"> {
  let summary = "a dense row-major slice of an arena";
  let description = [{
    A slice has a byte offset, a type, and the memory space of its arena (default: device memory). In the body of an `mtc.repeat`,
    `by` is the number of bytes by which the slice moves from one iteration to the next.
  }];
  let parameters = (ins "int64_t":$offset, "::mlir::RankedTensorType":$type,
                        DefaultValuedParameter<"::mtc::MemorySpace", "::mtc::MemorySpace::Device">:$space,
                        DefaultValuedParameter<"int64_t", "0">:$stride);
  let builders = [AttrBuilder<(ins "int64_t":$offset, "::mlir::RankedTensorType":$type), [{
    return $_get($_ctxt, offset, type, ::mtc::MemorySpace::Device, 0);
  }]>, AttrBuilder<(ins "int64_t":$offset, "::mlir::RankedTensorType":$type, "::mtc::MemorySpace":$space), [{
    return $_get($_ctxt, offset, type, space, 0);
  }]>];
  let assemblyFormat = "`<` $offset `,` $type (`,` $space^)? (`by` $stride^)? `>`";
  let extraClassDeclaration = [{
    /// Returns the byte offset after the last byte of the slice.
    int64_t getEnd() const { return getOffset() + ::mtc::byteSize(getType()); }
    bool overlaps(AtAttr other) const {
      return getSpace() == other.getSpace() && getOffset() < other.getEnd() && other.getOffset() < getEnd();
    }
  }];
}
def Mtc_AtArrayAttr : TypedArrayAttrBase<Mtc_AtAttr, "slices of arenas">;

//===----------------------------------------------------------------------------------------------===//
// Traits. An operation implements GradientOpInterface or has exactly one of ZeroGradient and NoGradient.
//===----------------------------------------------------------------------------------------------===//

// The derivative is zero wherever it exists: no cotangent is propagated to the operands.
def Mtc_ZeroGradient : NativeOpTrait<"ZeroGradient"> { let cppNamespace = "::mtc"; }
// The operation must not be on a path from a parameter to the loss; autodiff reports an error if it is.
def Mtc_NoGradient : NativeOpTrait<"NoGradient"> { let cppNamespace = "::mtc"; }
// The result aliases the operand: it has the same bytes in the same order (except for `mtc.strided_view`), costs nothing and
// shares the operand's slice.
def Mtc_View : NativeOpTrait<"View"> { let cppNamespace = "::mtc"; }
// Operands and results have channels as their last axis. Models have channels as the second axis, so transposes surround the
// operation; those after it are moved towards their users until they cancel.
def Mtc_ChannelsLast : NativeOpTrait<"ChannelsLast"> { let cppNamespace = "::mtc"; }

// Verifies the partial values (`#mtc.partial`) of an operation. Every operation has this trait, and refuses partial operands
// unless it has one of the three traits below.
def Mtc_VerifyPartial : NativeOpTrait<"VerifyPartial"> { let cppNamespace = "::mtc"; }
// Each element of the result is an element of an operand. The result for partial operands is partial.
def Mtc_MovesElements : NativeOpTrait<"MovesElements"> { let cppNamespace = "::mtc"; }
// The result for the sums of terms is the sum of the results for the terms, up to rounding. The result for partial operands is partial.
def Mtc_Additive : NativeOpTrait<"Additive"> { let cppNamespace = "::mtc"; }
// Converts between whole and partial values. The operation's own verifier verifies them.
def Mtc_ConvertsPartial : NativeOpTrait<"ConvertsPartial"> { let cppNamespace = "::mtc"; }

//===----------------------------------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------------------------------===//

class Mtc_Op<string mnemonic, list<Trait> traits = []>
    : Op<MtcDialect, mnemonic, !listconcat(traits, [Mtc_VerifyPartial])>;

// A pure operation on tensors with the default cost and recomputation methods.
class Mtc_ValueOp<string mnemonic, list<Trait> traits = []>
    : Mtc_Op<mnemonic, !listconcat([Pure, CostOpInterface, PrecisionOpInterface, RecomputableOpInterface], traits)>;

// Rounding the result to a type narrower than f32, or accumulating in one, loses significant accuracy.
defvar rangeSensitive = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::RangeSensitive; }
}];

// The result or a derivative has a pole, or leaves the range of floats.
defvar unbounded = "bool isUnbounded() { return true; }";

def Mtc_Gradient : DeclareOpInterfaceMethods<GradientOpInterface>;
def Mtc_Fusible : DeclareOpInterfaceMethods<FusibleOpInterface>;
def Mtc_Transposable : DeclareOpInterfaceMethods<TransposableOpInterface>;
def Mtc_StridedMovement : DeclareOpInterfaceMethods<StridedMovementOpInterface>;

#endif // MTC_IR_BASE
