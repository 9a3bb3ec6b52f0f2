// main of every compiled program.
#include "runtime/run_program.h"

#include <climits>
#include <string>
#include <unistd.h>
#include <vector>

int main(int count, char **arguments) {
  // The real path of the executable, independent of the name in argv[0].
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  std::string program = length > 0  ? std::string(path, static_cast<size_t>(length))
                        : count > 0 ? arguments[0]
                                    : "";
  return mtc::runtime::runProgram(
      mtc_program, program, std::vector<std::string>(arguments + (count > 0), arguments + count));
}
