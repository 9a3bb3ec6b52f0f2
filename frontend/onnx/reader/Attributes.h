//===- Attributes.h - Import of node attributes -----------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_ATTRIBUTES_H
#define MTC_FRONTEND_ONNX_READER_ATTRIBUTES_H

#include "frontend/onnx/reader/Model.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"

namespace onnx {
class AttributeProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// Maps attribute names of a function call to their values, for references in the function body.
using AttributeBindings = llvm::StringMap<const ::onnx::AttributeProto *>;

struct NodeAttributes {
  mlir::DictionaryAttr values;
  mlir::DictionaryAttr unsupported; // Name to kind (GRAPHS, TENSORS, ...).
};

/// Returns the attribute itself, or the attribute that it references in the function being inlined.
/// Returns null if the caller omits the referenced attribute.
const ::onnx::AttributeProto *resolve(const ::onnx::AttributeProto &attribute,
                                      const AttributeBindings &bindings);

/// Imports a node's attributes as the kinds that `onnx.node` documents. GRAPH attributes are
/// omitted, because they become regions. Problems are prefixed with `label`.
NodeAttributes importAttributes(Model &model, const ::onnx::NodeProto &node,
                                const AttributeBindings &bindings, const std::string &label,
                                mlir::MLIRContext *context, Problems &problems);

/// Imports the value of a Constant node. Returns null and adds a problem if the value is malformed
/// or unsupported.
mlir::DenseElementsAttr importConstant(Model &model, const ::onnx::NodeProto &node,
                                       const AttributeBindings &bindings, const std::string &label,
                                       mlir::MLIRContext *context, Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_ATTRIBUTES_H
