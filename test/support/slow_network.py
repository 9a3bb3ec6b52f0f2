"""Simulates two hosts on one machine by network namespaces that are connected by a slow link. The module needs root, iproute2 and
/dev/net/tun."""

import ctypes
import fcntl
import heapq
import os
import select
import struct
import subprocess
import threading
import time
from pathlib import Path

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000


class SlowNetwork:
    """Packets reach the other host after `delay` seconds, in order. The hosts have the addresses 10.77.0.1 and 10.77.0.2."""

    def __init__(self, delay: float):
        self.delay = delay
        self.hosts = [f"mtc{os.getpid()}{side}" for side in "ab"]
        self.addresses = ["10.77.0.1", "10.77.0.2"]
        self.packets = 0

    def __enter__(self) -> "SlowNetwork":
        self.devices = []
        for host, address in zip(self.hosts, self.addresses):
            subprocess.run(["ip", "netns", "add", host], check=True)
            self.devices.append(self.open_device(host))
            for words in (["addr", "add", f"{address}/24", "dev", "link0"], ["link", "set", "link0", "mtu", "65000", "up"], ["link", "set", "lo", "up"]):
                subprocess.run(["ip", "-n", host, *words], check=True)
        self.stops = threading.Event()
        self.thread = threading.Thread(target=self.forward)
        self.thread.start()
        return self

    @staticmethod
    def open_device(host: str) -> int:
        """Opens a new device in a namespace, in a thread, because threads have separate namespaces."""
        opened = []

        def run():
            libc = ctypes.CDLL(None, use_errno=True)
            with open(f"/var/run/netns/{host}") as namespace:
                if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
                    return
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"link0", IFF_TUN | IFF_NO_PI))
            opened.append(device)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if not opened:
            raise OSError(f"no device in the network namespace {host}")
        return opened[0]

    def forward(self):
        waiting: list[tuple[float, int, int, bytes]] = []  # time, number, device, packet
        while not self.stops.is_set():
            pause = max(0, waiting[0][0] - time.monotonic()) if waiting else 0.1
            for device in select.select(self.devices, [], [], pause)[0]:
                other = self.devices[1 - self.devices.index(device)]
                packet = os.read(device, 65536)
                self.packets += 1
                heapq.heappush(waiting, (time.monotonic() + self.delay, self.packets, other, packet))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, device, packet = heapq.heappop(waiting)
                try:
                    os.write(device, packet)
                except BlockingIOError:
                    pass  # Lost packets are sent again, as on any network.

    def __exit__(self, *_):
        self.stops.set()
        self.thread.join()
        for device in self.devices:
            os.close(device)
        for host in self.hosts:
            subprocess.run(["ip", "netns", "del", host], check=True)

    def write_script(self, folder: Path, host: int, begin: str, command: str) -> Path:
        """Writes a script that runs `command`, with the script's arguments as "$@", on a host with its own name and shared memory."""
        name, script = self.hosts[host], folder / f"on_{'ab'[host]}.sh"
        setup = f"hostname {name} && mount -t tmpfs none /dev/shm"
        script.write_text(f"#!/bin/sh\n{begin}\nexec ip netns exec {name} unshare --uts --mount sh -c '{setup} && {command}' sh \"$@\"\n")
        script.chmod(0o755)
        return script

    def launcher(self, folder: Path, ranks: tuple[int, int], hidden: Path | None = None) -> tuple:
        """Returns the command prefix that starts ranks on both hosts; mpirun runs on the first one. The second host has an empty folder in
        place of `hidden`."""
        # mpirun passes the address of the other host and a command for its shell.
        hide = f"mount -t tmpfs none {hidden} && " if hidden else ""
        agent = self.write_script(folder, 1, "shift", hide + 'eval "$*"')
        first = self.write_script(folder, 0, "", 'exec "$@"')
        hosts = ",".join(f"{address}:{count}" for address, count in zip(self.addresses, ranks))
        settings = {
            "plm_rsh_agent": agent,
            # All traffic between the hosts uses the link.
            "btl": "self,vader,tcp", "pml": "ob1", "btl_tcp_if_include": "link0", "oob_tcp_if_include": "link0",
        }  # fmt: skip
        words = [word for name, value in settings.items() for word in ("--mca", name, str(value))]
        return (first, "mpirun", *words, "--host", hosts, "-n", sum(ranks))
