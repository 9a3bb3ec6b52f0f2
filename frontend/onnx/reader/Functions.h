//===- Functions.h - Model-local functions ----------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_FUNCTIONS_H
#define MTC_FRONTEND_ONNX_READER_FUNCTIONS_H

#include "support/compiler/Problems.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
class TensorProto;
} // namespace onnx

namespace mtc::onnx {

/// Returns the canonical form of a domain: `ai.onnx` becomes empty.
llvm::StringRef normalizedDomain(llvm::StringRef domain);

/// Returns whether the node is the operator `name` of ai.onnx.
bool isOperator(const ::onnx::NodeProto &node, llvm::StringRef name);

/// Visits the nodes of the model's graph, of its subgraphs and of its functions.
void forEachNode(const ::onnx::ModelProto &model,
                 llvm::function_ref<void(const ::onnx::NodeProto &)> visit);

/// Returns the tensor of a Constant node; null for other nodes and other kinds of constants.
const ::onnx::TensorProto *constantTensor(const ::onnx::NodeProto &node);

/// Model-local functions by domain, name and overload.
class FunctionTable {
public:
  /// Maximum nesting depth of calls.
  static constexpr unsigned maxDepth = 64;

  /// Collects the functions and reports duplicate names, invalid bodies, and recursion, including
  /// recursion through other functions or subgraphs.
  FunctionTable(const ::onnx::ModelProto &model, Problems &problems);

  /// Returns the function that the node calls; null for an operator.
  const ::onnx::FunctionProto *find(const ::onnx::NodeProto &node) const;

private:
  void checkCalls(const ::onnx::FunctionProto &function, Problems &problems);

  llvm::StringMap<const ::onnx::FunctionProto *> functions;
  enum class Visit { active, done };
  llvm::DenseMap<const ::onnx::FunctionProto *, Visit> visits;
  std::vector<const ::onnx::FunctionProto *> stack;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_FUNCTIONS_H
