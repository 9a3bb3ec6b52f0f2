//===- TrainableConstants.h - Constants that the user may take for parameters -----------------===//
//
// Exporters compute with a module's parameters: `1 + w` of a norm, an embedding of fixed positions
// or exp(logit_scale) are constants in the file. They are followed through whatever is computed
// from constants alone, as constant folding does it, to the node that reads them beside the
// model's own values.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_TRAINABLECONSTANTS_H
#define MTC_FRONTEND_READER_TRAINABLECONSTANTS_H

#include "frontend/reader/Parameters.h"

#include "llvm/ADT/StringSet.h"

namespace mtc::onnx {

/// A floating-point constant of the main graph that is used like a parameter: as an operand of a
/// product, a sum, a normalization, a table that is looked up, or a part of a concatenation, and is
/// no plain literal.
///
/// Where the file lists the module's parameters (PyTorch's newer exporter), the constant's user
/// belongs to a module of which the file lacks a parameter. Otherwise its values differ, are finite
/// and no mask's; a single number must be an initializer of PyTorch's, and neither a short decimal
/// nor a root or inverse root of a whole number.
struct TrainableConstant {
  std::string name; // Of the initializer, or of the Constant node's result.
  std::vector<int64_t> shape;
  std::string moduleName; // The parameter, or the module, that it seems to be of; may be empty.
};

/// Those of a file, in the order of their first use. `classes` are by the rules.
std::vector<TrainableConstant>
findTrainableConstants(Model &model, const llvm::StringMap<InitializerClass> &classes);

/// Makes initializers of the Constant nodes with these results that hold floating-point numbers,
/// and returns the results' names.
std::vector<std::string> makeInitializers(Model &model, const llvm::StringSet<> &results);

/// The results of all Constant nodes of the main graph that hold floating-point numbers.
std::vector<std::string> floatConstantNodes(const Model &model);

/// The parameters that the file lists of the module, and neither an initializer nor a constant of
/// `classes` stands for.
std::vector<std::string> findMissingParameters(const Model &model,
                                               const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_TRAINABLECONSTANTS_H
