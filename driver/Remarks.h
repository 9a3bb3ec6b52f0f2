//===- Remarks.h - What passes say of their work ----------------------------------------------===//

#ifndef MTC_DRIVER_REMARKS_H
#define MTC_DRIVER_REMARKS_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <string>
#include <vector>

namespace mtc::tool {

/// The remarks of a compilation, a line each: what was done or missed, the pass, the nodes, the
/// reason.
class Remarks {
public:
  /// Takes the remarks of all passes that run from now on. This must outlive the context.
  void collectFrom(mlir::MLIRContext &context);

  /// Passes run over several functions at once, so that lines come in any order: prints them
  /// sorted.
  void print(llvm::raw_ostream &os) const;

  /// From any thread.
  void add(std::string line);

private:
  std::mutex mutex;
  std::vector<std::string> lines;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_REMARKS_H
