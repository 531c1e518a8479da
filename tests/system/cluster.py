"""A real SLURM cluster of one node on this machine: its programs, its daemons, its queue.

Everything is in a scratch folder, except /etc/slurm/slurm.conf: SLURM removes SLURM_CONF from the
environment of nested commands, so they only find the file there.
"""

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from .packages import UnavailableError, install_packages

CONF = Path("/etc/slurm/slurm.conf")
BACKUP = Path("/etc/slurm/slurm.conf.before-test")  # of a file that was there
PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
PROGRAMS = ("slurmctld", "slurmd", "squeue", "munged", "munge")
DEADLINE = 240  # seconds until waiting for a state is given up; a busy machine may need them

SLURM_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={scratch}/munge.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=16817
SlurmdPort=16818
SrunPortRange=16900-16999
StateSaveLocation={scratch}/state
SlurmdSpoolDir={scratch}/spool
SlurmctldPidFile={scratch}/slurmctld.pid
SlurmdPidFile={scratch}/slurmd.pid
SlurmctldLogFile={scratch}/slurmctld.log
SlurmdLogFile={scratch}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
EnforcePartLimits=ALL
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
MinJobAge=3600
KillWait=5
DefMemPerCPU=200
SlurmdParameters=config_overrides
NodeName=localhost NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=UNLIMITED State=UP
"""


def wait_for(what: str, condition: Callable[[], object], deadline: float = DEADLINE) -> object:
    """What the condition returns once it is true."""
    end = time.monotonic() + deadline
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError(f"waited {deadline} s in vain for {what}")


def install() -> None:
    """Make sure that SLURM's programs are here and that its daemons are not in use already."""
    if os.geteuid() != 0:
        raise UnavailableError("SLURM's daemons need root")
    if {p.name() for p in psutil.process_iter()} & {"slurmctld", "slurmd"}:
        raise UnavailableError("SLURM runs on this machine already; its slurm.conf is left alone")
    install_packages(PACKAGES, PROGRAMS)


@dataclass
class Cluster:
    """The daemons in a scratch folder, started and stopped by it alone."""

    scratch: Path
    daemons: list[subprocess.Popen] = field(default_factory=list)

    def start(self) -> None:
        self._write_conf()
        for folder in ("state", "spool"):
            (self.scratch / folder).mkdir()
        self._start_munge()
        self._daemon("slurmctld", "-D", "-i")
        self._daemon("slurmd", "-D", "-N", "localhost")
        wait_for("an idle node", lambda: self.node_state() == "idle", deadline=60)

    def stop(self) -> None:
        with suppress(subprocess.TimeoutExpired):  # where the controller never came up
            subprocess.run(["scancel", "--user=root"], capture_output=True, timeout=60)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._restore_conf()

    def node_state(self) -> str:
        return self._text("sinfo", "--noheader", "--format=%T")

    def set_node(self, state: str) -> None:
        command = ["scontrol", "update", "nodename=localhost", f"state={state}", "reason=test"]
        subprocess.run(command, check=True)

    def jobs(self, folder: Path) -> dict[str, str]:
        """State by id of the jobs submitted from a folder, in their order, ended ones too."""
        columns = ["--sort=i", "--format=%i %T %Z"]
        lines = self._text("squeue", "--noheader", "--states=all", *columns).splitlines()
        jobs = (line.split(maxsplit=2) for line in lines)
        return {job: state for job, state, submitted_from in jobs if submitted_from == str(folder)}

    def time_limit(self, job: str) -> str:
        """As squeue writes it: [days-][hours:]minutes:seconds."""
        return self._text("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%l")

    @staticmethod
    def _text(*command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    def _start_munge(self) -> None:
        key = self.scratch / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        files = [f"--{name}-file={self.scratch}/munge.{name}" for name in ("pid", "log", "seed")]
        at = f"--socket={self.scratch}/munge.socket"
        self._daemon("munged", "--foreground", f"--key-file={key}", at, *files)
        credential = ["munge", "--no-input", at]
        wait_for(
            "munged",
            lambda: subprocess.run(credential, capture_output=True).returncode == 0,
            deadline=60,
        )

    def _daemon(self, *command: str) -> None:
        with (self.scratch / f"{command[0]}.out").open("w") as out:
            self.daemons.append(subprocess.Popen(command, stdout=out, stderr=out))

    def _write_conf(self) -> None:
        if CONF.exists() and not BACKUP.exists():
            CONF.rename(BACKUP)
        CONF.parent.mkdir(exist_ok=True)
        memory = psutil.virtual_memory().total * 9 // 10 // 2**20
        host = socket.gethostname().split(".")[0]
        CONF.write_text(SLURM_CONF.format(host=host, scratch=self.scratch, memory=memory))

    @staticmethod
    def _restore_conf() -> None:
        CONF.unlink(missing_ok=True)
        if BACKUP.exists():
            BACKUP.rename(CONF)
