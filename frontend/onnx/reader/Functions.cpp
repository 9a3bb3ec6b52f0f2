//===- Functions.cpp - Model-local functions --------------------------------------------------===//

#include "frontend/onnx/reader/Functions.h"

#include "frontend/onnx/reader/GraphCheck.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

std::string keyOf(StringRef domain, StringRef name, StringRef overload) {
  return (normalizedDomain(domain) + Twine('\0') + name + Twine('\0') + overload).str();
}

/// Visits nodes, including those in subgraphs.
template <typename Nodes>
void forEachNode(const Nodes &nodes, function_ref<void(const ::onnx::NodeProto &)> visit) {
  for (const ::onnx::NodeProto &node : nodes) {
    visit(node);
    for (const ::onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        forEachNode(attribute.g().node(), visit);
      for (const ::onnx::GraphProto &graph : attribute.graphs())
        forEachNode(graph.node(), visit);
    }
  }
}

} // namespace

StringRef normalizedDomain(StringRef domain) { return domain == "ai.onnx" ? StringRef() : domain; }

bool isOperator(const ::onnx::NodeProto &node, StringRef name) {
  return node.op_type() == name && normalizedDomain(node.domain()).empty();
}

void forEachNode(const ::onnx::ModelProto &model,
                 function_ref<void(const ::onnx::NodeProto &)> visit) {
  forEachNode(model.graph().node(), visit);
  for (const ::onnx::FunctionProto &function : model.functions())
    forEachNode(function.node(), visit);
}

const ::onnx::TensorProto *constantTensor(const ::onnx::NodeProto &node) {
  if (!isOperator(node, "Constant") || node.attribute_size() != 1 || node.output_size() != 1 ||
      node.attribute(0).name() != "value" || !node.attribute(0).has_t())
    return nullptr;
  return &node.attribute(0).t();
}

FunctionTable::FunctionTable(const ::onnx::ModelProto &model, Problems &problems) {
  for (const ::onnx::FunctionProto &function : model.functions()) {
    std::string key = keyOf(function.domain(), function.name(), function.overload());
    if (!functions.try_emplace(key, &function).second)
      problems.add("function " + quoted(function.name()) + " of domain " +
                   quoted(function.domain()) + " is defined twice");
    checkFunction(function, problems);
  }
  for (const ::onnx::FunctionProto &function : model.functions())
    checkCalls(function, problems);
}

const ::onnx::FunctionProto *FunctionTable::find(const ::onnx::NodeProto &node) const {
  if (functions.empty())
    return nullptr;
  return functions.lookup(keyOf(node.domain(), node.op_type(), node.overload()));
}

void FunctionTable::checkCalls(const ::onnx::FunctionProto &function, Problems &problems) {
  auto [entry, isNew] = visits.try_emplace(&function, Visit::active);
  if (!isNew) {
    if (entry->second == Visit::done)
      return;
    std::string text = "function " + quoted(function.name()) + " calls itself";
    auto cycle = llvm::make_range(llvm::find(stack, &function), stack.end());
    for (const ::onnx::FunctionProto *other : llvm::drop_begin(cycle))
      text += ", through " + quoted(other->name());
    problems.add(text + "; ONNX functions may not be recursive");
    return;
  }
  if (stack.size() >= maxDepth) {
    problems.add("calls of functions nest more than " + Twine(maxDepth) + " deep, at " +
                 quoted(function.name()));
    visits[&function] = Visit::done;
    return;
  }
  stack.push_back(&function);
  forEachNode(function.node(), [&](const ::onnx::NodeProto &node) {
    if (const ::onnx::FunctionProto *callee = find(node))
      checkCalls(*callee, problems);
  });
  stack.pop_back();
  visits[&function] = Visit::done;
}

} // namespace mtc::onnx
