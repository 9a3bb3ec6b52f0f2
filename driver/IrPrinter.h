//===- IrPrinter.h - IR dumps and crash reproducers -------------------------------------------===//

#ifndef MTC_DRIVER_IRPRINTER_H
#define MTC_DRIVER_IRPRINTER_H

#include "support/compiler/OutputPolicy.h"

#include "mlir/Pass/PassManager.h"

#include <atomic>
#include <string>

namespace mtc::tool {

/// Implements `--print-ir-after-all`: writes the whole module after each pass to a file in a
/// folder. Files are numbered across all pass managers. Exits if a file cannot be written. Passes
/// must not run in parallel.
class IrPrinter {
public:
  IrPrinter(std::string folder, const OutputPolicy &policy)
      : folder(std::move(folder)), policy(policy) {}

  void attach(mlir::PassManager &manager);
  void print(mlir::Pass *pass, mlir::Operation *op);

private:
  std::string folder;
  const OutputPolicy &policy;
  unsigned number = 0;
};

/// Implements `--crash-reproducer`: if a pass fails or crashes, writes its input and the pipeline
/// to a file.
void writeReproducerOnFailure(mlir::PassManager &manager, const OutputTarget &target);

} // namespace mtc::tool

#endif // MTC_DRIVER_IRPRINTER_H
