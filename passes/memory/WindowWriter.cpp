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

LogicalResult WindowWriter::write(KernelOp kernel, ArrayRef<AtAttr> slices, OpBuilder &builder) {
  auto refuse = [&](const Twine &why) {
    return kernel.emitOpError("has operands in another memory space, but cannot run in windows: ")
           << why;
  };
  if (!slots)
    return refuse("the module has no mtc.transfer_slots");
  std::string why;
  FailureOr<KernelWindows> windows = KernelWindows::of(kernel, why);
  if (failed(windows))
    return refuse(why);
  FailureOr<SmallVector<Transfer>> transfers = findTransfers(kernel, slices);
  if (failed(transfers))
    return failure();
  const unsigned inputs = kernel.getInputs().size();
  for (unsigned result = inputs; result < slices.size(); ++result)
    for (AtAttr input : slices.take_front(inputs))
      if (!windows->getBytesPerRow(result) && input.overlaps(slices[result]))
        return refuse("every window writes what the next one reads");
  SmallVector<unsigned> operands;
  for (const Transfer &transfer : *transfers) {
    operands.push_back(transfer.operand);
    if (!windows->getBytesPerRow(transfer.operand))
      return refuse("every window reads all of an operand");
  }
  const auto slotBytes = static_cast<int64_t>(slots.getSize());
  int64_t alignment = TransferSlotsOp::alignment;
  int64_t rows = windows->getMostRows(slotBytes, operands, alignment);
  if (!rows) {
    alignment = paddedBytes(1);
    rows = windows->getMostRows(slotBytes, operands, alignment);
  }
  if (!rows)
    return refuse("slots of " + Twine(slotBytes) + " bytes are too small");

  TargetInfo target = TargetInfo::of(kernel);
  llvm::SmallDenseMap<std::pair<int64_t, int64_t>, KernelFunctionOp> functions;
  auto number = static_cast<int64_t>(builder.getInsertionBlock()->getOperations().size());
  for (auto [begin, count] : windows->partition(rows)) {
    KernelFunctionOp &function = functions[{count, int64_t{begin + count == windows->getRows()}}];
    if (!function) {
      OpBuilder::InsertionGuard guard(builder);
      KernelOp window = windows->cut(builder, begin, count);
      KernelPlanAttrInterface plan = target.planKernel(window);
      if (plan && plan.getScratchBytes()) {
        window.erase();
        return refuse("its windows need scratch");
      }
      function = outliner.outline(window, plan);
      window.erase();
    }
    int64_t at = offset + next++ % static_cast<int64_t>(slots.getCount()) * slotBytes;
    SmallVector<AtAttr> staged; // One slice per transfer.
    SmallVector<std::pair<AtAttr, AtAttr>> reads, writes;
    for (const Transfer &transfer : *transfers) {
      RankedTensorType type = windows->getType(transfer.operand, begin, count);
      int64_t first =
          transfer.slice.getOffset() + begin * windows->getBytesPerRow(transfer.operand);
      auto there = AtAttr::get(kernel.getContext(), first, type, transfer.slice.getSpace());
      auto here = AtAttr::get(kernel.getContext(), at, type);
      at = llvm::alignTo(here.getEnd(), alignment);
      staged.push_back(here);
      if (transfer.isRead)
        reads.push_back({there, here});
      if (transfer.isWritten)
        writes.push_back({here, there});
    }
    const int64_t launch = number + static_cast<int64_t>(reads.size());
    for (auto [there, here] : reads)
      CopyOp::create(builder, kernel.getLoc(), there, here, ValueRange(),
                     builder.getDenseI64ArrayAttr(launch));
    auto slice = [&](unsigned operand) -> Attribute {
      AtAttr whole = slices[operand];
      RankedTensorType type = windows->getType(operand, begin, count);
      if (!isElsewhere(whole))
        return AtAttr::get(kernel.getContext(),
                           whole.getOffset() + begin * windows->getBytesPerRow(operand), type);
      for (auto [transfer, here] : llvm::zip_equal(*transfers, staged))
        if (transfer.slice.overlaps(whole))
          return AtAttr::get(kernel.getContext(), here.getOffset(), type);
      llvm_unreachable("each operand elsewhere has its part of a slot");
    };
    SmallVector<Attribute> read, written;
    for (unsigned operand = 0; operand < slices.size(); ++operand)
      (operand < inputs ? read : written).push_back(slice(operand));
    SmallVector<int64_t> lastUses;
    for (auto [i, attribute] : llvm::enumerate(written)) {
      auto ofResult = llvm::find_if(
          writes, [&](auto copy) { return copy.first.overlaps(cast<AtAttr>(attribute)); });
      if (ofResult != writes.end())
        lastUses.push_back(launch + 1 + (ofResult - writes.begin()));
      else // The first window starts the live range of a result that all windows share.
        lastUses.push_back(begin > 0 && !windows->getBytesPerRow(inputs + i) ? -1 : asPlanned);
    }
    LaunchOp::create(builder, kernel.getLoc(), function.getSymName(), builder.getArrayAttr(read),
                     builder.getArrayAttr(written), 0, 0, ValueRange(),
                     builder.getDenseI64ArrayAttr(lastUses));
    for (auto [here, there] : writes)
      CopyOp::create(builder, kernel.getLoc(), here, there, ValueRange(),
                     builder.getDenseI64ArrayAttr(-1));
    number = launch + 1 + static_cast<int64_t>(writes.size());
  }
  return success();
}
