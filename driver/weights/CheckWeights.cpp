//===- CheckWeights.cpp - Check of --weights against the program ------------------------------===//

#include "driver/weights/CheckWeights.h"

#include "driver/StageText.h"
#include "ir/Mtc.h"
#include "ir/TypeCode.h"
#include "ir/attributes/TensorImage.h"
#include "runtime/abi/program.h"
#include "runtime/state/weights_check.h"
#include "support/compiler/Problems.h"

#include "llvm/Support/GlobPattern.h"

#include <deque>
#include <tuple>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

/// Returns the initializer that a variable starts with, or null if it starts with something else.
static InitializerAttr initializerOf(VariableOp variable) {
  auto stored = dyn_cast<StoredAttr>(variable.getInitial());
  return dyn_cast<InitializerAttr>(stored ? stored.getSource() : variable.getInitial());
}

namespace {

/// The tables of a program's variables and buffers in memory, as far as names, types and shapes
/// depend on them. Addresses of stored texts and lists do not change.
class ProgramInMemory {
public:
  explicit ProgramInMemory(ModuleOp module) {
    llvm::StringMap<int32_t> index;
    for (auto variable : module.getOps<VariableOp>())
      index.try_emplace(variable.getSymName(), index.size());
    for (auto variable : module.getOps<VariableOp>()) {
      variables.push_back(describe(variable));
      if (std::optional<StringRef> of = variable.getOf())
        variables.back().of = index.lookup(*of);
      required.push_back(isRequired(variable));
    }
    for (auto buffer : module.getOps<BufferOp>()) {
      buffers.emplace_back();
      buffers.back().tensor =
          tensor(buffer.getName(), cast<RankedTensorType>(buffer.getValue().getType()));
      buffers.back().pretrained_name =
          texts.emplace_back(buffer.getPretrainedName().value_or(buffer.getName())).c_str();
    }
    program.variables = variables.data();
    program.variable_count = variables.size();
    program.buffers = buffers.data();
    program.buffer_count = buffers.size();
  }

  MtcTensor tensor(StringRef name, RankedTensorType type) {
    MtcTensor tensor = {};
    tensor.name = texts.emplace_back(name).c_str();
    tensor.type = typeCode(type.getElementType());
    tensor.rank = type.getRank();
    tensor.dims = list(type.getShape());
    tensor.offset = -1;
    tensor.bytes = byteSize(type);
    return tensor;
  }

  MtcProgram program = {};
  std::vector<bool> required; ///< Whether weights must have the variable.

private:
  /// Returns whether neither the program nor its own weights file has the variable's value.
  static bool isRequired(VariableOp variable) {
    InitializerAttr initializer = initializerOf(variable);
    return initializer && (variable.getRole() != Role::Constant || initializer.getMissing());
  }

  const int64_t *list(ArrayRef<int64_t> numbers) {
    return lists.emplace_back(numbers.begin(), numbers.end()).data();
  }

  MtcTensorImage describe(TensorImageAttr image) {
    std::vector<MtcImagePart> &ofImage = parts.emplace_back();
    for (ImagePartAttr part : image.getParts())
      ofImage.push_back({part.getVariable(), part.getImage(),
                         static_cast<uint32_t>(part.getExtents().size()), list(part.getExtents()),
                         list(part.getVariableStrides()), list(part.getImageStrides())});
    return {texts.emplace_back(image.getName()).c_str(),
            static_cast<uint32_t>(image.getShape().size()), list(image.getShape()),
            static_cast<uint32_t>(ofImage.size()), ofImage.data()};
  }

  MtcVariable describe(VariableOp variable) {
    MtcVariable described = {};
    // Files have whole values, of which ranks have parts.
    described.tensor = tensor(variable.getSymName(), variable.getSourceType());
    described.role = static_cast<uint32_t>(variable.getRole());
    described.initial = initializerOf(variable) ? MTC_INITIAL_FILE : MTC_INITIAL_ZERO;
    described.of = -1;
    described.is_in_module = isInModule(variable);
    std::tie(described.images, described.image_count) = describe(variable.getModuleImagesAttr());
    std::tie(described.pretrained_images, described.pretrained_image_count) =
        describe(variable.getPretrainedImagesAttr());
    return described;
  }

  std::pair<const MtcTensorImage *, uint32_t> describe(ArrayAttr list) {
    std::vector<MtcTensorImage> &described = images.emplace_back();
    if (list)
      for (auto image : list.getAsRange<TensorImageAttr>())
        described.push_back(describe(image));
    return {described.data(), described.size()};
  }

  std::vector<MtcVariable> variables;
  std::vector<MtcBuffer> buffers;
  std::deque<std::string> texts;
  std::deque<std::vector<int64_t>> lists;
  std::deque<std::vector<MtcImagePart>> parts;
  std::deque<std::vector<MtcTensorImage>> images;
};

/// Finds the values that the compiler took from initializers of the model.
class ModelConstants {
public:
  ModelConstants(SourceModel *model, const Parameters &parameters, ProgramInMemory &program,
                 MLIRContext *context, bool foldsVectors)
      : model(model), program(program), context(context), foldsVectors(foldsVectors) {
    for (const Parameters::Row &row : parameters.initializers)
      for (StringRef name : {StringRef(row.name), StringRef(row.moduleName)})
        if (!name.empty())
          rows[name] = &row;
  }

  std::optional<runtime::ProgramConstant> find(const std::string &name) {
    const Parameters::Row *row = rows.lookup(name);
    StringRef source = row ? StringRef(row->name) : StringRef(name);
    if (!model || !model->hasInitializer(source))
      return std::nullopt;
    llvm::Expected<RankedTensorType> type = model->getInitialType(context, source);
    if (!type || !hasTypeCode(type->getElementType())) {
      llvm::consumeError(type.takeError());
      return std::nullopt;
    }
    runtime::ProgramConstant constant{program.tensor(source, *type), nullptr};
    // The program does not depend on a parameter without a variable, unless it was folded.
    const bool isFolded = !row || row->role == "constant" ||
                          (row->role == "frozen" && type->getRank() < (foldsVectors ? 2 : 1));
    if (!isFolded)
      return constant;
    if (llvm::Expected<ArrayRef<char>> bytes = model->getInitialBytes(source))
      constant.data = bytes->data();
    else
      llvm::consumeError(bytes.takeError());
    return constant;
  }

private:
  SourceModel *model;
  ProgramInMemory &program;
  MLIRContext *context;
  bool foldsVectors; ///< Frozen vectors may be constants.
  llvm::StringMap<const Parameters::Row *> rows;
};

} // namespace

LogicalResult mtc::tool::checkWeights(ModuleOp module, const Options &options, SourceModel *model,
                                      const Parameters &parameters) {
  ProgramInMemory tables(module);
  // A text may have been made without the flag.
  ModelConstants constants(model, parameters, tables, module.getContext(),
                           /*foldsVectors=*/isStageText(options.model));
  Problems problems;
  for (const std::string &problem : runtime::checkWeights(
           {.program = tables.program,
            .path = options.weights,
            .isRequired = [&](uint32_t variable) { return tables.required[variable]; },
            .constant = [&](const std::string &name) { return constants.find(name); },
            .isIgnored =
                [&](const std::string &name) {
                  return llvm::any_of(options.ignoreWeights, [&](const std::string &pattern) {
                    return llvm::cantFail(llvm::GlobPattern::create(pattern)).match(name);
                  });
                }}))
    problems.add("--weights " + problem);
  for (const std::string &problem : problems.get())
    emitError(UnknownLoc::get(module.getContext()), problem);
  return success(problems.empty());
}
