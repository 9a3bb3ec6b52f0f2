//===- Compilation.h - The way of a model -----------------------------------------------------===//

#ifndef MTC_DRIVER_COMPILATION_H
#define MTC_DRIVER_COMPILATION_H

#include "driver/IrPrinter.h"
#include "driver/Options.h"
#include "driver/Remarks.h"
#include "driver/Report.h"

#include "codegen/target/Target.h"
#include "frontend/parameters/TrainingSummary.h"
#include "frontend/reader/Export.h"
#include "tools/support/OutputFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <map>

namespace mtc::tool {

/// What initializers of a model are taken for.
struct Parameters {
  struct Row {
    std::string name;
    llvm::SmallVector<int64_t> shape;
    onnx::InitializerClass known;
  };
  /// Two initializers of the file that are one weight.
  struct Tie {
    std::string name, copy;
    bool hasSameLayout;
  };
  std::vector<Row> initializers; // In the graph's order, without copies.
  std::vector<Tie> ties;
  std::vector<onnx::AddedInitializer> added;
  onnx::TrainingSummary training;
};

/// A model on its way through the stages. Every step says what is wrong and returns failure.
class Compilation {
public:
  explicit Compilation(Options options);
  ~Compilation();

  /// Reads a model: gives open batch dimensions a size (and says so), imports the graph and infers
  /// its types. Or reads a stage's text, and what is needed of the model that it was made from.
  /// Nothing is left to do where that was done.
  mlir::LogicalResult import();
  /// Another compilation of the graph that was imported, before any of it is lowered, with options
  /// that differ in what is decided later, the target among it. They share a context: they are not
  /// to run beside each other. Null, with a message, where there is no such target.
  std::unique_ptr<Compilation> startAgain(Options other);
  /// Whether the graph is that of a model, as it was imported.
  bool isImportedGraph() { return model && getProgram().getStage() == Stage::Onnx; }
  /// Runs the passes from the module's stage up to another.
  mlir::LogicalResult lower(Stage stage);
  /// From here on `lower` keeps the module as it is at each stage, for `lowerAgain`.
  void keepStages() { keepsStages = true; }
  /// The allocated module with other options that decide at `changed`, or later, for the first
  /// time: from the stage before on, which was kept. Says nothing; fails where there is no such
  /// plan, or where the compilation began behind that stage.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lowerAgain(const Options &other,
                                                                Stage changed);

  mlir::MLIRContext &getContext() { return *context; }
  mlir::ModuleOp getModule() { return *module; }
  /// What the module says of its program; not null once something was imported.
  ProgramOp getProgram() { return ProgramOp::find(*module); }
  /// Null where none was read, or where a text was made from one that is not there.
  onnx::Model *getModel() { return model.get(); }
  /// What is known of the model's parameters once it was read.
  const Parameters &getParameters() const { return parameters; }
  const llvm::StringMap<int64_t> &getDims() const { return dims; }
  /// `--bind`: inputs and their values.
  llvm::ArrayRef<std::pair<std::string, std::string>> getBinds() const { return binds; }
  Target &getTarget() { return *target; }

  /// What the run's outputs may replace; it knows the run's inputs once the model was read.
  OutputPolicy &getOutputs() { return outputs; }
  /// Writes what `--remarks` asked for, if it did, as one of the run's outputs.
  llvm::Error addRemarks(std::vector<OutputFile> &files);
  /// The same where they are the only one; says what went wrong and gives the exit code.
  int writeRemarks();

private:
  Compilation(Options options, const Compilation &imported);
  mlir::LogicalResult report(const onnx::Problems &problems);
  mlir::LogicalResult splitBinds();
  mlir::LogicalResult chooseTarget(TargetAttrInterface named = {});
  mlir::LogicalResult importModel();
  void describeParameters(mlir::ModuleOp imported);
  /// Warns of nodes that training steps would compute as inference does.
  void warnOfInferenceForms(onnx::GraphOp graph);
  void describeProgram();
  mlir::LogicalResult readText();
  mlir::LogicalResult checkFlags();
  mlir::LogicalResult readSource();
  void protectInputs();
  void prepareReports();
  void chooseBatch();
  void checkDimensions(onnx::Problems &problems);
  mlir::LogicalResult run(llvm::function_ref<void(mlir::OpPassManager &)> build);
  mlir::LogicalResult runQuietly(mlir::ModuleOp other,
                                 llvm::function_ref<void(mlir::OpPassManager &)> build);

  const Options options;
  OutputPolicy outputs;
  std::optional<IrPrinter> irPrinter;
  std::optional<OutputTarget> remarksTarget, reproducerTarget;
  Remarks remarks; // Outlives the context, whose passes add to it.
  std::shared_ptr<mlir::MLIRContext> context;
  std::shared_ptr<DiagnosticPrinter> printer;
  std::shared_ptr<onnx::Model> model;
  Parameters parameters;
  llvm::StringMap<int64_t> dims;
  std::vector<std::pair<std::string, std::string>> binds;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  bool keepsStages = false;
  std::map<Stage, mlir::OwningOpRef<mlir::ModuleOp>> kept;
  TargetAttrInterface targetAttr;
  std::unique_ptr<Target> target;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_COMPILATION_H
