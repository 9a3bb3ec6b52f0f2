//===- NodeNames.h - The model's nodes that an operation computes
//-------------------------------===//

#ifndef MTC_CODEGEN_PROGRAM_NODENAMES_H
#define MTC_CODEGEN_PROGRAM_NODENAMES_H

#include "mlir/IR/Location.h"

#include <string>

namespace mtc {

/// The names in a location (`NameLoc`, also inside fused and call-site ones), each once, in order,
/// separated by ", "; a file's line where there is no name, "" where there is nothing.
std::string getNodeNames(mlir::Location location);

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_NODENAMES_H
