// Patterns of operations that cuDNN fuses.
#include "runtime/calls/attention/cuda/dnn_attention_graph.h"

#include <algorithm>
#include <utility>

namespace mtc::runtime::cuda {

using dnn::Descriptor;
using dnn::Extents;

namespace {

/// Returns valid memory strides: the program's strides of axes with extent 1 may be arbitrary.
Extents nonzero(const Extents &extents, const int64_t *strides) {
  int64_t span = 0;
  for (size_t i = 0; i < extents.size(); ++i)
    if (extents[i] > 1)
      span = std::max(span, extents[i] * strides[i]);
  Extents result(extents.size());
  for (size_t i = 0; i < extents.size(); ++i)
    result[i] = extents[i] > 1 ? strides[i] : span;
  return result;
}

/// Tensors and operations that both calls share.
class Composition {
public:
  Composition(dnn::OperationGraph &graph, const MtcAttention &a)
      : graph(graph), a(a), narrow(dnn::elementOf(a.type)),
        pairs{a.batch, a.heads, a.queries, a.keys}, rows{a.batch, a.heads, a.queries, 1},
        scale(graph.scalar(scaleTensor, dnn::f32)), query(ofQueries(queryTensor, a.width, a.query)),
        keyTransposed(transposed(keyTensor, a.width, a.key)) {}

  void forward();
  void backward();

private:
  const Descriptor &ofQueries(int64_t id, int64_t width, const int64_t *strides) {
    const Extents extents = {a.batch, a.heads, a.queries, width};
    return graph.external(id, narrow, extents, nonzero(extents, strides));
  }
  const Descriptor &ofKeys(int64_t id, int64_t width, const int64_t *strides) {
    const Extents extents = {a.batch, a.key_heads, a.keys, width};
    return graph.external(id, narrow, extents, nonzero(extents, strides));
  }
  /// Adds keys or values with their last two axes transposed.
  const Descriptor &transposed(int64_t id, int64_t width, const int64_t *strides) {
    Extents extents = {a.batch, a.key_heads, a.keys, width};
    Extents exchanged = nonzero(extents, strides);
    std::swap(extents[2], extents[3]);
    std::swap(exchanged[2], exchanged[3]);
    return graph.external(id, narrow, extents, exchanged);
  }
  const Descriptor &ofRows(int64_t id) {
    return graph.external(id, dnn::f32, rows, dnn::denseStrides(rows));
  }
  const Descriptor &innerPairs(dnn::Element element = dnn::f32) {
    return graph.inner(element, pairs);
  }
  const Descriptor &innerRows() { return graph.inner(dnn::f32, rows); }

  const Descriptor &scores();
  const Descriptor &masked(const Descriptor &scores);
  const Descriptor &masked(Descriptor &&) = delete; // the result may refer to the argument
  const Descriptor &narrowTransposed(const Descriptor &values);
  void addUpKeys(const Descriptor &weights, const Descriptor &lines, int64_t id, int64_t width,
                 const int64_t *strides);

  dnn::OperationGraph &graph;
  const MtcAttention &a;
  dnn::Element narrow;
  Extents pairs, rows;
  const Descriptor &scale, &query, &keyTransposed;
};

/// Adds scale * (query . key).
const Descriptor &Composition::scores() {
  const Descriptor &products = innerPairs(), &scaled = innerPairs();
  graph.matmul(query, keyTransposed, products);
  graph.binary(dnn::multiply, products, scale, scaled);
  return scaled;
}

/// Adds the causal mask: -inf where key j > query i + offset.
const Descriptor &Composition::masked(const Descriptor &scores) {
  if (!isMasked(a))
    return scores;
  const Descriptor &row = innerPairs(dnn::i32), &column = innerPairs(dnn::i32);
  graph.positions(2, scores, row);
  graph.positions(3, scores, column);
  const Descriptor *last = &row;
  if (a.causal_offset != 0) {
    last = &innerPairs(dnn::i32);
    graph.binary(dnn::add, row, graph.scalar(diagonalTensor, dnn::i32), *last, dnn::i32);
  }
  const Descriptor &takesPart = innerPairs(dnn::boolean), &result = innerPairs();
  graph.binary(dnn::isAtLeast, *last, column, takesPart, dnn::boolean);
  graph.selectBy(takesPart, scores, graph.scalar(noScoreTensor, dnn::f32), result);
  return result;
}

void Composition::forward() {
  const Descriptor &score = masked(scores());
  const Descriptor &maximum = innerRows(), &sum = innerRows(), &logarithm = innerRows();
  const Descriptor &shifted = innerPairs(), &exponential = innerPairs(),
                   &weights = innerPairs(narrow);
  graph.reduce(dnn::maximumReduction, score, maximum);
  graph.binary(dnn::subtract, score, maximum, shifted);
  graph.unary(dnn::exponential, shifted, exponential);
  graph.reduce(dnn::sumReduction, exponential, sum);
  graph.unary(dnn::logarithm, sum, logarithm);
  graph.binary(dnn::add, maximum, logarithm, ofRows(logsumexpTensor));
  graph.binary(dnn::divide, exponential, sum, weights);
  graph.matmul(weights, ofKeys(valueTensor, a.value_width, a.value),
               ofQueries(outTensor, a.value_width, a.out));
}

/// Adds the transpose of [.., queries, keys], rounded to 16 bits, as [.., keys, queries].
const Descriptor &Composition::narrowTransposed(const Descriptor &values) {
  Extents extents = pairs, strides = dnn::denseStrides(pairs);
  std::swap(extents[2], extents[3]);
  std::swap(strides[2], strides[3]);
  const Descriptor &result = graph.inner(narrow, extents, strides);
  graph.transpose(values, result);
  return result;
}

/// Adds a gradient of keys or values: weights^T . lines, where lines are rows of queries, summed
/// over the heads that share a key/value head.
void Composition::addUpKeys(const Descriptor &weights, const Descriptor &lines, int64_t id,
                            int64_t width, const int64_t *strides) {
  const Descriptor &result = ofKeys(id, width, strides);
  if (a.heads == a.key_heads)
    return graph.matmul(weights, lines, result);
  const Descriptor &perHead = graph.inner(narrow, {a.batch, a.heads, a.keys, width});
  graph.matmul(weights, lines, perHead);
  graph.reduce(dnn::sumReduction, perHead, result);
}

void Composition::backward() {
  const Descriptor &dOut = ofQueries(dOutTensor, a.value_width, a.out);
  const Descriptor &product = graph.inner(dnn::f32, {a.batch, a.heads, a.queries, a.value_width});
  const Descriptor &total = innerRows(), &offsets = ofRows(offsetsTensor);
  graph.binary(dnn::multiply, dOut, ofQueries(outTensor, a.value_width, a.saved_out), product);
  graph.reduce(dnn::sumReduction, product, total);
  graph.binary(dnn::multiply, total, graph.scalar(oneTensor, dnn::f32), offsets);

  const Descriptor &shifted = innerPairs(), &weights = innerPairs();
  graph.binary(dnn::subtract, scores(), ofRows(logsumexpTensor), shifted);
  graph.unary(dnn::exponential, masked(shifted), weights);
  addUpKeys(narrowTransposed(weights), dOut, dValueTensor, a.value_width, a.d_value);

  const Descriptor &dp = innerPairs(), &difference = innerPairs(), &ds = innerPairs(),
                   &scaled = innerPairs();
  graph.matmul(dOut, transposed(valueTensor, a.value_width, a.value), dp);
  graph.binary(dnn::subtract, dp, offsets, difference);
  graph.binary(dnn::multiply, difference, weights, ds);
  graph.binary(dnn::multiply, ds, scale, scaled);
  addUpKeys(narrowTransposed(scaled), query, dKeyTensor, a.width, a.d_key);

  const Descriptor &key = graph.inner(dnn::f32, {a.batch, a.key_heads, a.keys, a.width});
  graph.transpose(keyTransposed, key);
  graph.matmul(scaled, key, ofQueries(dQueryTensor, a.width, a.d_query));
}

} // namespace

bool isMasked(const MtcAttention &a) { return a.is_causal && a.causal_offset < a.keys - 1; }

void addAttention(dnn::OperationGraph &graph, const MtcAttention &attention) {
  Composition(graph, attention).forward();
}

void addAttentionGradient(dnn::OperationGraph &graph, const MtcAttention &attention) {
  Composition(graph, attention).backward();
}

} // namespace mtc::runtime::cuda
