//===- GraphCheck.h - Is a graph in single assignment form? -----------------------------------===//

#ifndef MTC_FRONTEND_READER_GRAPHCHECK_H
#define MTC_FRONTEND_READER_GRAPHCHECK_H

#include "frontend/Problems.h"

#include "llvm/ADT/StringRef.h"

namespace onnx {
class GraphProto;
class FunctionProto;
} // namespace onnx

namespace mtc::onnx {

/// Adds a problem for every name that is read but nowhere defined, or defined twice; for cycles,
/// naming their nodes; for nodes without operator; for attributes without name or of one name; for
/// names of the graph's tensors that files cannot have. Subgraphs are checked too. The nodes have
/// been sorted (GraphOrder.h).
void checkGraph(const ::onnx::GraphProto &graph, Problems &problems);
void checkFunction(const ::onnx::FunctionProto &function, Problems &problems);

/// Why no output of a program can have a name, `has a name …`; empty if one can.
llvm::StringRef whyNoOutputName(llvm::StringRef name);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_GRAPHCHECK_H
