//===- Remarks.h - Collection of optimization remarks -----------------------------------------===//

#ifndef MTC_DRIVER_REMARKS_H
#define MTC_DRIVER_REMARKS_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <string>
#include <vector>

namespace mtc::tool {

/// The remarks of a compilation, one per line: what was done or missed, the pass, the nodes, the
/// reason.
class Remarks {
public:
  /// Collects the remarks of all passes that run from now on. This object must outlive the context.
  void collectFrom(mlir::MLIRContext &context);

  /// Prints the lines sorted, since passes run on several functions in parallel and emit them in
  /// any order.
  void print(llvm::raw_ostream &os) const;

  /// Thread-safe.
  void add(std::string line);

private:
  std::mutex mutex;
  std::vector<std::string> lines;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_REMARKS_H
