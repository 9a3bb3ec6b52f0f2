//===- Remarks.h - What passes say of their work ----------------------------------------------===//

#ifndef MTC_TOOLS_MTC_REMARKS_H
#define MTC_TOOLS_MTC_REMARKS_H

#include "mlir/IR/MLIRContext.h"

#include <string>

namespace mtc::tool {

/// Appends the remarks of all passes that run from now on to a text, a line each: what was done or
/// missed, the pass, the nodes, the reason. The text must outlive the context.
void collectRemarks(mlir::MLIRContext &context, std::string &text);

} // namespace mtc::tool

#endif // MTC_TOOLS_MTC_REMARKS_H
