// main of a program with several ranks.
#include "runtime/collectives/mpi/transport.h"
#include "runtime/run_program.h"

int main(int count, char **arguments) {
  return mtc::runtime::runMain(mtc_program, count, arguments, mtc::runtime::openMpi);
}
