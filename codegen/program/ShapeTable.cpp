//===- ShapeTable.cpp - The tables of a shape of the program ----------------------------------===//

#include "codegen/program/ShapeTable.h"

#include "codegen/program/VariableTable.h"
#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "runtime/abi/program.h"
#include "runtime/abi/row_values.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mtc;

using llvm::Constant;

StepOp mtc::findStep(ModuleOp placed, StringRef name) {
  for (StepOp step : placed.getOps<StepOp>())
    if (step.getSymName() == name)
      return step;
  return {};
}

AtAttr mtc::findOutput(ModuleOp placed, StringRef name, StringRef output) {
  StepOp step = findStep(placed, name);
  if (!step)
    return {};
  for (auto [each, slice] :
       llvm::zip_equal(step.getOutputNames().getAsValueRange<StringAttr>(), step.getOutputs()))
    if (each == output)
      return cast<AtAttr>(slice);
  return {};
}

int64_t mtc::outputOffset(ModuleOp placed, StringRef step, StringRef output) {
  const AtAttr at = findOutput(placed, step, output);
  return at ? at.getOffset() : -1;
}

/// Returns the steps of a module that run a function of the program, or chunks of it.
static SmallVector<StepOp> stepsOf(ModuleOp placed, StringRef function, unsigned shape) {
  const std::string name = nameForShape(function, shape), chunks = name + ".";
  ProgramOp program = ProgramOp::find(placed);
  const bool isStage = program && program.getPipelineStage();
  SmallVector<StepOp> steps;
  for (StepOp step : placed.getOps<StepOp>())
    if (step.getSymName() == name || (isStage && step.getSymName().starts_with(chunks)))
      steps.push_back(step);
  return steps;
}

LogicalResult ShapeTable::addInputsOf(StepOp step, bool isOwn) {
  for (auto [name, slice] :
       llvm::zip_equal(step.getInputNames().getAsValueRange<StringAttr>(), step.getInputs())) {
    auto at = cast<AtAttr>(slice);
    auto *known = llvm::find_if(slices, [&](const Input &input) { return input.name == name; });
    if (known == slices.end()) {
      slices.push_back({name, at, isOwn});
      continue;
    }
    if (isOwn && known->isOwn && known->at != at)
      return step.emitError() << "input '" << name << "' is at " << at
                              << ", but another step reads it at " << known->at;
    if (isOwn)
      *known = {name, at, isOwn};
  }
  return success();
}

LogicalResult ShapeTable::addInputs() {
  llvm::StringSet<> trained; // inputs of steps that training and evaluation run
  for (StringRef name : {microStepName, evaluateName, outputsName}) {
    for (ModuleOp stage : stages)
      for (StepOp step : stepsOf(stage, name, number))
        if (failed(addInputsOf(step, stage == placed)))
          return failure();
    if (name != outputsName)
      for (const Input &input : slices)
        trained.insert(input.name);
  }
  for (const auto &[name, at, isOwn] : slices) {
    InputOp input = program.findInput(name); // Null for plain data, without an mtc.input.
    std::optional<StringRef> source = input ? input.getShiftedFrom() : std::nullopt;
    int32_t shiftedFrom = -1;
    for (auto [i, other] : llvm::enumerate(slices))
      if (other.name == source)
        shiftedFrom = i;
    bool isWhole = at.getType().getRank() == 0 || (input && !input.getRows());
    IndexRangeAttr range = input ? input.getIndicesAttr() : IndexRangeAttr();
    inputNames.push_back(name.str());
    inputs.push_back(c.record(field<&MtcInput::tensor>(describeTensor(c, name, at.getType(),
                                                                      isOwn ? at.getOffset() : -1)),
                              field<&MtcInput::is_label>(input && input.getLabel()),
                              field<&MtcInput::is_padded>(input && input->hasAttr(paddedAttribute)),
                              field<&MtcInput::is_whole>(isWhole),
                              field<&MtcInput::is_of_outputs>(!trained.contains(name)),
                              field<&MtcInput::shifted_from>(shiftedFrom),
                              field<&MtcInput::minimum>(range ? range.getMinimum() : 0),
                              field<&MtcInput::limit>(range ? range.getLimit() : 0),
                              field<&MtcInput::ignored>(range ? range.getIgnored() : 0),
                              field<&MtcInput::user>(range ? range.getUser() : StringRef())));
  }
  return success();
}

int64_t ShapeTable::offsetOf(AtAttr result) const {
  return placed == stages.back() ? result.getOffset() : -1;
}

void ShapeTable::addOutputs() {
  StepOp step = findStep(stages.back(), nameForShape(outputsName, number));
  if (!step)
    return;
  for (auto [name, slice] :
       llvm::zip_equal(step.getOutputNames().getAsValueRange<StringAttr>(), step.getOutputs())) {
    auto at = cast<AtAttr>(slice);
    outputs.push_back(describeTensor(c, name, at.getType(), offsetOf(at)));
  }
}

Constant *ShapeTable::describeRowMetrics() {
  int64_t rows =
      program.getShapesAttr() ? getShape().getBatch() : static_cast<int64_t>(program.getBatch());
  llvm::SmallVector<std::pair<StringRef, AtAttr>> found;
  if (StepOp step = findStep(stages.back(), nameForShape(evaluateName, number)))
    for (auto [name, slice] :
         llvm::zip_equal(step.getOutputNames().getAsValueRange<StringAttr>(), step.getOutputs())) {
      StringRef rest = name;
      if (!rest.consume_front(abi::rowPrefix))
        continue;
      found.emplace_back(rest, cast<AtAttr>(slice));
      if (rest == abi::rowLoss)
        rows = found.back().second.getType().getNumElements();
    }
  llvm::SmallVector<Constant *> values;
  for (auto [name, at] : found) {
    bool areClasses = at.getType().getElementType().isInteger(32);
    values.push_back(c.record(
        field<&MtcRowValue::name>(name),
        field<&MtcRowValue::kind>(areClasses ? MTC_ROW_CLASSES : MTC_ROW_SUM),
        field<&MtcRowValue::offset>(offsetOf(at)),
        field<&MtcRowValue::count>(rows ? at.getType().getNumElements() / rows : int64_t(0))));
  }
  return c.record(field<&MtcRowMetrics::rows>(rows),
                  field<&MtcRowMetrics::value_count>(values.size()),
                  field<&MtcRowMetrics::values>(c.array(values)));
}

/// Returns the sizes of a shape, as text.
static std::string nameOf(ShapeAttr shape) {
  std::string name;
  for (NamedAttribute dim : shape.getDims())
    name += (name.empty() ? "" : ", ") + dim.getName().str() + " = " +
            std::to_string(cast<IntegerAttr>(dim.getValue()).getInt());
  return name;
}

Constant *ShapeTable::describe(StepTables &steps) {
  auto own = [&](StringRef step) { return nameForShape(step, number); };
  return c.record(
      field<&MtcShape::name>(nameOf(getShape())), field<&MtcShape::batch>(getShape().getBatch()),
      field<&MtcShape::inputs>(c.array(inputs)), field<&MtcShape::outputs>(c.array(outputs)),
      field<&MtcShape::micro_step>(steps.sequenceOf(own(microStepName))),
      field<&MtcShape::evaluate>(steps.sequenceOf(own(evaluateName))),
      field<&MtcShape::compute_outputs>(steps.sequenceOf(own(outputsName))),
      field<&MtcShape::micro_step_loss>(outputOffset(placed, own(microStepName), lossName)),
      field<&MtcShape::evaluate_loss>(outputOffset(placed, own(evaluateName), lossName)),
      field<&MtcShape::row_metrics>(describeRowMetrics()));
}
