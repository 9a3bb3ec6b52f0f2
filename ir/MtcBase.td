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
  let summary = "Training programs over statically shaped tensors";
  let description = [{
    A small core closed under differentiation, explicit state in module-level variables, and `mtc.kernel`, the only form
    from which code is generated.
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

// What a kernel's body computes with: narrow floats are widened to f32 on load, integers are signless.
def Mtc_Scalar : AnyTypeOf<[F64, F32, I64, I32, I16, I8, I1], "scalar of a kernel's body">;

// That a copy has ended.
def Mtc_Token : TypeDef<MtcDialect, "Token"> {
  let summary = "the end of a copy on a stream, which later operations wait for";
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

class Mtc_Enum<string name, string summary, list<I32EnumCase> cases> : I32Enum<name, summary, cases> {
  let cppNamespace = "::mtc";
}
class Mtc_EnumAttr<EnumInfo info, string mnemonic> : EnumAttr<MtcDialect, info, mnemonic>;

def Mtc_ReductionKind : Mtc_Enum<"ReductionKind", "how elements are combined",
  [I32EnumCase<"Add", 0, "add">, I32EnumCase<"Mul", 1, "mul">, I32EnumCase<"Max", 2, "max">,
   I32EnumCase<"Min", 3, "min">, I32EnumCase<"And", 4, "and">, I32EnumCase<"Or", 5, "or">]>;
def Mtc_ReductionKindAttr : Mtc_EnumAttr<Mtc_ReductionKind, "reduction"> { let assemblyFormat = "$value"; }

def Mtc_Predicate : Mtc_Enum<"Predicate", "comparison; with NaN only `ne` holds",
  [I32EnumCase<"Eq", 0, "eq">, I32EnumCase<"Ne", 1, "ne">, I32EnumCase<"Lt", 2, "lt">,
   I32EnumCase<"Le", 3, "le">, I32EnumCase<"Gt", 4, "gt">, I32EnumCase<"Ge", 5, "ge">]>;
def Mtc_PredicateAttr : Mtc_EnumAttr<Mtc_Predicate, "predicate"> { let assemblyFormat = "$value"; }

def Mtc_Activation : Mtc_Enum<"Activation",
  "an epilogue of a library call; the numbers are those of the program's ABI",
  [I32EnumCase<"Relu", 1, "relu">, I32EnumCase<"Gelu", 2, "gelu">, I32EnumCase<"GeluGradient", 3, "gelu_gradient">]>;
def Mtc_ActivationAttr : Mtc_EnumAttr<Mtc_Activation, "activation"> { let assemblyFormat = "$value"; }

def Mtc_Summed : Mtc_Enum<"Summed", "what a contraction sums besides; the numbers are those of the program's ABI",
  [I32EnumCase<"Result", 1, "result">, I32EnumCase<"Lhs", 2, "lhs">, I32EnumCase<"Rhs", 3, "rhs">]>;
def Mtc_SummedAttr : Mtc_EnumAttr<Mtc_Summed, "summed"> { let assemblyFormat = "$value"; }

def Mtc_ContractionPrecision : Mtc_Enum<"ContractionPrecision",
  "what the operands of a contraction of f32 may be rounded to; the numbers are those of the program's ABI",
  [I32EnumCase<"F32", 0, "f32">, I32EnumCase<"TF32", 1, "tf32">]>;
def Mtc_Precision : Mtc_Enum<"Precision", "what a training step computes with",
  [I32EnumCase<"F32", 0, "f32">, I32EnumCase<"TF32", 1, "tf32">, I32EnumCase<"BF16", 2, "bf16">,
   I32EnumCase<"F16", 3, "f16">]>;
def Mtc_Role : Mtc_Enum<"Role", "what a variable is for; the numbers are those of the program's ABI",
  [I32EnumCase<"Parameter", 0, "parameter">, I32EnumCase<"Constant", 1, "constant">, I32EnumCase<"State", 2, "state">,
   I32EnumCase<"Gradient", 3, "gradient">, I32EnumCase<"Optimizer", 4, "optimizer">,
   I32EnumCase<"Scalar", 5, "scalar">, I32EnumCase<"Average", 6, "average">, I32EnumCase<"Frozen", 7, "frozen">,
   I32EnumCase<"Copy", 8, "copy">, I32EnumCase<"LowHalf", 9, "low_half">]>;
def Mtc_RoleAttr : Mtc_EnumAttr<Mtc_Role, "role"> { let assemblyFormat = "$value"; }

def Mtc_Storage : Mtc_Enum<"Storage", "how a frozen matrix is stored; the numbers are those of the program's ABI",
  [I32EnumCase<"BF16", 1, "bf16">, I32EnumCase<"NF4", 2, "nf4">]>;
def Mtc_StorageAttr : Mtc_EnumAttr<Mtc_Storage, "storage"> { let assemblyFormat = "$value"; }

def Mtc_RuntimeScalar : Mtc_Enum<"RuntimeScalar", "what the runtime writes before a step",
  [I32EnumCase<"LearningRate", 0, "learning_rate">, I32EnumCase<"Step", 1, "step">,
   I32EnumCase<"MicroStep", 2, "micro_step">, I32EnumCase<"Seed", 3, "seed">]>;

def Mtc_MemorySpace : Mtc_Enum<"MemorySpace",
  "where an arena lies; the numbers are those of the program's ABI",
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
  let summary = "the initial value is the model's initializer of this name; `missing`: its data was not there";
  let parameters = (ins StringRefParameter<>:$name, DefaultValuedParameter<"bool", "false">:$missing);
  let assemblyFormat = "`<` $name `` custom<Missing>($missing) `>`";
}

def Mtc_NormalAttr : Mtc_Attr<"Normal", "normal"> {
  let summary = "the initial value is random: from a normal distribution of mean 0";
  let parameters = (ins "::mlir::FloatAttr":$deviation);
  let assemblyFormat = "`<` $deviation `>`";
}

def Mtc_UniformAttr : Mtc_Attr<"Uniform", "uniform"> {
  let summary = "the initial value is random: evenly distributed between -bound and bound";
  let parameters = (ins "::mlir::FloatAttr":$bound);
  let assemblyFormat = "`<` $bound `>`";
}

def Mtc_RuntimeScalarAttr : Mtc_EnumAttr<Mtc_RuntimeScalar, "scalar"> {
  let summary = "the runtime writes the value before each step: the learning rate, f64, or a count, i64";
  let assemblyFormat = "`<` $value `>`";
}

def Mtc_ZerosAttr : Mtc_Attr<"Zeros", "zeros"> { let summary = "the initial value is zero"; }

def Mtc_AsParameterAttr : Mtc_Attr<"AsParameter", "as_parameter"> {
  let summary = "the initial value is that of the parameter which the variable belongs to";
}

def Mtc_StoredAttr : Mtc_Attr<"Stored", "stored"> {
  let summary = "the initial value is `source`, a matrix of this type, stored in fewer bits, row by row or `transposed`";
  let parameters = (ins "::mtc::Storage":$storage, "::mlir::RankedTensorType":$type, "::mlir::Attribute":$source,
                        DefaultValuedParameter<"bool", "false">:$transposed);
  let assemblyFormat = "`<` $storage `,` $type `,` $source `` custom<Transposed>($transposed) `>`";
  let extraClassDeclaration = [{
    /// The matrix whose elements are stored, row by row.
    ::mlir::RankedTensorType getStoredMatrix();
    /// The type of a variable that holds it: elements of bf16, or the bytes of codes and scales.
    ::mlir::RankedTensorType getStoredType();
  }];
}

def Mtc_AtAttr : Mtc_Attr<"At", "at"> {
  let summary = "a dense row-major value in an arena: byte offset, type, and the arena's space where it is not the device's";
  let parameters = (ins "int64_t":$offset, "::mlir::RankedTensorType":$type,
                        DefaultValuedParameter<"::mtc::MemorySpace", "::mtc::MemorySpace::Device">:$space);
  let builders = [AttrBuilder<(ins "int64_t":$offset, "::mlir::RankedTensorType":$type), [{
    return $_get($_ctxt, offset, type, ::mtc::MemorySpace::Device);
  }]>];
  let assemblyFormat = "`<` $offset `,` $type (`,` $space^)? `>`";
  let extraClassDeclaration = [{
    /// The byte behind its last one.
    int64_t getEnd() const { return getOffset() + ::mtc::byteSize(getType()); }
    bool overlaps(AtAttr other) const {
      return getSpace() == other.getSpace() && getOffset() < other.getEnd() && other.getOffset() < getEnd();
    }
  }];
}
def Mtc_AtArrayAttr : TypedArrayAttrBase<Mtc_AtAttr, "slices of arenas">;

//===----------------------------------------------------------------------------------------------===//
// Traits: an operation has a gradient rule (GradientOpInterface), or exactly one of the two below.
//===----------------------------------------------------------------------------------------------===//

// Its derivative is zero wherever it exists: no cotangent flows to its operands.
def Mtc_ZeroGradient : NativeOpTrait<"ZeroGradient"> { let cppNamespace = "::mtc"; }
// It never lies between a parameter and the loss; autodiff reports it if it does.
def Mtc_NoGradient : NativeOpTrait<"NoGradient"> { let cppNamespace = "::mtc"; }
// The result's bytes are the operand's, in their order but for `mtc.strided_view`: it costs nothing and shares the
// operand's slice.
def Mtc_View : NativeOpTrait<"View"> { let cppNamespace = "::mtc"; }
// It takes and gives tensors with channels as their last axis. Models have them behind the first, so that there are
// transposes around it: those behind it are moved down to where they cancel.
def Mtc_ChannelsLast : NativeOpTrait<"ChannelsLast"> { let cppNamespace = "::mtc"; }

//===----------------------------------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------------------------------===//

class Mtc_Op<string mnemonic, list<Trait> traits = []> : Op<MtcDialect, mnemonic, traits>;

// A pure operation on tensors, without rule of its own for cost or recomputation.
class Mtc_ValueOp<string mnemonic, list<Trait> traits = []>
    : Mtc_Op<mnemonic, !listconcat([Pure, CostOpInterface, PrecisionOpInterface, RecomputableOpInterface], traits)>;

// Rounding its result to 16 bits, or summing in them, loses what matters.
defvar rangeSensitive = [{
    ::mtc::PrecisionClass getPrecisionClass() { return ::mtc::PrecisionClass::RangeSensitive; }
}];

def Mtc_Gradient : DeclareOpInterfaceMethods<GradientOpInterface>;
def Mtc_Fusible : DeclareOpInterfaceMethods<FusibleOpInterface>;
def Mtc_Transposable : DeclareOpInterfaceMethods<TransposableOpInterface>;
def Mtc_StridedMovement : DeclareOpInterfaceMethods<StridedMovementOpInterface>;

#endif // MTC_IR_BASE
