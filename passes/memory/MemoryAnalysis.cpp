//===- MemoryAnalysis.cpp - Incremental memory analysis of a module ---------------------------===//

#include "passes/memory/MemoryAnalysis.h"

#include "ir/ReservedNames.h"
#include "ir/ScanBody.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "ir/attributes/OperandLayout.h"
#include "passes/memory/MemoryFloor.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;

/// Smaller batches are read from the page cache before a staging thread would wake up.
static constexpr int64_t minStagedBytes = 64 << 10;

//===----------------------------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------------------------===//

void MemoryAnalysis::notify(Operation *parent, Operation *op, Change change) {
  isLayoutStale = true;
  arenaSize.reset();
  isModuleStale |= isa<ReadFlatOp, WriteFlatOp>(op);
  if (parent && bodies.contains(parent)) { // All scans of the body are stale.
    isModuleStale = true;
    bodies[parent].reset();
    return;
  }
  if (!parent || parent == module) {
    isModuleStale = true;
    if (auto known = functions.find(op); known != functions.end())
      known->second.reset();
    return;
  }
  auto known = functions.find(parent);
  if (known != functions.end() && known->second)
    ((*known->second).*change)(op);
  else
    notify(parent->getParentOp(), parent, &FunctionMemory::change);
}

void MemoryAnalysis::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) {
  if (previous.isSet() && previous.getBlock() != op->getBlock())
    notify(previous.getBlock()->getParentOp(), op, &FunctionMemory::erase);
  notify(op->getParentOp(), op, &FunctionMemory::insert);
}

void MemoryAnalysis::notifyOperationModified(Operation *op) {
  notify(op->getParentOp(), op, &FunctionMemory::change);
}

void MemoryAnalysis::notifyOperationErased(Operation *op) {
  notify(op->getParentOp(), op, &FunctionMemory::erase);
}

LogicalResult MemoryAnalysis::updateModule() {
  FailureOr<VariableLayout> laidOut = VariableLayout::compute(module, redzone);
  if (failed(laidOut))
    return failure();
  variables = std::move(*laidOut);
  variableCategories = MemoryPlan::Categories::ofVariables(module);
  arguments = ArgumentLayout(module, variables.getSize(), redzone);
  staging = arguments.getSize() >= minStagedBytes ? arguments.getSize() : 0;
  llvm::DenseSet<Attribute> ofMessages;
  for (auto message : module.getOps<MessageOp>())
    ofMessages.insert(message.getVariables().begin(), message.getVariables().end());
  hasMessages = !ofMessages.empty();
  savedBySplit = 0;
  for (const VariableLayout::Entry &entry : variables.getEntries())
    if (VariableOp variable = entry.variable;
        variable.getRole() == Role::Slot && entry.space == MemorySpace::Device &&
        !ofMessages.contains(FlatSymbolRefAttr::get(variable.getSymNameAttr())))
      savedBySplit += entry.bytes * static_cast<int64_t>(variable.getCopies()) + redzone;
  slots.fill({});
  for (auto transfers : module.getOps<TransferSlotsOp>())
    slots[static_cast<unsigned>(transfers.getSpace())] = {
        transfers.getBytes(), static_cast<int64_t>(transfers.getSize())};
  updateFixedBytes();

  // Functions cache answers of the target, so a change of target invalidates them.
  Attribute compiledFor = module->getAttr(targetAttribute);
  if (std::exchange(target, compiledFor) != compiledFor)
    functions.clear();
  bodies.clear();
  SmallVector<Operation *> present;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (isScanBody(function))
      bodies[function] = std::make_unique<FunctionMemory>(function);
    else
      present.push_back(function);
  }
  // A pass that changes operations while it iterates over the functions keeps its place.
  if (!llvm::equal(present, llvm::make_first_range(functions))) {
    auto known = std::exchange(functions, {});
    for (Operation *function : present)
      functions[function] = std::move(known[function]);
  }
  for (auto &[function, memory] : functions) {
    if (memory)
      memory->changeContext();
    else
      memory = std::make_unique<FunctionMemory>(cast<func::FuncOp>(function));
  }
  isModuleStale = false;
  return success();
}

/// Sums the bytes that all functions share. Slots of micro-steps that have not been split count as
/// variables.
void MemoryAnalysis::updateFixedBytes() {
  saved = 0;
  for (const auto &[function, memory] : functions)
    if (memory)
      for (int64_t bytes : memory->getBuffers().slots)
        saved += bytes + redzone;
  fixed = variables.getSize() + saved + arguments.getSize() + staging;
  if (const Slots &own = slots[static_cast<unsigned>(MemorySpace::Device)]; own.bytes)
    fixed = llvm::alignTo(fixed, TransferSlotsOp::alignment) + own.bytes;
}

LogicalResult MemoryAnalysis::updateBodies(const TargetInfo &target) {
  bodyLayouts.clear();
  bodyBytes.clear();
  for (auto &[function, memory] : bodies) {
    if (failed(memory->update({variables, arguments, target, bodyBytes})))
      return failure();
    SmallVector<LiveBuffer, 0> temporaries(memory->getBuffers().temporaries);
    for (LiveBuffer &buffer : temporaries)
      buffer.bytes += buffer.bytes ? redzone : 0;
    ArenaLayout &layout = bodyLayouts[memory.get()] = layOut(temporaries);
    bodyBytes[cast<func::FuncOp>(function).getSymNameAttr()] = layout.size;
  }
  return success();
}

LogicalResult MemoryAnalysis::update() {
  const bool areBodiesStale = isModuleStale;
  if (isModuleStale && failed(updateModule()))
    return failure();
  TargetInfo info = TargetInfo::of(module);
  if (areBodiesStale && failed(updateBodies(info)))
    return failure();
  for (FunctionMemory &function : getFunctions())
    if (failed(function.update({variables, arguments, info, bodyBytes, hasMessages})))
      return failure();
  if (hasMessages)
    updateFixedBytes();
  return success();
}

//===----------------------------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------------------------===//

SmallVector<LiveBuffer, 0> MemoryAnalysis::collectTemporaries(bool ofSeparateArena) const {
  SmallVector<LiveBuffer, 0> temporaries;
  int64_t time = 0;
  for (const FunctionMemory &function : getFunctions()) {
    if (function.hasSeparateArena() != ofSeparateArena)
      continue;
    for (LiveBuffer buffer : function.getBuffers().temporaries)
      temporaries.push_back(
          {buffer.bytes ? buffer.bytes + redzone : 0, buffer.begin + time, buffer.end + time});
    time += static_cast<int64_t>(function.getOrder().size()) + 1;
  }
  return temporaries;
}

MemoryAnalysis::Region MemoryAnalysis::layOutRegion(bool ofSeparateArena) const {
  Region region;
  size_t first = 0;
  for (const FunctionMemory &function : getFunctions())
    if (function.hasSeparateArena() == ofSeparateArena) {
      region.first[&function] = first;
      first += function.getBuffers().temporaries.size();
    }
  region.layout = layOut(collectTemporaries(ofSeparateArena));
  return region;
}

MemoryAnalysis::Region MemoryAnalysis::layOutMovedAway() const {
  Region region;
  SmallVector<LiveBuffer, 0> temporaries;
  int64_t time = 0;
  for (const FunctionMemory &function : getFunctions()) {
    region.first[&function] = temporaries.size();
    for (LiveBuffer buffer : function.getBuffers().movedAway)
      temporaries.push_back({buffer.bytes, buffer.begin + time, buffer.end + time});
    time += static_cast<int64_t>(function.getOrder().size()) + 1;
  }
  region.layout = layOut(temporaries);
  return region;
}

int64_t MemoryAnalysis::getSlotsOffset(MemorySpace space) const {
  return space == MemorySpace::Device
             ? fixed - slots[static_cast<unsigned>(space)].bytes
             : llvm::alignTo(variables.getSize(space), TransferSlotsOp::alignment);
}

int64_t MemoryAnalysis::getMovedOffset(MemorySpace space) const {
  return getSlotsOffset(space) + slots[static_cast<unsigned>(space)].bytes;
}

void MemoryAnalysis::updateLayout() {
  if (!isLayoutStale)
    return;
  common = layOutRegion(/*ofSeparateArena=*/false);
  separate = layOutRegion(/*ofSeparateArena=*/true);
  movedAway = layOutMovedAway();
  isLayoutStale = false;
}

/// Returns the buffers that are live at schedule position `peak`, with the operations that hold
/// them.
static std::vector<MemoryPlan::AliveBuffer> aliveAt(const FunctionMemory &function, int64_t peak) {
  ArrayRef<PlannedOperation *> order = function.getOrder();
  ArrayRef<LiveBuffer> buffers = function.getBuffers().temporaries;
  SmallVector<std::pair<Operation *, bool>, 0> holders(buffers.size());
  for (PlannedOperation *op : order.take_front(peak + 1)) {
    for (const PlannedValue &result : op->results)
      if (!result.buffer->fixedOffset && result.buffer->space == MemorySpace::Device)
        holders[result.buffer->temporary] = {op->op, false};
    if (op->scratchBytes)
      holders[op->scratch.temporary] = {op->op, true};
  }
  SmallVector<size_t, 0> atPeak;
  for (auto [i, buffer] : llvm::enumerate(buffers))
    if (buffer.begin <= peak && peak <= buffer.end && buffer.bytes)
      atPeak.push_back(i);
  llvm::sort(atPeak, [&](size_t a, size_t b) {
    return std::pair(buffers[a].begin, a) < std::pair(buffers[b].begin, b);
  });
  std::vector<MemoryPlan::AliveBuffer> alive;
  for (size_t i : atPeak) {
    size_t end = std::min<size_t>(buffers[i].end, order.size() - 1);
    alive.push_back({holders[i].first, buffers[i].bytes, order[buffers[i].begin]->op,
                     order[end]->op, holders[i].second});
  }
  return alive;
}

void MemoryAnalysis::addPeak(MemoryPlan &plan, int64_t &workspace) const {
  const FunctionMemory *highest = nullptr;
  for (const FunctionMemory &function : getFunctions()) {
    if (function.hasSeparateArena())
      continue;
    ArrayRef<int64_t> live = function.getLive();
    for (auto [op, bytes] : llvm::zip_equal(function.getOrder(), live))
      plan.points.push_back({op->op, fixed + bytes});
    if (!highest || live[function.getPeakTime()] > highest->getLive()[highest->getPeakTime()])
      highest = &function;
  }
  plan.live = fixed;
  if (!highest)
    return;
  int64_t time = highest->getPeakTime();
  const PlannedOperation &peak = *highest->getOrder()[time];
  plan.live += highest->getLive()[time];
  plan.peakAt = peak.op->getLoc();
  plan.alive = aliveAt(*highest, time);
  workspace = paddedBytes(std::max<int64_t>(peak.scratchBytes, 0));
}

int64_t MemoryAnalysis::findFloor() const {
  TargetInfo info = TargetInfo::of(module);
  int64_t floor = 0;
  for (const FunctionMemory &function : getFunctions())
    if (!function.hasSeparateArena())
      floor = std::max(floor, mtc::findFloor(function, info));
  return fixed - saved - savedBySplit + floor; // Recomputed values need no slots.
}

int64_t MemoryAnalysis::findEnd(const FunctionMemory &function) const {
  int64_t end = 0;
  size_t number = separate.first.at(&function);
  for (const LiveBuffer &buffer : function.getBuffers().temporaries)
    end = std::max(end,
                   separate.layout.offsets[number++] + (buffer.bytes ? buffer.bytes + redzone : 0));
  return end;
}

MemoryPlan MemoryAnalysis::summarize(bool isAllocated) const {
  MemoryPlan plan;
  plan.staging = staging;
  const MemorySpace offloadSpace = TargetInfo::of(module).getOffloadSpace();
  int64_t workspace = 0;
  addPeak(plan, workspace);
  int64_t maxSeparate = 0, outputs = 0;
  for (const FunctionMemory &function : getFunctions()) {
    if (!function.hasSeparateArena())
      continue;
    const int64_t bytes =
        isAllocated ? findEnd(function) : function.getLive()[function.getPeakTime()];
    maxSeparate = std::max(maxSeparate, bytes);
    if (withoutShape(function.getFunction().getSymName()) == outputsName)
      outputs = std::max(outputs, bytes);
  }
  plan.peak = isAllocated ? fixed + common.layout.size : plan.live;
  auto ifLarger = [&](int64_t bytes) { return fixed + bytes > plan.peak ? fixed + bytes : 0; };
  plan.separateRun = ifLarger(maxSeparate);
  plan.outputsRun = ifLarger(outputs);
  plan.floor = isAllocated ? findFloor() : 0;
  plan.categories = variableCategories;
  plan.categories.fill(plan.peak, arguments.getSize() + staging,
                       workspace + slots[static_cast<unsigned>(MemorySpace::Device)].bytes);
  for (unsigned space = 0; space <= getMaxEnumValForMemorySpace(); ++space)
    if (auto other = static_cast<MemorySpace>(space); other != MemorySpace::Device)
      if (int64_t bytes = getMovedOffset(other) +
                          (isAllocated && other == offloadSpace ? movedAway.layout.size : 0))
        plan.otherSpaces.push_back({other, bytes});
  return plan;
}

int64_t MemoryAnalysis::getLiveBytes() const {
  int64_t maximum = 0;
  for (const FunctionMemory &function : getFunctions())
    if (!function.hasSeparateArena())
      maximum = std::max(maximum, function.getLive()[function.getPeakTime()]);
  return fixed + maximum;
}

FailureOr<int64_t> MemoryAnalysis::findFixedBytes() {
  if (isModuleStale && failed(updateModule()))
    return failure();
  return fixed;
}

FailureOr<int64_t> MemoryAnalysis::findArenaBytes(int64_t enough) {
  if (failed(update()))
    return failure();
  return fixed + arenaSize.find(enough - fixed,
                                [&] { return collectTemporaries(/*ofSeparateArena=*/false); });
}

FailureOr<MemoryPlan> MemoryAnalysis::getPlan() {
  if (failed(update()))
    return failure();
  return summarize(/*isAllocated=*/false);
}

FailureOr<MemoryPlan> MemoryAnalysis::getPlanWithLayout() {
  if (failed(update()))
    return failure();
  updateLayout();
  return summarize(/*isAllocated=*/true);
}

const FunctionMemory &MemoryAnalysis::getBody(ScanOp scan) const {
  return *bodies.find(scan.lookUpBody())->second;
}

int64_t MemoryAnalysis::offsetOf(const FunctionMemory &function, Buffer buffer) const {
  if (buffer.fixedOffset)
    return *buffer.fixedOffset + buffer.part;
  if (auto body = bodyLayouts.find(&function); body != bodyLayouts.end())
    return body->second.offsets[buffer.temporary] + buffer.part;
  if (buffer.space != MemorySpace::Device)
    return getMovedOffset(buffer.space) +
           movedAway.layout.offsets[movedAway.first.at(&function) + buffer.temporary];
  const Region &region = function.hasSeparateArena() ? separate : common;
  return fixed + region.layout.offsets[region.first.at(&function) + buffer.temporary] + buffer.part;
}

int64_t MemoryAnalysis::offsetOf(const FunctionMemory &function, Value value) const {
  return offsetOf(function, *function[value].buffer) + offsetInBuffer(value);
}

SmallVector<std::pair<int64_t, int64_t>>
MemoryAnalysis::findFree(const FunctionMemory &function, int64_t begin, int64_t end) const {
  auto known = common.first.find(&function);
  if (known == common.first.end())
    return {};
  ArrayRef<LiveBuffer> temporaries = function.getBuffers().temporaries;
  ArrayRef<int64_t> offsets = ArrayRef(common.layout.offsets).drop_front(known->second);
  SmallVector<std::pair<int64_t, int64_t>> live, free;
  for (auto [buffer, offset] : llvm::zip(temporaries, offsets))
    if (buffer.bytes && buffer.begin <= end && begin <= buffer.end)
      live.push_back({offset, offset + buffer.bytes + redzone});
  llvm::sort(live);
  live.push_back({common.layout.size, common.layout.size});
  int64_t at = 0;
  for (auto [first, last] : live) {
    if (at < first)
      free.push_back({fixed + at, fixed + first});
    at = std::max(at, last);
  }
  return free;
}

int64_t MemoryAnalysis::getEffort() const {
  int64_t effort = addedEffort;
  for (const FunctionMemory &function : getFunctions())
    effort += function.getEffort();
  return effort;
}

int64_t MemoryAnalysis::getReads() const {
  int64_t reads = 0;
  for (const FunctionMemory &function : getFunctions())
    reads += function.getReads();
  return reads;
}
