//===- RunSteps.cpp - Steps run on the inputs that their attributes give ----------------------===//

#include "tools/mtc-run/RunSteps.h"

#include "codegen/Jit.h"
#include "codegen/KernelInterpreter.h"

#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mtc;

static std::vector<char> toBytes(ElementsAttr elements) {
  Type element = elements.getElementType();
  int64_t bytes = elementBytes(element);
  std::vector<char> result(elements.getNumElements() * bytes);
  for (auto [i, value] : llvm::enumerate(elements.getValues<Attribute>()))
    writeElement(result.data() + i * bytes, element, value);
  return result;
}

static void print(raw_ostream &os, StringRef name, RankedTensorType type, const char *bytes) {
  os << name << " : " << type << " =";
  Type element = type.getElementType();
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    TypedAttr value = readElement(bytes + i * elementBytes(element), element);
    if (auto number = dyn_cast<FloatAttr>(value))
      os << ' ' << llvm::format("%.6g", number.getValueAsDouble());
    else if (isUnsigned(element))
      os << ' ' << cast<IntegerAttr>(value).getValue().getZExtValue();
    else
      os << ' ' << cast<IntegerAttr>(value).getValue().getSExtValue();
  }
  os << '\n';
}

LogicalResult mtc::runSteps(ModuleOp module, Target &target) {
  FailureOr<std::unique_ptr<JitProgram>> program = JitProgram::create(module, target);
  if (failed(program))
    return failure();
  bool ranOne = false;
  for (StepOp step : module.getOps<StepOp>()) {
    auto given = step->getAttrOfType<ArrayAttr>("run.inputs");
    if (!given)
      continue;
    ranOne = true;
    SmallVector<std::vector<char>> inputs, outputs;
    for (auto elements : given.getAsRange<ElementsAttr>())
      inputs.push_back(toBytes(elements));
    for (auto at : step.getOutputs().getAsRange<AtAttr>())
      outputs.emplace_back(byteSize(at.getType()));
    SmallVector<const void *> inputPointers;
    SmallVector<void *> outputPointers;
    for (auto &input : inputs)
      inputPointers.push_back(input.data());
    for (auto &output : outputs)
      outputPointers.push_back(output.data());
    if (llvm::Error error = (*program)->run(step.getSymName(), inputPointers, outputPointers))
      return step.emitError(llvm::toString(std::move(error)));
    for (auto [name, place, bytes] :
         llvm::zip_equal(step.getOutputNames().getAsValueRange<StringAttr>(),
                         step.getOutputs().getAsRange<AtAttr>(), outputs))
      print(llvm::outs(), name, place.getType(), bytes.data());
  }
  if (!ranOne)
    return module.emitError("no mtc.step has the attribute 'run.inputs': nothing was run");
  return success();
}
