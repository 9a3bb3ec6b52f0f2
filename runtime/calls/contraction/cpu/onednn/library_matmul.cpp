// Translates the layouts of a contraction to oneDNN descriptors.
#include "runtime/calls/contraction/cpu/onednn/library_matmul.h"

#include "runtime/devices/cpu/threads/parallel.h"

#include <algorithm>
#include <functional>

namespace mtc::runtime {
namespace {

/// Returns the descriptor of the last `inner` batch axes and the matrix; `stride` returns the
/// stride of an axis. Broadcast axes have extent 1.
template <typename Stride>
dnnl_memory_desc_t describe(const ContractionProblem &p, size_t inner, const MatrixLayout &matrix,
                            const Stride &stride, dnnl_data_type_t type) {
  dnnl_dims_t extents, strides;
  const int rank = static_cast<int>(inner) + 2;
  int64_t elements = 1;
  auto setAxis = [&](int axis, int64_t extent, int64_t step) {
    extents[axis] = step == 0 ? 1 : extent;
    strides[axis] = step == 0 ? elements : step;
    elements *= extents[axis];
  };
  setAxis(rank - 1, matrix.columns, matrix.columnStride);
  setAxis(rank - 2, matrix.rows, matrix.rowStride);
  for (size_t i = inner; i-- > 0;) {
    const BatchAxis &axis = p.batch[p.batch.size() - inner + i];
    setAxis(static_cast<int>(i), axis.extent, stride(axis));
  }
  dnnl_memory_desc_t description;
  dnnl_memory_desc_init_by_strides(&description, rank, extents, type, strides);
  return description;
}

/// Returns whether an addend is one row that is broadcast over all rows and entries, which the
/// library calls a bias.
bool isBias(const ContractionProblem &p, size_t inner, size_t addend) {
  const MatrixLayout &layout = p.addends[addend];
  return layout.rowStride == 0 && layout.columnStride == 1 &&
         std::all_of(p.batch.end() - static_cast<std::ptrdiff_t>(inner), p.batch.end(),
                     [=](const BatchAxis &axis) { return axis.addends[addend] == 0; });
}

/// Returns whether an addend has the layout of the result. The library (2.6) also accepts other
/// layouts, but then reads wrong elements.
bool liesAsResult(const ContractionProblem &p, size_t inner, size_t addend) {
  const MatrixLayout &layout = p.addends[addend];
  return layout.rowStride == p.out.rowStride && layout.columnStride == p.out.columnStride &&
         std::all_of(p.batch.end() - static_cast<std::ptrdiff_t>(inner), p.batch.end(),
                     [=](const BatchAxis &axis) { return axis.addends[addend] == axis.out; });
}

/// Returns a descriptor of the same tensor whose layout the library chooses.
dnnl_memory_desc_t anyLayout(const dnnl_memory_desc_t &tensor) {
  dnnl_memory_desc_t any;
  dnnl_memory_desc_init_by_tag(&any, tensor.ndims, tensor.dims, tensor.data_type,
                               dnnl_format_tag_any);
  return any;
}

/// Replaces the layout of an operand by that of the descriptor, and plans the copy if it differs.
/// Returns false if the library cannot copy.
bool planCopy(const_dnnl_primitive_desc_t descriptor, dnnl_query_t query, int threads,
              LibraryPrimitive::Operand &operand, std::unique_ptr<LibraryPrimitive> &copy,
              int64_t &bytes) {
  const dnnl_memory_desc_t chosen = *dnnl_primitive_desc_query_md(descriptor, query, 0);
  if (dnnl_memory_desc_equal(&chosen, &operand.layout))
    return true;
  copy = LibraryPrimitive::planReorder(operand.layout, chosen, threads);
  bytes = static_cast<int64_t>(dnnl_memory_desc_get_size(&chosen));
  operand.layout = chosen;
  return copy != nullptr;
}

} // namespace

LibraryMatmul planMatmul(const ContractionProblem &problem, size_t inner, const MatmulTypes &types,
                         bool accumulate, ChosenLayouts chosen, int threads) {
  auto describeOperand = [&](const MatrixLayout &matrix, const auto &stride,
                             dnnl_data_type_t type) {
    return describe(problem, inner, matrix, stride, type);
  };
  dnnl_memory_desc_t lhs =
                         describeOperand(problem.lhs, std::mem_fn(&BatchAxis::lhs), types.operands),
                     rhs =
                         describeOperand(problem.rhs, std::mem_fn(&BatchAxis::rhs), types.operands),
                     out = describeOperand(problem.out, std::mem_fn(&BatchAxis::out), types.result);
  std::vector<LibraryPrimitive::Operand> operands = {
      {DNNL_ARG_SRC, lhs}, {DNNL_ARG_WEIGHTS, rhs}, {DNNL_ARG_DST, out}};
  if (!std::all_of(operands.begin(), operands.end(), [](const LibraryPrimitive::Operand &operand) {
        return hasLibraryExtents(operand.layout);
      }))
    return {};
  const dnnl_memory_desc_t *bias = nullptr;
  std::vector<dnnl_memory_desc_t> added, addends;
  for (size_t i = 0; i < problem.addends.size(); ++i)
    addends.push_back(describeOperand(
        problem.addends[i], [i](const BatchAxis &axis) { return axis.addends[i]; },
        types.addends[i]));
  for (size_t i = 0; i < addends.size(); ++i) {
    int name = DNNL_ARG_BIAS;
    if (!bias && isBias(problem, inner, i)) {
      bias = &addends[i];
    } else {
      if (!liesAsResult(problem, inner, i))
        return {};
      name = addendName(added.size());
      added.push_back(addends[i]);
    }
    operands.push_back({name, addends[i]});
  }
  if (chosen.lhs)
    lhs = anyLayout(lhs);
  if (chosen.rhs)
    rhs = anyLayout(rhs);
  dnnl_matmul_desc_t operation;
  LibraryAttributes attributes = userScratchAttributes();
  if (!libraryEngine() || !attributes || !setAddends(attributes.get(), accumulate, added) ||
      dnnl_matmul_desc_init(&operation, &lhs, &rhs, bias, &out) != dnnl_success)
    return {};
  LibraryThreads scope(threads);
  dnnl_primitive_desc_t raw = nullptr;
  if (dnnl_primitive_desc_create(&raw, &operation, attributes.get(), libraryEngine(), nullptr) !=
      dnnl_success)
    return {};
  LibraryDescriptor descriptor(raw);
  LibraryMatmul result;
  if (!planCopy(raw, dnnl_query_src_md, threads, operands[0], result.lhsCopy,
                result.lhsCopyBytes) ||
      !planCopy(raw, dnnl_query_weights_md, threads, operands[1], result.rhsCopy,
                result.rhsCopyBytes))
    return {};
  result.primitive = LibraryPrimitive::own(std::move(descriptor), std::move(operands), threads);
  return result;
}

} // namespace mtc::runtime
