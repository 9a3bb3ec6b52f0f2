//===- Functions.h - The functions that a model brings along ----------------------------------===//

#ifndef MTC_FRONTEND_READER_FUNCTIONS_H
#define MTC_FRONTEND_READER_FUNCTIONS_H

#include "frontend/Problems.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace onnx {
class FunctionProto;
class ModelProto;
class NodeProto;
class TensorProto;
} // namespace onnx

namespace mtc::onnx {

/// A domain in the one form that names are compared in: `ai.onnx` is empty.
llvm::StringRef normalizedDomain(llvm::StringRef domain);

/// Whether the node is this operator of ai.onnx.
bool isOperator(const ::onnx::NodeProto &node, llvm::StringRef name);

/// The tensor that a Constant node gives; null for other nodes, and for constants that are given in
/// another way.
const ::onnx::TensorProto *constantTensor(const ::onnx::NodeProto &node);

/// Model-local functions by domain, name and overload.
class FunctionTable {
public:
  /// Calls may nest this deep.
  static constexpr unsigned maxDepth = 64;

  /// Collects and checks: no name twice, no broken body, no function that calls itself, through
  /// others or subgraphs either.
  FunctionTable(const ::onnx::ModelProto &model, Problems &problems);

  /// The function that the node calls; null for an operator.
  const ::onnx::FunctionProto *find(const ::onnx::NodeProto &node) const;

private:
  void checkCalls(const ::onnx::FunctionProto &function, Problems &problems);

  llvm::StringMap<const ::onnx::FunctionProto *> functions;
  enum class Visit { active, done };
  llvm::DenseMap<const ::onnx::FunctionProto *, Visit> visits;
  std::vector<const ::onnx::FunctionProto *> stack;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_FUNCTIONS_H
