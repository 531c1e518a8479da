"""An S3 store on this machine, and what Snakemake needs to use one, in a folder of their own."""

import os
import socket
import subprocess
import sys
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .cluster import wait_for
from .packages import UnavailableError

REQUIREMENTS = Path(__file__).with_name("storage-requirements.txt")
BUCKET = "results"
OPTIONS = ["--default-storage-provider=s3", f"--default-storage-prefix=s3://{BUCKET}"]


def install(folder: Path) -> None:
    """Packages beside those of `envs/requirements.txt`, whose environment stays as it is."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "--no-deps", f"--target={folder}", f"--requirement={REQUIREMENTS}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise UnavailableError(f"pip failed: {done.stderr.strip()}")


@dataclass
class Store:
    packages: Path
    environment: dict[str, str] = field(init=False)
    server: subprocess.Popen = field(init=False)
    url: str = field(init=False)

    def start(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.environment = os.environ | {
            "PYTHONPATH": str(self.packages),
            "SNAKEMAKE_STORAGE_S3_ENDPOINT_URL": self.url,
            "SNAKEMAKE_STORAGE_S3_ACCESS_KEY": "any",
            "SNAKEMAKE_STORAGE_S3_SECRET_KEY": "any",
            "CHECKPOINT_SECONDS": "0.5",
        }
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.server = subprocess.Popen(command, env=self.environment, **quiet)
        request = urllib.request.Request(f"{self.url}/{BUCKET}", method="PUT")

        def made() -> bool:
            with suppress(OSError):
                return urllib.request.urlopen(request).status == 200
            return False

        wait_for("the store", made, deadline=60)

    def text(self, name: str) -> str:
        """Of a file in the bucket."""
        client = f"boto3.client('s3', endpoint_url={self.url!r}, region_name='us-east-1')"
        keys = dict(AWS_ACCESS_KEY_ID="any", AWS_SECRET_ACCESS_KEY="any")
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                f"import boto3; print({client}.get_object(Bucket={BUCKET!r}, Key={name!r})"
                "['Body'].read().decode())",
            ],
            env=self.environment | keys,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def stop(self) -> None:
        self.server.terminate()
        self.server.wait(timeout=30)
