//===- StepLifetimes.cpp - Verifier of live ranges in a step ----------------------------------===//

#include "ir/NodeNames.h"
#include "ir/steps/StepAccess.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>

using namespace mlir;
using namespace mtc;

namespace {

/// Tracks the live values in device memory through the operations of a step or repeat.
class LivingSlices {
public:
  /// `outputs` are slices that must be live after the last operation.
  LivingSlices(Operation *parent, ArrayAttr outputs)
      : parent(parent), outputs(outputs), operations(parent->getRegion(0).front()) {
    if (auto module = parent->getParentOfType<ModuleOp>())
      for (auto variable : module.getOps<VariableOp>())
        if (std::optional<int64_t> offset = variable.getOffset();
            offset && !variable.getTransient() && variable.getSpace() == MemorySpace::Device)
          addOuter(*offset, *offset + byteSize(variable.getTensorType()), variable);
  }

  /// Adds a value that is live throughout. It may overlap other values of this kind.
  void addOuter(int64_t begin, int64_t end, Operation *maker) {
    auto other = lives.lower_bound(begin);
    if (other != lives.begin() && std::prev(other)->second.end > begin)
      --other;
    while (other != lives.end() && other->first < end) {
      begin = std::min(begin, other->first);
      end = std::max(end, other->second.end);
      other = lives.erase(other);
    }
    lives[begin] = {end, static_cast<int64_t>(operations.size()), maker};
  }

  LogicalResult run() {
    for (Operation *op : operations) {
      StepAccess access(op);
      for (AtAttr read : access.reads)
        if (isOnDevice(read) && !isReadable(op, read))
          return op->emitOpError("reads ") << read << ", where no value is live (step_c5)";
      const SmallVector<AtAttr> writes = access.getWrites();
      for (auto [result, written, lastUse] : llvm::zip(access.results, writes, access.lastUses))
        if (isOnDevice(result) && failed(write(op, result, written, lastUse)))
          return failure();
      if (access.scratch && failed(add(op, access.scratch, time, /*mayReplace=*/false)))
        return failure();
      ++time;
    }
    for (auto output : outputs.getAsRange<AtAttr>())
      if (!covers(output))
        return parent->emitOpError("returns ") << output << ", where no value is live (step_c5)";
    return success();
  }

private:
  struct Life {
    int64_t end;     ///< offset after the last byte
    int64_t lastUse; ///< number of the last operation at which the value is live
    Operation *maker;
  };

  struct Numbered : SmallVector<Operation *> {
    explicit Numbered(Block &block) {
      for (Operation &op : block)
        push_back(&op);
    }
  };

  static bool isOnDevice(AtAttr slice) { return slice.getSpace() == MemorySpace::Device; }

  /// Returns whether an operand is live. The access of a library call is strided within one value.
  bool isReadable(Operation *op, AtAttr read) const {
    return isa<CallOp>(op) ? isWithinOne(read) : covers(read);
  }

  /// Returns whether all bytes belong to one live value or its padding. A live value is a variable,
  /// an input, or the results of which a value is assembled, which end at the same time.
  bool isWithinOne(AtAttr slice) const {
    if (slice.getOffset() == slice.getEnd())
      return true;
    auto value = lives.upper_bound(slice.getOffset());
    if (value == lives.begin())
      return false;
    const Life &first = (--value)->second;
    auto isResult = [&](const Life &life) {
      return life.maker != parent && !isa<VariableOp>(life.maker);
    };
    int64_t end = value->first;
    for (; value != lives.end() && value->first == end && end < slice.getEnd(); ++value) {
      const Life &life = value->second;
      if (life.lastUse < time || (&life != &first && (!isResult(first) || !isResult(life) ||
                                                      life.lastUse != first.lastUse)))
        return false;
      end += paddedBytes(life.end - value->first);
    }
    return slice.getEnd() <= end;
  }

  /// Returns whether all bytes belong to live values or their padding.
  bool covers(AtAttr slice) const {
    int64_t at = slice.getOffset();
    while (at < slice.getEnd()) {
      auto next = lives.upper_bound(at);
      if (next == lives.begin())
        return false;
      auto [begin, life] = *std::prev(next);
      int64_t end = begin + paddedBytes(life.end - begin);
      if (end <= at || life.lastUse < time)
        return false;
      at = end;
    }
    return true;
  }

  /// Adds a result. The operation writes its bytes `written`, which need not be all, because
  /// strides may skip elements of a value that is already live.
  LogicalResult write(Operation *op, AtAttr slice, AtAttr written, int64_t lastUse) {
    if (lastUse >= 0 &&
        written.getEnd() > slice.getOffset() + paddedBytes(byteSize(slice.getType())))
      return op->emitOpError("writes ")
             << written << " by strides that leave its result " << slice << " (step_c5)";
    if (lastUse >= 0)
      return add(op, slice, lastUse);
    if (!(isa<CallOp>(op) ? isWithinOne(written) : covers(slice)))
      return op->emitOpError("writes ")
             << slice << " as a part of a live value, but no value is live there (step_c5)";
    return success();
  }

  /// Adds a live value. With `mayReplace`, a result may overlap operands whose last user is the
  /// operation, if one contains the other.
  LogicalResult add(Operation *op, AtAttr slice, int64_t lastUse, bool mayReplace = true) {
    auto other = lives.lower_bound(slice.getOffset());
    if (other != lives.begin() && std::prev(other)->second.end > slice.getOffset())
      --other;
    while (other != lives.end() && other->first < slice.getEnd()) {
      const auto &[begin, life] = *other;
      const bool isWithin = slice.getOffset() <= begin && life.end <= slice.getEnd();
      const bool isAround = begin <= slice.getOffset() && slice.getEnd() <= life.end;
      const bool isInPlace =
          mayReplace && life.lastUse == time && life.maker != op && (isWithin || isAround);
      if (life.lastUse >= time && !isInPlace)
        return report(op, slice, begin, life);
      other = lives.erase(other);
    }
    lives[slice.getOffset()] = {slice.getEnd(), lastUse, op};
    return success();
  }

  LogicalResult report(Operation *op, AtAttr slice, int64_t begin, const Life &life) {
    InFlightDiagnostic diagnostic = op->emitOpError("writes ")
                                    << slice << " over bytes " << begin << " to " << life.end - 1
                                    << ", where " << describe(life) << " is live";
    if (life.lastUse < static_cast<int64_t>(operations.size()))
      diagnostic << " until operation " << life.lastUse << ", "
                 << describe(operations[life.lastUse]) << ", has run (step_c4)";
    else
      diagnostic << " until the step's end (step_c4)";
    return diagnostic;
  }

  std::string describe(const Life &life) const {
    if (auto variable = dyn_cast<VariableOp>(life.maker))
      return ("the variable '" + variable.getSymName() + "'").str();
    if (life.maker == parent)
      return isa<RepeatOp>(parent) ? "an operand of the repeat" : "an input";
    return "a result of " + describe(life.maker);
  }
  static std::string describe(Operation *op) {
    std::string nodes = nodeNames(op->getLoc());
    return nodes.empty() ? op->getName().getStringRef().str() : "node '" + nodes + "'";
  }

  Operation *parent;
  ArrayAttr outputs;
  Numbered operations;
  int64_t time = 0;
  std::map<int64_t, Life> lives; ///< keyed by the offset of the first byte
};

} // namespace

/// Returns whether all operations specify live ranges; fails if only some do.
static FailureOr<bool> haveLifetimes(Block &operations) {
  for (Operation &op : operations) {
    StepAccess access(&op);
    if (access.lastUses.empty() && !access.results.empty())
      return false;
    if (access.lastUses.size() != access.results.size())
      return op.emitOpError("has ") << access.lastUses.size() << " live ranges, expected "
                                    << access.results.size() << ", one per result (step_c4)";
  }
  return true;
}

LogicalResult mtc::verifyLifetimes(StepOp step) {
  FailureOr<bool> haveRanges = haveLifetimes(step.getBody().front());
  if (failed(haveRanges) || !*haveRanges)
    return failure(failed(haveRanges));
  LivingSlices slices(step, step.getOutputs());
  for (auto input : step.getInputs().getAsRange<AtAttr>())
    slices.addOuter(input.getOffset(), input.getEnd(), step);
  return slices.run();
}

LogicalResult mtc::verifyLifetimes(RepeatOp repeat) {
  FailureOr<bool> haveRanges = haveLifetimes(repeat.getBody().front());
  if (failed(haveRanges) || !*haveRanges)
    return failure(failed(haveRanges));
  LivingSlices slices(repeat, ArrayAttr::get(repeat.getContext(), {}));
  for (AtAttr slice :
       llvm::concat<AtAttr>(llvm::to_vector(repeat.getInputs().getAsRange<AtAttr>()),
                            llvm::to_vector(repeat.getOutputs().getAsRange<AtAttr>())))
    slices.addOuter(slice.getOffset(), slice.getEnd(), repeat);
  return slices.run();
}
