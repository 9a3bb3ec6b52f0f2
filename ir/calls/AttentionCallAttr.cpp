//===- AttentionCallAttr.cpp - Attribute of attention calls -----------------------------------===//

#include "ir/CheckedExtents.h"
#include "ir/Mtc.h"
#include "ir/calls/CallRecordText.h"

using namespace mlir;
using namespace mtc;

template <typename Record, typename Visitor>
static constexpr void visitFields(Record &a, Visitor &&visit) {
  visit("type", a.type, typeWords);
  visit("has_bias", a.has_bias);
  visit("has_mask", a.has_mask);
  visit("is_causal", a.is_causal);
  visit("has_out", a.has_out);
  visit("unused", a.unused);
  visit("causal_offset", a.causal_offset);
  visit("batch", a.batch);
  visit("heads", a.heads);
  visit("key_heads", a.key_heads);
  visit("queries", a.queries);
  visit("keys", a.keys);
  visit("width", a.width);
  visit("value_width", a.value_width);
  visit("scale", a.scale);
  visit("query", a.query);
  visit("key", a.key);
  visit("value", a.value);
  visit("bias", a.bias);
  visit("mask", a.mask);
  visit("out", a.out);
  visit("saved_out", a.saved_out);
  visit("d_query", a.d_query);
  visit("d_key", a.d_key);
  visit("d_value", a.d_value);
}

static_assert(visitsAll<MtcAttention>([](auto &record, auto &visit) {
  visitFields(record, visit);
}));

void mtc::printRecord(AsmPrinter &printer, const MtcAttention &record) {
  visitFields(record, FieldPrinter(printer));
}

ParseResult mtc::parseRecord(AsmParser &parser, MtcAttention &record) {
  return parseFields(parser, [&](FieldParserOf &field) { visitFields(record, field); });
}

/// Returns whether all tensors of a call and its gradient are addressable.
static bool areAddressable(const MtcAttention &a) {
  const int64_t queries[] = {a.batch, a.heads, a.queries, a.width},
                outputs[] = {a.batch, a.heads, a.queries, a.value_width},
                keys[] = {a.batch, a.key_heads, a.keys, a.width},
                values[] = {a.batch, a.key_heads, a.keys, a.value_width},
                scores[] = {a.batch, a.heads, a.queries, a.keys};
  return isAddressable(queries, a.query) && isAddressable(queries, a.d_query) &&
         isAddressable(keys, a.key) && isAddressable(keys, a.d_key) &&
         isAddressable(values, a.value) && isAddressable(values, a.d_value) &&
         isAddressable(outputs, a.out) && isAddressable(outputs, a.saved_out) &&
         isAddressable(scores, a.bias) && isAddressable(scores, a.mask);
}

static LogicalResult verifyRecord(function_ref<InFlightDiagnostic()> emitError,
                                  const MtcAttention &a) {
  if (a.key_heads < 1 || a.heads % a.key_heads != 0)
    return emitError() << "has " << a.heads << " heads of queries and " << a.key_heads
                       << " of keys, expected a multiple (attention_call_c1)";
  if (!areAddressable(a))
    return emitError() << "has extents or strides that are negative or that 64 bits cannot address "
                          "(attention_call_c2)";
  return success();
}

LogicalResult AttentionCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                        CallRecord<MtcAttention> record) {
  return verifyRecord(emitError, *record);
}

LogicalResult AttentionGradientCallAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                                CallRecord<MtcAttention> record) {
  return verifyRecord(emitError, *record);
}

//===------------------------------------------------------------------------------------------===//
// Operands and results
//===------------------------------------------------------------------------------------------===//

namespace {

/// The shapes of the operands and results of both calls.
struct Tensors {
  using Shape = CallShapes::Shape;

  explicit Tensors(const MtcAttention &a)
      : query(tensor(a, {a.batch, a.heads, a.queries, a.width}, a.query)),
        key(tensor(a, {a.batch, a.key_heads, a.keys, a.width}, a.key)),
        value(tensor(a, {a.batch, a.key_heads, a.keys, a.value_width}, a.value)),
        out(tensor(a, outExtents(a), a.out)),
        rows{mtc_sum_type(a.type), a.batch * a.heads * a.queries} {}

  static SmallVector<int64_t> outExtents(const MtcAttention &a) {
    return {a.batch, a.heads, a.queries, a.value_width};
  }
  static Shape tensor(const MtcAttention &a, ArrayRef<int64_t> extents,
                      const int64_t (&strides)[4]) {
    int64_t elements = 1;
    for (int64_t extent : extents)
      elements *= extent;
    return {a.type, elements, CallShapes::spanOf(extents, strides)};
  }

  /// Returns the shapes of query, key, value, and of bias and mask if present.
  static SmallVector<Shape> common(const MtcAttention &a) {
    Tensors tensors(a);
    SmallVector<Shape> result = {tensors.query, tensors.key, tensors.value};
    if (a.has_bias)
      result.push_back({a.type, repeated(a, a.bias), spanOfScores(a, a.bias)});
    if (a.has_mask)
      result.push_back({MTC_BOOL, repeated(a, a.mask), spanOfScores(a, a.mask)});
    return result;
  }
  static int64_t spanOfScores(const MtcAttention &a, const int64_t (&strides)[4]) {
    return CallShapes::spanOf({a.batch, a.heads, a.queries, a.keys}, strides);
  }
  /// Returns the number of elements of a bias or a mask; an axis with stride 0 has one element.
  static int64_t repeated(const MtcAttention &a, const int64_t (&strides)[4]) {
    const int64_t extents[] = {a.batch, a.heads, a.queries, a.keys};
    int64_t elements = 1;
    for (auto [extent, stride] : llvm::zip_equal(extents, strides))
      elements *= stride ? extent : 1;
    return elements;
  }

  Shape query, key, value, out, rows;
};

} // namespace

/// Returns the sum over rows i of i + causal_offset + 1 keys, limited to 0 to `keys`. The numbers
/// of rows and keys may be large, so the rows between the limits are summed as an arithmetic
/// series.
static int64_t countCausalPairs(const MtcAttention &a) {
  using Wide = __int128;
  const Wide offset = a.causal_offset, rows = a.queries, keys = a.keys;
  const Wide first = std::clamp<Wide>(-offset, 0, rows),
             full = std::clamp<Wide>(keys - offset - 1, first, rows);
  const Wide between = (full - first) * (2 * offset + full + first + 1) / 2;
  return static_cast<int64_t>(between + (rows - full) * keys);
}

/// `width` and `valueWidth` are the numbers of dot products of length a.width and a.value_width for
/// each pair of a query and a key.
static Cost costOf(const MtcAttention &a, const CallShapes &shapes, int64_t width,
                   int64_t valueWidth) {
  Cost cost;
  for (const CallShapes::Shape &shape :
       llvm::concat<const CallShapes::Shape>(shapes.operands, shapes.results))
    cost.bytes += *shape.elements * mtc_type_bytes(shape.type);
  const int64_t pairs = a.is_causal ? countCausalPairs(a) : a.queries * a.keys;
  cost.flops =
      saturatingProduct({2, a.batch, a.heads, pairs, width * a.width + valueWidth * a.value_width});
  cost.functions = saturatingProduct({a.batch, a.heads, pairs}); // The exponentials.
  return cost;
}

CallShapes AttentionCallAttr::getShapes() const {
  const MtcAttention &a = *getRecord();
  Tensors tensors(a);
  return {Tensors::common(a), {tensors.out, tensors.rows}};
}

/// Returns the multiplication of queries and keys; scores and weighted sums are computed in tiles.
static MatrixProduct productOf(const MtcAttention &a) {
  return {.m = a.queries, .n = a.keys, .k = a.width, .type = a.type};
}

MatrixProduct AttentionCallAttr::getProduct() const { return productOf(*getRecord()); }

MatrixProduct AttentionGradientCallAttr::getProduct() const { return productOf(*getRecord()); }

Cost AttentionCallAttr::getCost() const { return costOf(*getRecord(), getShapes(), 1, 1); }

CallShapes AttentionGradientCallAttr::getShapes() const {
  const MtcAttention &a = *getRecord();
  Tensors tensors(a);
  CallShapes shapes = {
      Tensors::common(a),
      {Tensors::tensor(a, {a.batch, a.heads, a.queries, a.width}, a.d_query),
       Tensors::tensor(a, {a.batch, a.key_heads, a.keys, a.width}, a.d_key),
       Tensors::tensor(a, {a.batch, a.key_heads, a.keys, a.value_width}, a.d_value)}};
  shapes.operands.append({tensors.rows, tensors.rows, tensors.out});
  if (a.has_out)
    shapes.operands.push_back(Tensors::tensor(a, Tensors::outExtents(a), a.saved_out));
  return shapes;
}

Cost AttentionGradientCallAttr::getCost() const { return costOf(*getRecord(), getShapes(), 3, 2); }
