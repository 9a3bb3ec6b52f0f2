//===- Frontend.h - Interface of model formats ------------------------------------------------===//
//
// A frontend reads models of one format and converts them to the forward stage. To add one,
// implement `Frontend` and `SourceModel` in a folder of its own, and return it in
// driver/Frontends.cpp.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_FRONTEND_H
#define MTC_FRONTEND_FRONTEND_H

#include "frontend/Parameters.h"
#include "ir/Mtc.h"
#include "support/compiler/Problems.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem/UniqueID.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc {

/// An input as declared in the file.
struct ModelInput {
  std::string name;
  std::vector<std::string> dims; ///< Numbers, names or expressions; INPUT.AXIS if unnamed.
};

struct ImportOptions {
  llvm::StringMap<int64_t> dims; ///< Sizes of symbolic dimensions.
  /// Inputs to replace by constants: a number, a list such as 1,2,3, or a .npy file.
  std::vector<std::pair<std::string, std::string>> binds;
  /// The value from which the loss is computed; empty to infer it.
  std::string output = {};
  /// Whether to omit any output that cannot be imported.
  bool allOutputsOptional = false;
  /// Whether dimensions may be unbound; their extents are dynamic.
  bool allowUnboundDimensions = false;
};

/// Flags that decide how a graph is converted.
struct GraphSettings {
  std::optional<BatchNormMode> batchNorm;
  /// Maximum number of iterations of loops that are unrolled.
  int64_t unrollLimit = 0;
  bool keepsAttention = false;   ///< Attention stays decomposed.
  int64_t ranks = 1;             ///< With samples of their own.
  std::optional<double> dropout; ///< Rate of every dropout in training form.
  bool addsAdapters = false;     ///< Adapters are trained, and AddAdapters reports their number.
  bool hasWeights = false;       ///< Values of frozen parameters are read from --weights.
};

/// A warning or note about a model.
struct ModelRemark {
  bool isWarning;
  std::string text;
};

/// The exported files that contain a segment: all files, only the file in inference form, or only
/// the file in the form that was read.
enum class ExportForm { Every, Inference, Original };

/// The contents of an exported file after the bytes of a segment: data in the file, the start of
/// the graph that contains all later segments, or, for a file whose data is in a second file,
/// nothing: the bytes then describe the initializer.
enum class SegmentKind { Inline, Graph, External };

/// A segment of an exported file: bytes, followed by the data of an initializer with elements of a
/// type. No data follows if the name is empty.
struct ModelSegment {
  std::string bytes, initializer;
  mlir::Type elementType;
  ExportForm form = ExportForm::Every;
  SegmentKind kind = SegmentKind::Inline;
};

/// The gradient of a loss as a model (`mtc grad`).
class GradientModel {
public:
  struct Options {
    bool parametersAreInputs = false;
    std::string producerVersion;
  };

  virtual ~GradientModel() = default;
  /// Returns whether the data of initializers is stored in another file.
  virtual bool needsDataFile() const = 0;
  /// References the data of all initializers in a file of this name, in the folder of the model.
  virtual void useDataFile(llvm::StringRef name) = 0;
  virtual void write(llvm::raw_ostream &os) = 0;
  virtual void writeData(llvm::raw_ostream &os) const = 0;
  virtual size_t getGradientCount() const = 0;
};

/// A model that was read from a file.
class SourceModel {
public:
  virtual ~SourceModel() = default;

  /// Returns the file name without folder and extension.
  virtual const std::string &getName() const = 0;
  /// Return the IDs and paths of the model's files that were opened so far: first the model, then
  /// those of its data.
  virtual std::vector<llvm::sys::fs::UniqueID> getFiles() const = 0;
  virtual std::vector<std::string> getPaths() const = 0;
  /// Returns the inputs that are not initializers.
  virtual std::vector<ModelInput> getInputs() const = 0;
  /// Describes the model before compilation: the names of its `outputs`, the number of each of its
  /// `operators` and, if the format has one, its version `opset`.
  virtual llvm::json::Object describe() const = 0;

  /// Imports the model as a module with its graph. If problems are reported, the module contains
  /// the parts that could be imported.
  virtual mlir::OwningOpRef<mlir::ModuleOp>
  import(mlir::MLIRContext &context, const ImportOptions &options, Problems &problems) = 0;
  /// Returns whether parameters have the names of the user's module. The graph of a broken model
  /// may have no nodes, from which these names are taken.
  virtual bool knowsModuleNames(mlir::ModuleOp imported) const = 0;

  /// Returns the classification of the initializers, after parameter selection.
  virtual Parameters describeParameters(mlir::ModuleOp imported) = 0;
  /// Returns warnings and notes about the parameters.
  virtual std::vector<ModelRemark> checkParameters(mlir::ModuleOp imported,
                                                   const Parameters &parameters,
                                                   const GraphSettings &settings) = 0;
  /// Returns a note on modules of which no parameter is trained; empty if there are none.
  virtual std::string describeFrozenModules(mlir::ModuleOp imported) = 0;
  /// Returns warnings about the graph after type inference.
  virtual std::vector<ModelRemark> checkGraph(mlir::ModuleOp inferred) = 0;
  /// Returns whether a result of the graph has one element, and can be its own loss.
  virtual bool hasScalarResult(mlir::ModuleOp inferred) const = 0;

  /// Returns whether the file has an initializer, also in a subgraph.
  virtual bool hasInitializer(llvm::StringRef name) const = 0;
  /// Returns the static type of an initial value. Fails if there is none of this name.
  virtual llvm::Expected<mlir::RankedTensorType> getInitialType(mlir::MLIRContext *context,
                                                                llvm::StringRef name) const = 0;
  /// Returns the elements of an initial value: row-major, little-endian, booleans as bytes, valid
  /// for the model's lifetime. Fails if a file with its data is missing or invalid.
  virtual llvm::Expected<llvm::ArrayRef<char>> getInitialBytes(llvm::StringRef name) = 0;

  /// Returns the model with its added initializers as segments that are split at the data of the
  /// initializers in `names`. Fails if the format cannot represent it, or if data is missing.
  virtual llvm::Expected<std::vector<ModelSegment>>
  exportSegments(mlir::MLIRContext &context, const llvm::StringSet<> &names) = 0;
  /// Returns the function @micro_step of a differentiated module as a model, or adds problems. The
  /// model references the data of this one.
  virtual std::unique_ptr<GradientModel> makeGradient(mlir::ModuleOp module,
                                                      const GradientModel::Options &options,
                                                      Problems &problems) = 0;
};

/// A format of models.
class Frontend {
public:
  virtual ~Frontend() = default;

  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;
  /// Reads and validates a model. Adds errors to `problems` and returns null if there are any.
  virtual std::unique_ptr<SourceModel> read(llvm::StringRef path, Problems &problems) const = 0;
  /// Returns the operation that a module at stage `imported` must have, if it is missing; otherwise
  /// an empty name.
  virtual llvm::StringRef findMissingGraph(mlir::ModuleOp module) const = 0;

  /// Adds the passes that classify the initializers of an imported graph. Loops are only unrolled
  /// if there is a limit.
  virtual void buildParameterPasses(mlir::OpPassManager &manager, const ParameterChoices &choices,
                                    std::optional<int64_t> unrollLimit) const = 0;
  /// Adds the passes that infer types and fold constants.
  virtual void buildInferencePasses(mlir::OpPassManager &manager,
                                    const GraphSettings &settings) const = 0;
  /// Adds the passes that convert the graph to the `mtc` dialect.
  virtual void buildConversion(mlir::OpPassManager &manager,
                               const GraphSettings &settings) const = 0;

  /// Returns a table of the format's operators, with one line for each of `names`, or for all if
  /// there are none. Fails on a name that the format does not define.
  virtual llvm::Expected<std::string>
  describeOperators(llvm::ArrayRef<std::string> names) const = 0;
  /// Returns the operations that gradient models can represent as they are.
  virtual std::vector<std::string> getGradientOperations() const = 0;
};

} // namespace mtc

#endif // MTC_FRONTEND_FRONTEND_H
