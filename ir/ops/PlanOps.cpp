//===- PlanOps.cpp - Verifiers of the allocated program ---------------------------------------===//

#include "ir/CheckedExtents.h"
#include "ir/Mtc.h"
#include "ir/TypeCode.h"

using namespace mlir;
using namespace mtc;

ArenaOp ArenaOp::find(ModuleOp placed, MemorySpace space) {
  for (auto arena : placed.getOps<ArenaOp>())
    if (arena.getSpace() == space)
      return arena;
  return {};
}

LogicalResult ArenaOp::verify() {
  auto module = dyn_cast_or_null<ModuleOp>((*this)->getParentOp());
  if (module && find(module, getSpace()) != *this)
    return emitOpError("is the second arena of the space ")
           << stringifyEnum(getSpace()) << " (arena_c1)";
  const auto size = static_cast<int64_t>(std::max(getSize(), getSeparate()));
  auto isWithin = [&](VariableOp variable) {
    auto type = dyn_cast<RankedTensorType>(variable.getType());
    const auto at = static_cast<int64_t>(*variable.getOffset());
    return !type || !isAddressable(type.getShape()) || (at >= 0 && byteSize(type) <= size - at);
  };
  if (module)
    for (auto variable : module.getOps<VariableOp>())
      if (variable.getOffset() && variable.getSpace() == getSpace() && !isWithin(variable))
        return variable.emitOpError("is at byte ")
               << static_cast<int64_t>(*variable.getOffset()) << " of the arena of the space "
               << stringifyEnum(getSpace()) << ", which has " << size << " bytes (arena_c2)";
  return success();
}

TransferSlotsOp TransferSlotsOp::find(ModuleOp module, MemorySpace space) {
  for (auto slots : module.getOps<TransferSlotsOp>())
    if (slots.getSpace() == space)
      return slots;
  return {};
}

LogicalResult TransferSlotsOp::verify() {
  const auto count = static_cast<int64_t>(getCount()), size = static_cast<int64_t>(getSize());
  if (count >= 1 && size >= alignment && size % alignment == 0)
    return success();
  return emitOpError("has ")
         << count << " slots of " << size
         << " bytes, expected at least one slot, with a size that is a multiple of " << alignment
         << " (transfer_slots_c1)";
}

/// Verifies that all slices are in device memory.
static LogicalResult verifyOnDevice(Operation *op, StringRef constraint,
                                    ArrayRef<ArrayAttr> slices) {
  for (ArrayAttr array : slices)
    for (AtAttr slice : array.getAsRange<AtAttr>())
      if (slice.getSpace() != MemorySpace::Device)
        return op->emitOpError("has the operand ")
               << slice << ", which is not on the device (" << constraint << ")";
  return success();
}

LogicalResult CallOp::verify() {
  if (failed(verifyOnDevice(*this, "call_c2", {getInputs(), getOutputs()})))
    return failure();
  CallShapes shapes = getCall().getShapes();
  auto agree = [&](StringRef what, ArrayAttr slices,
                   ArrayRef<CallShapes::Shape> expected) -> LogicalResult {
    if (slices.size() != expected.size())
      return emitOpError("has ") << slices.size() << ' ' << what << ", but its library takes "
                                 << expected.size() << " (call_c1)";
    for (auto [slice, shape] : llvm::zip_equal(slices.getAsRange<AtAttr>(), expected)) {
      RankedTensorType type = slice.getType();
      int64_t elements = shape.elements.value_or(type.getNumElements());
      if (typeCode(type.getElementType()) != shape.type || type.getNumElements() != elements)
        return emitOpError("has ") << type << " among its " << what << ", expected " << elements
                                   << " elements of " << typeName(shape.type) << " (call_c1)";
    }
    return success();
  };
  return success(succeeded(agree("inputs", getInputs(), shapes.operands)) &&
                 succeeded(agree("outputs", getOutputs(), shapes.results)));
}

/// Verifies that the slices of a launch match its kernel. Returns null after a diagnostic.
template <typename Launch>
static KernelFunctionOp verifyLaunch(Launch launch, SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelFunctionOp>(launch, launch.getKernelAttr());
  if (!kernel) {
    launch.emitOpError("launches ")
        << launch.getKernelAttr() << ", which is not a kernel function (launch_c1)";
    return {};
  }
  auto agree = [](ArrayAttr slices, ArrayRef<RankedTensorType> types) {
    if (slices.size() != types.size())
      return false;
    return llvm::all_of(llvm::zip_equal(slices, types), [](auto pair) {
      return cast<AtAttr>(std::get<0>(pair)).getType() == std::get<1>(pair);
    });
  };
  if (!agree(launch.getInputs(), kernel.getInputTypes()) ||
      !agree(launch.getOutputs(), kernel.getOutputTypes())) {
    launch.emitOpError("has slices that do not match the operands of ")
        << launch.getKernelAttr() << " (launch_c1)";
    return {};
  }
  if (!kernel.getOnHost())
    return failed(verifyOnDevice(launch, "launch_c2", {launch.getInputs(), launch.getOutputs()}))
               ? KernelFunctionOp()
               : kernel;
  for (ArrayAttr slices : {launch.getInputs(), launch.getOutputs()})
    for (auto slice : slices.template getAsRange<AtAttr>())
      if (slice.getSpace() != MemorySpace::PinnedHost) {
        launch.emitOpError("has the operand ")
            << slice << ", but " << launch.getKernelAttr()
            << " runs on the host, with operands in pinned host memory (launch_c2)";
        return {};
      }
  return kernel;
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  KernelFunctionOp kernel = verifyLaunch(*this, symbols);
  if (kernel && kernel.getOnHost() && getScratchBytes())
    return emitOpError("has scratch memory, but runs on the host (launch_c2)");
  return success(bool(kernel));
}

LogicalResult AsyncLaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  KernelFunctionOp kernel = verifyLaunch(*this, symbols);
  if (!kernel)
    return failure();
  if (!kernel.getOnHost())
    return emitOpError("launches ")
           << getKernelAttr() << ", which does not run on the host (async_launch_c1)";
  if (static_cast<int64_t>(getStream()) < 1)
    return emitOpError("is on stream ")
           << static_cast<int64_t>(getStream()) << ", expected 1 or more (async_launch_c1)";
  return success();
}

static LogicalResult verifySizes(Operation *op, AtAttr source, AtAttr destination,
                                 StringRef constraint) {
  int64_t from = byteSize(source.getType()), to = byteSize(destination.getType());
  if (from == to)
    return success();
  return op->emitOpError("copies ")
         << from << " bytes into a slice of " << to << " (" << constraint << ")";
}

LogicalResult CopyOp::verify() {
  return verifySizes(*this, getSource(), getDestination(), "copy_c1");
}

LogicalResult AsyncCopyOp::verify() {
  if (static_cast<int64_t>(getStream()) < 1)
    return emitOpError("is on stream ")
           << static_cast<int64_t>(getStream()) << ", expected 1 or more (async_copy_c2)";
  if (getSource().overlaps(getDestination()))
    return emitOpError("copies ") << getSource() << " into " << getDestination()
                                  << ", which overlaps it (async_copy_c1)";
  return verifySizes(*this, getSource(), getDestination(), "async_copy_c1");
}

LogicalResult StepOp::verify() {
  return verifyOnDevice(*this, "step_c3", {getInputs(), getOutputs()});
}

LogicalResult RepeatOp::verify() {
  if (static_cast<int64_t>(getIterations()) < 1)
    return emitOpError("has ") << static_cast<int64_t>(getIterations())
                               << " iterations, expected 1 or more (repeat_c1)";
  return verifyOnDevice(*this, "repeat_c2", {getInputs(), getOutputs()});
}
