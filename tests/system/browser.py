"""A headless Chromium, driven by chromedriver's own protocol."""

import base64
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from .cluster import wait_for

PACKAGES = ("chromium", "chromium-driver")
PROGRAMS = ("chromium", "chromedriver")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",  # Chromium refuses to run as root with one
    "--disable-dev-shm-usage",  # which is small in containers
    "--window-size=1600,900",
)
PATIENCE = 60  # seconds until something should be on the page


@dataclass(frozen=True)
class Browser:
    """A session; `url` is chromedriver's address of it."""

    url: str

    def open(self, page: Path, fragment: str = "") -> None:
        self._post("url", url=page.as_uri() + (f"#{fragment}" if fragment else ""))

    def run(self, script: str) -> object:
        """What JavaScript returns, in the page or the frame that is entered."""
        return self._post("execute/sync", script=script, args=[])

    def wait_for(self, script: str) -> object:
        return wait_for(script, lambda: self.run(f"return {script}"), deadline=PATIENCE)

    def click(self, selector: str, text: str, part: str = "") -> None:
        """The first element there that has the text in it, or the named part of that."""
        elements = f"[...document.querySelectorAll({selector!r})]"
        found = f"{elements}.find(element => element.innerText.includes({text!r}))"
        self.wait_for(f"Boolean({found})")
        self.run(f"{found}{part}.click()")

    @contextmanager
    def frame(self) -> Iterator[None]:
        """Inside the page's only frame."""
        self.wait_for("Boolean(document.querySelector('iframe'))")
        self._post("frame", id=0)
        yield
        self._post("frame", id=None)

    def press(self, selector: str, keys: str) -> None:
        """Keys, typed while the element has the focus; special ones are WebDriver's."""
        found = self._post("element", using="css selector", value=selector)
        self._post(f"element/{next(iter(found.values()))}/value", text=keys)

    def point_at(self, x: float, y: float) -> None:
        """With the mouse, in pixels of the page."""
        self._devtools("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def names(self, selector: str) -> list[str]:
        """What a screen reader calls the elements there."""
        found = self._post("elements", using="css selector", value=selector)
        ids = [next(iter(element.values())) for element in found]
        labels = [f"{self.url}/element/{i}/computedlabel" for i in ids]
        return [requests.get(label, timeout=PATIENCE).json()["value"] for label in labels]

    def clipboard(self) -> str:
        """What was copied last."""
        granted = {"descriptor": {"name": "clipboard-read"}, "state": "granted"}
        self._post("permissions", **granted)
        read = "navigator.clipboard.readText().then(arguments[0], e => arguments[0](String(e)))"
        return self._post("execute/async", script=read, args=[])

    def emulate(self, width: int, height: int, scheme: str = "light") -> None:
        """A window of that size, on a system with that colour scheme."""
        phone = width < 500
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self._devtools("Emulation.setDeviceMetricsOverride", size)
        preference = {"name": "prefers-color-scheme", "value": scheme}
        self._devtools("Emulation.setEmulatedMedia", {"features": [preference]})

    def errors(self) -> list[str]:
        """What the console has had to complain of since it was last asked."""
        return [entry["message"] for entry in self._log() if entry["level"] == "SEVERE"]

    def screenshot(self, path: Path) -> None:
        answer = requests.get(f"{self.url}/screenshot", timeout=PATIENCE)
        path.write_bytes(base64.b64decode(answer.json()["value"]))

    def _devtools(self, command: str, parameters: dict) -> object:
        return self._post("goog/cdp/execute", cmd=command, params=parameters)

    def _log(self) -> list[dict]:
        return self._post("se/log", type="browser")

    def _post(self, command: str, **body: object) -> object:
        answer = requests.post(f"{self.url}/{command}", json=body, timeout=2 * PATIENCE)
        assert answer.ok, answer.text
        return answer.json()["value"]


@contextmanager
def chromium() -> Iterator[Browser]:
    driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
    try:
        line = next(line for line in driver.stdout if "successfully on port" in line)
        port = re.search(r"port (\d+)", line).group(1)
        sessions = f"http://127.0.0.1:{port}/session"
        options = {"args": ARGUMENTS, "binary": "/usr/bin/chromium"}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = requests.post(
            sessions, json={"capabilities": {"alwaysMatch": wanted}}, timeout=4 * PATIENCE
        )
        assert answer.ok, answer.text
        session = f"{sessions}/{answer.json()['value']['sessionId']}"
        try:
            yield Browser(session)
        finally:
            requests.delete(session, timeout=PATIENCE)  # chromedriver's own end leaves Chromium
    finally:
        driver.terminate()
        driver.wait(timeout=30)
