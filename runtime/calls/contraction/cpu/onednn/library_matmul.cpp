// Translates the layouts of a contraction to oneDNN descriptors.
#include "runtime/calls/contraction/cpu/onednn/library_matmul.h"

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

} // namespace

std::unique_ptr<LibraryPrimitive> planMatmul(const ContractionProblem &problem, size_t inner,
                                             const MatmulTypes &types, bool accumulate,
                                             int threads) {
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
    return nullptr;
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
        return nullptr;
      name = addendName(accumulate, added.size());
      added.push_back(addends[i]);
    }
    operands.push_back({name, addends[i]});
  }
  dnnl_matmul_desc_t operation;
  LibraryAttributes attributes = userScratchAttributes();
  if (!libraryEngine() || !attributes || !setAddends(attributes.get(), accumulate, added) ||
      dnnl_matmul_desc_init(&operation, &lhs, &rhs, bias, &out) != dnnl_success)
    return nullptr;
  return LibraryPrimitive::plan(&operation, attributes.get(), nullptr, std::move(operands),
                                threads);
}

} // namespace mtc::runtime
