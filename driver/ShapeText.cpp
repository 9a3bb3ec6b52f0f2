//===- ShapeText.cpp - Memory and time of each shape of a program -----------------------------===//

#include "driver/ShapeText.h"

#include "driver/PlanText.h"
#include "ir/ReservedNames.h"
#include "passes/cost/StepCost.h"
#include "passes/memory/MemoryTimeline.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mtc;

namespace {

struct ShapeFacts {
  ShapeAttr shape;
  int64_t live;   ///< bytes, at the peak of the shape's functions
  double seconds; ///< of a micro-step
};

SmallVector<ShapeFacts> collectFacts(ModuleOp placed) {
  SmallVector<ShapeFacts> facts;
  ArrayAttr shapes = ProgramOp::find(placed).getShapesAttr();
  if (!shapes)
    return facts;
  const MemoryTimeline timeline(placed);
  StepCost cost(placed);
  for (auto [number, attribute] : llvm::enumerate(shapes)) {
    const auto own = static_cast<unsigned>(number);
    int64_t live = 0;
    for (const MemoryTimeline::Step &step : timeline.steps)
      if (shapeOfName(step.name) == own && step.name != updateName)
        for (int64_t at = step.first; at < step.first + step.count; ++at)
          live = std::max(live, timeline.live[static_cast<size_t>(at)]);
    facts.push_back({cast<ShapeAttr>(attribute), live,
                     cost.ofFunction(nameForShape(microStepName, own)).seconds()});
  }
  return facts;
}

} // namespace

void mtc::tool::addShapes(ModuleOp placed, llvm::json::Object &object) {
  llvm::json::Array shapes;
  for (const ShapeFacts &each : collectFacts(placed)) {
    llvm::json::Object dims;
    for (NamedAttribute dim : each.shape.getDims())
      dims[dim.getName().str()] = cast<IntegerAttr>(dim.getValue()).getInt();
    shapes.push_back(llvm::json::Object{{"batch", each.shape.getBatch()},
                                        {"dims", std::move(dims)},
                                        {"live_bytes", each.live},
                                        {"micro_step_seconds", each.seconds}});
  }
  if (!shapes.empty())
    object["shapes"] = std::move(shapes);
}

void mtc::tool::printShapes(ModuleOp placed, llvm::raw_ostream &stream) {
  const SmallVector<ShapeFacts> facts = collectFacts(placed);
  if (facts.empty())
    return;
  stream << "Shapes        " << facts.size() << ", in one arena\n";
  SmallVector<std::string> names;
  for (const ShapeFacts &each : facts) {
    llvm::raw_string_ostream name(names.emplace_back());
    llvm::interleaveComma(each.shape.getDims(), name, [&](NamedAttribute dim) {
      name << dim.getName().getValue() << " = " << cast<IntegerAttr>(dim.getValue()).getInt();
    });
  }
  size_t width = 0;
  for (const std::string &name : names)
    width = std::max(width, name.size());
  for (const auto &[name, each] : llvm::zip_equal(names, facts))
    stream << "  " << name << std::string(width - name.size(), ' ') << "  "
           << formatBytes(each.live) << " live, a micro-step about " << formatSeconds(each.seconds)
           << '\n';
}
