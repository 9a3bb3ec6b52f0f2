//===- InitializerUses.cpp - Who reads an initializer -----------------------------------------===//

#include "frontend/reader/InitializerUses.h"

#include "frontend/reader/Functions.h"
#include "frontend/reader/NodeNames.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

constexpr StringRef signatureKey = "pkg.torch.export.ExportedProgram.graph_signature";

StringRef signatureOf(const ::onnx::ModelProto &model) {
  for (const auto &entry : model.graph().metadata_props())
    if (entry.key() == signatureKey)
      return entry.value();
  return {};
}

/// An initializer as a value: where it came in, if that was the call of a function.
struct Alias {
  std::string initializer;
  int64_t callIndex = -1;
  unsigned callOperand = 0;
};

class UseCollector {
public:
  explicit UseCollector(const ::onnx::ModelProto &model) : functions(model, ignored) {}

  /// `aliases`: values that are an initializer, by name.
  template <typename Nodes>
  void visit(const Nodes &nodes, StringMap<Alias> &aliases, unsigned depth) {
    for (auto [index, node] : llvm::enumerate(nodes)) {
      if (++visited > maxVisited)
        return;
      if (const ::onnx::FunctionProto *function = functions.find(node)) {
        enter(node, index, *function, aliases, depth);
        continue;
      }
      for (auto [operand, input] : llvm::enumerate(node.input())) {
        auto found = aliases.find(input);
        if (found == aliases.end())
          continue;
        Alias alias = found->second;
        if (isOperator(node, "Identity") && node.output_size() == 1) {
          aliases[node.output(0)] = std::move(alias);
          continue;
        }
        alias = enteringAt(std::move(alias), index, operand);
        uses[alias.initializer].push_back({&node, static_cast<int64_t>(index),
                                           static_cast<unsigned>(operand), alias.callIndex,
                                           alias.callOperand});
      }
    }
  }

  StringMap<std::vector<InitializerUse>> uses;

private:
  static constexpr size_t maxVisited = 200000;

  /// The alias with the operand of the main graph that it comes in by.
  static Alias enteringAt(Alias alias, int64_t index, unsigned operand) {
    if (alias.callIndex < 0) {
      alias.callIndex = index;
      alias.callOperand = operand;
    }
    return alias;
  }

  void enter(const ::onnx::NodeProto &node, int64_t index, const ::onnx::FunctionProto &function,
             StringMap<Alias> &aliases, unsigned depth) {
    StringMap<Alias> inner;
    for (auto [operand, pair] : llvm::enumerate(llvm::zip(node.input(), function.input())))
      if (auto found = aliases.find(std::get<0>(pair)); found != aliases.end())
        inner[std::get<1>(pair)] = enteringAt(found->second, index, operand);
    if (!inner.empty() && depth < FunctionTable::maxDepth)
      visit(function.node(), inner, depth + 1);
  }

  Problems ignored; // the importer reports them
  FunctionTable functions;
  size_t visited = 0;
};

} // namespace

/// What a node reads, and the nodes of its subgraphs.
static void addInputs(const ::onnx::NodeProto &node, StringSet<> &values) {
  values.insert(node.input().begin(), node.input().end());
  for (const auto &attribute : node.attribute())
    for (const auto &inner : attribute.g().node())
      addInputs(inner, values);
}

StringSet<> reachedValues(const ::onnx::ModelProto &model) {
  StringSet<> reached;
  for (const auto &output : model.graph().output())
    reached.insert(output.name());
  // A graph's nodes stand in an order in which they can run.
  for (const auto &node : llvm::reverse(model.graph().node()))
    if (llvm::any_of(node.output(),
                     [&](const std::string &name) { return reached.contains(name); }))
      addInputs(node, reached);
  return reached;
}

StringMap<std::vector<InitializerUse>> initializerUses(const ::onnx::ModelProto &model) {
  StringMap<Alias> aliases;
  for (const auto &tensor : model.graph().initializer())
    aliases[tensor.name()] = {tensor.name()};
  UseCollector collector(model);
  collector.visit(model.graph().node(), aliases, 0);
  return std::move(collector.uses);
}

bool hasSignature(const ::onnx::ModelProto &model) { return !signatureOf(model).empty(); }

std::vector<std::string> signatureParameters(const ::onnx::ModelProto &model) {
  std::vector<std::string> result;
  for (StringRef line : llvm::split(signatureOf(model), '\n'))
    if (auto [before, target] = line.split(": PARAMETER target='"); !target.empty())
      result.push_back(target.split('\'').first.str());
  return result;
}

std::string parameterOfUse(const InitializerUse &use, const StringSet<> &candidates) {
  std::string module = modulePath(*use.node);
  StringRef op = use.node->op_type();
  bool isRecurrent = op == "LSTM" || op == "GRU" || op == "RNN";
  bool isBias =
      op == "Add" ||
      ((op == "Gemm" || op == "Conv" || op == "ConvTranspose" || op.ends_with("Normalization")) &&
       use.operand == 2);
  StringRef wanted = isBias ? "bias" : "weight";
  if (isRecurrent)
    wanted = use.operand == 1 ? "weight_ih" : use.operand == 2 ? "weight_hh" : "bias";
  std::string prefix = module.empty() ? "" : module + ".";
  if (candidates.contains(prefix + wanted.str()))
    return prefix + wanted.str();
  // Such as in_proj_weight; clear only if it is the only one.
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
