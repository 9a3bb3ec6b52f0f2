//===- LinearModels.h - Expansion of ai.onnx.ml linear models ---------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_LINEARMODELS_H
#define MTC_FRONTEND_ONNX_READER_LINEARMODELS_H

#include "support/compiler/Problems.h"

namespace onnx {
class GraphProto;
} // namespace onnx

namespace mtc::onnx {

/// Expands LinearRegressor and LinearClassifier nodes of the main graph. Their weights are
/// attributes, which cannot be trained. Each node is replaced by nodes that compute the same
/// results from the initializers NODE.coefficients [rows, features] and NODE.intercepts [rows], so
/// that exported models contain the trained weights:
///
///     scores = Gemm(x, coefficients, intercepts), then Softmax or Sigmoid by `post_transform`
///     label  = classlabels[ArgMax(scores)]
///
/// scikit-learn writes binary classifiers with two rows that are negatives of each other. These
/// keep only the row of the second class, as in `coef_`, and have the scores [1 - s(z), s(z)] or
/// [-z, z]. Inconsistent attributes are reported as problems.
void expandLinearModels(::onnx::GraphProto &graph, Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_LINEARMODELS_H
