//===- GraphBuilder.cpp - Builder of ONNX graphs ----------------------------------------------===//

#include "frontend/onnx/writer/GraphBuilder.h"
#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/reader/MetadataKeys.h"
#include "frontend/onnx/writer/TensorProtos.h"

#include "mlir/IR/Builders.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"

#include <array>
#include <numeric>

using namespace mlir;

namespace mtc::onnx {

std::string GraphBuilder::makeUnique(StringRef name) {
  if (names.insert(name).second)
    return name.str();
  std::string unique;
  do
    unique = (name + "." + Twine(++counts[name])).str();
  while (!names.insert(unique).second);
  return unique;
}

void GraphBuilder::define(Value value, const GraphValue &known) { full[value] = known; }

void GraphBuilder::define(Value value, const GraphValue &known, const GraphValue &broadcastable) {
  full[value] = known;
  compact[value] = broadcastable;
}

/// Returns the shape to which NumPy broadcasts the shapes of values that are compatible.
static SmallVector<int64_t> commonShape(ArrayRef<GraphValue> values) {
  SmallVector<int64_t> shape;
  for (const GraphValue &value : values) {
    if (value.rank() > static_cast<int64_t>(shape.size()))
      shape.insert(shape.begin(), value.rank() - shape.size(), 1);
    auto last = shape.end() - value.rank();
    for (auto [axis, extent] : llvm::enumerate(value.shape()))
      if (extent != 1)
        last[axis] = extent;
  }
  return shape;
}

SmallVector<GraphValue> GraphBuilder::getOperands(ValueRange values) const {
  SmallVector<GraphValue> whole, small;
  for (Value value : values) {
    whole.push_back(get(value));
    auto found = compact.find(value);
    small.push_back(found == compact.end() ? whole.back() : found->second);
  }
  return ArrayRef(commonShape(small)) == whole.front().shape() ? small : whole;
}

/// Adds an attribute to a node.
static void addAttribute(::onnx::NodeProto &node, const GraphAttribute &attribute) {
  ::onnx::AttributeProto &proto = *node.add_attribute();
  proto.set_name(attribute.name.str());
  if (const auto *number = std::get_if<int64_t>(&attribute.value)) {
    proto.set_type(::onnx::AttributeProto::INT);
    proto.set_i(*number);
    return;
  }
  if (const auto *text = std::get_if<std::string>(&attribute.value)) {
    proto.set_type(::onnx::AttributeProto::STRING);
    proto.set_s(*text);
    return;
  }
  proto.set_type(::onnx::AttributeProto::INTS);
  for (int64_t number : std::get<SmallVector<int64_t>>(attribute.value))
    proto.add_ints(number);
}

SmallVector<GraphValue> GraphBuilder::buildOnce(::onnx::NodeProto node,
                                                ArrayRef<RankedTensorType> types, StringRef name) {
  SmallVector<GraphValue> &results = built[node.SerializeAsString()];
  if (!results.empty())
    return results;
  for (RankedTensorType type : types) {
    results.push_back({makeUnique(name), type});
    node.add_output(results.back().name);
  }
  node.set_name(results.front().name);
  *graph.add_node() = std::move(node);
  return results;
}

SmallVector<GraphValue> GraphBuilder::nodes(StringRef op, ArrayRef<GraphValue> operands,
                                            ArrayRef<RankedTensorType> types,
                                            std::initializer_list<GraphAttribute> attributes) {
  ::onnx::NodeProto node;
  node.set_op_type(op.str());
  for (const GraphValue &operand : operands)
    node.add_input(operand.name);
  for (const GraphAttribute &attribute : attributes)
    addAttribute(node, attribute);
  return buildOnce(std::move(node), types, nodeName.empty() ? op : StringRef(nodeName));
}

GraphValue GraphBuilder::node(StringRef op, ArrayRef<GraphValue> operands, RankedTensorType type,
                              std::initializer_list<GraphAttribute> attributes) {
  return nodes(op, operands, type, attributes).front();
}

GraphValue GraphBuilder::detached(const GraphValue &x) {
  ::onnx::NodeProto node;
  node.set_op_type("Identity");
  node.add_input(x.name);
  ::onnx::StringStringEntryProto &entry = *node.add_metadata_props();
  entry.set_key(detachedKey.str());
  entry.set_value("true");
  return buildOnce(std::move(node), x.type, nodeName.empty() ? "detached" : StringRef(nodeName))
      .front();
}

GraphValue GraphBuilder::constant(const Tensor &tensor) {
  ::onnx::NodeProto node;
  node.set_op_type("Constant");
  ::onnx::AttributeProto &value = *node.add_attribute();
  value.set_name("value");
  value.set_type(::onnx::AttributeProto::TENSOR);
  setHeader(*value.mutable_t(), tensor.type());
  value.mutable_t()->set_raw_data(allBytes(tensor));
  return buildOnce(std::move(node), tensor.type(), "constant").front();
}

GraphValue GraphBuilder::scalar(Type element, double value) {
  return constant(*Tensor::fromValues<double>(typeOf({}, element), value));
}

GraphValue GraphBuilder::integers(ArrayRef<int64_t> values) {
  return constant(Tensor::fromInts(context, values));
}

GraphValue GraphBuilder::cast(const GraphValue &x, Type element) {
  if (x.element() == element)
    return x;
  return node("Cast", x, typeOf(x.shape(), element), {{"to", *elementTypeToOnnx(element)}});
}

GraphValue GraphBuilder::reshape(const GraphValue &x, ArrayRef<int64_t> shape) {
  if (x.shape() == shape)
    return x;
  if (auto found = reshaped.find(x.name); found != reshaped.end())
    return reshape(GraphValue(found->second.value), shape);
  RankedTensorType type = typeOf(shape, x.element());
  // Without allowzero, 0 would copy the operand's extent.
  GraphValue result = llvm::is_contained(shape, 0)
                          ? node("Reshape", {x, integers(shape)}, type, {{"allowzero", 1}})
                          : node("Reshape", {x, integers(shape)}, type);
  reshaped[result.name] = {x, {}};
  return result;
}

GraphValue GraphBuilder::transpose(const GraphValue &x, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return x;
  if (auto found = transposed.find(x.name); found != transposed.end()) {
    const Source source = found->second;
    return transpose(source.value, llvm::map_to_vector(permutation, [&](int64_t axis) {
                       return source.permutation[axis];
                     }));
  }
  auto shape = llvm::map_to_vector(permutation, [&](int64_t axis) { return x.shape()[axis]; });
  GraphValue result =
      node("Transpose", x, typeOf(shape, x.element()), {{"perm", llvm::to_vector(permutation)}});
  transposed[result.name] = {x, llvm::to_vector(permutation)};
  return result;
}

std::pair<GraphValue, SmallVector<int64_t>>
GraphBuilder::withoutTranspose(const GraphValue &x) const {
  if (auto found = transposed.find(x.name); found != transposed.end())
    return {found->second.value, found->second.permutation};
  return {x, llvm::to_vector(llvm::seq<int64_t>(x.rank()))};
}

GraphValue GraphBuilder::expand(const GraphValue &x, ArrayRef<int64_t> shape) {
  if (x.shape() == shape)
    return x;
  return node("Expand", {x, integers(shape)}, typeOf(shape, x.element()));
}

GraphValue GraphBuilder::slice(const GraphValue &x, ArrayRef<int64_t> offsets,
                               ArrayRef<int64_t> strides, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> starts, ends, axes, steps;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (offsets[axis] == 0 && shape[axis] == x.shape()[axis] &&
        (strides[axis] == 1 || shape[axis] <= 1))
      continue;
    axes.push_back(axis);
    starts.push_back(offsets[axis]);
    steps.push_back(strides[axis]);
    ends.push_back(shape[axis] == 0 ? offsets[axis]
                                    : offsets[axis] + (shape[axis] - 1) * strides[axis] + 1);
  }
  if (axes.empty())
    return x;
  return node("Slice", {x, integers(starts), integers(ends), integers(axes), integers(steps)},
              typeOf(shape, x.element()));
}

GraphValue GraphBuilder::pad(const GraphValue &x, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                             const GraphValue &value) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  SmallVector<int64_t> amounts(low), shape;
  llvm::append_range(amounts, high);
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    shape.push_back(low[axis] + x.shape()[axis] + high[axis]);
  return node("Pad", {x, integers(amounts), value}, typeOf(shape, x.element()));
}

/// Returns the extents of [before, axis, after], the axes before and after merged.
static std::array<int64_t, 3> mergedAround(ArrayRef<int64_t> shape, int64_t axis) {
  auto product = [](ArrayRef<int64_t> extents) {
    return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
  };
  return {product(shape.take_front(axis)), shape[axis], product(shape.drop_front(axis + 1))};
}

/// ScatterElements needs an index for each update. Not every runtime supports it for more than
/// three or four axes, so the axes before and after are merged.
GraphValue GraphBuilder::scatterAdd(std::optional<GraphValue> onto, RankedTensorType type,
                                    const GraphValue &indices, const GraphValue &updates,
                                    int64_t axis) {
  const auto shape = mergedAround(type.getShape(), axis),
             ofUpdates = mergedAround(updates.shape(), axis);
  // One index for each row of updates, or one for all rows, before the axes are merged.
  SmallVector<int64_t> rows(updates.shape());
  std::fill(rows.begin() + axis + 1, rows.end(), 1);
  if (llvm::all_of(indices.shape().take_front(axis), [](int64_t extent) { return extent == 1; }))
    std::fill(rows.begin(), rows.begin() + axis, 1);
  GraphValue all = expand(reshape(expand(indices, rows), mergedAround(rows, axis)), ofUpdates);
  GraphValue target =
      onto ? reshape(*onto, shape) : expand(scalar(type.getElementType(), 0), shape);
  GraphValue sums =
      node("ScatterElements", {target, all, reshape(updates, ofUpdates)},
           typeOf(shape, type.getElementType()), {{"axis", 1}, {"reduction", std::string("add")}});
  return reshape(sums, type.getShape());
}

void GraphBuilder::setOutput(const GraphValue &value, StringRef output) {
  // A node keeps its own result, which may be another output too.
  ::onnx::NodeProto &node = *graph.add_node();
  node.set_op_type("Identity");
  node.set_name(output.str());
  node.add_input(value.name);
  node.add_output(output.str());
}

llvm::StringSet<> GraphBuilder::eraseDead() {
  llvm::StringSet<> needed;
  for (const ::onnx::ValueInfoProto &output : graph.output())
    needed.insert(output.name());
  auto &all = *graph.mutable_node();
  SmallVector<bool> isNeeded(all.size());
  for (int i = all.size() - 1; i >= 0; --i) {
    isNeeded[i] = llvm::any_of(all[i].output(),
                               [&](const std::string &result) { return needed.contains(result); });
    if (isNeeded[i])
      for (const std::string &operand : all[i].input())
        needed.insert(operand);
  }
  int kept = 0;
  for (int i = 0, count = all.size(); i < count; ++i)
    if (isNeeded[i])
      all.SwapElements(kept++, i);
  all.DeleteSubrange(kept, all.size() - kept);
  return needed;
}

} // namespace mtc::onnx
