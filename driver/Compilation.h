//===- Compilation.h - Compilation of a model through all stages ------------------------------===//

#ifndef MTC_DRIVER_COMPILATION_H
#define MTC_DRIVER_COMPILATION_H

#include "driver/IrPrinter.h"
#include "driver/Options.h"
#include "driver/Remarks.h"
#include "driver/Report.h"

#include "codegen/target/Target.h"
#include "frontend/Frontend.h"
#include "passes/planning/Technique.h"
#include "support/compiler/OutputFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace mtc::tool {

/// Returns the settings of the frontend.
GraphSettings graphSettings(const Options &options);

/// Drives a model through the stages of compilation. Each step reports its errors and returns
/// failure.
class Compilation {
public:
  explicit Compilation(Options options);
  ~Compilation();

  /// Reads a model, assigns and reports a size for open batch dimensions, imports the graph and
  /// infers its types. Alternatively, reads the text of a stage and the required parts of the model
  /// from which it was made. Does nothing if called again.
  mlir::LogicalResult import();
  /// Runs the passes from the module's current stage up to `stage`.
  mlir::LogicalResult lower(Stage stage);
  /// Lowers the module from the forward stage to the function @micro_step of loss and gradients, in
  /// core operations and in the operations to keep.
  mlir::LogicalResult differentiate(llvm::ArrayRef<std::string> keep);
  /// Continues with a module of the imported model that was lowered with other settings.
  mlir::LogicalResult adopt(const PlanSettings &settings,
                            mlir::OwningOpRef<mlir::ModuleOp> lowered);

  // For plans with other settings (PlanSource). The model must have been imported.
  const BatchDimension *getBatch();
  Stage getFirstStage() { return first ? ProgramOp::find(*first).getStage() : Stage::Imported; }
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importAgain(const PlanSettings &settings);
  mlir::LogicalResult lowerAgain(mlir::ModuleOp other, Stage stage, const PlanSettings &settings);

  mlir::MLIRContext &getContext() { return *context; }
  /// Returns the module. If the program has pipeline stages, from Stage::Training on it contains
  /// those of the stages (passes/pipeline/Stages.h).
  mlir::ModuleOp getModule() { return *module; }
  /// Returns the program's metadata, which is never null after `import`.
  ProgramOp getProgram() { return ProgramOp::find(*module); }
  /// Returns null if no model was read, for instance because the model of a stage's text does not
  /// exist.
  SourceModel *getModel() { return model.get(); }
  /// Returns the classification of the model's parameters, available after the model has been read.
  const Parameters &getParameters() const { return parameters; }
  const llvm::StringMap<int64_t> &getDims() const { return dims; }
  /// Returns the inputs and values of `--bind`.
  llvm::ArrayRef<std::pair<std::string, std::string>> getBinds() const { return binds; }
  Target &getTarget() { return *target; }

  /// Returns the policy that protects input files from being overwritten. It knows the inputs of
  /// the run after the model has been read.
  OutputPolicy &getOutputs() { return outputs; }
  /// Adds the file of `--remarks`, if requested, to the outputs of the run.
  llvm::Error addRemarks(std::vector<OutputFile> &files);
  /// Writes the file of `--remarks` as the only output. Reports errors and returns the exit code.
  int writeRemarks();

private:
  mlir::LogicalResult report(const Problems &problems);
  mlir::LogicalResult splitBinds();
  mlir::FailureOr<TargetAttrInterface> findTarget(Precision precision);
  mlir::LogicalResult chooseTarget(TargetAttrInterface named = {});
  mlir::LogicalResult importModel();
  /// Marks the module of a program whose flags set hyperparameters, and one with several shapes.
  void markModule(mlir::ModuleOp imported);
  mlir::LogicalResult importShapes();
  mlir::LogicalResult addShapes(mlir::ModuleOp program, const PlanSettings &settings);
  void buildParameterPasses(mlir::OpPassManager &manager, bool areNamed) const;
  mlir::LogicalResult finishImport();
  void describeProgram();
  mlir::LogicalResult readText();
  mlir::LogicalResult checkFlags();
  mlir::LogicalResult readSource();
  void protectInputs();
  void prepareReports();
  void chooseBatch();
  void checkDimensions(Problems &problems);
  mlir::LogicalResult run(llvm::function_ref<void(mlir::OpPassManager &)> build) {
    return run(*module, build);
  }
  mlir::LogicalResult run(mlir::ModuleOp on, llvm::function_ref<void(mlir::OpPassManager &)> build);
  mlir::LogicalResult runQuietly(mlir::ModuleOp other,
                                 llvm::function_ref<void(mlir::OpPassManager &)> build);

  Options options;
  OutputPolicy outputs;
  std::optional<IrPrinter> irPrinter;
  std::optional<OutputTarget> remarksTarget, reproducerTarget;
  Remarks remarks; // Must outlive the context, whose passes add to it.
  std::unique_ptr<mlir::MLIRContext> context;
  std::unique_ptr<DiagnosticPrinter> printer;
  std::unique_ptr<SourceModel> model;
  Parameters parameters;
  llvm::StringMap<int64_t> dims;
  std::vector<std::pair<std::string, std::string>> binds;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OwningOpRef<mlir::ModuleOp> first; ///< As imported.
  /// The imported graphs of the further shapes.
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> shapes;
  std::optional<BatchDimension> batch;
  TargetAttrInterface targetAttr;
  std::unique_ptr<Target> target;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_COMPILATION_H
