//===- Schema.cpp - Operands, results and attributes of ONNX operators ------------------------===//

#include "frontend/onnx/dialect/Schema.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

struct Record {
  const char *name;
  int64_t sinceVersion;
  bool isDeprecated;
  const char *operands, *results; // In the notation of Signature.
  const char *elementTypes;       // `T=f32,f64 S=i64`
  const char *attributes;         // `axis:INT keepdims:INT!`; `!` marks required ones.
};

// onnxruntime's definition of LayerNormalization is older than the standard's, and comes first.
constexpr Record records[] = {
#include "frontend/onnx/dialect/MicrosoftSchemas.inc"
#include "frontend/onnx/dialect/Schemas.inc"
};

SmallVector<StringRef> wordsOf(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return words;
}

Schema schemaOf(const Record &record) {
  Schema schema{record.sinceVersion,
                record.isDeprecated,
                Signature(record.operands),
                Signature(record.results),
                {},
                {}};
  for (StringRef word : wordsOf(record.elementTypes)) {
    auto [parameter, types] = word.split('=');
    types.split(schema.elementTypes[parameter], ',');
  }
  for (StringRef word : wordsOf(record.attributes)) {
    bool isRequired = word.consume_back("!");
    auto [name, kind] = word.split(':');
    schema.attributes.push_back({name, kind, isRequired});
  }
  return schema;
}

/// The schemas of each operator, oldest first.
using SchemaTable = llvm::StringMap<SmallVector<Schema, 1>>;

const SchemaTable &schemas() {
  static const SchemaTable table = [] {
    SchemaTable result;
    for (const Record &record : records)
      result[record.name].push_back(schemaOf(record));
    return result;
  }();
  return table;
}

} // namespace

Signature::Signature(StringRef text) {
  for (StringRef word : wordsOf(text)) {
    auto [name, parameter] = word.split(':');
    bool isOptional = name.consume_back("?");
    bool isVariadic = name.consume_back("...");
    formals.push_back({name, parameter, isOptional, isVariadic});
    if (!isOptional)
      required = formals.size();
  }
}

std::optional<size_t> Signature::maximum() const {
  if (!formals.empty() && formals.back().isVariadic)
    return std::nullopt;
  return formals.size();
}

const Signature::Formal *Signature::find(size_t i) const {
  if (i < formals.size())
    return &formals[i];
  return maximum() ? nullptr : &formals.back();
}

std::vector<StringRef> Schema::names() {
  std::vector<StringRef> names(schemas().keys().begin(), schemas().keys().end());
  llvm::sort(names);
  return names;
}

ArrayRef<Schema> Schema::versions(StringRef name) {
  auto found = schemas().find(name);
  return found == schemas().end() ? ArrayRef<Schema>() : found->second;
}

const Schema *Schema::find(StringRef domain, StringRef name, int64_t version) {
  bool isStandard = domain.empty() || domain == "ai.onnx";
  auto found = schemas().find(isStandard ? name.str() : (domain + "::" + name).str());
  if (found == schemas().end())
    return nullptr;
  const Schema *best = nullptr;
  for (const Schema &schema : found->second)
    if (schema.sinceVersion <= version)
      best = &schema;
  return best;
}

} // namespace mtc::onnx
