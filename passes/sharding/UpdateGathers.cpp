//===- UpdateGathers.cpp - Gathers of updated parameters --------------------------------------===//

#include "passes/sharding/UpdateGathers.h"

#include "ir/Mtc.h"
#include "ir/steps/VariableAccess.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Gathers of one element type and group of ranks, each written to a variable, that become one
/// gather in place of the last.
struct Bucket {
  SmallVector<AllGatherOp> gathers;
  SmallVector<WriteOp> writes;
  int64_t bytes = 0;

  bool writesTo(FlatSymbolRefAttr variable) const {
    return llvm::any_of(writes, [&](WriteOp write) { return write.getVariableAttr() == variable; });
  }
  void join();
};

} // namespace

void Bucket::join() {
  if (gathers.size() > 1) {
    OpBuilder builder(gathers.back());
    SmallVector<Type> types;
    SmallVector<Value> pieces;
    SmallVector<Location> locations;
    for (AllGatherOp gather : gathers) {
      types.push_back(gather.getValues().front().getType());
      pieces.push_back(gather.getPieces().front());
      locations.push_back(gather.getLoc());
    }
    auto all = AllGatherOp::create(builder, builder.getFusedLoc(locations), types, pieces,
                                   gathers.back().getRanks(), gathers.back().getStride());
    for (auto [write, value] : llvm::zip_equal(writes, all.getValues()))
      WriteOp::create(builder, write.getLoc(), write.getVariable(), value);
    for (WriteOp write : writes)
      write.erase();
    for (AllGatherOp gather : gathers)
      gather.erase();
  }
  *this = {};
}

/// Returns the operation after a gather if it writes the only result to a variable, and nothing
/// else uses it.
static WriteOp writeOf(AllGatherOp gather) {
  if (gather.getValues().size() != 1 || !gather.getValues().front().hasOneUse())
    return {};
  Operation *user = *gather.getValues().front().getUsers().begin();
  return user == gather->getNextNode() ? dyn_cast<WriteOp>(user) : WriteOp();
}

void mtc::joinUpdateGathers(func::FuncOp update, int64_t bucketBytes) {
  llvm::MapVector<std::pair<Type, int64_t>, Bucket> buckets; // by element type and stride
  for (Operation &op : llvm::make_early_inc_range(update.front())) {
    // An operation after the last gather reads the values that all gathers have written.
    for (const auto &variables : {readVariables(&op), writtenVariables(&op)})
      for (FlatSymbolRefAttr variable : variables)
        for (Bucket &bucket : llvm::make_second_range(buckets))
          if (bucket.writesTo(variable) && !llvm::is_contained(bucket.writes, &op))
            bucket.join();
    auto gather = dyn_cast<AllGatherOp>(op);
    WriteOp write = gather ? writeOf(gather) : WriteOp();
    if (!write)
      continue;
    auto type = cast<RankedTensorType>(gather.getValues().front().getType());
    Bucket &bucket = buckets[{type.getElementType(), static_cast<int64_t>(gather.getStride())}];
    if (bucket.bytes + byteSize(type) > bucketBytes)
      bucket.join();
    bucket.gathers.push_back(gather);
    bucket.writes.push_back(write);
    bucket.bytes += byteSize(type);
  }
  for (Bucket &bucket : llvm::make_second_range(buckets))
    bucket.join();
}
