//===- ProgramTables.cpp - The constant mtc_program of a placed program -----------------------===//

#include "codegen/program/ProgramTables.h"

#include "codegen/program/StepTables.h"
#include "codegen/program/VariableTable.h"
#include "codegen/target/CallDescription.h"
#include "codegen/target/ConstantBuilder.h"
#include "codegen/target/Target.h"
#include "ir/Mtc.h"
#include "runtime/abi/program.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace mlir;
using namespace mtc;

using llvm::Constant;

std::string mtc::kernelSymbol(StringRef kernel) { return ("mtc_kernel." + kernel).str(); }

std::string mtc::stepSymbol(StringRef step) { return ("mtc_step." + step).str(); }

namespace {

class TableEmitter {
public:
  TableEmitter(ModuleOp placed, const ProgramInfo &info, llvm::Module &module, Target &target)
      : placed(placed), info(info), module(module), c(module), target(target), variables(c),
        steps(c, target) {}

  LogicalResult run(bool namedSteps) {
    auto arenas = placed.getOps<ArenaOp>();
    if (arenas.empty())
      return placed.emitError("the program is not placed: it has no mtc.arena");
    arena = *arenas.begin();
    if (failed(variables.add(placed)) || failed(emitInputs()) || failed(emitOutputs()))
      return failure();
    steps.addKernels(placed);
    Constant *microStep = steps.addFunction(findStep(info.microStep));
    Constant *update = steps.addFunction(findStep(info.update));
    Constant *gradients = steps.addFunction(findStep(info.gradients));
    Constant *evaluate = steps.addFunction(findStep(info.evaluate));
    if (!microStep || !update || !gradients || !evaluate)
      return failure();
    if (namedSteps)
      for (StepOp step : placed.getOps<StepOp>()) {
        Constant *function = steps.addFunction(step);
        if (!function)
          return failure();
        c.global(function, stepSymbol(step.getSymName()))
            ->setLinkage(llvm::GlobalValue::ExternalLinkage);
      }
    return emitProgram(microStep, update, gradients, evaluate);
  }

private:
  StepOp findStep(StringRef name) {
    for (StepOp step : placed.getOps<StepOp>())
      if (step.getSymName() == name)
        return step;
    return {};
  }

  /// The place of a step's input or output; null if the step has none of this name.
  static AtAttr findPlace(ArrayAttr names, ArrayAttr places, StringRef name) {
    for (auto [each, place] : llvm::zip_equal(names.getAsValueRange<StringAttr>(), places))
      if (each == name)
        return cast<AtAttr>(place);
    return {};
  }

  /// The inputs of the micro-step, then those that only `evaluate` has; both read them in one
  /// place.
  LogicalResult emitInputs() {
    llvm::SmallVector<std::pair<StringRef, AtAttr>> places;
    for (const std::string &name : {info.microStep, info.evaluate}) {
      StepOp step = findStep(name);
      if (!step)
        continue;
      for (auto [inputName, place] :
           llvm::zip_equal(step.getInputNames().getAsValueRange<StringAttr>(), step.getInputs())) {
        auto at = cast<AtAttr>(place);
        auto known = llvm::find_if(places, [&](auto &pair) { return pair.first == inputName; });
        if (known == places.end())
          places.push_back({inputName, at});
        else if (known->second != at)
          return step.emitError() << "input '" << inputName << "' is at " << at
                                  << ", but another step reads it at " << known->second;
      }
    }
    for (auto [name, at] : places) {
      InputInfo input;
      for (const InputInfo &each : info.inputs)
        if (each.name == name)
          input = each;
      int32_t shiftedFrom = -1;
      for (auto [i, pair] : llvm::enumerate(places))
        if (!input.shiftedFrom.empty() && pair.first == input.shiftedFrom)
          shiftedFrom = i;
      inputs.push_back(
          c.structure({describeTensor(c, name, at.getType(), at.getOffset()), c.u32(input.isLabel),
                       c.u32(input.isWhole || at.getType().getRank() == 0), c.i32(shiftedFrom),
                       c.i64(input.minimum), c.i64(input.limit), c.i64(input.ignored),
                       c.string(input.reader)}));
    }
    return success();
  }

  LogicalResult emitOutputs() {
    StepOp step = findStep(info.evaluate);
    if (!step)
      return success();
    for (auto [name, place] :
         llvm::zip_equal(step.getOutputNames().getAsValueRange<StringAttr>(), step.getOutputs())) {
      if (llvm::is_contained({StringRef(info.evaluateLoss), StringRef(info.rowLoss),
                              StringRef(info.rowWeight), StringRef(info.rowCorrect)},
                             name))
        continue;
      auto at = cast<AtAttr>(place);
      outputs.push_back(describeTensor(c, name, at.getType(), at.getOffset()));
    }
    return success();
  }

  int64_t outputOffset(StringRef stepName, StringRef output) {
    if (StepOp step = findStep(stepName))
      if (AtAttr at = findPlace(step.getOutputNames(), step.getOutputs(), output))
        return at.getOffset();
    return -1;
  }

  /// How many rows the metrics of rows are of.
  int64_t metricRows() {
    if (StepOp step = findStep(info.evaluate))
      if (AtAttr at = findPlace(step.getOutputNames(), step.getOutputs(), info.rowLoss))
        return at.getType().getNumElements();
    return info.batch;
  }

  int64_t gradientsArenaBytes() {
    if (!findStep(info.gradients))
      return 0;
    return std::max(arena.getAside(), arena.getSize());
  }

  uint32_t lossType() {
    if (StepOp step = findStep(info.microStep))
      if (AtAttr at = findPlace(step.getOutputNames(), step.getOutputs(), info.microStepLoss))
        return typeCode(at.getType().getElementType());
    return MTC_F32;
  }

  std::string fingerprint() {
    if (!info.fingerprint.empty())
      return info.fingerprint;
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << info.optimizer << '\n' << info.loss << '\n' << info.batch << '\n';
    for (VariableOp variable : placed.getOps<VariableOp>())
      stream << stringifyRole(variable.getRole()) << ' ' << variable.getSymName() << ' '
             << variable.getType() << '\n';
    return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
  }

  FailureOr<Constant *> emitSegments() {
    llvm::SmallVector<Constant *> segments;
    for (const ExportSegment &segment : info.exportSegments) {
      std::optional<int32_t> variable = -1;
      if (!segment.variable.empty())
        variable = variables.find(segment.variable);
      if (!variable)
        return placed.emitError() << "export names variable '" << segment.variable
                                  << "', which the program does not have";
      segments.push_back(
          c.structure({c.bytes(segment.bytes), c.i64(segment.bytes.size()), c.i32(*variable)}));
    }
    return c.array(segments);
  }

  /// The note by which the compiler knows a program as one of its own.
  void emitMark() {
    constexpr StringRef name(MTC_NOTE_NAME, sizeof(MTC_NOTE_NAME)); // the zero at the end included
    Constant *text =
        llvm::ConstantDataArray::getString(module.getContext(), name, /*AddNull=*/false);
    llvm::GlobalVariable *note =
        c.global(c.structure({c.u32(name.size()), c.u32(0), c.u32(/*type=*/1), text}), "mtc_note");
    note->setSection(MTC_NOTE_SECTION);
    note->setAlignment(llvm::Align(4));
    llvm::appendToUsed(module, {note});
  }

  LogicalResult emitProgram(Constant *microStep, Constant *update, Constant *gradients,
                            Constant *evaluate) {
    FailureOr<Constant *> segments = emitSegments();
    FailureOr<Constant *> scalars = describeScalars(c, placed, info);
    if (failed(segments) || failed(scalars))
      return failure();
    Constant *rowMetrics =
        c.structure({c.i64(outputOffset(info.evaluate, info.rowLoss)),
                     c.i64(outputOffset(info.evaluate, info.rowWeight)),
                     c.i64(outputOffset(info.evaluate, info.rowCorrect)), c.i64(metricRows())});
    Constant *program = c.structure({c.u32(MTC_ABI_VERSION),
                                     c.string(info.compilerVersion),
                                     c.string(target.getName()),
                                     target.describeProgram(c),
                                     c.string(info.modelName),
                                     c.string(info.weightsFile),
                                     c.string(info.weightsDigest),
                                     c.string(fingerprint()),
                                     c.string(info.loss),
                                     c.string(info.optimizer),

                                     c.i64(info.batch),
                                     c.i64(arena.getSize()),
                                     c.i64(arena.getStaging()),
                                     c.i64(info.threads),
                                     c.string(info.planJson),

                                     c.u32(variables.getEntries().size()),
                                     c.u32(inputs.size()),
                                     c.u32(outputs.size()),
                                     c.u32(steps.getKernels().size()),
                                     c.u32(steps.getCalls().size()),
                                     c.u32(info.exportSegments.size()),
                                     c.array(variables.getEntries()),
                                     c.array(inputs),
                                     c.array(outputs),
                                     c.array(steps.getKernels()),
                                     c.array(steps.getCalls()),
                                     *segments,

                                     microStep,
                                     update,
                                     gradients,
                                     evaluate,

                                     c.i64(gradientsArenaBytes()),
                                     c.i64(outputOffset(info.gradients, info.microStepLoss)),
                                     c.i64(outputOffset(info.microStep, info.microStepLoss)),
                                     c.i64(outputOffset(info.evaluate, info.evaluateLoss)),
                                     c.u32(lossType()),
                                     rowMetrics,
                                     *scalars,

                                     c.f64(info.learningRate),
                                     c.u32(static_cast<uint32_t>(info.schedule)),
                                     c.i64(info.warmup)});
    emitMark();
    llvm::GlobalVariable *global = c.global(program, "mtc_program");
    global->setLinkage(llvm::GlobalValue::ExternalLinkage);
    assert(global->getParent()->getDataLayout().getTypeAllocSize(program->getType()) ==
               sizeof(MtcProgram) &&
           "the table must be laid out as the ABI's struct");
    return success();
  }

  ModuleOp placed;
  const ProgramInfo &info;
  llvm::Module &module;
  ConstantBuilder c;
  Target &target;
  ArenaOp arena;

  VariableTable variables;
  StepTables steps;
  llvm::SmallVector<Constant *> inputs, outputs;
};

} // namespace

FailureOr<std::unique_ptr<llvm::Module>> mtc::emitProgramTables(ModuleOp placed,
                                                                const ProgramInfo &info,
                                                                llvm::LLVMContext &context,
                                                                Target &target, bool namedSteps) {
  auto module = std::make_unique<llvm::Module>("mtc_program", context);
  if (failed(TableEmitter(placed, info, *module, target).run(namedSteps)))
    return failure();
  return module;
}
