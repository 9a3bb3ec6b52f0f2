//===- GradientModel.h - The gradient of a loss as an ONNX model ------------------------------===//

#ifndef MTC_FRONTEND_ONNX_WRITER_GRADIENTMODEL_H
#define MTC_FRONTEND_ONNX_WRITER_GRADIENTMODEL_H

#include "frontend/Frontend.h"
#include "frontend/onnx/reader/Model.h"
#include "support/compiler/Problems.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace mtc::onnx {

/// The function @micro_step of a module, after differentiation, as a model of standard operators.
///
/// | graph | contents |
/// |---|---|
/// | inputs | arguments of the function; trained parameters, if requested |
/// | initializers | trained parameters, other variables that the function reads |
/// | outputs | `loss`, `NAME.gradient` of each parameter, `NAME.updated` of each state |
///
/// Initializers have the element types of the source, whose data they reference.
class GradientModel : public mtc::GradientModel {
public:
  /// Builds the model. Adds all problems, or returns a model if there are none: operations without
  /// a form in standard operators, names that clash, missing data. The source must outlive the
  /// model.
  static std::unique_ptr<GradientModel> build(mlir::ModuleOp module, Model &source,
                                              const Options &options, Problems &problems);
  /// Returns the names of the operations that the model can represent as they are.
  static std::vector<std::string> getOperations();
  ~GradientModel() override;

  /// Returns whether the data of initializers is stored in another file: either the source has
  /// external data, or the file would exceed protobuf's limit of 2 GiB.
  bool needsDataFile() const override;
  void useDataFile(llvm::StringRef name) override;

  void write(llvm::raw_ostream &os) override;
  /// Writes the data file: a text line that marks the file as written by mtc, and the data.
  void writeData(llvm::raw_ostream &os) const override;

  size_t getGradientCount() const override { return gradientCount; }

private:
  class Builder;
  /// An initializer's data, and its offset in the data file.
  struct Data {
    llvm::ArrayRef<char> bytes;
    uint64_t offset = 0;
  };

  GradientModel();

  std::unique_ptr<::onnx::ModelProto> message;
  std::vector<Data> data; ///< Of each initializer of the graph.
  size_t gradientCount = 0;
  bool sourceHasDataFile = false, hasDataFile = false;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_WRITER_GRADIENTMODEL_H
