//===- OnnxOps.td - The generic form of an ONNX graph ------------------------------------------===//
//
// One operation stands for a node of any operator: operator, version and attributes are data. What an operator means
// is known to its record (frontend/operators), nowhere else.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPS
#define MTC_FRONTEND_ONNX_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def OnnxDialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::mtc::onnx";
  let summary = "ONNX graphs as data: the frontend's own form";
  let description = [{
    A value is a tensor, ranked where its rank is known and static where its extents are. A type with an unknown rank is
    `tensor<*xT>`; an operand or result that the model leaves out has type `none`. Of a value whose element type is not
    known either the type is `tensor<*xindex>`: ONNX has no such type.
  }];
}

class Onnx_Op<string mnemonic, list<Trait> traits = []> : Op<OnnxDialect, mnemonic, traits>;

def Onnx_Value : AnyTypeOf<[AnyTensor, NoneType], "tensor or none">;

def GraphOp : Onnx_Op<"graph", [IsolatedFromAbove, FunctionOpInterface, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "a model's graph, or a model-local function before it is inlined";
  let description = [{
    Arguments are the graph's inputs (initializers are not inputs) and carry `onnx.name`; results are its outputs and
    carry `onnx.name` too, and `onnx.optional` where passes leave them out if they cannot be computed. Argument attribute `onnx.dims` keeps the symbolic dimensions' names as the file gives them.

    ```mlir
    onnx.graph @main(%x: tensor<32x64xf32> {onnx.name = "x"}) -> (tensor<32x10xf32> {onnx.name = "logits"}) {
      %w = onnx.initializer "fc.weight" : tensor<10x64xf32>
      %y = onnx.node "Gemm" version 13 (%x, %w) {transB = 1 : si64}
             : (tensor<32x64xf32>, tensor<10x64xf32>) -> tensor<32x10xf32>
      onnx.return %y : tensor<32x10xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    mlir::ArrayRef<mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    mlir::ArrayRef<mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def ReturnOp : Onnx_Op<"return", [Pure, Terminator, ParentOneOf<["GraphOp", "NodeOp"]>]> {
  let summary = "the outputs of a graph, or of a node's subgraph";
  let arguments = (ins Variadic<Onnx_Value>:$values);
  let builders = [OpBuilder<(ins)>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def InitializerOp : Onnx_Op<"initializer", [Pure]> {
  let summary = "an initializer whose bytes stay in the file";
  let description = [{
    `role` says what it was taken for: `parameter`, `constant`, `state` or `frozen`, a parameter that is not trained; absent before classification. `reason`
    says why, `module_name` is the name in the user's module where the exporter lost it. `missing`: the file of its
    bytes was not there. `module_images` and `file_images` are the tensors of the user's module, and further initializers of the
    file, that hold its elements, as `mtc.variable` has them. `split_from`: the bytes are those of this initializer of the file, which stood for several
    parameters.

    Until parameters are chosen `kind` is what the exporter says that it is, and `sample` the first elements of a tensor of
    floats, all of a small one.

    ```mlir
    %w = onnx.initializer "fc.weight" {role = "parameter"} : tensor<10x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<StrAttr>:$role, OptionalAttr<StrAttr>:$reason,
                       OptionalAttr<StrAttr>:$module_name, OptionalAttr<ArrayAttr>:$module_images,
                       OptionalAttr<ArrayAttr>:$file_images, UnitAttr:$missing, OptionalAttr<StrAttr>:$split_from,
                       OptionalAttr<StrAttr>:$kind, OptionalAttr<ElementsAttr>:$sample);
  let results = (outs AnyTensor:$value);
  let assemblyFormat = "$name attr-dict `:` type($value)";
  let builders = [OpBuilder<(ins "::mlir::RankedTensorType":$type, "::llvm::StringRef":$name)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The name of the bytes in the model's file.
    ::llvm::StringRef getSource() { return getSplitFrom().value_or(getName()); }
  }];
}

def BufferOp : Onnx_Op<"buffer", [HasParent<"GraphOp">]> {
  let summary = "a tensor of the user's module that no node reads";
  let description = [{
    It is a buffer that the exporter dropped or folded, which the module's state has all the same: `mtc.buffer`.

    ```mlir
    onnx.buffer "bn.num_batches_tracked" counts_batches = dense<0> : tensor<i64>
    ```
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$counts_batches, ElementsAttr:$value);
  let assemblyFormat = "$name (`counts_batches` $counts_batches^)? `=` $value attr-dict";
}

def ConstantOp : Onnx_Op<"constant", [Pure]> {
  let summary = "a tensor known at compile time: a Constant node, a folded value, a bound input";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let assemblyFormat = "$value attr-dict `->` type($output)";
  let hasVerifier = 1;
}

def NoneOp : Onnx_Op<"none", [Pure]> {
  let summary = "an operand that the model leaves out";
  let results = (outs NoneType:$value);
  let assemblyFormat = "attr-dict";
}

def NodeOp : Onnx_Op<"node"> {
  let summary = "a node: operator, version of its definition, operands, attributes";
  let description = [{
    `version` is the opset in which the operator's definition that applies was last changed where this is known to the
    frontend, otherwise the model's opset of the operator's domain. `domain` is absent for ai.onnx. Attributes keep
    their ONNX kind: INT si64, FLOAT f32, STRING string, INTS `array<i64>`, FLOATS `array<f32>`, STRINGS array of
    strings, TENSOR elements; of attributes of other kinds, such as GRAPHS, `unsupported_attributes` keeps the kind by name.

    Attributes of kind GRAPH are the regions `graphs`, in the order of `graph_names`. The block arguments are the
    subgraph's inputs, `onnx.return` holds its outputs. A subgraph may use values of the graphs around it.

    ```mlir
    %y = onnx.node "Softmax" version 13 (%x) {axis = -1 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %z = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
      onnx.return %x : tensor<2x3xf32>
    }, {
      onnx.return %y : tensor<2x3xf32>
    } : (tensor<i1>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins StrAttr:$op_type, I64Attr:$version, OptionalAttr<StrAttr>:$domain, DictionaryAttr:$node_attributes,
                       Variadic<Onnx_Value>:$inputs, OptionalAttr<StrArrayAttr>:$graph_names);
  let results = (outs Variadic<Onnx_Value>:$outputs);
  let regions = (region VariadicRegion<SizedRegion<1>>:$graphs);
  let assemblyFormat = [{
    (`domain` $domain^)? $op_type `version` $version `(` $inputs `)` $node_attributes (`graphs` $graph_names^ $graphs)?
      attr-dict `:` functional-type($inputs, $outputs)
  }];
  // Nodes without subgraphs.
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$outputs, "::mlir::StringAttr":$opType, "::mlir::IntegerAttr":$version,
                   "::mlir::StringAttr":$domain, "::mlir::DictionaryAttr":$attributes, "::mlir::ValueRange":$inputs)>,
    OpBuilder<(ins "::mlir::TypeRange":$outputs, "::llvm::StringRef":$opType, "uint64_t":$version,
                   "::mlir::StringAttr":$domain, "::mlir::DictionaryAttr":$attributes, "::mlir::ValueRange":$inputs)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the node is of this operator of ai.onnx.
    bool isOperator(::llvm::StringRef type) { return getDomain().value_or("").empty() && getOpType() == type; }
    /// The subgraph that is this attribute; null where there is none.
    ::mlir::Region *getGraph(::llvm::StringRef name);
  }];
}

#endif // MTC_FRONTEND_ONNX_OPS
