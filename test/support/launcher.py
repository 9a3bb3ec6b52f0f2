"""Programs of several ranks, started by mpirun on this machine."""

import os
import shutil

SETTINGS = {
    # A test may run as root in a container.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # Ranks that wait share the cores with those that compute.
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    # Without this permission, which containers lack, Open MPI copies through shared memory, but says so.
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}
os.environ.update(SETTINGS)


def launcher(ranks: int) -> tuple:
    """The words that start a program on so many ranks."""
    assert shutil.which("mpirun"), "mpirun is missing: install libopenmpi-dev (tools/setup.sh)"
    return ("mpirun", "-n", ranks)
