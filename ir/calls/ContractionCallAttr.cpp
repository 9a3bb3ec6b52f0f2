//===- ContractionCallAttr.cpp - Attribute of contraction calls -------------------------------===//

#include "ir/CheckedExtents.h"
#include "ir/Mtc.h"
#include "ir/calls/CallRecordText.h"

using namespace mlir;
using namespace mtc;

template <typename Record, typename Visitor>
static constexpr void visitFields(Record &c, Visitor &&visit) {
  visit("type", c.lhs_type, typeWords);
  visit("rhs_type", c.rhs_type, typeWords, c.lhs_type);
  visit("out_type", c.out_type, typeWords, c.lhs_type);
  visit("addend_types", c.addend_types, typeWords, c.lhs_type);
  visit("product_type", c.product_type, typeWords, c.lhs_type);
  visit("has_scales", c.has_scales);
  visit("batch_rank", c.batch_rank);
  visit("batch", c.batch);
  visit("m", c.m);
  visit("n", c.n);
  visit("k", c.k);
  visit("lhs_strides", c.lhs_strides);
  visit("rhs_strides", c.rhs_strides);
  visit("out_strides", c.out_strides);
  visit("accumulate", c.accumulate);
  visit("addend_count", c.addend_count);
  visit("addend_strides", c.addend_strides);
  visit("activation", c.activation, enumWords<Activation>);
  visit("has_auxiliary", c.has_auxiliary);
  visit("summed", c.summed, enumWords<Summed>);
  visit("lhs_storage", c.lhs_storage, enumWords<Storage>);
  visit("rhs_storage", c.rhs_storage, enumWords<Storage>);
  visit("algorithm", c.algorithm, enumWords<CallAlgorithm>);
}

static_assert(visitsAll<MtcContraction>([](auto &record, auto &visit) {
  visitFields(record, visit);
}));

static_assert(static_cast<int>(Activation::Relu) == MTC_RELU &&
              static_cast<int>(Activation::Gelu) == MTC_GELU &&
              static_cast<int>(Activation::GeluGradient) == MTC_GELU_GRADIENT);
static_assert(static_cast<int>(Storage::BF16) == MTC_STORED_BF16 &&
              static_cast<int>(Storage::NF4) == MTC_STORED_NF4);
static_assert(static_cast<int>(CallAlgorithm::PackedRhs) == MTC_PACKED_RHS &&
              static_cast<int>(CallAlgorithm::PackedOperands) == MTC_PACKED_OPERANDS &&
              static_cast<int>(CallAlgorithm::OwnPanels) == MTC_OWN_PANELS &&
              static_cast<int>(CallAlgorithm::Winograd) == MTC_WINOGRAD);
static_assert(static_cast<int>(Summed::Result) == MTC_RESULT_SUMMED &&
              static_cast<int>(Summed::Lhs) == MTC_LHS_SUMMED &&
              static_cast<int>(Summed::Rhs) == MTC_RHS_SUMMED);

void mtc::printRecord(AsmPrinter &printer, const MtcContraction &record) {
  visitFields(record, FieldPrinter(printer));
}

ParseResult mtc::parseRecord(AsmParser &parser, MtcContraction &record) {
  return parseFields(parser, [&](FieldParserOf &field) {
    visitFields(record, field);
    if (field.is("type"))
      mtc_set_contraction_types(&record, record.lhs_type);
  });
}

/// Returns whether the operands with m rows, n columns and k terms are addressable.
static bool areAddressable(const MtcContraction &c) {
  auto isMatrix = [&](const int64_t *strides, int64_t rows, int64_t columns) {
    SmallVector<int64_t> extents(c.batch, c.batch + c.batch_rank);
    extents.append({rows, columns});
    return isAddressable(extents, ArrayRef(strides, extents.size()));
  };
  auto isAddend = [&](const auto &strides) { return isMatrix(strides, c.m, c.n); };
  return isMatrix(c.lhs_strides, c.m, c.k) && isMatrix(c.rhs_strides, c.k, c.n) &&
         isMatrix(c.out_strides, c.m, c.n) &&
         llvm::all_of(ArrayRef(c.addend_strides, c.addend_count), isAddend);
}

static bool hasAlgorithms(const MtcContraction &c) {
  return !c.batch_rank && !c.activation && !c.summed && !c.lhs_storage && !c.rhs_storage;
}

LogicalResult ContractionCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                          CallRecord<MtcContraction> c) {
  if (c->batch_rank > std::size(c->batch) || c->addend_count > MTC_MAX_ADDENDS)
    return emitError() << "has a batch of " << c->batch_rank << " axes and " << c->addend_count
                       << " addends, expected at most " << std::size(c->batch) << " and "
                       << MTC_MAX_ADDENDS << " (contraction_call_c1)";
  if ((c->batch_rank && c->summed) || (c->has_auxiliary && c->activation != MTC_GELU))
    return emitError() << "has a batch and sums, or an auxiliary result without gelu "
                          "(contraction_call_c2)";
  auto holdsSums = [&](uint32_t type) { return holdsSumsOf(c->lhs_type, type); };
  if (!(c->lhs_type == c->rhs_type || (isFloat8(c->lhs_type) && isFloat8(c->rhs_type))) ||
      !holdsSums(c->out_type) || !holdsSums(c->product_type) ||
      !llvm::all_of(c->addend_types, holdsSums))
    return emitError()
           << "multiplies " << typeName(c->lhs_type) << " by " << typeName(c->rhs_type) << " as "
           << typeName(c->product_type) << ", adds " << typeName(c->addend_types[0]) << " and "
           << typeName(c->addend_types[1]) << " and gives " << typeName(c->out_type)
           << ", expected one type, or wider types for the multiplication and sums of narrow "
              "floats (contraction_call_c3)";
  if (c->has_scales && !isFloat8(c->lhs_type))
    return emitError() << "scales " << typeName(c->lhs_type)
                       << ", expected floats of 8 bits (contraction_call_c7)";
  bool isStored = c->lhs_storage || c->rhs_storage;
  if (std::max(c->lhs_storage, c->rhs_storage) > MTC_STORED_NF4 || (isStored && c->batch_rank) ||
      (isStored && c->lhs_type == MTC_F64))
    return emitError() << "has a stored operand with a batch, with f64, or of an unknown kind "
                          "(contraction_call_c4)";
  if (c->algorithm && (c->algorithm > MTC_OWN_PANELS || !hasAlgorithms(*c)))
    return emitError()
           << "has an algorithm of convolutions, or one with a batch, an activation, sums "
              "or a stored operand (contraction_call_c5)";
  if (!areAddressable(*c))
    return emitError() << "has extents or strides that are negative or that 64 bits cannot address "
                          "(contraction_call_c6)";
  return success();
}

CallAttrInterface ContractionCallAttr::withAlgorithm(std::optional<CallAlgorithm> algorithm) const {
  if (algorithm && (*algorithm == CallAlgorithm::Winograd || !hasAlgorithms(*getRecord())))
    return {};
  MtcContraction c = *getRecord();
  c.algorithm = algorithm ? static_cast<uint32_t>(*algorithm) : uint32_t(MTC_AS_STORED);
  return ContractionCallAttr::get(getContext(), c);
}

namespace {

/// Numbers of elements of a contraction's operands and results.
struct Extents {
  explicit Extents(const MtcContraction &c) {
    for (uint32_t i = 0; i < c.batch_rank; ++i)
      batch *= c.batch[i];
    lhs = withoutRepeats(c, c.lhs_strides, c.m, c.k);
    rhs = withoutRepeats(c, c.rhs_strides, c.k, c.n);
    out = batch * c.m * c.n;
    sums = c.summed == MTC_LHS_SUMMED ? c.m : c.n;
  }
  /// Returns the number of elements of an operand; an axis with stride 0 has one element.
  static int64_t withoutRepeats(const MtcContraction &c, const int64_t *strides, int64_t rows,
                                int64_t columns) {
    int64_t elements = rows * columns;
    for (uint32_t i = 0; i < c.batch_rank; ++i)
      elements *= strides[i] ? c.batch[i] : 1;
    return elements;
  }
  static int64_t addend(const MtcContraction &c, const int64_t *strides) {
    return withoutRepeats(c, strides, strides[c.batch_rank] ? c.m : 1,
                          strides[c.batch_rank + 1] ? c.n : 1);
  }
  int64_t batch = 1, lhs, rhs, out, sums;
};

/// Returns the number of elements from an operand's first element to its last.
int64_t spanOf(const MtcContraction &c, const int64_t *strides, int64_t rows, int64_t columns) {
  SmallVector<int64_t> extents(c.batch, c.batch + c.batch_rank);
  extents.append({rows, columns});
  return CallShapes::spanOf(extents, ArrayRef(strides, extents.size()));
}

} // namespace

static int64_t operandBytes(uint32_t type, uint32_t storage, int64_t elements) {
  if (storage == MTC_STORED_NF4)
    return mtc_nf4_bytes(elements);
  return elements * mtc_type_bytes(storage == MTC_STORED_BF16 ? uint32_t(MTC_BF16) : type);
}

static CallShapes::Shape operandShape(uint32_t type, uint32_t storage, int64_t elements,
                                      int64_t span) {
  if (storage == MTC_STORED_NF4)
    return {MTC_U8, mtc_nf4_bytes(elements)};
  return {storage == MTC_STORED_BF16 ? uint32_t(MTC_BF16) : type, std::nullopt, span};
}

/// Counts operands and results once, and an accumulated result twice.
Cost ContractionCallAttr::getCost() const {
  const MtcContraction &c = *getRecord();
  Extents extents(c);
  int64_t results = extents.out * (c.accumulate ? 2 : 1);
  results += extents.out * ((c.activation == MTC_GELU_GRADIENT) + (c.has_auxiliary != 0));
  results += c.summed ? extents.sums : 0;
  int64_t bytes = operandBytes(c.lhs_type, c.lhs_storage, extents.lhs) +
                  operandBytes(c.rhs_type, c.rhs_storage, extents.rhs) +
                  results * mtc_type_bytes(c.out_type);
  for (uint32_t i = 0; i < c.addend_count; ++i)
    bytes += Extents::addend(c, c.addend_strides[i]) * mtc_type_bytes(c.addend_types[i]);
  return {saturatingProduct({2, extents.out, c.k}), bytes};
}

MatrixProduct ContractionCallAttr::getProduct() const {
  const MtcContraction &c = *getRecord();
  return {.m = c.m,
          .n = c.n,
          .k = c.k,
          .type = c.lhs_type,
          .productType = c.product_type,
          .storage = std::max(c.lhs_storage, c.rhs_storage)};
}

CallShapes ContractionCallAttr::getShapes() const {
  const MtcContraction &c = *getRecord();
  Extents extents(c);
  CallShapes shapes;
  shapes.operands.push_back(
      operandShape(c.lhs_type, c.lhs_storage, extents.lhs, spanOf(c, c.lhs_strides, c.m, c.k)));
  shapes.operands.push_back(
      operandShape(c.rhs_type, c.rhs_storage, extents.rhs, spanOf(c, c.rhs_strides, c.k, c.n)));
  if (c.has_scales)
    shapes.operands.append(2, {MTC_F32, 1});
  for (uint32_t i = 0; i < c.addend_count; ++i)
    shapes.operands.push_back(
        {c.addend_types[i], std::nullopt, spanOf(c, c.addend_strides[i], c.m, c.n)});
  const CallShapes::Shape out = {c.out_type, extents.out, spanOf(c, c.out_strides, c.m, c.n)};
  uint32_t type = out.type;
  if (c.activation == MTC_GELU_GRADIENT)
    shapes.operands.push_back(out);
  shapes.results.push_back(out);
  if (c.has_auxiliary)
    shapes.results.push_back(out);
  if (c.summed)
    shapes.results.push_back({type, extents.sums});
  return shapes;
}
