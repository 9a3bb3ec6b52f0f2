//===- Conversions.cpp - Conversion of core operations to ONNX nodes --------------------------===//

#include "frontend/onnx/writer/Conversions.h"

using namespace mlir;

namespace mtc {
namespace onnx {
#define MTC_FILE(NAME) void add##NAME##Conversions(Conversions &conversions);
#include "frontend/onnx/writer/Conversions.inc"
#undef MTC_FILE
} // namespace onnx

template <> Registry<onnx::Conversions> &Registry<onnx::Conversions>::get() {
  static Registry registry = {
#define MTC_FILE(NAME) onnx::add##NAME##Conversions,
#include "frontend/onnx/writer/Conversions.inc"
#undef MTC_FILE
  };
  return registry;
}
} // namespace mtc

namespace mtc::onnx {

const Conversions &Conversions::get() { return Registry<Conversions>::get().getTable(); }

void Conversions::addSame(StringRef operation, StringRef op) {
  table[operation] = [op](Operation *each, GraphBuilder &b) {
    auto type = cast<RankedTensorType>(each->getResult(0).getType());
    b.define(each->getResult(0), b.node(op, b.getOperands(each->getOperands()), type));
  };
}

const Conversions::Convert *Conversions::find(Operation *op) const {
  auto found = table.find(op->getName().getStringRef());
  return found == table.end() ? nullptr : &found->second;
}

std::vector<std::string> Conversions::getNames() const {
  std::vector<std::string> names;
  for (const auto &entry : table)
    names.push_back(entry.first().str());
  llvm::sort(names);
  return names;
}

} // namespace mtc::onnx
