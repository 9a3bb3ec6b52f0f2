// Transport by MPI between the processes that a launcher has started, on one or several machines.
#ifndef MTC_RUNTIME_COLLECTIVES_MPI_TRANSPORT_H
#define MTC_RUNTIME_COLLECTIVES_MPI_TRANSPORT_H

#include "runtime/collectives/transport.h"

namespace mtc::runtime {

/// Initializes MPI, and finalizes it with the object. Throws a system error if MPI fails.
std::unique_ptr<Transport> openMpi();

} // namespace mtc::runtime

#endif // MTC_RUNTIME_COLLECTIVES_MPI_TRANSPORT_H
