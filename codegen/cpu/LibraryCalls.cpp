//===- LibraryCalls.cpp - What the CPU's libraries say of calls -------------------------------===//

#include "codegen/cpu/LibraryCalls.h"

#include "codegen/program/CallDescription.h"

using namespace mtc;

LibraryTarget cpu::libraryCalls(unsigned threads) {
  int most = static_cast<int>(threads);
  return {[most](mlir::Operation *op) {
            CallDescription call = describeCall(op);
            return mtc_call_scratch_bytes(call.kind, call.bytes.data(), most);
          },
          [most](mlir::Operation *op) {
            CallDescription call = describeCall(op);
            return static_cast<int>(mtc_call_rate(call.kind, call.bytes.data(), most));
          }};
}
