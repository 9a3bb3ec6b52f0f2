//===- WindowWriter.cpp - Windowed kernel launches for offloaded operands ---------------------===//

#include "passes/memory/WindowWriter.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;

FailureOr<SmallVector<WindowWriter::Transfer>>
WindowWriter::findTransfers(KernelOp kernel, ArrayRef<AtAttr> slices) {
  const unsigned inputs = kernel.getInputs().size();
  llvm::SmallMapVector<AtAttr, Transfer, 4> transfers;
  for (auto [operand, slice] : llvm::enumerate(slices)) {
    if (!isElsewhere(slice))
      continue;
    // The same range may be read in one shape and written in another, so compare ranges of bytes.
    auto bytes = RankedTensorType::get({byteSize(slice.getType())},
                                       IntegerType::get(kernel.getContext(), 8));
    auto range = AtAttr::get(kernel.getContext(), slice.getOffset(), bytes, slice.getSpace());
    auto [known, isNew] =
        transfers.insert({range, {slice, static_cast<unsigned>(operand), false, false}});
    Transfer &transfer = known->second;
    (operand < inputs ? transfer.isRead : transfer.isWritten) = true;
    if (isNew)
      for (const auto &[other, ignored] : llvm::drop_end(transfers))
        if (other.overlaps(range))
          return kernel.emitOpError("reads or writes ") << slice << " and a part of it";
  }
  return llvm::to_vector(llvm::make_second_range(transfers));
}

/// The windows of a kernel, and how its operands are staged.
struct WindowWriter::Plan {
  KernelOp kernel;
  ArrayRef<AtAttr> slices;
  KernelWindows windows;
  SmallVector<Transfer> transfers;
  int64_t alignment = 0; ///< Of slices within a slot.
  int64_t rows = 0;      ///< Of a window.
};

/// Returns why the kernel cannot run in windows; empty if it can.
std::string WindowWriter::findObstacle(const Plan &plan) {
  const unsigned inputs = KernelOp(plan.kernel).getInputs().size();
  for (unsigned result = inputs; result < plan.slices.size(); ++result)
    for (AtAttr input : plan.slices.take_front(inputs))
      if (!plan.windows.getBytesPerRow(result) && input.overlaps(plan.slices[result]))
        return "every window writes what the next one reads";
  for (const Transfer &transfer : plan.transfers)
    if (!plan.windows.getBytesPerRow(transfer.operand))
      return "every window reads all of an operand";
  return "";
}

/// Sets the alignment and the number of rows. Returns whether a row fits into a slot.
bool WindowWriter::chooseRows(Plan &plan) {
  const auto slotBytes = static_cast<int64_t>(slots.getSize());
  const auto operands =
      llvm::map_to_vector(plan.transfers, [](const Transfer &each) { return each.operand; });
  for (int64_t alignment : {int64_t{TransferSlotsOp::alignment}, paddedBytes(1)}) {
    plan.alignment = alignment;
    if (const int64_t rows = plan.windows.getMaxRows(slotBytes, operands, alignment)) {
      plan.rows = plan.windows.getEvenRows(rows, operands, alignment);
      return true;
    }
  }
  return false;
}

/// Returns the function of a window, or null if it needs scratch memory.
KernelFunctionOp WindowWriter::outline(const Plan &plan, int64_t begin, int64_t count,
                                       OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  KernelOp window = plan.windows.cut(builder, begin, count);
  KernelPlanAttrInterface kernelPlan = TargetInfo::of(plan.kernel).planKernel(window);
  KernelFunctionOp function;
  if (!kernelPlan || !kernelPlan.getScratchBytes())
    function = outliner.outline(window, kernelPlan);
  window.erase();
  return function;
}

/// Returns the slices of the transfers of a window, in a slot that starts at offset `at`.
SmallVector<AtAttr> WindowWriter::stage(const Plan &plan, int64_t begin, int64_t count,
                                        int64_t at) const {
  SmallVector<AtAttr> staged;
  for (const Transfer &transfer : plan.transfers) {
    RankedTensorType type = plan.windows.getType(transfer.operand, begin, count);
    staged.push_back(AtAttr::get(type.getContext(), at, type, own));
    at = llvm::alignTo(staged.back().getEnd(), plan.alignment);
  }
  return staged;
}

void WindowWriter::emitWindow(const Plan &plan, KernelFunctionOp function, int64_t begin,
                              int64_t count, int64_t &length, OpBuilder &builder) {
  KernelOp kernel = plan.kernel;
  MLIRContext *context = kernel.getContext();
  const unsigned inputs = kernel.getInputs().size();
  const SmallVector<AtAttr> staged = stage(plan, begin, count, ring.takeNext());
  auto firstByte = [&](AtAttr slice, unsigned operand) {
    return slice.getOffset() + begin * plan.windows.getBytesPerRow(operand);
  };
  SmallVector<std::pair<AtAttr, AtAttr>> reads, writes;
  for (auto [transfer, here] : llvm::zip_equal(plan.transfers, staged)) {
    auto there = AtAttr::get(context, firstByte(transfer.slice, transfer.operand), here.getType(),
                             transfer.slice.getSpace());
    if (transfer.isRead)
      reads.push_back({there, here});
    if (transfer.isWritten)
      writes.push_back({here, there});
  }
  const int64_t launch = length + static_cast<int64_t>(reads.size());
  for (auto [there, here] : reads)
    CopyOp::create(builder, kernel.getLoc(), there, here, ValueRange(),
                   builder.getDenseI64ArrayAttr(launch));
  auto slice = [&](unsigned operand) -> Attribute {
    AtAttr whole = plan.slices[operand];
    RankedTensorType type = plan.windows.getType(operand, begin, count);
    if (!isElsewhere(whole))
      return AtAttr::get(context, firstByte(whole, operand), type, own);
    for (auto [transfer, here] : llvm::zip_equal(plan.transfers, staged))
      if (transfer.slice.overlaps(whole))
        return AtAttr::get(context, here.getOffset(), type, own);
    llvm_unreachable("each operand elsewhere has its part of a slot");
  };
  SmallVector<Attribute> read, written;
  for (unsigned operand = 0; operand < plan.slices.size(); ++operand)
    (operand < inputs ? read : written).push_back(slice(operand));
  SmallVector<int64_t> lastUses;
  for (auto [i, attribute] : llvm::enumerate(written)) {
    auto ofResult = llvm::find_if(
        writes, [&](auto copy) { return copy.first.overlaps(cast<AtAttr>(attribute)); });
    if (ofResult != writes.end())
      lastUses.push_back(launch + 1 + (ofResult - writes.begin()));
    else // The first window starts the live range of a result that all windows share.
      lastUses.push_back(begin > 0 && !plan.windows.getBytesPerRow(inputs + i) ? -1 : asPlanned);
  }
  LaunchOp::create(builder, kernel.getLoc(), function.getSymName(), builder.getArrayAttr(read),
                   builder.getArrayAttr(written), 0, 0, ValueRange(),
                   builder.getDenseI64ArrayAttr(lastUses));
  for (auto [here, there] : writes)
    CopyOp::create(builder, kernel.getLoc(), here, there, ValueRange(),
                   builder.getDenseI64ArrayAttr(-1));
  length = launch + 1 + static_cast<int64_t>(writes.size());
}

LogicalResult WindowWriter::write(KernelOp kernel, ArrayRef<AtAttr> slices, int64_t length,
                                  OpBuilder &builder) {
  auto refuse = [&](const Twine &why) {
    return kernel.emitOpError("has operands in another memory space, but cannot run in windows: ")
           << why;
  };
  if (!slots)
    return refuse("the module has no mtc.transfer_slots in " + stringifyEnum(own));
  std::string why;
  FailureOr<KernelWindows> windows = KernelWindows::of(kernel, why);
  if (failed(windows))
    return refuse(why);
  FailureOr<SmallVector<Transfer>> transfers = findTransfers(kernel, slices);
  if (failed(transfers))
    return failure();
  Plan plan{kernel, slices, std::move(*windows), std::move(*transfers)};
  if (std::string obstacle = findObstacle(plan); !obstacle.empty())
    return refuse(obstacle);
  if (!chooseRows(plan))
    return refuse("slots of " + Twine(static_cast<int64_t>(slots.getSize())) +
                  " bytes are too small");

  llvm::SmallDenseMap<std::pair<int64_t, int64_t>, KernelFunctionOp> functions;
  for (auto [begin, count] : plan.windows.partition(plan.rows)) {
    const bool isLast = begin + count == plan.windows.getRows();
    KernelFunctionOp &function = functions[{count, int64_t{isLast}}];
    if (!function)
      function = outline(plan, begin, count, builder);
    if (!function)
      return refuse("its windows need scratch");
    emitWindow(plan, function, begin, count, length, builder);
  }
  return success();
}
