//===- OnnxModel.h - An ONNX model as a source of programs ------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_ONNXMODEL_H
#define MTC_FRONTEND_ONNX_ONNXMODEL_H

#include "frontend/Frontend.h"
#include "frontend/onnx/reader/AddedInitializers.h"
#include "frontend/onnx/reader/InferenceValues.h"
#include "frontend/onnx/reader/Model.h"

namespace mtc::onnx {

class OnnxModel : public SourceModel {
public:
  explicit OnnxModel(std::unique_ptr<Model> model) : model(std::move(model)) {}

  const std::string &getName() const override { return model->name(); }
  std::vector<llvm::sys::fs::UniqueID> getFiles() const override;
  std::vector<std::string> getPaths() const override;
  std::vector<ModelInput> getInputs() const override;
  llvm::json::Object describe() const override;

  mlir::OwningOpRef<mlir::ModuleOp> import(mlir::MLIRContext &context, const ImportOptions &options,
                                           Problems &problems) override;
  bool knowsModuleNames(mlir::ModuleOp imported) const override;

  Parameters describeParameters(mlir::ModuleOp imported) override;
  std::vector<ModelRemark> checkParameters(mlir::ModuleOp imported, const Parameters &parameters,
                                           const GraphSettings &settings) override;
  std::string describeFrozenModules(mlir::ModuleOp imported) override;
  std::vector<ModelRemark> checkGraph(mlir::ModuleOp inferred) override;
  bool hasScalarResult(mlir::ModuleOp inferred) const override;

  bool hasInitializer(llvm::StringRef name) const override {
    return model->findInitializer(name) != nullptr;
  }
  llvm::Expected<mlir::RankedTensorType> getInitialType(mlir::MLIRContext *context,
                                                        llvm::StringRef name) const override {
    return model->initializerType(context, name);
  }
  llvm::Expected<llvm::ArrayRef<char>> getInitialBytes(llvm::StringRef name) override {
    return model->initializerBytes(name);
  }

  llvm::Expected<std::vector<ModelSegment>> exportSegments(mlir::MLIRContext &context,
                                                           const llvm::StringSet<> &names) override;
  std::unique_ptr<mtc::GradientModel> makeGradient(mlir::ModuleOp module,
                                                   const mtc::GradientModel::Options &options,
                                                   Problems &problems) override;

private:
  std::unique_ptr<Model> model;
  std::vector<AddedInitializer> added;
  std::vector<ReplacedNode> replaced;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_ONNXMODEL_H
