//===- TensorImage.td - Tensors in other files that contain elements of variables
//---------------===//

#ifndef MTC_IR_TENSOR_IMAGE
#define MTC_IR_TENSOR_IMAGE

include "ir/MtcBase.td"

def Mtc_ImagePartAttr : Mtc_Attr<"ImagePart", "image_part"> {
  let summary = "a strided part of a variable and its position in a tensor image";
  let description = [{
    Element i of the part, `0 <= i[a] < extents[a]`, is element `variable + sum of i[a] * variable_strides[a]` of the variable and
    element `image + sum of i[a] * image_strides[a]` of the image, both counted in row-major order.
  }];
  let parameters = (ins "int64_t":$variable, "int64_t":$image,
      ArrayRefParameter<"int64_t">:$extents, ArrayRefParameter<"int64_t">:$variable_strides,
      ArrayRefParameter<"int64_t">:$image_strides);
  let assemblyFormat = [{
    `<` `variable` `=` $variable `,` `image` `=` $image `,` `extents` `=` custom<Integers>($extents) `,`
        `variable_strides` `=` custom<Integers>($variable_strides) `,` `image_strides` `=` custom<Integers>($image_strides) `>`
  }];
  let extraClassDeclaration = [{
    int64_t getNumElements();
  }];
}

def Mtc_TensorImageAttr : Mtc_Attr<"TensorImage", "tensor_image"> {
  let summary = "a tensor in another file that contains elements of a variable";
  let description = [{
    The tensor has its own name, shape and element order. Without `parts`, it contains all elements of the variable in row-major
    order. Several variables may have parts of one tensor, such as a matrix that an exporter split.

    ```mlir
    // A matrix, and its transpose.
    #mtc.tensor_image<"fc.weight", shape = [10, 64]>
    #mtc.tensor_image<"fc.weight", shape = [64, 10], parts = [
      <variable = 0, image = 0, extents = [64, 10], variable_strides = [1, 64], image_strides = [10, 1]>]>
    ```

    * tensor_image_c1: the name is not empty, and the shape is a valid tensor shape.
    * tensor_image_c2: a part has at least one axis, extents and strides of at least 1, and no element of the image twice.
    * tensor_image_c3: parts are within the image and have no more elements than it.
  }];
  let parameters = (ins StringRefParameter<>:$name, OptionalArrayRefParameter<"int64_t">:$shape,
      OptionalArrayRefParameter<"::mtc::ImagePartAttr">:$parts);
  let assemblyFormat =
      "`<` $name `,` `shape` `=` custom<Integers>($shape) `` custom<Parts>($parts) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the image of all elements of a variable in row-major order; `shape` may differ from the variable's shape, but has
    /// as many elements.
    static TensorImageAttr whole(::mlir::MLIRContext *context, ::llvm::StringRef name, ::llvm::ArrayRef<int64_t> shape);
    /// Returns the image of a variable of this shape with permuted axes: axis i of the image is axis `permutation[i]` of the
    /// variable.
    static TensorImageAttr transposed(::mlir::MLIRContext *context, ::llvm::StringRef name, ::llvm::ArrayRef<int64_t> shape,
                                      ::llvm::ArrayRef<int64_t> permutation);

    /// Returns whether the image contains all elements of its variable in row-major order.
    bool isWhole() { return getParts().empty(); }
    /// Returns the number of elements of the tensor.
    int64_t getNumElements();
    /// Returns the number of elements that belong to the variable.
    int64_t countHeld();
  }];
}
def Mtc_TensorImageArrayAttr : TypedArrayAttrBase<Mtc_TensorImageAttr, "tensor images">;

#endif // MTC_IR_TENSOR_IMAGE
