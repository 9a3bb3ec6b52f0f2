//===- StateOps.td - Persistent state of a program ----------------------------------------------===//

#ifndef MTC_IR_STATE_OPS
#define MTC_IR_STATE_OPS

include "ir/attributes/TensorImage.td"
include "ir/ops/CollectiveOps.td"

def VariableOp : Mtc_Op<"variable", [Symbol]> {
  let summary = "a tensor that persists across steps";
  let description = [{
    The symbol is the ONNX initializer's name for parameters, constants and state. `of` names the parameter that a gradient, an
    optimizer state or an average over steps belongs to. `at` is the byte offset in the arena of the variable's memory space,
    after allocation. `module_name` is the name in the user's module if the exporter lost it.

    `module_images` are the tensors of the user's module that contain the variable, in groups that each contain all of its
    elements; there are several groups if the module has several names for one tensor. Without the attribute, the image is the
    tensor of the variable's own name. An empty list means that the variable's name in the module is unknown. `pretrained_images`
    are those of the files of `save_pretrained`, in the same form, if they differ from the module's. `file_images` are further
    initializers of the model file that contain elements of the variable.

    A variable `in` another memory space than device memory is offloaded between its uses: kernels that read and write it run in
    windows (`mtc.transfer_slots`) and access it through device memory. A `transient` variable is written by one function and read
    after that function returns: it has a slice only in that function's arena.

    A variable of role `slot` has `copies` values, one after the other. In a pipeline stage, micro-step m uses number m modulo
    `copies`. A variable with another `stage` than the module's exists only on the ranks of that stage: it has no offset, and no function
    accesses it.

    A variable may be divided among ranks in two steps. The variable of a rank is `part of` the whole one `along` an axis
    (`#mtc.axis_split`); a part of one rank is the whole variable with padding. It may itself be divided among the ranks of the data group, which have equal parts: it is then a flat
    `piece of` the part (`#mtc.collective`), or of the whole variable if there are no parts.

    ```mlir
    mtc.variable parameter @fc.weight : tensor<10x64xf32> = #mtc.initializer<"fc.weight">
    mtc.variable gradient @fc.weight.grad : tensor<10x64xf32> = #mtc.zeros of @fc.weight
    mtc.variable scalar @mtc.step : tensor<i64> = #mtc.scalar<step>
    mtc.variable scalar @mtc.setting.sgd.weight-decay : tensor<f64>
      = #mtc.setting<name = "weight-decay", flag = "weight-decay", value = 1.000000e-02 : f64, minimum = 0.000000e+00 : f64,
                     limit = 1.000000e+00 : f64, help = "weight decay">
    mtc.variable optimizer @fc.weight.moment1 in disk : tensor<10x64xf32> = #mtc.zeros of @fc.weight
    mtc.variable optimizer @fc.weight.moment2 : tensor<512xf32> piece of tensor<10x64xf32> = #mtc.zeros of @fc.weight
    mtc.variable parameter @fc2.weight : tensor<10x32xf32> part of tensor<10x64xf32> along #mtc.axis_split<axis = 1, parts = 2>
      = #mtc.initializer<"fc2.weight">
    mtc.variable optimizer @fc2.weight.moment1 : tensor<256xf32> piece of tensor<10x32xf32>
      part of tensor<10x64xf32> along #mtc.axis_split<axis = 1, parts = 2> = #mtc.zeros of @fc2.weight
    ```

    * variable_c1: the initial value is #mtc.initializer, #mtc.normal, #mtc.uniform, #mtc.zeros, #mtc.as_parameter,
      #mtc.adapted_norms, #mtc.scalar, #mtc.setting, #mtc.stored or elements of the variable's type.
    * variable_c2: a `scalar`, and no other variable, is initialized with #mtc.scalar or #mtc.setting, and has the type that the
      runtime writes.
    * variable_c3: a variable that is initialized with #mtc.as_parameter has a parameter (`of`).
    * variable_c4: #mtc.stored is the initial value of a frozen variable of the attribute's stored type.
    * variable_c5: scalars and transient variables are in device memory.
    * variable_c6: images are #mtc.tensor_image whose parts are within the variable; each group of module images and of pretrained
      images contains every element once, and file images contain no other elements.
    * variable_c7: a piece is flat and has the elements of the type that it is a piece of; a part is one of its whole type along
      the axis of the split.
    * variable_c8: only a slot has several copies, and there is at least one.
  }];
  let arguments = (ins Mtc_RoleAttr:$role, SymbolNameAttr:$sym_name, TypeAttr:$type, OptionalAttr<TypeAttr>:$piece_of,
                       OptionalAttr<TypeAttr>:$part_of, OptionalAttr<Mtc_AxisSplitAttr>:$split, AnyAttr:$initial,
                       OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<StrAttr>:$module_name,
                       OptionalAttr<Mtc_TensorImageArrayAttr>:$module_images,
                       OptionalAttr<Mtc_TensorImageArrayAttr>:$pretrained_images,
                       OptionalAttr<Mtc_TensorImageArrayAttr>:$file_images, OptionalAttr<I64Attr>:$offset, UnitAttr:$transient,
                       OptionalAttr<I64Attr>:$stage, DefaultValuedAttr<I64Attr, "1">:$copies,
                       DefaultValuedAttr<Mtc_MemorySpaceAttr, "::mtc::MemorySpace::Device">:$space);
  let assemblyFormat = "$role (`transient` $transient^)? $sym_name (`stage` $stage^)? (`copies` $copies^)? (`in` $space^)? `:` $type (`piece` `of` $piece_of^)? (`part` `of` $part_of^)? (`along` $split^)? `=` $initial (`of` $of^)? (`at` $offset^)? attr-dict";
  let builders = [
    OpBuilder<(ins "::mtc::Role":$role, "const ::llvm::Twine &":$name, "::mlir::Type":$type, "::mlir::Attribute":$initial,
                   CArg<"::mlir::FlatSymbolRefAttr", "{}">:$of, CArg<"::mlir::StringAttr", "{}">:$moduleName)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::mlir::cast<::mlir::RankedTensorType>(getType()); }
    /// Returns whether the variable is one of another pipeline stage than the module's.
    bool isElsewhere();
    /// Returns whether this rank has other elements than the whole variable.
    bool isDivided() { return getPieceOf() || getPartOf(); }
    /// Returns the type of the variable that the pieces of a data group are, or of this variable if it is no piece.
    ::mlir::RankedTensorType getLocalType() {
      return ::mlir::cast<::mlir::RankedTensorType>(getPieceOf().value_or(getType()));
    }
    /// Returns the type of the variable that all ranks have together, without padding.
    ::mlir::RankedTensorType getWholeType() {
      return ::mlir::cast<::mlir::RankedTensorType>(getPartOf().value_or(getLocalType()));
    }
    /// Returns the type of the variable that all ranks have together, with its padding.
    ::mlir::RankedTensorType getPaddedType() { return getSplit() ? getSplit()->getPadded(getWholeType()) : getWholeType(); }
    /// Makes a variable this rank's part of itself along an axis, which the split must be able to divide. A variable with padding is
    /// divided with it.
    void becomePart(::mtc::AxisSplitAttr split);
    /// Adds padding to an axis, which consists of this number of blocks.
    void pad(int64_t axis, int64_t outer, int64_t padding);
    /// Makes a variable this rank's flat piece of itself.
    void becomePiece(::mlir::RankedTensorType piece);
    /// Returns the type of the initial value of the whole variable, which may differ from the storage type.
    ::mlir::RankedTensorType getSourceType();

    /// Returns the variable of a scalar that the runtime writes; creates it at `end` if the module has none.
    static VariableOp findOrAddScalar(::mlir::SymbolTable &symbols, ::mtc::RuntimeScalar scalar, ::mlir::Block::iterator end);
    /// Returns the variable of a setting; creates it at `end` if the module has none. `scope` makes the name unique.
    static VariableOp findOrAddSetting(::mlir::SymbolTable &symbols, ::llvm::StringRef scope, ::mtc::SettingAttr setting,
                                       ::mlir::Block::iterator end);
  }];
}

def BufferOp : Mtc_Op<"buffer", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "a tensor of the user's module that no step reads";
  let description = [{
    `--export-weights` writes the tensor, so that the exported file contains the module's complete state. With `counts_batches`,
    the exported value is `value` plus the number of trained batches. `pretrained_name` is the name in files of
    `save_pretrained`, if it differs.

    ```mlir
    mtc.buffer "bn.num_batches_tracked" counts_batches = dense<0> : tensor<i64>
    ```

    * buffer_c1: a count is a single integer.
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$counts_batches, ElementsAttr:$value, OptionalAttr<StrAttr>:$pretrained_name);
  let assemblyFormat = "$name (`counts_batches` $counts_batches^)? `=` $value attr-dict";
  let hasVerifier = 1;
}

def AdapterOp : Mtc_Op<"adapter", [HasParent<"::mlir::ModuleOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a low-rank adapter (LoRA) of a frozen matrix";
  let description = [{
    Represents `base + alpha / rank * up down`, where `rank` is the extent between the two matrices (Hu et al., "LoRA: Low-Rank
    Adaptation of Large Language Models", 2021). With `rank_stabilized`, the scale is `alpha / sqrt(rank)` (Kalajdzievski, "A Rank
    Stabilization Scaling Factor for Fine-Tuning with LoRA", 2023). With `magnitude`, each row of the sum is rescaled to the norm
    in this vector (Liu et al., "DoRA: Weight-Decomposed Low-Rank Adaptation", 2024); rows are those of the matrix [out, in].
    `axis` is the contracted axis of the base: 1 for a matrix [out, in]. `dropout` is the probability with which training drops
    elements of the adapter's input.

    ```mlir
    mtc.adapter @fc.weight axis 1 down @fc.lora_A.weight up @fc.lora_B.weight alpha 1.600000e+01
    ```

    * adapter_c1: the symbols name a frozen variable and two parameters.
    * adapter_c2: the base is a matrix, down is [rank, in] and up is [out, rank].
    * adapter_c3: the magnitude is a parameter [out].
  }];
  let arguments = (ins FlatSymbolRefAttr:$base, I64Attr:$axis, FlatSymbolRefAttr:$down, FlatSymbolRefAttr:$up, F64Attr:$alpha,
                       UnitAttr:$rank_stabilized, OptionalAttr<F64Attr>:$dropout, OptionalAttr<FlatSymbolRefAttr>:$magnitude);
  let assemblyFormat = [{
    $base `axis` $axis `down` $down `up` $up `alpha` $alpha (`rank_stabilized` $rank_stabilized^)? (`dropout` $dropout^)?
    (`magnitude` $magnitude^)? attr-dict
  }];
}

def ReadOp : Mtc_Op<"read", [MemoryEffects<[MemRead]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "read the value of a variable";
  let description = [{
    ```mlir
    %w = mtc.read @fc.weight : tensor<10x64xf32>
    ```

    * state_c1: the symbol names a variable of the value's type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def WriteOp : Mtc_Op<"write", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "assign a new value to a variable";
  let arguments = (ins FlatSymbolRefAttr:$variable, Mtc_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def ReadFlatOp : Mtc_Op<"read_flat", [MemoryEffects<[MemRead]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "read several variables as one flat tensor";
  let description = [{
    The variables are contiguous in the arena, each padded to a multiple of 64 bytes. The flat tensor includes the padding, which
    is initialized with zeros, so that one kernel can update all variables.

    ```mlir
    %p = mtc.read_flat [@a, @b] : tensor<48xf32>
    ```

    * flat_c1: the symbols name variables of the flat tensor's element type, whose padded sizes add up to its size.
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$variables);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$variables attr-dict `:` type($result)";
}

def WriteFlatOp : Mtc_Op<"write_flat", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "assign new values to several variables from one flat tensor";
  let arguments = (ins FlatSymbolRefArrayAttr:$variables, Mtc_Tensor:$value);
  let assemblyFormat = "$variables `,` $value attr-dict `:` type($value)";
}

def MoveOp : Mtc_Op<"move", [Pure, SameOperandsAndResultType]> {
  let summary = "copy a value to another memory space";
  let description = [{
    Kernels and library calls read values in device memory. Moving a value to another memory space frees its device memory until
    the value is moved back; the copies overlap with other operations.

    ```mlir
    %away = mtc.move %x to disk : tensor<64xf32>
    ...
    %back = mtc.move %away to device : tensor<64xf32>
    ```
  }];
  let arguments = (ins Mtc_Tensor:$value, Mtc_MemorySpaceAttr:$space);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$value `to` $space attr-dict `:` type($result)";
}

def HoldOp : Mtc_Op<"hold", [MemoryEffects<[MemWrite]>]> {
  let summary = "extend the live range of values to this operation";
  let description = [{
    Copies that read the values may still be in progress up to this operation: operations before it do not reuse their memory, and
    so need not wait for the copies.

    ```mlir
    %away = mtc.move %x to disk : tensor<64xf32>
    %y = mtc.kernel ...
    mtc.hold %x : tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif // MTC_IR_STATE_OPS
