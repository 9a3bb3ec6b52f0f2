//===- InitializerUses.cpp - Uses of initializers ---------------------------------------------===//

#include "frontend/onnx/parameters/InitializerUses.h"

#include "ir/TypeCode.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

bool isTrainable(mlir::Type elementType) {
  return elementType.isF64() || elementType.isF32() || isNarrowFloat(elementType);
}

SmallVector<InitializerOp> trainableInitializers(GraphOp graph) {
  return llvm::to_vector(
      llvm::make_filter_range(graph.getOps<InitializerOp>(), [](InitializerOp initializer) {
        return isTrainable(getElementTypeOrSelf(initializer.getType()));
      }));
}

namespace {

/// An initializer that a value is equal to, and the operand at which the initializer enters an
/// inlined function, if any.
struct Alias {
  StringRef initializer;
  OpOperand *entrance = nullptr;
};

/// Returns whether a node is an Identity, or a gate of the operand.
bool forwards(NodeOp node, OpOperand &operand) {
  if (node.isOperator("Identity"))
    return node.getInputs().size() == 1 && node.getNumResults() == 1;
  return isGate(node) && operand.getOperandNumber() == 1;
}

} // namespace

StringMap<std::vector<InitializerUse>> initializerUses(GraphOp graph) {
  StringMap<std::vector<InitializerUse>> uses;
  llvm::DenseMap<Value, Alias> aliases;
  for (auto initializer : graph.getOps<InitializerOp>())
    aliases[initializer] = {initializer.getName()};
  // The walk includes subgraphs that could not be expanded.
  graph.walk<WalkOrder::PreOrder>([&](NodeOp node) {
    for (OpOperand &operand : node->getOpOperands()) {
      auto found = aliases.find(operand.get());
      if (found == aliases.end())
        continue;
      Alias alias = found->second;
      if (!alias.entrance && node->hasAttr(operandAttribute))
        alias.entrance = &operand;
      if (forwards(node, operand))
        aliases[node.getResult(0)] = alias;
      else
        uses[alias.initializer].push_back(
            {node, operand.getOperandNumber(), alias.entrance ? alias.entrance : &operand});
    }
  });
  return uses;
}

bool hasRole(NodeOp node, unsigned operand, OperandRole role) {
  const Operator *definition =
      Operators::get().find(node.getDomain().value_or(""), node.getOpType(), node.getVersion());
  return definition && llvm::any_of(definition->roles, [&](auto entry) {
           return entry.second == role &&
                  (entry.first == everyOperand || entry.first == int64_t(operand));
         });
}

bool hasRole(const InitializerUse &use, OperandRole role) {
  return hasRole(use.node, use.operand, role);
}

bool haveRole(ArrayRef<InitializerUse> uses, OperandRole role) {
  return !uses.empty() &&
         llvm::all_of(uses, [&](const InitializerUse &use) { return hasRole(use, role); });
}

/// Adds the values on which the graph's outputs, and the operations reached already, depend.
static void reach(Block &graph, llvm::DenseSet<Value> &reached) {
  for (Operation &op : llvm::reverse(graph)) {
    if (!isa<ReturnOp>(op) &&
        llvm::none_of(op.getResults(), [&](Value result) { return reached.contains(result); }))
      continue;
    reached.insert(op.operand_begin(), op.operand_end());
    for (Region &subgraph : op.getRegions())
      reach(subgraph.front(), reached);
  }
}

llvm::DenseSet<Value> reachedValues(GraphOp graph) {
  llvm::DenseSet<Value> reached;
  reach(graph.getBody().front(), reached);
  return reached;
}

bool isRecurrent(NodeOp node) {
  return node.isOperator("RNN") || node.isOperator("GRU") || node.isOperator("LSTM");
}

std::string modulePath(NodeOp node) {
  auto path = node->getAttrOfType<StringAttr>(moduleAttribute);
  return path ? path.str() : "";
}

bool isProducedBy(GraphOp graph, StringRef producer) {
  auto name = graph->getAttrOfType<StringAttr>(producerAttribute);
  return name && name.getValue() == producer;
}

bool hasSignature(GraphOp graph) { return graph->hasAttr(signatureAttribute); }

std::vector<std::string> signatureParameters(GraphOp graph) {
  std::vector<std::string> names;
  if (auto list = graph->getAttrOfType<ArrayAttr>(signatureAttribute))
    for (auto name : list.getAsRange<StringAttr>())
      names.push_back(name.str());
  return names;
}

bool isBiasOperand(const InitializerUse &use) {
  NodeOp node = use.node;
  if (!node.getDomain().value_or("").empty())
    return false;
  StringRef op = node.getOpType();
  return op == "Add" || ((op == "Gemm" || op == "Conv" || op == "ConvTranspose" ||
                          op.ends_with("Normalization")) &&
                         use.operand == 2);
}

std::string parameterOfUse(const InitializerUse &use, const llvm::StringSet<> &candidates) {
  std::string module = modulePath(use.node);
  StringRef wanted = isBiasOperand(use) ? "bias" : "weight";
  if (isRecurrent(use.node))
    wanted = use.operand == 1 ? "weight_ih" : use.operand == 2 ? "weight_hh" : "bias";
  std::string prefix = module.empty() ? "" : module + ".";
  if (candidates.contains(prefix + wanted.str()))
    return prefix + wanted.str();
  // Names such as in_proj_weight match only if there is a single candidate.
  std::string best;
  size_t fitting = 0;
  for (const auto &entry : candidates) {
    StringRef rest = entry.getKey();
    if (!rest.consume_front(prefix) || rest.contains('.'))
      continue;
    if (rest.contains(wanted)) {
      best = entry.getKey().str();
      ++fitting;
    }
  }
  return fitting == 1 ? best : std::string();
}

} // namespace mtc::onnx
