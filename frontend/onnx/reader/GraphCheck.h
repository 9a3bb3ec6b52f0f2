//===- GraphCheck.h - Verification of graphs and functions ------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_GRAPHCHECK_H
#define MTC_FRONTEND_ONNX_READER_GRAPHCHECK_H

#include "support/compiler/Problems.h"

#include "llvm/ADT/StringRef.h"

namespace onnx {
class GraphProto;
class FunctionProto;
} // namespace onnx

namespace mtc::onnx {

/// Reports undefined and redefined names, cycles, nodes without an operator, unnamed and duplicate
/// attributes, and tensor names that files cannot represent. Subgraphs are checked too. The nodes
/// must be sorted (GraphOrder.h).
void checkGraph(const ::onnx::GraphProto &graph, Problems &problems);
void checkFunction(const ::onnx::FunctionProto &function, Problems &problems);

/// Returns why a name cannot be the name of a program output, as `has a name …`; empty if it can.
llvm::StringRef whyNoOutputName(llvm::StringRef name);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_GRAPHCHECK_H
