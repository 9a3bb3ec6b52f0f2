// main of every compiled program of one process.
#include "runtime/run_program.h"

int main(int count, char **arguments) {
  return mtc::runtime::runMain(mtc_program, count, arguments, /*open=*/nullptr);
}
