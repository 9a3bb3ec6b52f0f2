//===- VariableTable.cpp - Tables of a program's variables and their initial values -----------===//

#include "codegen/program/VariableTable.h"

#include "ir/TypeCode.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "ir/attributes/InitialRow.h"
#include "ir/attributes/TensorImage.h"
#include "runtime/abi/program.h"
#include "runtime/abi/storage.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mtc;

using llvm::Constant;

Constant *mtc::describeTensor(ConstantBuilder &c, StringRef name, RankedTensorType type,
                              int64_t offset, MemorySpace space) {
  return c.record(
      field<&MtcTensor::name>(name), field<&MtcTensor::type>(typeCode(type.getElementType())),
      field<&MtcTensor::rank>(type.getRank()), field<&MtcTensor::dims>(c.i64Array(type.getShape())),
      field<&MtcTensor::offset>(offset), field<&MtcTensor::bytes>(byteSize(type)),
      field<&MtcTensor::space>(space));
}

int64_t mtc::offsetOrNone(VariableOp variable) {
  return variable.getOffset() ? static_cast<int64_t>(*variable.getOffset()) : -1;
}

/// Returns the stage whose ranks hold the variable, or -1 if those of all do.
static int32_t stageOf(VariableOp variable, ProgramOp program) {
  if (!program || !program.getPipelineStage())
    return 0;
  return variable.getStage() ? static_cast<int32_t>(*variable.getStage()) : -1;
}

Constant *mtc::describeScalars(ConstantBuilder &c, ModuleOp placed) {
  int64_t offsets[getMaxEnumValForRuntimeScalar() + 1];
  llvm::fill(offsets, -1);
  for (auto variable : placed.getOps<VariableOp>())
    if (auto scalar = dyn_cast<RuntimeScalarAttr>(variable.getInitial()))
      offsets[static_cast<unsigned>(scalar.getValue())] = offsetOrNone(variable);
  auto of = [&](RuntimeScalar scalar) { return offsets[static_cast<unsigned>(scalar)]; };
  return c.record(field<&MtcScalars::learning_rate>(of(RuntimeScalar::LearningRate)),
                  field<&MtcScalars::step>(of(RuntimeScalar::Step)),
                  field<&MtcScalars::micro_step>(of(RuntimeScalar::MicroStep)),
                  field<&MtcScalars::seed>(of(RuntimeScalar::Seed)));
}

std::vector<Constant *> mtc::describeSettings(ConstantBuilder &c, ModuleOp placed) {
  std::vector<Constant *> settings;
  for (auto variable : placed.getOps<VariableOp>())
    if (auto setting = dyn_cast<SettingAttr>(variable.getInitial()))
      settings.push_back(c.record(
          field<&MtcSetting::name>(setting.getName()), field<&MtcSetting::flag>(setting.getFlag()),
          field<&MtcSetting::help>(setting.getHelp()),
          field<&MtcSetting::offset>(offsetOrNone(variable)),
          field<&MtcSetting::value>(setting.getValue().getValueAsDouble()),
          field<&MtcSetting::minimum>(setting.getMinimum().getValueAsDouble()),
          field<&MtcSetting::limit>(setting.getLimit().getValueAsDouble())));
  return settings;
}

std::vector<Constant *> mtc::describeAbsentSettings(ConstantBuilder &c, ModuleOp placed) {
  std::vector<Constant *> absent;
  auto known = placed->getAttrOfType<DictionaryAttr>(settingsAttribute);
  if (!known)
    return absent;
  llvm::StringSet<> present;
  for (auto variable : placed.getOps<VariableOp>())
    if (auto setting = dyn_cast<SettingAttr>(variable.getInitial()))
      present.insert(setting.getName());
  for (NamedAttribute each : known)
    if (!present.contains(each.getName().strref()))
      absent.push_back(
          c.record(field<&MtcAbsentSetting::name>(each.getName().strref()),
                   field<&MtcAbsentSetting::flag>(cast<StringAttr>(each.getValue()).getValue())));
  return absent;
}

std::string mtc::rawBytes(ElementsAttr elements) {
  std::string result;
  Type element = elements.getElementType();
  int64_t bytes = elementBytes(element);
  auto append = [&](const APInt &value) {
    APInt wide = value.zextOrTrunc(bytes * 8);
    for (int64_t i = 0; i < bytes; ++i)
      result.push_back(static_cast<char>(wide.extractBitsAsZExtValue(8, i * 8)));
  };
  if (auto dense = dyn_cast<DenseElementsAttr>(elements);
      dense && !dense.isSplat() && bytes * 8 == element.getIntOrFloatBitWidth()) {
    ArrayRef<char> raw = dense.getRawData();
    return std::string(raw.begin(), raw.end());
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return std::string(blob->getData().begin(), blob->getData().end());
  result.reserve(elements.getNumElements() * bytes);
  if (isa<FloatType>(element))
    for (const APFloat &value : elements.getValues<APFloat>())
      append(value.bitcastToAPInt());
  else
    for (const APInt &value : elements.getValues<APInt>())
      append(value);
  return result;
}

Constant *mtc::describeImage(ConstantBuilder &c, TensorImageAttr image) {
  llvm::SmallVector<Constant *> parts;
  for (ImagePartAttr part : image.getParts())
    parts.push_back(
        c.record(field<&MtcImagePart::variable>(part.getVariable()),
                 field<&MtcImagePart::image>(part.getImage()),
                 field<&MtcImagePart::rank>(part.getExtents().size()),
                 field<&MtcImagePart::extents>(c.i64Array(part.getExtents())),
                 field<&MtcImagePart::variable_strides>(c.i64Array(part.getVariableStrides())),
                 field<&MtcImagePart::image_strides>(c.i64Array(part.getImageStrides()))));
  return c.record(field<&MtcTensorImage::name>(image.getName()),
                  field<&MtcTensorImage::rank>(image.getShape().size()),
                  field<&MtcTensorImage::dims>(c.i64Array(image.getShape())),
                  field<&MtcTensorImage::part_count>(parts.size()),
                  field<&MtcTensorImage::parts>(c.array(parts)));
}

static llvm::SmallVector<Constant *> describeImages(ConstantBuilder &c, ArrayAttr list) {
  llvm::SmallVector<Constant *> images;
  if (list)
    for (auto image : list.getAsRange<TensorImageAttr>())
      images.push_back(describeImage(c, image));
  return images;
}

namespace {
/// The division of a variable among ranks; see MtcVariable.
struct Division {
  int64_t run = 0, parts = 0, stride = 0, block = 0, piece = 0, pieces = 0, pieceStride = 0;
};
} // namespace

static Division divisionOf(VariableOp variable, RankGroup dataGroup) {
  if (!variable.isDivided())
    return {};
  const RankedTensorType whole = variable.getWholeType();
  const int64_t elements = whole.getNumElements();
  Division division{elements, 1, 1, elements, variable.getTensorType().getNumElements(), 1, 1};
  if (AxisSplitAttr split = variable.getSplitAttr()) {
    division.run = split.getRunOf(whole);
    division.parts = split.getParts();
    division.stride = split.getStride();
    division.block = split.getBlockOf(whole);
  }
  if (variable.getPieceOf()) {
    division.pieces = dataGroup.count;
    division.pieceStride = dataGroup.stride;
  }
  return division;
}

/// Returns the range of elements of a random value that are 0: a row, or null.
Constant *VariableTable::zeroRange(VariableOp variable) {
  auto row = variable->getAttrOfType<IntegerAttr>(zeroRowAttribute);
  if (!row)
    return c.null();
  const RankedTensorType type = variable.getSourceType();
  const int64_t rows = type.getDimSize(0), size = type.getNumElements() / rows,
                begin = (row.getInt() < 0 ? row.getInt() + rows : row.getInt()) * size;
  return c.i64Array({begin, begin + size});
}

LogicalResult VariableTable::add(ModuleOp placed) {
  ProgramOp program = ProgramOp::find(placed);
  const RankGroup dataGroup = program ? program.getDataGroup() : RankGroup();
  for (VariableOp variable : placed.getOps<VariableOp>()) {
    if (variable.getRole() == Role::Slot)
      continue; // Only steps and messages know it.
    if (!variable.getOffset() && !variable.isElsewhere())
      return variable.emitError("variable has no offset in the arena");
    index[variable.getSymName()] = index.size();
  }
  for (VariableOp variable : placed.getOps<VariableOp>()) {
    if (variable.getRole() == Role::Slot)
      continue;
    uint32_t initial = MTC_INITIAL_ZERO;
    Constant *data = c.null();
    double spread = 0;
    auto stored = dyn_cast<StoredAttr>(variable.getInitial());
    Attribute value = stored ? stored.getSource() : variable.getInitial();
    if (variable.getTransient()) {
      initial = MTC_INITIAL_NONE;
    } else if (isa<InitializerAttr>(value)) {
      initial = MTC_INITIAL_FILE;
    } else if (auto normal = dyn_cast<NormalAttr>(value)) {
      initial = MTC_INITIAL_NORMAL;
      spread = normal.getDeviation().getValueAsDouble();
      data = zeroRange(variable);
    } else if (auto uniform = dyn_cast<UniformAttr>(value)) {
      initial = MTC_INITIAL_UNIFORM;
      spread = uniform.getBound().getValueAsDouble();
      data = zeroRange(variable);
    } else if (isa<AsParameterAttr>(value)) {
      initial = MTC_INITIAL_PARAMETER;
    } else if (isa<AdaptedNormsAttr>(value)) {
      if (llvm::none_of(placed.getOps<AdapterOp>(), [&](AdapterOp adapter) {
            return adapter.getMagnitude() == variable.getSymName();
          }))
        return variable.emitError("starts as norms, but is the magnitude of no adapter");
      initial = MTC_INITIAL_ADAPTED_NORMS;
    } else if (auto elements = dyn_cast<ElementsAttr>(value)) {
      auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
      if (resource && !resource.getRawHandle().getBlob())
        return variable.emitError("the text omits the variable's elements");
      auto dense = dyn_cast<DenseElementsAttr>(elements);
      const bool isSplat = dense && dense.isSplat();
      std::string bytes =
          rawBytes(isSplat ? dense.resizeSplat(dense.getType().clone({1})) : elements);
      // The tables of the stage that holds a variable have its elements.
      if (!variable.isElsewhere() && bytes.find_first_not_of('\0') != std::string::npos) {
        initial = isSplat ? MTC_INITIAL_SPLAT : MTC_INITIAL_DATA;
        data = c.bytes(bytes);
      }
    }
    int32_t of = -1;
    if (std::optional<StringRef> parameter = variable.getOf()) {
      auto known = index.find(*parameter);
      if (known == index.end())
        return variable.emitError() << "belongs to @" << *parameter << ", which is not a variable";
      of = known->second;
    }
    StringRef name = variable.getSymName();
    Constant *source = c.null();
    if (stored)
      source = c.global(describeTensor(c, name, stored.getType(), /*offset=*/-1));
    Constant *whole = c.null();
    if (variable.isDivided())
      whole = c.global(describeTensor(c, name, variable.getWholeType(), /*offset=*/-1));
    const Division division = divisionOf(variable, dataGroup);
    const auto images = describeImages(c, variable.getModuleImagesAttr()),
               pretrained = describeImages(c, variable.getPretrainedImagesAttr());
    entries.push_back(c.record(
        field<&MtcVariable::tensor>(describeTensor(c, name, variable.getTensorType(),
                                                   offsetOrNone(variable), variable.getSpace())),
        field<&MtcVariable::role>(variable.getRole()), field<&MtcVariable::initial>(initial),
        field<&MtcVariable::data>(data), field<&MtcVariable::spread>(spread),
        field<&MtcVariable::of>(of),
        field<&MtcVariable::storage>(stored ? static_cast<uint32_t>(stored.getStorage())
                                            : uint32_t{MTC_STORED_AS_IS}),
        field<&MtcVariable::is_transposed>(stored && stored.getTransposed()),
        field<&MtcVariable::stage>(stageOf(variable, program)), field<&MtcVariable::source>(source),
        field<&MtcVariable::whole>(whole), field<&MtcVariable::run>(division.run),
        field<&MtcVariable::parts>(division.parts), field<&MtcVariable::stride>(division.stride),
        field<&MtcVariable::block>(division.block), field<&MtcVariable::piece>(division.piece),
        field<&MtcVariable::pieces>(division.pieces),
        field<&MtcVariable::piece_stride>(division.pieceStride),
        field<&MtcVariable::is_in_module>(isInModule(variable)),
        field<&MtcVariable::image_count>(images.size()),
        field<&MtcVariable::images>(c.array(images)),
        field<&MtcVariable::pretrained_image_count>(pretrained.size()),
        field<&MtcVariable::pretrained_images>(c.array(pretrained))));
  }
  return success();
}

std::optional<uint32_t> VariableTable::find(StringRef name) const {
  auto known = index.find(name);
  return known == index.end() ? std::nullopt : std::optional(known->second);
}

llvm::SmallVector<Constant *> VariableTable::describeAdapters(ModuleOp placed) const {
  llvm::SmallVector<Constant *> adapters;
  for (AdapterOp adapter : placed.getOps<AdapterOp>()) {
    const std::optional<StringRef> magnitude = adapter.getMagnitude();
    const std::optional<APFloat> dropout = adapter.getDropout();
    adapters.push_back(
        c.record(field<&MtcAdapter::base>(*find(adapter.getBase())),
                 field<&MtcAdapter::down>(*find(adapter.getDown())),
                 field<&MtcAdapter::up>(*find(adapter.getUp())),
                 field<&MtcAdapter::magnitude>(magnitude ? *find(*magnitude) : -1),
                 field<&MtcAdapter::axis>(adapter.getAxis()),
                 field<&MtcAdapter::is_rank_stabilized>(adapter.getRankStabilized()),
                 field<&MtcAdapter::alpha>(adapter.getAlpha().convertToDouble()),
                 field<&MtcAdapter::dropout>(dropout ? dropout->convertToDouble() : 0.0)));
  }
  return adapters;
}
