//===- ProgramTables.cpp - The mtc_program constant -------------------------------------------===//

#include "codegen/program/ProgramTables.h"

#include "codegen/program/ShapeTable.h"
#include "codegen/program/StepTables.h"
#include "codegen/program/TaskTables.h"
#include "codegen/program/VariableTable.h"
#include "codegen/target/ConstantBuilder.h"
#include "codegen/target/Target.h"
#include "ir/Mtc.h"
#include "ir/ReservedNames.h"
#include "ir/TypeCode.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "ir/attributes/TensorImage.h"
#include "runtime/abi/program.h"
#include "runtime/abi/row_values.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace mlir;
using namespace mtc;

using llvm::Constant;

std::string mtc::kernelSymbol(StringRef kernel) { return ("mtc_kernel." + kernel).str(); }

std::string mtc::stepSymbol(StringRef step) { return ("mtc_step." + step).str(); }

/// Returns whether checkpoints may contain the variable. Frozen parameters and constants can be
/// loaded by `--weights`.
static bool isSaved(VariableOp variable) {
  return !llvm::is_contained({Role::Gradient, Role::Scalar, Role::Copy, Role::LowHalf, Role::Slot},
                             variable.getRole());
}

namespace {

/// Emits the tables of a pipeline stage.
class TableEmitter {
public:
  TableEmitter(ArrayRef<ModuleOp> stages, size_t number, const ProgramFiles &files,
               llvm::Module &module, DataObject &operations, Target &target)
      : stages(stages), placed(stages[number]), files(files), module(module), c(module),
        target(target), variables(c),
        steps(c, operations, target, number ? std::to_string(number) + "." : ""), tasks(c, steps) {
    program = ProgramOp::find(placed);
    if (!program) {
      OpBuilder builder(placed.getContext());
      unnamed = ProgramOp::create(builder, placed.getLoc(), "", Stage::Allocated);
      program = *unnamed;
    }
  }

  /// Adds the entries of all tables.
  LogicalResult run(bool namedSteps) {
    arena = ArenaOp::find(placed);
    if (!arena)
      return placed.emitError("the program is not allocated: it has no mtc.arena");
    if (isStage() && arena.getRedzone())
      return placed.emitError("--check-memory: the runtime cannot check the slots of pipeline "
                              "stages; compile without --pipeline or without --check-memory");
    for (auto other : placed.getOps<ArenaOp>())
      if (StringRef reason = target.refuseCopy(other.getSpace(), MemorySpace::Device);
          !reason.empty())
        return other.emitError("the target '")
               << target.getName() << "' does not support it: " << reason;
    if (failed(checkNames()) || failed(variables.add(placed)))
      return failure();
    steps.addKernels(placed);
    for (unsigned number = 0; number < program.getShapeCount(); ++number)
      if (failed(addShape(number)))
        return failure();
    if (namedSteps)
      for (StepOp step : placed.getOps<StepOp>()) {
        Constant *function = steps.addFunction(step);
        if (!function)
          return failure();
        c.global(function, stepSymbol(step.getSymName()))
            ->setLinkage(llvm::GlobalValue::ExternalLinkage);
      }
    return addTasks();
  }

  /// Returns the MtcProgram, or null after emitting a diagnostic. `following` are the tables of the
  /// following stages.
  Constant *describe(ArrayRef<Constant *> following);

  /// Emits the program under its name.
  void emit(Constant *table) {
    emitMark();
    c.global(table, "mtc_program")->setLinkage(llvm::GlobalValue::ExternalLinkage);
  }

private:
  /// Adds the messages and tasks of a pipeline stage, whose functions are known.
  LogicalResult addTasks() {
    tasks.addMessages(placed);
    for (auto [list, of] : {std::pair(&microSteps, microStepName),
                            {&evaluation, evaluateName},
                            {&outputs, outputsName}}) {
      FailureOr<Constant *> described = tasks.describeTasks(placed, of);
      if (failed(described))
        return failure();
      *list = *described;
    }
    return success();
  }

  /// Adds the inputs, outputs and functions of a shape.
  LogicalResult addShape(unsigned number) {
    ShapeTable &shape = shapes.emplace_back(stages, placed, program, number, c);
    if (failed(shape.addInputs()))
      return failure();
    if (shape.getInputNames() != shapes.front().getInputNames())
      return placed.emitError("the shapes of the program have different inputs");
    shape.addOutputs();
    if (isStage()) { // The tasks run all steps.
      for (StepOp step : placed.getOps<StepOp>())
        if (failed(steps.addSequence(step.getSymName(), step)))
          return failure();
      return success();
    }
    for (StringRef name : {microStepName, updateName, gradientsName, evaluateName, outputsName})
      if (std::string own = nameForShape(name, number);
          failed(steps.addSequence(own, findStep(placed, own))))
        return failure();
    return success();
  }

  Constant *describeShapes() {
    llvm::SmallVector<Constant *> all;
    if (program.getShapesAttr())
      for (ShapeTable &shape : shapes)
        all.push_back(shape.describe(steps));
    return c.array(all);
  }

  /// Checks that names are unique, since files contain each tensor of the module once.
  LogicalResult checkNames() {
    FailureOr<std::vector<ModuleTensor>> tensors = collectModuleTensors(placed, isSaved);
    if (failed(tensors))
      return failure();
    llvm::StringSet<> names;
    for (const ModuleTensor &tensor : *tensors)
      names.insert(tensor.name);
    for (BufferOp buffer : placed.getOps<BufferOp>())
      if (!names.insert(buffer.getName()).second)
        return buffer.emitOpError("is named '")
               << buffer.getName() << "', the name of another tensor in the module";
    return success();
  }

  int64_t arenaBytes(MemorySpace space) {
    ArenaOp other = ArenaOp::find(placed, space);
    return other ? static_cast<int64_t>(other.getSize()) : 0;
  }

  int64_t separateArenaBytes() {
    return static_cast<int64_t>(std::max(arena.getSeparate(), arena.getSize()));
  }

  int64_t outputsArenaBytes() {
    return static_cast<int64_t>(std::max(arena.getOutputs(), arena.getSize()));
  }

  bool isStage() { return program.getPipelineStage().has_value(); }

  uint32_t lossType() {
    const AtAttr loss = findOutput(stages.back(), microStepName, lossName);
    return loss ? typeCode(loss.getType().getElementType()) : uint32_t(MTC_F32);
  }

  StringRef loss() { return program.getLoss().value_or(""); }
  StringRef optimizer() { return program.getOptimizer().value_or(""); }

  Constant *describeSchedule() {
    ScheduleAttr schedule = program.getScheduleAttr();
    if (!schedule)
      schedule =
          ScheduleAttr::get(placed.getContext(), "constant",
                            Builder(placed.getContext()).getF64FloatAttr(1e-3), {}, 0, 0, {}, {});
    ArrayRef<int64_t> steps;
    llvm::SmallVector<Constant *> rates;
    if (schedule.getSteps()) {
      steps = schedule.getSteps();
      rates = llvm::map_to_vector(schedule.getRates().asArrayRef(),
                                  [&](double rate) -> Constant * { return c.f64(rate); });
    }
    return c.record(field<&MtcSchedule::kind>(schedule.getKind()),
                    field<&MtcSchedule::rate>(schedule.getRate().getValueAsDouble()),
                    field<&MtcSchedule::min_rate>(
                        schedule.getMinRate() ? schedule.getMinRate().getValueAsDouble() : 0.0),
                    field<&MtcSchedule::warmup>(schedule.getWarmup()),
                    field<&MtcSchedule::decay>(schedule.getDecay()),
                    field<&MtcSchedule::point_count>(steps.size()),
                    field<&MtcSchedule::steps>(c.i64Array(steps)),
                    field<&MtcSchedule::rates>(c.array(rates)));
  }

  /// Returns the offset of a variable, or -1 if it does not exist.
  int64_t variableOffset(StringRef name) {
    for (VariableOp variable : placed.getOps<VariableOp>())
      if (variable.getSymName() == name)
        return offsetOrNone(variable);
    return -1;
  }

  Constant *describeAccumulation() {
    AccumulationAttr accumulation = program.getAccumulationAttr();
    return c.record(
        field<&MtcAccumulation::micro_steps>(program.getMicroSteps()),
        field<&MtcAccumulation::loss_sum>(accumulation ? variableOffset(lossSumName) : -1),
        field<&MtcAccumulation::count>(accumulation ? variableOffset(targetCountName) : -1),
        field<&MtcAccumulation::step_loss_sum>(-1), field<&MtcAccumulation::step_count>(-1),
        field<&MtcAccumulation::targets>(
            accumulation ? static_cast<double>(accumulation.getTargets()) : 0.0));
  }

  Constant *describeLossScaling() {
    LossScalingAttr scaling = program.getLossScalingAttr();
    return c.record(
        field<&MtcLossScaling::scale>(scaling ? variableOffset(lossScaleName) : -1),
        field<&MtcLossScaling::used>(outputOffset(placed, updateName, lossScaleName)),
        field<&MtcLossScaling::skipped>(outputOffset(placed, updateName, updateSkippedName)),
        field<&MtcLossScaling::min_scale>(scaling ? scaling.getMinScale().getValueAsDouble()
                                                  : 0.0));
  }

  /// Returns a hex digest of the properties that a checkpoint depends on.
  std::string fingerprint() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << optimizer() << '\n' << loss() << '\n' << program.getBatch() << '\n';
    if (program.getShapesAttr())
      stream << program.getShapesAttr() << '\n';
    if (program.getMicroSteps() > 1)
      stream << program.getMicroSteps() << " micro-steps\n";
    // Checkpoints depend neither on gradients, constants and settings nor on how variables are
    // divided among the ranks.
    for (VariableOp variable : placed.getOps<VariableOp>())
      if (!llvm::is_contained({Role::Gradient, Role::Constant, Role::Slot}, variable.getRole()) &&
          !isa<SettingAttr>(variable.getInitial()))
        stream << stringifyRole(variable.getRole()) << ' ' << variable.getSymName() << ' '
               << variable.getWholeType() << '\n';
    for (VariableOp variable : placed.getOps<VariableOp>())
      if (ArrayAttr images = variable.getModuleImagesAttr())
        stream << variable.getSymName() << " is " << images << '\n';
    for (AdapterOp adapter : placed.getOps<AdapterOp>())
      stream << adapter.getBase() << ' ' << adapter.getAlpha().convertToDouble()
             << (adapter.getRankStabilized() ? " rank_stabilized\n" : "\n");
    return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)), /*LowerCase=*/true);
  }

  FailureOr<Constant *> emitSegments() {
    llvm::SmallVector<Constant *> segments;
    for (const ExportSegment &segment : files.exportSegments) {
      std::optional<int32_t> variable = -1;
      if (!segment.variable.empty())
        variable = variables.find(segment.variable);
      if (!variable)
        return placed.emitError() << "export refers to variable '" << segment.variable
                                  << "', which is not in the program";
      Constant *image = c.null();
      if (segment.image)
        image = c.global(describeImage(c, segment.image));
      segments.push_back(c.record(
          field<&MtcExportSegment::bytes>(c.bytes(segment.bytes)),
          field<&MtcExportSegment::byte_count>(segment.bytes.size()),
          field<&MtcExportSegment::variable>(*variable),
          field<&MtcExportSegment::type>(segment.element ? typeCode(segment.element) : MTC_F32),
          field<&MtcExportSegment::image>(image), field<&MtcExportSegment::form>(segment.form),
          field<&MtcExportSegment::kind>(segment.kind)));
    }
    return c.array(segments);
  }

  llvm::SmallVector<Constant *> emitBuffers() {
    llvm::SmallVector<Constant *> buffers;
    for (BufferOp buffer : placed.getOps<BufferOp>()) {
      auto type = cast<RankedTensorType>(buffer.getValue().getShapedType());
      buffers.push_back(c.record(
          field<&MtcBuffer::tensor>(describeTensor(c, buffer.getName(), type, /*offset=*/-1)),
          field<&MtcBuffer::data>(c.bytes(rawBytes(buffer.getValue()))),
          field<&MtcBuffer::counts_batches>(buffer.getCountsBatches()),
          field<&MtcBuffer::pretrained_name>(
              buffer.getPretrainedName().value_or(buffer.getName()))));
    }
    return buffers;
  }

  /// Emits the note by which mtc recognizes programs that it wrote.
  void emitMark() {
    constexpr StringRef name(MTC_NOTE_NAME, sizeof(MTC_NOTE_NAME)); // includes the terminating zero
    constexpr uint32_t type = 1;
    Constant *text =
        llvm::ConstantDataArray::getString(module.getContext(), name, /*AddNull=*/false);
    llvm::GlobalVariable *note =
        c.global(c.structure({c.u32(name.size()), c.u32(0), c.u32(type), text}), "mtc_note");
    note->setSection(MTC_NOTE_SECTION);
    note->setAlignment(llvm::Align(4));
    llvm::appendToUsed(module, {note});
  }

  ArrayRef<ModuleOp> stages;
  ModuleOp placed;
  const ProgramFiles &files;
  llvm::Module &module;
  ConstantBuilder c;
  Target &target;
  ArenaOp arena;
  ProgramOp program;
  OwningOpRef<ProgramOp> unnamed; ///< for a module without mtc.program

  VariableTable variables;
  StepTables steps;
  TaskTables tasks;
  Constant *microSteps, *evaluation, *outputs; ///< lists of tasks
  std::vector<ShapeTable> shapes;
};

} // namespace

Constant *TableEmitter::describe(ArrayRef<Constant *> following) {
  FailureOr<Constant *> segments = emitSegments();
  if (failed(segments))
    return nullptr;
  llvm::SmallVector<Constant *> adapters = variables.describeAdapters(placed),
                                buffers = emitBuffers();
  const std::vector<Constant *> settings = describeSettings(c, placed),
                                absentSettings = describeAbsentSettings(c, placed);
  auto compiledFor = placed->getAttrOfType<TargetAttrInterface>(targetAttribute);
  return c.record(
      field<&MtcProgram::abi_version>(MTC_ABI_VERSION),
      field<&MtcProgram::compiler_version>(files.compilerVersion),
      field<&MtcProgram::target>(target.getName()),
      field<&MtcProgram::target_data>(target.describeProgram(c)),
      field<&MtcProgram::model_name>(program.getModelName()),
      field<&MtcProgram::weights_file>(files.weightsFile),
      field<&MtcProgram::weights_digest>(files.weightsDigest),
      field<&MtcProgram::initial_weights>(files.initialWeights),
      field<&MtcProgram::model_files>(files.modelFiles),
      field<&MtcProgram::fingerprint>(fingerprint()), field<&MtcProgram::loss>(loss()),
      field<&MtcProgram::optimizer>(optimizer()),

      field<&MtcProgram::ranks>(program.getRankCount()),
      field<&MtcProgram::sharing_ranks>(program.getSharingRanks()),
      field<&MtcProgram::stages>(stages.size()),
      field<&MtcProgram::stage>(program.getPipelineStage().value_or(0)),
      field<&MtcProgram::batch>(program.getBatch()),
      field<&MtcProgram::arena_bytes>(arena.getSize()),
      field<&MtcProgram::pinned_host_arena_bytes>(arenaBytes(MemorySpace::PinnedHost)),
      field<&MtcProgram::host_arena_bytes>(arenaBytes(MemorySpace::Host)),
      field<&MtcProgram::disk_arena_bytes>(arenaBytes(MemorySpace::Disk)),
      field<&MtcProgram::redzone>(arena.getRedzone()),
      field<&MtcProgram::staging>(arena.getStaging()),
      field<&MtcProgram::threads>(compiledFor ? compiledFor.getThreads() : 1),
      field<&MtcProgram::plan_json>(files.planJson),

      field<&MtcProgram::variable_count>(variables.getEntries().size()),
      field<&MtcProgram::input_count>(shapes.front().getInputs().size()),
      field<&MtcProgram::output_count>(shapes.front().getOutputs().size()),
      field<&MtcProgram::kernel_count>(steps.getKernels().size()),
      field<&MtcProgram::call_count>(steps.getCalls().size()),
      field<&MtcProgram::segment_count>(files.exportSegments.size()),
      field<&MtcProgram::adapter_count>(adapters.size()),
      field<&MtcProgram::buffer_count>(buffers.size()),
      field<&MtcProgram::collective_count>(steps.getCollectives().size()),
      field<&MtcProgram::function_count>(steps.getFunctions().size()),
      field<&MtcProgram::message_count>(tasks.getMessages().size()),
      field<&MtcProgram::variables>(c.array(variables.getEntries())),
      field<&MtcProgram::inputs>(c.array(shapes.front().getInputs())),
      field<&MtcProgram::outputs>(c.array(shapes.front().getOutputs())),
      field<&MtcProgram::kernels>(c.array(steps.getKernels())),
      field<&MtcProgram::calls>(c.array(steps.getCalls())), field<&MtcProgram::segments>(*segments),
      field<&MtcProgram::adapters>(c.array(adapters)),
      field<&MtcProgram::buffers>(c.array(buffers)),
      field<&MtcProgram::collectives>(c.array(steps.getCollectives())),
      field<&MtcProgram::functions>(c.array(steps.getFunctions())),
      field<&MtcProgram::messages>(c.array(tasks.getMessages())),

      field<&MtcProgram::micro_step>(steps.sequenceOf(microStepName)),
      field<&MtcProgram::update>(steps.sequenceOf(updateName)),
      field<&MtcProgram::evaluate>(steps.sequenceOf(evaluateName)),
      field<&MtcProgram::gradients>(steps.sequenceOf(gradientsName)),
      field<&MtcProgram::compute_outputs>(steps.sequenceOf(outputsName)),

      field<&MtcProgram::micro_steps>(microSteps), field<&MtcProgram::evaluate_tasks>(evaluation),
      field<&MtcProgram::outputs_tasks>(outputs),
      field<&MtcProgram::results_stage>(stages.size() - 1),

      field<&MtcProgram::separate_arena_bytes>(separateArenaBytes()),
      field<&MtcProgram::outputs_arena_bytes>(outputsArenaBytes()),
      field<&MtcProgram::gradients_loss>(outputOffset(placed, gradientsName, lossName)),
      field<&MtcProgram::micro_step_loss>(outputOffset(placed, microStepName, lossName)),
      field<&MtcProgram::evaluate_loss>(outputOffset(placed, evaluateName, lossName)),
      field<&MtcProgram::gradient_norm>(outputOffset(placed, updateName, gradientNormName)),
      field<&MtcProgram::accumulation>(describeAccumulation()),
      field<&MtcProgram::loss_scaling>(describeLossScaling()),
      field<&MtcProgram::loss_type>(lossType()),
      field<&MtcProgram::row_metrics>(shapes.front().describeRowMetrics()),
      field<&MtcProgram::scalars>(describeScalars(c, placed)),

      field<&MtcProgram::schedule>(describeSchedule()),
      field<&MtcProgram::following_stage_count>(following.size()),
      field<&MtcProgram::following_stages>(c.array(following)),
      field<&MtcProgram::shape_count>(program.getShapesAttr() ? shapes.size() : 0),
      field<&MtcProgram::shapes>(describeShapes()),
      field<&MtcProgram::setting_count>(settings.size()),
      field<&MtcProgram::settings>(c.array(settings)),
      field<&MtcProgram::absent_setting_count>(absentSettings.size()),
      field<&MtcProgram::absent_settings>(c.array(absentSettings)));
}

FailureOr<ProgramTables> mtc::emitProgramTables(ArrayRef<ModuleOp> stages,
                                                const ProgramFiles &files,
                                                llvm::LLVMContext &context, Target &target,
                                                bool namedSteps) {
  auto module = std::make_unique<llvm::Module>("mtc_program", context);
  DataObject operations;
  std::vector<std::unique_ptr<TableEmitter>> emitters;
  for (size_t number = 0; number < stages.size(); ++number) {
    emitters.push_back(
        std::make_unique<TableEmitter>(stages, number, files, *module, operations, target));
    if (failed(emitters.back()->run(namedSteps)))
      return failure();
  }
  llvm::SmallVector<Constant *> following;
  for (const auto &emitter : ArrayRef(emitters).drop_front()) {
    following.push_back(emitter->describe(/*following=*/{}));
    if (!following.back())
      return failure();
  }
  Constant *program = emitters.front()->describe(following);
  if (!program)
    return failure();
  emitters.front()->emit(program);
  return ProgramTables{std::move(module), operations.write(target.getHost().triple)};
}
