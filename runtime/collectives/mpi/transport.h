// Transport by MPI: on one machine and on several, as the launcher has started the processes.
#ifndef MTC_RUNTIME_COLLECTIVES_MPI_TRANSPORT_H
#define MTC_RUNTIME_COLLECTIVES_MPI_TRANSPORT_H

#include "runtime/collectives/transport.h"

namespace mtc::runtime {

/// Initializes MPI, and finalizes it with the object. Throws a system error if MPI fails.
std::unique_ptr<Transport> openMpi();

} // namespace mtc::runtime

#endif // MTC_RUNTIME_COLLECTIVES_MPI_TRANSPORT_H
