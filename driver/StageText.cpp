//===- StageText.cpp - Reading and printing the text of a stage -------------------------------===//

#include "driver/StageText.h"
#include "driver/Frontends.h"

#include "ir/CheckedExtents.h"
#include "ir/ReservedNames.h"
#include "ir/interfaces/TargetInfo.h"
#include "support/compiler/InputFile.h"
#include "support/compiler/Nesting.h"
#include "support/compiler/WrittenByMtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

/// Constants with more elements are elided in abridged text.
static constexpr int64_t maxShownElements = 64;

/// Exceeds the nesting of any text that mtc writes.
static constexpr int maxNesting = 256;

bool mtc::tool::isStageText(StringRef path) {
  if (llvm::sys::path::extension(path) == ".mlir")
    return true;
  return fileStartsWith(path, textMark("//"));
}

static LogicalResult verifyComplete(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    bool isComplete = true;
    op->getAttrDictionary().walk([&](DenseResourceElementsAttr elements) {
      isComplete &= elements.getRawHandle().getBlob() != nullptr;
    });
    if (isComplete)
      return WalkResult::advance();
    emitError(op->getLoc(), "the text omits elements, as --emit does on a terminal; use --emit "
                            "with -o FILE to write all elements");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Returns whether a tensor of this shape has at most 2^48 elements, as those of models, so that
/// products of extents cannot overflow in passes.
static bool isWithinLimit(ArrayRef<int64_t> shape) {
  const SmallVector<int64_t> extents =
      llvm::map_to_vector(shape, [](int64_t extent) { return std::max<int64_t>(extent, 1); });
  return saturatingProduct(extents) <= int64_t(1) << 48;
}

/// Applies the size limit of tensors.
static LogicalResult verifySizes(ModuleOp module) {
  RankedTensorType tooLarge;
  AttrTypeWalker walker;
  walker.addWalk([&](RankedTensorType type) {
    if (!type.hasStaticShape() || isWithinLimit(type.getShape()))
      return WalkResult::advance();
    tooLarge = type;
    return WalkResult::interrupt();
  });
  WalkResult result = module.walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    for (Type type : op->getResultTypes())
      walker.walk(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          walker.walk(type);
    if (!tooLarge)
      return WalkResult::advance();
    emitError(op->getLoc()) << "the text has a " << tooLarge
                            << ", more elements than memory can hold";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static InFlightDiagnostic fail(ModuleOp module, StringRef path) {
  return emitError(UnknownLoc::get(module.getContext())) << path << ": ";
}

/// Verifies that the module has the operations that its stage requires.
static LogicalResult verifyStage(ModuleOp module, Stage stage, StringRef path) {
  auto fail = [&](StringRef missing) {
    return ::fail(module, path) << "the module is at stage " << stringifyStage(stage)
                                << ", but it has " << missing;
  };
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.getBody().hasOneBlock())
      return emitError(function.getLoc(), "function @")
             << function.getSymName() << " does not have exactly one block";
  for (auto function : module.getOps<func::FuncOp>())
    for (Type type :
         llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
      if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !tensor.hasStaticShape())
        return emitError(function.getLoc(), "function @")
               << function.getSymName() << " has an argument or result of type " << type
               << "; expected tensors of static shape";
  auto hasFunction = [&](StringRef name) {
    return module.lookupSymbol<func::FuncOp>(name) != nullptr;
  };
  switch (stage) {
  case Stage::Imported:
    if (StringRef graph = getFrontend().findMissingGraph(module); !graph.empty())
      return fail(("no " + graph).str());
    return success();
  case Stage::Forward:
    return hasFunction(forwardName) ? success() : fail("no function @forward");
  case Stage::Training:
  case Stage::Kernels:
    return hasFunction(microStepName) ? success() : fail("no function @micro_step");
  case Stage::Allocated:
    return ArenaOp::find(module) ? success() : fail("no mtc.arena of the device");
  }
  llvm_unreachable("all stages are handled");
}

static constexpr uint64_t maxStageTextBytes = uint64_t(4) << 30;

OwningOpRef<ModuleOp> mtc::tool::readStageText(StringRef path, MLIRContext &context) {
  llvm::Expected<InputFile> file = readInputFile(path, maxStageTextBytes, FileForm::Text);
  if (!file) {
    emitError(UnknownLoc::get(&context)) << path << ": " << llvm::toString(file.takeError());
    return {};
  }
  if (!nestsWithin(file->bytes(), maxNesting)) {
    emitError(UnknownLoc::get(&context)) << path << ": brackets nest more than " << maxNesting
                                         << " levels deep; expected text written by --emit";
    return {};
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file->content), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return {};
  ProgramOp program = ProgramOp::find(*module);
  if (!program)
    fail(*module, path) << "the module has no mtc.program, so its stage is unknown; expected text "
                           "written by --emit";
  else if (!(*module)->hasAttr(targetAttribute))
    fail(*module, path) << "the module has no target in '" << targetAttribute << "'";
  else if (succeeded(verifySizes(*module)) &&
           succeeded(verifyStage(*module, program.getStage(), path)) &&
           succeeded(verifyComplete(*module)))
    return module;
  return {};
}

void mtc::tool::printStageText(ModuleOp module, raw_ostream &os, bool isAbridged) {
  OpPrintingFlags flags;
  if (isAbridged)
    flags.elideLargeElementsAttrs(maxShownElements);
  else
    flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module->print(os, flags);
}
