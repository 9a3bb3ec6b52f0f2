//===- Attributes.h - Attributes of nodes -----------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_ATTRIBUTES_H
#define MTC_FRONTEND_READER_ATTRIBUTES_H

#include "frontend/reader/Model.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"

namespace onnx {
class AttributeProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// What the attributes of a function call stand for inside the function.
using AttributeBindings = llvm::StringMap<const ::onnx::AttributeProto *>;

struct NodeAttributes {
  mlir::DictionaryAttr values;
  mlir::DictionaryAttr unsupported; // Kinds of GRAPHS, TENSORS, ... attributes by name.
};

/// The attribute itself, or what its reference stands for in the function being inlined; null where
/// the caller leaves that out.
const ::onnx::AttributeProto *resolve(const ::onnx::AttributeProto &attribute,
                                      const AttributeBindings &bindings);

/// The node's attributes in the kinds that `onnx.node` documents, without those of kind GRAPH.
/// Problems name `label`.
NodeAttributes importAttributes(Model &model, const ::onnx::NodeProto &node,
                                const AttributeBindings &bindings, const std::string &label,
                                mlir::MLIRContext *context, Problems &problems);

/// The value of a Constant node; null, the problem added, where mtc holds no such constant.
mlir::DenseElementsAttr importConstant(Model &model, const ::onnx::NodeProto &node,
                                       const AttributeBindings &bindings, const std::string &label,
                                       mlir::MLIRContext *context, Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_ATTRIBUTES_H
