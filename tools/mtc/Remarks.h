//===- Remarks.h - What passes say of their work ----------------------------------------------===//

#ifndef MTC_TOOLS_MTC_REMARKS_H
#define MTC_TOOLS_MTC_REMARKS_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringRef.h"

namespace mtc::tool {

/// Writes the remarks of all passes that run from now on into a text file, a line each: what was
/// done or missed, the pass, the nodes, the reason. Ends the run where the file cannot be made.
void writeRemarks(mlir::MLIRContext &context, llvm::StringRef path);

} // namespace mtc::tool

#endif // MTC_TOOLS_MTC_REMARKS_H
