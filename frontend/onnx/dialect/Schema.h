//===- Schema.h - Operands, results and attributes of ONNX operators --------------------------===//
//
// A schema is one version of an operator's definition: the number of operands and results, which of
// them are optional, their element types, and the attributes. Schemas.inc holds the schemas of
// ai.onnx; tools/scripts/onnx_schemas.py generates it from the `onnx` package. MicrosoftSchemas.inc
// holds those of onnxruntime's operators.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_DIALECT_SCHEMA_H
#define MTC_FRONTEND_ONNX_DIALECT_SCHEMA_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <vector>

namespace mtc::onnx {

class NodeView;

/// The operands or the results of an operator, parsed from a text such as `data:T axes?:i64
/// rest...:T`. `?` marks an optional operand, `...` (last) one or more operands, and `...?` any
/// number. The type parameter follows the colon.
class Signature {
public:
  struct Formal {
    llvm::StringRef name, typeParameter;
    bool isOptional, isVariadic;
  };

  explicit Signature(llvm::StringRef text);

  /// Returns the minimum number of operands that a node must have.
  size_t minimum() const { return required; }
  /// Returns the maximum number of operands, or nullopt if the last one is variadic.
  std::optional<size_t> maximum() const;
  /// Returns the formal operand for operand `i` of a node, or null if `i` is past the end.
  const Formal *find(size_t i) const;

private:
  llvm::SmallVector<Formal, 4> formals;
  size_t required = 0;
};

/// The name and the kind of an attribute; the kind is the name of an
/// `AttributeProto.AttributeType`, such as INTS.
struct AttributeSchema {
  llvm::StringRef name, kind;
  bool isRequired;
};

/// One version of an operator's definition.
struct Schema {
  int64_t sinceVersion;
  bool isDeprecated;
  Signature operands, results;
  /// The allowed element types of each type parameter, as MLIR prints them. A parameter without an
  /// entry allows any type.
  llvm::StringMap<llvm::SmallVector<llvm::StringRef>> elementTypes;
  llvm::SmallVector<AttributeSchema> attributes; // Sorted by name.

  /// Returns the names of all operators, sorted; `domain::operator` outside ai.onnx.
  static std::vector<llvm::StringRef> names();
  /// Returns the schemas of an operator, oldest first; empty if the operator is unknown.
  static llvm::ArrayRef<Schema> versions(llvm::StringRef name);
  /// Returns the schema of the greatest version not above `version`, or null if the operator is
  /// unknown.
  static const Schema *find(llvm::StringRef domain, llvm::StringRef name, int64_t version);
};

/// Checks a node's attributes for names that the schema does not have, wrong kinds and missing
/// required attributes. This check and those below report the first error at the node.
mlir::LogicalResult checkAttributes(NodeView &node, const Schema &schema);
/// Checks the number of operands and results, and that no required one is omitted.
mlir::LogicalResult checkArity(NodeView &node, const Schema &schema);
/// Checks the operands' element types, all of which must be known.
mlir::LogicalResult checkElementTypes(NodeView &node, const Schema &schema);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_DIALECT_SCHEMA_H
