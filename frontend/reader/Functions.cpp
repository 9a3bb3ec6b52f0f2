//===- Functions.cpp - Model-local functions
//----------------------------------------------------===//

#include "frontend/reader/Functions.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mtc::onnx;
using llvm::StringRef;
using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::NodeProto;

namespace {

constexpr size_t mostNodes = 1'000'000;

std::string keyOf(StringRef domain, StringRef name, StringRef overload) {
  return (domain + "\n" + name + "\n" + overload).str();
}

class Inliner {
public:
  Inliner(const ::onnx::ModelProto &model, Problems &problems) : problems(problems) {
    for (const FunctionProto &function : model.functions())
      if (!functions
               .try_emplace(keyOf(function.domain(), function.name(), function.overload()),
                            &function)
               .second)
        problems.add("function '" + function.name() + "' is defined twice");
  }

  void add(const NodeProto &node, std::vector<NodeProto> &nodes) {
    auto it = functions.find(keyOf(node.domain(), node.op_type(), node.overload()));
    if (it == functions.end()) {
      if (nodes.size() < mostNodes)
        nodes.push_back(node);
      else if (nodes.size() == mostNodes)
        problems.add("the model's functions expand to more than a million nodes");
      return;
    }
    const FunctionProto *function = it->second;
    if (llvm::is_contained(active, function)) {
      problems.add("function '" + function->name() + "' calls itself (through node '" +
                   node.name() + "')");
      return;
    }
    active.push_back(function);
    inlineCall(node, *function, nodes);
    active.pop_back();
  }

private:
  void inlineCall(const NodeProto &call, const FunctionProto &function,
                  std::vector<NodeProto> &nodes) {
    std::string prefix = call.name().empty() ? function.name() : call.name();
    prefix += "#" + std::to_string(calls++) + "/";
    llvm::StringMap<std::string> names;
    for (int i = 0; i < function.input_size(); ++i)
      names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
    for (int i = 0; i < function.output_size(); ++i)
      if (i < call.output_size() && !call.output(i).empty())
        names[function.output(i)] = call.output(i);
    auto rename = [&](const std::string &name) {
      if (name.empty())
        return name;
      auto [it, isNew] = names.try_emplace(name, prefix + name);
      return it->second;
    };
    llvm::StringMap<const AttributeProto *> given;
    for (const AttributeProto &attribute : function.attribute_proto())
      given[attribute.name()] = &attribute;
    for (const AttributeProto &attribute : call.attribute())
      given[attribute.name()] = &attribute;

    for (const NodeProto &inner : function.node()) {
      NodeProto copy = inner;
      copy.set_name(prefix + (inner.name().empty() ? inner.op_type() : inner.name()));
      for (std::string &name : *copy.mutable_input())
        name = rename(name);
      for (std::string &name : *copy.mutable_output())
        name = rename(name);
      copy.clear_attribute();
      for (const AttributeProto &attribute : inner.attribute()) {
        if (attribute.ref_attr_name().empty()) {
          *copy.add_attribute() = attribute;
        } else if (const AttributeProto *value = given.lookup(attribute.ref_attr_name())) {
          AttributeProto *resolved = copy.add_attribute();
          *resolved = *value;
          resolved->set_name(attribute.name());
        } // Without a value the operator's default applies.
      }
      add(copy, nodes);
      if (nodes.size() > mostNodes)
        return;
    }
  }

  llvm::StringMap<const FunctionProto *> functions;
  std::vector<const FunctionProto *> active;
  Problems &problems;
  size_t calls = 0;
};

} // namespace

std::vector<NodeProto> mtc::onnx::inlineFunctions(const ::onnx::ModelProto &model,
                                                  Problems &problems) {
  Inliner inliner(model, problems);
  std::vector<NodeProto> nodes;
  for (const NodeProto &node : model.graph().node())
    inliner.add(node, nodes);
  return nodes;
}
