//===- FoldCache.cpp - Values of folded nodes, by operator and operands -----------------------===//

#include "frontend/onnx/inference/FoldCache.h"

using namespace mlir;

namespace mtc::onnx {

/// Tensors of at most this size are compared by content.
static constexpr int64_t smallBytes = 1024;
static constexpr int64_t maxCachedBytes = 2 * maxFoldedBytes;

static bool isSmall(RankedTensorType type) {
  return type.getNumElements() <= smallBytes / Tensor::elementSize(type.getElementType());
}

/// Returns a text that is equal for nodes with equal values.
static std::string keyOf(const Inference &node, ArrayRef<Tensor> operands) {
  std::string key;
  auto add = [&](const auto &value) {
    key.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  NodeOp op = node.op();
  add(op.getOpTypeAttr().getAsOpaquePointer());
  add(op.getDomainAttr().getAsOpaquePointer());
  add(node.version());
  add(op.getNodeAttributes().getAsOpaquePointer());
  for (size_t i = 0; i < node.resultCount(); ++i)
    add(node.wants(i) ? node.resultType(i).getAsOpaquePointer() : nullptr);
  for (size_t i = 0, next = 0; i < node.operandCount(); ++i) {
    add(node.has(i));
    if (!node.has(i))
      continue;
    const Tensor &operand = operands[next++];
    add(operand.type().getAsOpaquePointer());
    add(operand.storedType().getAsOpaquePointer());
    add(operand.isSplat());
    const ArrayRef<char> bytes = operand.bytes();
    if (static_cast<int64_t>(bytes.size()) <= smallBytes)
      key.append(bytes.data(), bytes.size());
    else
      add(bytes.data());
  }
  return key;
}

void FoldCache::fold(Inference &node, llvm::function_ref<void(Inference &)> evaluate) {
  bool isLarge = false;
  for (size_t i = 0; i < node.resultCount(); ++i)
    isLarge |= node.wants(i) && !isSmall(node.resultType(i));
  if (!isLarge || node.op()->getNumRegions() || node.failed())
    return evaluate(node);
  Entry entry;
  for (size_t i = 0; i < node.operandCount(); ++i)
    if (node.has(i))
      entry.operands.push_back(node.storedTensor(i));
  std::string key = keyOf(node, entry.operands);
  if (const auto known = entries.find(key); known != entries.end()) {
    for (auto [i, value] : llvm::enumerate(known->second.results))
      node.fold(i, value);
    return;
  }
  evaluate(node);
  for (size_t i = 0; i < node.resultCount(); ++i)
    entry.results.push_back(node.folded(i));
  int64_t added = 0;
  for (const Tensor &operand : entry.operands)
    added += static_cast<int64_t>(operand.bytes().size());
  for (const std::optional<Tensor> &result : entry.results)
    added += result ? static_cast<int64_t>(result->bytes().size()) : 0;
  if (node.failed() || bytes + added > maxCachedBytes)
    return;
  bytes += added;
  entries.try_emplace(key, std::move(entry));
}

} // namespace mtc::onnx
