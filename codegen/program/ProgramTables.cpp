//===- ProgramTables.cpp - The constant mtc_program of a placed program -----------------------===//

#include "codegen/program/ProgramTables.h"

#include "codegen/KernelAnalysis.h"
#include "codegen/Target.h"
#include "codegen/program/CallDescription.h"
#include "codegen/program/ConstantBuilder.h"
#include "ir/Mtc.h"
#include "ir/NodeNames.h"
#include "runtime/abi/program.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace mtc;

using llvm::Constant;

std::string mtc::kernelSymbol(StringRef kernel) { return ("mtc_kernel." + kernel).str(); }

std::string mtc::stepSymbol(StringRef step) { return ("mtc_step." + step).str(); }

/// The elements as they lie in memory; i1 takes a byte.
static std::string rawBytes(ElementsAttr elements) {
  std::string result;
  Type element = elements.getElementType();
  int64_t bytes = elementBytes(element);
  auto append = [&](const APInt &value) {
    APInt wide = value.zextOrTrunc(bytes * 8);
    for (int64_t i = 0; i < bytes; ++i)
      result.push_back(static_cast<char>(wide.extractBitsAsZExtValue(8, i * 8)));
  };
  if (auto dense = dyn_cast<DenseElementsAttr>(elements);
      dense && !dense.isSplat() && bytes * 8 == element.getIntOrFloatBitWidth()) {
    ArrayRef<char> raw = dense.getRawData();
    return std::string(raw.begin(), raw.end());
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return std::string(blob->getData().begin(), blob->getData().end());
  result.reserve(elements.getNumElements() * bytes);
  if (isa<FloatType>(element))
    for (const APFloat &value : elements.getValues<APFloat>())
      append(value.bitcastToAPInt());
  else
    for (const APInt &value : elements.getValues<APInt>())
      append(value);
  return result;
}

namespace {

class TableEmitter {
public:
  TableEmitter(ModuleOp placed, const ProgramInfo &info, llvm::Module &module, Target &target)
      : placed(placed), info(info), c(module), target(target) {}

  LogicalResult run(bool namedSteps) {
    auto arenas = placed.getOps<ArenaOp>();
    if (arenas.empty())
      return placed.emitError("the program is not placed: it has no mtc.arena");
    arena = *arenas.begin();
    if (failed(emitVariables()) || failed(emitInputs()) || failed(emitOutputs()))
      return failure();
    emitKernels();
    Constant *microStep = emitFunction(info.microStep);
    Constant *update = emitFunction(info.update);
    Constant *gradients = emitFunction(info.gradients);
    Constant *evaluate = emitFunction(info.evaluate);
    if (!microStep || !update || !gradients || !evaluate)
      return failure();
    if (namedSteps)
      for (StepOp step : placed.getOps<StepOp>()) {
        Constant *function = emitFunction(step.getSymName());
        if (!function)
          return failure();
        c.global(function, stepSymbol(step.getSymName()))
            ->setLinkage(llvm::GlobalValue::ExternalLinkage);
      }
    return emitProgram(microStep, update, gradients, evaluate);
  }

private:
  Constant *tensor(StringRef name, RankedTensorType type, int64_t offset) {
    return c.structure({c.string(name), c.u32(typeCode(type.getElementType())),
                        c.u32(type.getRank()), c.i64Array(type.getShape()), c.i64(offset),
                        c.i64(byteSize(type))});
  }

  LogicalResult emitVariables() {
    for (VariableOp variable : placed.getOps<VariableOp>()) {
      if (!variable.getOffset())
        return variable.emitError("variable has no place in the arena");
      variableIndex[variable.getSymName()] = variableIndex.size();
    }
    for (VariableOp variable : placed.getOps<VariableOp>()) {
      uint32_t initial = MTC_INITIAL_ZERO;
      Constant *data = c.null();
      double deviation = 0;
      Attribute value = variable.getInitial();
      if (variable->hasAttr(transientAttribute)) {
        initial = MTC_INITIAL_NONE;
      } else if (isa<InitializerAttr>(value)) {
        initial = MTC_INITIAL_FILE;
      } else if (auto normal = dyn_cast<NormalAttr>(value)) {
        initial = MTC_INITIAL_NORMAL;
        deviation = normal.getDeviation().getValueAsDouble();
      } else if (auto elements = dyn_cast<ElementsAttr>(value)) {
        auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
        if (resource && !resource.getRawHandle().getBlob())
          return variable.emitError("the text leaves the variable's elements out");
        std::string bytes = rawBytes(elements);
        if (bytes.find_first_not_of('\0') != std::string::npos) {
          initial = MTC_INITIAL_DATA;
          data = c.bytes(bytes);
        }
      }
      int32_t of = -1;
      if (std::optional<StringRef> parameter = variable.getOf()) {
        auto known = variableIndex.find(*parameter);
        if (known == variableIndex.end())
          return variable.emitError() << "belongs to @" << *parameter << ", which is no variable";
        of = known->second;
      }
      StringRef name = variable.getSymName();
      variables.push_back(c.structure(
          {tensor(name, variable.getTensorType(), *variable.getOffset()),
           c.u32(static_cast<uint32_t>(variable.getRole())), c.u32(initial), data, c.f64(deviation),
           c.i32(of), c.string(variable.getModuleName().value_or(name))}));
    }
    return success();
  }

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
          c.structure({tensor(name, at.getType(), at.getOffset()), c.u32(input.isLabel),
                       c.i32(shiftedFrom), c.i64(input.minimum), c.i64(input.limit),
                       c.i64(input.ignored), c.string(input.reader)}));
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
      outputs.push_back(tensor(name, at.getType(), at.getOffset()));
    }
    return success();
  }

  void emitKernels() {
    for (KernelFunctionOp kernel : placed.getOps<KernelFunctionOp>()) {
      kernelIndex[kernel.getSymName()] = kernelIndex.size();
      scratchBytes.push_back(target.scratchBytes(normalizeKernel(kernel)));
      Cost cost = kernel.getCost();
      bool mayFault = !kernel.getBody().getOps<KernelCheckOp>().empty();
      kernels.push_back(c.structure({c.string(kernel.getSymName()),
                                     target.describeKernel(kernel, c), c.i64(scratchBytes.back()),
                                     c.i64(cost.flops), c.i64(cost.bytes), c.u32(mayFault)}));
    }
  }

  /// An absent step does nothing; null after a diagnostic.
  Constant *emitFunction(StringRef name) {
    llvm::SmallVector<Constant *> operations;
    if (StepOp step = findStep(name)) {
      for (Operation &op : step.getBody().front()) {
        Constant *operation = emitOperation(&op);
        if (!operation)
          return nullptr;
        operations.push_back(operation);
      }
    }
    return c.structure({c.u32(operations.size()), c.array(operations)});
  }

  Constant *emitOperation(Operation *op) {
    uint32_t kind = MTC_LAUNCH, index = 0;
    int64_t bytes = 0;
    llvm::SmallVector<int64_t> offsets;
    if (auto launchOp = dyn_cast<LaunchOp>(op)) {
      auto known = kernelIndex.find(launchOp.getKernel());
      if (known == kernelIndex.end()) {
        op->emitError() << "launches @" << launchOp.getKernel() << ", which is no kernel function";
        return nullptr;
      }
      index = known->second;
      for (Attribute place : llvm::concat<const Attribute>(launchOp.getInputs().getValue(),
                                                           launchOp.getOutputs().getValue()))
        offsets.push_back(cast<AtAttr>(place).getOffset());
      if (launchOp.getScratchBytes() != static_cast<uint64_t>(scratchBytes[index])) {
        op->emitError() << "was placed with " << launchOp.getScratchBytes()
                        << " bytes of scratch, but the target '" << target.getName() << "' needs "
                        << scratchBytes[index];
        return nullptr;
      }
      if (scratchBytes[index])
        offsets.push_back(static_cast<int64_t>(launchOp.getScratchOffset()));
    } else if (auto call = dyn_cast<PlacedCallOpInterface>(op)) {
      kind = MTC_CALL;
      index = emitCall(call);
      for (AtAttr place : call.getPlaces())
        offsets.push_back(place.getOffset());
      offsets.push_back(static_cast<int64_t>(call.getScratchOffset()));
    } else if (auto copy = dyn_cast<CopyOp>(op)) {
      kind = MTC_COPY;
      bytes = byteSize(copy.getSource().getType());
      offsets = {copy.getSource().getOffset(), copy.getDestination().getOffset()};
    } else {
      op->emitError("a step holds launches, calls and copies only");
      return nullptr;
    }
    return c.structure({c.u32(kind), c.u32(index), c.u32(offsets.size()), c.i64Array(offsets),
                        c.i64(bytes), c.string(nodeNames(op->getLoc()))});
  }

  uint32_t emitCall(PlacedCallOpInterface call) {
    CallDescription description = describeCall(call);
    auto [known, isFirst] = descriptions.try_emplace(description.key());
    auto &[bytes, code] = known->second;
    if (isFirst) {
      bytes = c.bytes(description.bytes);
      code = target.describeCallCode(description, c);
    }
    Cost cost = call.getCost();
    Constant *entry = c.structure({c.u32(description.kind), bytes,
                                   c.i64(static_cast<int64_t>(call.getScratchBytes())),
                                   c.i64(cost.flops), c.i64(cost.bytes), code});
    auto [place, isNew] = callIndex.try_emplace(entry, calls.size());
    if (isNew)
      calls.push_back(entry);
    return place->second;
  }

  int64_t outputOffset(StringRef stepName, StringRef output) {
    if (StepOp step = findStep(stepName))
      if (AtAttr at = findPlace(step.getOutputNames(), step.getOutputs(), output))
        return at.getOffset();
    return -1;
  }

  int64_t scalarOffset(StringRef name) {
    for (VariableOp variable : placed.getOps<VariableOp>())
      if (variable.getRole() == Role::Scalar && variable.getSymName() == name)
        return *variable.getOffset();
    return -1;
  }

  int64_t gradientsArenaBytes() {
    if (!findStep(info.gradients))
      return 0;
    auto aside = arena->getAttrOfType<IntegerAttr>("aside");
    return aside ? aside.getInt() : arena.getSize();
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
      int32_t variable = -1;
      if (!segment.variable.empty()) {
        auto known = variableIndex.find(segment.variable);
        if (known == variableIndex.end())
          return placed.emitError() << "export names variable '" << segment.variable
                                    << "', which the program does not have";
        variable = known->second;
      }
      segments.push_back(
          c.structure({c.bytes(segment.bytes), c.i64(segment.bytes.size()), c.i32(variable)}));
    }
    return c.array(segments);
  }

  LogicalResult emitProgram(Constant *microStep, Constant *update, Constant *gradients,
                            Constant *evaluate) {
    FailureOr<Constant *> segments = emitSegments();
    if (failed(segments))
      return failure();
    Constant *rowMetrics = c.structure({c.i64(outputOffset(info.evaluate, info.rowLoss)),
                                        c.i64(outputOffset(info.evaluate, info.rowWeight)),
                                        c.i64(outputOffset(info.evaluate, info.rowCorrect))});
    Constant *scalars = c.structure(
        {c.i64(scalarOffset(info.learningRateScalar)), c.i64(scalarOffset(info.stepScalar)),
         c.i64(scalarOffset(info.microStepScalar)), c.i64(scalarOffset(info.seedScalar))});
    auto staging = arena->getAttrOfType<IntegerAttr>("staging");
    Constant *program = c.structure({c.u32(MTC_ABI_VERSION),
                                     c.string(info.compilerVersion),
                                     c.string(target.getName()),
                                     target.describeProgram(c),
                                     c.string(info.modelName),
                                     c.string(info.weightsFile),
                                     c.string(fingerprint()),
                                     c.string(info.loss),
                                     c.string(info.optimizer),

                                     c.i64(info.batch),
                                     c.i64(arena.getSize()),
                                     c.i64(staging ? staging.getInt() : 0),
                                     c.i64(info.threads),
                                     c.string(info.planJson),

                                     c.u32(variables.size()),
                                     c.u32(inputs.size()),
                                     c.u32(outputs.size()),
                                     c.u32(kernels.size()),
                                     c.u32(calls.size()),
                                     c.u32(info.exportSegments.size()),
                                     c.array(variables),
                                     c.array(inputs),
                                     c.array(outputs),
                                     c.array(kernels),
                                     c.array(calls),
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
                                     scalars,

                                     c.f64(info.learningRate),
                                     c.u32(static_cast<uint32_t>(info.schedule)),
                                     c.i64(info.warmup)});
    llvm::GlobalVariable *global = c.global(program, "mtc_program");
    global->setLinkage(llvm::GlobalValue::ExternalLinkage);
    assert(global->getParent()->getDataLayout().getTypeAllocSize(program->getType()) ==
               sizeof(MtcProgram) &&
           "the table must be laid out as the ABI's struct");
    return success();
  }

  ModuleOp placed;
  const ProgramInfo &info;
  ConstantBuilder c;
  Target &target;
  ArenaOp arena;

  llvm::StringMap<uint32_t> variableIndex, kernelIndex;
  /// The description and the code of each call.
  llvm::StringMap<std::pair<Constant *, Constant *>> descriptions;
  llvm::DenseMap<Constant *, uint32_t> callIndex;
  llvm::SmallVector<int64_t> scratchBytes;
  llvm::SmallVector<Constant *> variables, inputs, outputs, kernels, calls;
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
