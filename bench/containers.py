"""OpenAI's API, beside nginx that answers the same bytes: what the dialect and the catalog cost over a plain file."""

import json
import re
import subprocess
import urllib.request

from storage import free_port, nginx_command, wait_for_port
from tools import ROOT_KEY, Api, Row, median, running

CLIENTS = 32
UNITS_MS = {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}


class Load:
    """What wrk found out: requests and bytes per second, and the times in between."""

    def __init__(self, url, clients, seconds):
        command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--latency", "-H", f"Authorization: Bearer {ROOT_KEY}", url]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in text or "Socket errors" in text:
            raise RuntimeError(f"{url}: {text}")
        self.rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1))
        self.p50_ms, self.p99_ms = (self._milliseconds(text, share) for share in ("50", "99"))

    @staticmethod
    def _milliseconds(text, share):
        number, unit = re.search(rf"^\s+{share}%\s+([\d.]+)(us|ms|s|m)", text, re.M).groups()
        return float(number) * UNITS_MS[unit]

    def text(self):
        return f"{self.rate:,.0f}/s, p50 {self.p50_ms:.2f} ms, p99 {self.p99_ms:.2f} ms"


def fetch(url):
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Authorization": f"Bearer {ROOT_KEY}"})) as answer:
        return answer.read()


def compare(bench, ours, theirs, clients):
    """The median round of each, and the median of the shares of the rounds."""
    seconds = max(1, int(5 * bench.scale))
    rounds = []
    for _ in range(bench.rounds):
        rounds.append((Load(ours, clients, seconds), Load(theirs, clients, seconds)))
        bench.say(f"{ours.split('/v1/')[1]}: {rounds[-1][0].text()}; nginx: {rounds[-1][1].text()}")
    middle = [sorted(side, key=lambda load: load.rate)[len(side) // 2] for side in zip(*rounds)]
    return *middle, median([mine.rate / other.rate for mine, other in rounds])


def containers(bench):
    with bench.server("--log-requests=off", environment={"SANDKEEP_SANDBOX": "required"}) as server, bench.room("nginx") as folder:
        api = Api(server)
        container = api.call("POST", "/v1/containers", {"name": "bench"})["id"]
        count, size = 100, bench.scaled(10_000_000, 100_000)
        code = (f"import os\nfor i in range({count - 1}):\n    with open(f'{{i:03}}.txt', 'w') as out: out.write(str(i))\n"
                f"with open('large.bin', 'wb') as out: out.write(os.urandom({size}))")
        ran = api.call("POST", f"/v1/containers/{container}/exec", {"code": code})
        large = next(file["id"] for file in ran["files"] if file["path"].endswith("large.bin"))
        url = f"http://127.0.0.1:{server.port}/v1/containers/{container}"
        asked = {"container": url, "list": f"{url}/files?limit={count}", "large": f"{url}/files/{large}/content"}
        root = folder / "root"
        root.mkdir()
        for name, address in asked.items():
            (root / name).write_bytes(fetch(address))
        if len(json.loads((root / "list").read_bytes())["data"]) != count:
            raise RuntimeError("the list is not whole")
        port = free_port()
        with running(nginx_command(folder, root, port)):
            wait_for_port(port)
            plain = f"http://127.0.0.1:{port}"
            ours, nginx, share = compare(bench, asked["container"], f"{plain}/container", CLIENTS)
            yield Row(f"`GET /v1/containers/{{id}}`, {CLIENTS} clients", ours.text(), f"nginx, the same bytes: {nginx.text()}", share, "≥ 25 %", share >= 0.25)
            ours, nginx, share = compare(bench, asked["list"], f"{plain}/list", CLIENTS)
            yield Row(f"{count} container files listed, {CLIENTS} clients", ours.text(), f"nginx, the same bytes: {nginx.text()}", share)
            ours, nginx, share = compare(bench, asked["large"], f"{plain}/large", 4)
            yield Row(f"a container file of {size / 1e6:.0f} MB downloaded, 4 clients", f"{ours.rate * size / 1e6:,.0f} MB/s",
                      f"nginx: {nginx.rate * size / 1e6:,.0f} MB/s", share)
