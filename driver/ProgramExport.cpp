//===- ProgramExport.cpp - Data with which a program exports its model ------------------------===//

#include "driver/ProgramExport.h"

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/reader/Export.h"
#include "ir/Mtc.h"
#include "runtime/abi/program.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <filesystem>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

static MtcExportForm codeOf(mtc::onnx::ExportForm form) {
  switch (form) {
  case mtc::onnx::ExportForm::Every:
    return MTC_EVERY_FORM;
  case mtc::onnx::ExportForm::Inference:
    return MTC_INFERENCE_FORM;
  case mtc::onnx::ExportForm::Original:
    return MTC_ORIGINAL_FORM;
  }
  llvm_unreachable("all forms are handled");
}

void mtc::tool::addExport(Compilation &compilation, ProgramFiles &files) {
  if (!compilation.getModel()) {
    warn("--export: not available in the program: there is no model to export");
    return;
  }
  llvm::StringSet<> known, names;
  for (const auto &initializer : compilation.getParameters().initializers)
    known.insert(initializer.name);
  /// Additional initializers that a variable is written to.
  llvm::StringMap<std::pair<std::string, TensorImageAttr>> images;
  for (auto variable : compilation.getModule().getOps<VariableOp>()) {
    if (!llvm::is_contained({Role::Parameter, Role::Frozen, Role::State}, variable.getRole()))
      continue;
    // Integers are no parameters, but may be state.
    if (known.contains(variable.getSymName()) ||
        (variable.getRole() == Role::State &&
         compilation.getModel()->findInitializer(variable.getSymName())))
      names.insert(variable.getSymName());
    if (ArrayAttr list = variable.getFileImagesAttr())
      for (auto image : list.getAsRange<TensorImageAttr>()) {
        names.insert(image.getName());
        images[image.getName()] = {variable.getSymName().str(), image};
      }
  }
  const Parameters &parameters = compilation.getParameters();
  auto segments = mtc::onnx::exportSegments(*compilation.getModel(), parameters.added, names,
                                            parameters.replaced);
  if (!segments) {
    // The program can still train.
    warn("--export: not available in the program: " + llvm::toString(segments.takeError()));
    return;
  }
  for (mtc::onnx::FileSegment &segment : *segments) {
    Type element =
        mtc::onnx::elementTypeFromOnnx(compilation.getModule().getContext(), segment.dataType);
    auto [variable, image] = images.lookup(segment.initializer);
    files.exportSegments.push_back({std::move(segment.bytes),
                                    image ? variable : std::move(segment.initializer), element,
                                    image, codeOf(segment.form)});
  }
}

std::string mtc::tool::listModelFiles(const mtc::onnx::Model &model, StringRef program) {
  const std::filesystem::path folder = std::filesystem::path(program.str()).parent_path();
  std::vector<std::string> paths = model.dataPaths();
  paths.insert(paths.begin(), model.path());
  std::string list;
  for (const std::string &path : paths)
    if (llvm::SmallString<256> real; !llvm::sys::fs::real_path(path, real))
      list += std::filesystem::path(real.str().str()).lexically_relative(folder).string() + '\0';
  return list;
}
