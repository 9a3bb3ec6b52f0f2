//===- LinearModels.h - Linear models of ai.onnx.ml as nodes of ai.onnx ----------------------===//

#ifndef MTC_FRONTEND_READER_LINEARMODELS_H
#define MTC_FRONTEND_READER_LINEARMODELS_H

#include "frontend/Problems.h"

namespace onnx {
class GraphProto;
} // namespace onnx

namespace mtc::onnx {

/// LinearRegressor and LinearClassifier hold their weights in attributes, where nothing can be
/// trained. Each such node of the main graph becomes nodes that compute the same from the
/// initializers NODE.coefficients [rows, features] and NODE.intercepts [rows], so that an exported
/// model holds what was trained:
///
///     scores = Gemm(x, coefficients, intercepts), then Softmax or Sigmoid by `post_transform`
///     label  = classlabels[ArgMax(scores)]
///
/// A classifier of two classes whose rows are the negatives of each other, as scikit-learn writes
/// them, has the one row of the second class, as `coef_` does, and the scores [1 - s(z), s(z)] or
/// [-z, z]. Attributes that do not fit each other are problems.
void expandLinearModels(::onnx::GraphProto &graph, Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_LINEARMODELS_H
