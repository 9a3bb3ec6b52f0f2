"""Starts programs of several ranks by Open MPI on this machine."""

import os
import shutil

SETTINGS = {
    # Tests may run as root in a container.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # There may be more ranks than cores, so ranks are not bound to cores.
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    # Without the permission for direct copies, which containers lack, Open MPI uses shared memory and prints a warning.
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    # The components that Open MPI selects on one machine. Trying the others takes half of a program's start.
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_pml": "ob1",
}
os.environ.update(SETTINGS)


def launcher(ranks: int) -> tuple:
    """Returns the command prefix that starts a program on `ranks` ranks."""
    assert shutil.which("mpirun"), "mpirun is missing: install libopenmpi-dev (tools/setup.sh)"
    return ("mpirun", "-n", ranks)
