//===- ProgramExport.cpp - Data with which a program exports its model ------------------------===//

#include "driver/ProgramExport.h"

#include "ir/Mtc.h"
#include "passes/pipeline/Stages.h"
#include "runtime/abi/program.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <filesystem>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

static MtcExportForm codeOf(ExportForm form) {
  switch (form) {
  case ExportForm::Every:
    return MTC_EVERY_FORM;
  case ExportForm::Inference:
    return MTC_INFERENCE_FORM;
  case ExportForm::Original:
    return MTC_ORIGINAL_FORM;
  }
  llvm_unreachable("all forms are handled");
}

static MtcSegmentKind codeOf(SegmentKind kind) {
  switch (kind) {
  case SegmentKind::Inline:
    return MTC_INLINE_SEGMENT;
  case SegmentKind::Graph:
    return MTC_GRAPH_SEGMENT;
  case SegmentKind::External:
    return MTC_EXTERNAL_SEGMENT;
  }
  llvm_unreachable("all kinds are handled");
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
  // Each stage lists the variables of all.
  for (auto variable : stagesOf(compilation.getModule()).front().getOps<VariableOp>()) {
    if (!llvm::is_contained({Role::Parameter, Role::Frozen, Role::State}, variable.getRole()))
      continue;
    // Integers are no parameters, but may be state.
    if (known.contains(variable.getSymName()) ||
        (variable.getRole() == Role::State &&
         compilation.getModel()->hasInitializer(variable.getSymName())))
      names.insert(variable.getSymName());
    if (ArrayAttr list = variable.getFileImagesAttr())
      for (auto image : list.getAsRange<TensorImageAttr>()) {
        names.insert(image.getName());
        images[image.getName()] = {variable.getSymName().str(), image};
      }
  }
  auto segments = compilation.getModel()->exportSegments(compilation.getContext(), names);
  if (!segments) {
    // The program can still train.
    warn("--export: not available in the program: " + llvm::toString(segments.takeError()));
    return;
  }
  for (ModelSegment &segment : *segments) {
    auto [variable, image] = images.lookup(segment.initializer);
    files.exportSegments.push_back(
        {std::move(segment.bytes), image ? variable : std::move(segment.initializer),
         segment.elementType, image, codeOf(segment.form), codeOf(segment.kind)});
  }
}

std::string mtc::tool::listModelFiles(const SourceModel &model, StringRef program) {
  const std::filesystem::path folder = std::filesystem::path(program.str()).parent_path();
  std::string list;
  for (const std::string &path : model.getPaths())
    if (llvm::SmallString<256> real; !llvm::sys::fs::real_path(path, real))
      list += std::filesystem::path(real.str().str()).lexically_relative(folder).string() + '\0';
  return list;
}
