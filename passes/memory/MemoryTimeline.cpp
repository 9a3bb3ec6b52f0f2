//===- MemoryTimeline.cpp - Live ranges and offsets in the device arena -----------------------===//

#include "passes/memory/MemoryTimeline.h"

#include "ir/NodeNames.h"
#include "ir/ReservedNames.h"
#include "ir/steps/StepAccess.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/StringSaver.h"

using namespace mlir;
using namespace mtc;

using Category = MemoryTimeline::Category;
using Lifetime = MemoryTimeline::Lifetime;

StringRef MemoryTimeline::nameOf(Category category) {
  switch (category) {
  case Category::Parameter:
    return "parameters";
  case Category::Gradient:
    return "gradients";
  case Category::Optimizer:
    return "optimizer";
  case Category::Activation:
    return "activations";
  case Category::Workspace:
    return "workspace";
  case Category::Data:
    return "data";
  case Category::ActivationGradient:
    return "activation_gradients";
  }
  llvm_unreachable("all categories are handled");
}

static Category categoryOf(Role role) {
  switch (role) {
  case Role::Gradient:
    return Category::Gradient;
  case Role::Optimizer:
  case Role::Average:
    return Category::Optimizer;
  case Role::Slot:
    return Category::Activation;
  default:
    return Category::Parameter;
  }
}

static std::string describeVariable(VariableOp variable) {
  std::string owner = variable.getOf().value_or("the model").str();
  switch (variable.getRole()) {
  case Role::Parameter:
    return "parameter";
  case Role::Frozen:
    return "frozen parameter";
  case Role::Constant:
    return "constant";
  case Role::State:
    return "state of the model";
  case Role::Gradient:
    return "gradient of " + owner;
  case Role::Optimizer:
    return "optimizer state of " + owner;
  case Role::Average:
    return "average of " + owner + " over the steps";
  case Role::Scalar:
    return "scalar set before each step";
  case Role::Copy:
    return "copy of " + owner + " in another type";
  case Role::LowHalf:
    return "lower halves of " + owner;
  case Role::Slot:
    return "value of a micro-step in progress";
  }
  llvm_unreachable("all roles are handled");
}

namespace {

class TimelineBuilder {
public:
  TimelineBuilder(ModuleOp placed, MemoryTimeline &timeline)
      : placed(placed), timeline(timeline), texts(timeline.texts) {}

  void run() {
    ArenaOp arena = ArenaOp::find(placed);
    timeline.arenaBytes = arena ? static_cast<int64_t>(arena.getSize()) : 0;
    SmallVector<StepOp> steps;
    int64_t count = 0;
    for (auto step : placed.getOps<StepOp>())
      if (const StringRef name = withoutShape(step.getSymName());
          name != gradientsName && name != outputsName) { // These steps have a separate arena.
        steps.push_back(step);
        count += static_cast<int64_t>(step.getBody().front().getOperations().size());
      }
    last = std::max<int64_t>(count - 1, 0);
    timeline.operations.reserve(count);
    timeline.lifetimes.reserve(count);
    addVariables();
    addInputs(steps, arena ? static_cast<int64_t>(arena.getStaging()) : 0);
    for (StepOp step : steps)
      addStep(step);
    sum();
  }

private:
  /// The nodes from which operations at a location come. Most operations share their location.
  struct Nodes {
    StringRef names, forwardNames;
    bool isBackward, isUpdate;
  };
  Nodes nodesOf(Operation *op) {
    const Location location = op->getLoc();
    auto [known, isNew] = nodes.try_emplace(location);
    if (isNew)
      known->second = {texts.save(nodeNames(location)), texts.save(forwardNodeNames(location)),
                       isBackward(location), isUpdate(location)};
    return known->second;
  }

  /// Returns the text of a type. MLIR's printer takes longer than the rest of a live range.
  StringRef describe(RankedTensorType type) {
    StringRef &text = types[type];
    if (text.empty()) {
      std::string printed;
      llvm::raw_string_ostream stream(printed);
      stream << type.getElementType() << '[';
      llvm::interleaveComma(type.getShape(), stream);
      stream << ']';
      text = texts.save(printed);
    }
    return text;
  }

  void add(AtAttr slice, int64_t first, int64_t lastUse, Category category, StringRef name,
           StringRef user, const Twine &reason) {
    timeline.lifetimes.push_back({slice.getOffset(), paddedBytes(byteSize(slice.getType())), first,
                                  lastUse, category, describe(slice.getType()), texts.save(name),
                                  user, texts.save(reason)});
  }

  void addVariables() {
    for (auto variable : placed.getOps<VariableOp>())
      if (variable.getOffset() && !variable.getTransient() &&
          variable.getSpace() == MemorySpace::Device) {
        add(AtAttr::get(placed.getContext(), *variable.getOffset(), variable.getTensorType()), 0,
            last, categoryOf(variable.getRole()), variable.getSymName(), "",
            describeVariable(variable));
        timeline.lifetimes.back().bytes *= static_cast<int64_t>(variable.getCopies());
      }
  }

  /// Adds the inputs of the shape in which they are largest: those of all shapes have one place.
  void addInputs(ArrayRef<StepOp> steps, int64_t staging) {
    auto shapeOf = [](StepOp step) { return shapeOfName(step.getSymName()); };
    auto bytesOf = [](StepOp step) {
      int64_t bytes = 0;
      for (auto input : step.getInputs().getAsRange<AtAttr>())
        bytes += byteSize(input.getType());
      return bytes;
    };
    StepOp largest;
    for (StepOp step : steps)
      if (withoutShape(step.getSymName()) == microStepName &&
          (!largest || bytesOf(step) > bytesOf(largest)))
        largest = step;
    llvm::SmallDenseSet<Attribute> known;
    for (StepOp step : llvm::make_filter_range(
             steps, [&](StepOp step) { return !largest || shapeOf(step) == shapeOf(largest); }))
      for (auto [name, slice] : llvm::zip_equal(step.getInputNames().getAsValueRange<StringAttr>(),
                                                step.getInputs().getAsRange<AtAttr>())) {
        if (!known.insert(slice).second)
          continue;
        add(slice, 0, last, Category::Data, name, "", "input");
        if (staging)
          add(AtAttr::get(slice.getContext(), slice.getOffset() + staging, slice.getType()), 0,
              last, Category::Data, name, "", "input of the next batch");
      }
  }

  void addStep(StepOp step) {
    SmallVector<Operation *> operations;
    for (Operation &op : step.getBody().front())
      operations.push_back(&op);
    const auto begin = static_cast<int64_t>(timeline.operations.size());
    timeline.steps.push_back(
        {step.getSymName().str(), begin, static_cast<int64_t>(operations.size())});
    addPhases(step, operations, begin);
    llvm::DenseSet<std::pair<Attribute, Attribute>> computed; // Kernel or call, and its nodes.
    llvm::DenseMap<int64_t, size_t> newest;                   // Most recent value at each offset.
    for (auto [number, op] : llvm::enumerate(operations)) {
      const int64_t now = begin + static_cast<int64_t>(number);
      const bool isAgain = !computed.insert({whatRuns(op), LocationAttr(op->getLoc())}).second;
      const StringRef names = timeline.operations.emplace_back(nodesOf(op).names);
      StepAccess access(op);
      for (auto [result, lastUse] : llvm::zip(access.results, access.lastUses)) {
        if (lastUse < 0 || result.getSpace() != MemorySpace::Device)
          continue;
        // A value's live range ends where another value is computed in place of it.
        auto [before, isFirst] = newest.try_emplace(result.getOffset(), timeline.lifetimes.size());
        if (!isFirst) {
          Lifetime &operand =
              timeline.lifetimes[std::exchange(before->second, timeline.lifetimes.size())];
          operand.last = std::min(operand.last, std::max(operand.first, now - 1));
        }
        const bool isKept = static_cast<size_t>(lastUse) >= operations.size();
        Operation *user = isKept ? nullptr : operations[lastUse];
        add(result, now, begin + (isKept ? operations.size() - 1 : lastUse),
            categoryOfResult(op, user), names, user ? nodesOf(user).names : "",
            reasonOf(op, user, isAgain));
      }
      if (access.scratch)
        add(access.scratch, now, now, Category::Workspace, names, names, "workspace of " + names);
    }
  }

  Category categoryOfResult(Operation *maker, Operation *user) {
    if (!nodesOf(maker).isBackward)
      return Category::Activation;
    return user && nodesOf(user).isUpdate ? Category::Gradient : Category::ActivationGradient;
  }

  /// Returns the number of operations of the forward pass: those up to the last one that computes a
  /// node for the first time. Gradients and updates before it are constants.
  size_t countForward(ArrayRef<Operation *> operations) {
    llvm::StringSet<> seen;
    llvm::DenseSet<Location> locations;
    size_t end = 0;
    for (auto [number, op] : llvm::enumerate(operations)) {
      const Nodes own = nodesOf(op);
      if (own.isBackward || own.isUpdate || !locations.insert(op->getLoc()).second)
        continue;
      SmallVector<StringRef> parts;
      own.names.split(parts, " + ");
      for (StringRef node : parts)
        if (seen.insert(node).second)
          end = number + 1;
    }
    return end;
  }

  /// Divides a step into phases.
  void addPhases(StepOp step, ArrayRef<Operation *> operations, int64_t begin) {
    StringRef name = withoutShape(step.getSymName());
    const unsigned number = shapeOfName(step.getSymName());
    const std::string shape = number ? " of shape " + std::to_string(number + 1) : "";
    auto add = [&](const Twine &text, size_t first, size_t end) {
      if (first < end)
        timeline.phases.push_back({(text + shape).str(), begin + static_cast<int64_t>(first),
                                   static_cast<int64_t>(end - first)});
    };
    if (isMicroStep(name) && name.ends_with(backwardSuffix))
      return add("backward", 0, operations.size());
    if (name != microStepName)
      return add(name == evaluateName ? "evaluation" : name, 0, operations.size());
    const size_t end = countForward(operations);
    const bool updates = llvm::any_of(operations.drop_front(end),
                                      [&](Operation *op) { return nodesOf(op).isUpdate; });
    add("forward", 0, end);
    add(updates ? "backward and update" : "backward", end, operations.size());
  }

  static Attribute whatRuns(Operation *op) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      return launch.getKernelAttr();
    if (auto launch = dyn_cast<AsyncLaunchOp>(op))
      return launch.getKernelAttr();
    if (auto call = dyn_cast<CallOp>(op))
      return call.getCall();
    if (auto repeat = dyn_cast<RepeatOp>(op))
      return repeat.getIterationsAttr();
    return {};
  }

  /// Returns the source of a copy, and null for other operations.
  static AtAttr sourceOf(Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op))
      return copy.getSource();
    if (auto copy = dyn_cast<AsyncCopyOp>(op))
      return copy.getSource();
    return {};
  }

  static StringRef describe(MemorySpace space) {
    switch (space) {
    case MemorySpace::Device:
      return "the device";
    case MemorySpace::PinnedHost:
    case MemorySpace::Host:
      return "the host's memory";
    case MemorySpace::Disk:
      return "the disk";
    }
    llvm_unreachable("all spaces are handled");
  }

  std::string reasonOf(Operation *maker, Operation *user, bool isAgain) {
    if (AtAttr source = sourceOf(maker); source && source.getSpace() != MemorySpace::Device)
      return ("copied from " + describe(source.getSpace()) + " for " +
              (user ? nodesOf(user).forwardNames : "the step's end"))
          .str();
    if (!user)
      return "result of the step";
    if (user == maker)
      return "unused result";
    const Nodes ofUser = nodesOf(user);
    std::string name = ofUser.forwardNames.str();
    if (ofUser.isBackward)
      name = "the backward pass of " + name;
    if (nodesOf(maker).isBackward)
      return "gradient, last used by " + name;
    if (isAgain)
      return "recomputed for " + name;
    if (ofUser.isBackward)
      return "saved for " + name;
    return "activation, last used by " + name;
  }

  void sum() {
    timeline.live.assign(timeline.operations.size() + 1, 0);
    if (timeline.operations.empty())
      return;
    for (const Lifetime &value : timeline.lifetimes) {
      timeline.live[value.first] += value.bytes;
      timeline.live[value.last + 1] -= value.bytes;
    }
    timeline.live.pop_back();
    for (size_t i = 1; i < timeline.live.size(); ++i) {
      timeline.live[i] += timeline.live[i - 1];
      if (timeline.live[i] > timeline.live[timeline.peak])
        timeline.peak = static_cast<int64_t>(i);
    }
  }

  ModuleOp placed;
  MemoryTimeline &timeline;
  int64_t last = 0; ///< Index of the last operation.
  llvm::UniqueStringSaver texts;
  llvm::DenseMap<Type, StringRef> types;
  llvm::DenseMap<Location, Nodes> nodes;
};

} // namespace

MemoryTimeline::MemoryTimeline(ModuleOp placed) { TimelineBuilder(placed, *this).run(); }

std::vector<const Lifetime *> MemoryTimeline::getAliveAtPeak() const {
  std::vector<const Lifetime *> alive;
  for (const Lifetime &value : lifetimes)
    if (value.first <= peak && peak <= value.last)
      alive.push_back(&value);
  llvm::sort(alive, [](const Lifetime *a, const Lifetime *b) {
    return std::tuple(-a->bytes, a->first, a->offset) < std::tuple(-b->bytes, b->first, b->offset);
  });
  return alive;
}
