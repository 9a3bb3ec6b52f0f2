//===- IrPrinter.cpp - IR dumps and crash reproducers -----------------------------------------===//

#include "driver/IrPrinter.h"
#include "driver/Report.h"

#include "support/compiler/Errors.h"
#include "support/compiler/OutputFile.h"
#include "support/compiler/WrittenByMtc.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mtc::tool;

namespace {

struct PrintAfterPass : PassInstrumentation {
  explicit PrintAfterPass(IrPrinter &printer) : printer(printer) {}
  void runAfterPass(Pass *pass, Operation *op) override { printer.print(pass, op); }
  void runAfterPassFailed(Pass *pass, Operation *op) override { printer.print(pass, op); }

  IrPrinter &printer;
};

/// Buffers the reproducer until it is complete.
class Reproducer : public ReproducerStream {
public:
  Reproducer(MLIRContext &context, OutputTarget target)
      : context(context), target(std::move(target)), stream(text) {}
  ~Reproducer() override {
    auto print = [&](raw_ostream &os) { os << textMark("//") << text; };
    if (llvm::Error error = writeOutput(target, print)) {
      report(std::move(error));
      withholdLocation();
    }
  }
  StringRef description() override { return target.path; }
  raw_ostream &os() override { return stream; }

private:
  /// Suppresses the pass manager's final error, whose note refers to a file that does not exist.
  void withholdLocation() {
    context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
      return success(llvm::any_of(diagnostic.getNotes(), [](Diagnostic &note) {
        return StringRef(note.str()).starts_with("Pipeline failed while executing");
      }));
    });
  }

  MLIRContext &context;
  OutputTarget target;
  std::string text;
  llvm::raw_string_ostream stream;
};

} // namespace

void IrPrinter::attach(PassManager &manager) {
  manager.addInstrumentation(std::make_unique<PrintAfterPass>(*this));
}

void IrPrinter::print(Pass *pass, Operation *op) {
  if (pass->getArgument().empty())
    return; // An adaptor that only runs other passes.
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    fail(makeWriteError("--print-ir-after-all " + folder, code));
  auto symbol = dyn_cast<SymbolOpInterface>(op);
  std::string name = llvm::formatv("{0,0+4}_{1}{2}{3}.mlir", number++,
                                   symbol && symbol.getNameAttr() ? symbol.getName() : "",
                                   symbol && symbol.getNameAttr() ? "_" : "", pass->getArgument());
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  while (Operation *parent = op->getParentOp())
    op = parent;
  auto target = policy.resolve("--print-ir-after-all " + path, path, /*isStream=*/false);
  if (!target)
    fail(target.takeError());
  auto write = [&](raw_ostream &os) { os << textMark("//") << *op << '\n'; };
  if (llvm::Error error = writeOutput(*target, write))
    fail(std::move(error));
}

void mtc::tool::writeReproducerOnFailure(PassManager &manager, const OutputTarget &target) {
  manager.enableCrashReproducerGeneration(
      [&context = *manager.getContext(), target](std::string &) {
        return std::make_unique<Reproducer>(context, target);
      });
}
