//===- Converters.h - Which function converts which operator ----------------------------------===//

#ifndef MTC_FRONTEND_CONVERT_CONVERTERS_H
#define MTC_FRONTEND_CONVERT_CONVERTERS_H

#include "frontend/convert/Conversion.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <vector>

namespace mtc::onnx {

/// Converters keyed on operator and the version since which its definition is the one they
/// implement.
class Converters {
public:
  using Function = std::function<mlir::LogicalResult(Conversion &)>;
  struct Entry {
    int64_t sinceVersion;
    Function convert;
  };

  /// All families, registered once.
  static const Converters &get();

  /// `name` is `domain::operator` outside ai.onnx. One converter may take several definitions: it
  /// is registered for the first version, and for a later one only where another function takes
  /// over.
  void add(llvm::StringRef name, int64_t sinceVersion, Function convert);

  /// The entries of an operator; null for one that is not known.
  const llvm::SmallVector<Entry, 1> *find(llvm::StringRef domain, llvm::StringRef name) const;

  /// The names of all operators, as `add` takes them, in alphabetical order.
  std::vector<llvm::StringRef> names() const;

private:
  llvm::StringMap<llvm::SmallVector<Entry, 1>> entries;
};

/// Converts one node; failure, reported with operator, version, name and reason, if nothing takes
/// it.
mlir::LogicalResult convert(Conversion &node);

// The families, each in the file of its name.
void registerActivationConverters(Converters &converters);
void registerAttentionConverters(Converters &converters);
void registerBinaryConverters(Converters &converters);
void registerContractionConverters(Converters &converters);
void registerDropoutConverters(Converters &converters);
void registerEinsumConverters(Converters &converters);
void registerElementwiseConverters(Converters &converters);
void registerIndexingConverters(Converters &converters);
void registerLossConverters(Converters &converters);
void registerMovementConverters(Converters &converters);
void registerNormalizationConverters(Converters &converters);
void registerPaddingConverters(Converters &converters);
void registerReductionConverters(Converters &converters);
void registerScatterConverters(Converters &converters);
void registerSelectionConverters(Converters &converters);
void registerShapeConverters(Converters &converters);
void registerSoftmaxConverters(Converters &converters);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_CONVERT_CONVERTERS_H
