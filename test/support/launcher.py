"""Programs of several ranks, started by mpirun on this machine."""

import os
import shutil

# Ranks that wait share the cores with those that compute; a test may run as root in a container.
os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
os.environ["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
os.environ["OMPI_MCA_hwloc_base_binding_policy"] = "none"
# Without this permission, which containers lack, Open MPI copies through shared memory, but says so.
os.environ["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"


def launcher(ranks: int) -> tuple:
    """The words that start a program on so many ranks."""
    assert shutil.which("mpirun"), "mpirun is missing: install libopenmpi-dev (tools/setup.sh)"
    return ("mpirun", "-n", ranks)
