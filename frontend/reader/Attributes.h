//===- Attributes.h - A node's attributes
//-------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_ATTRIBUTES_H
#define MTC_FRONTEND_READER_ATTRIBUTES_H

#include "frontend/reader/Model.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace onnx {
class NodeProto;
}

namespace mtc::onnx {

/// A node's attributes in the forms that `onnx.node` documents.
llvm::Expected<mlir::DictionaryAttr> importAttributes(const ::onnx::NodeProto &node, Model &model,
                                                      mlir::MLIRContext &context);

/// The tensor that a Constant node with these attributes gives; null for one of strings.
mlir::DenseElementsAttr constantValue(mlir::DictionaryAttr attributes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_ATTRIBUTES_H
