"""The keep: large files, small files, long lists, many versions, and how much memory it takes."""

import json
import os
import pathlib
import random
import socket
import subprocess
import time

from tools import (FILES, PEER, Api, Row, disk_bytes, median, peer, percentile, random_file, rate, running, seconds_of, settle,
                   size_text)

GIB = 1 << 30


def upload(bench):
    """A large file, durable when it is answered, beside one thread that hashes, writes and syncs the same bytes."""
    size = bench.scaled(GIB, 4 << 20)
    ours, peers, dd = [], [], []
    with bench.server() as server, bench.room("upload") as folder:
        for number in range(bench.rounds):
            # New bytes each time: content that is there already would not be written again.
            source, target = random_file(folder / "source", size), folder / "target"
            settle()
            peers.append(peer("keep", source, target)["seconds"])
            target.unlink()
            settle()
            ours.append(peer("put", server.port, f"{FILES}/upload-{number}", source)["seconds"])
            settle()
            command = ["dd", f"if={source}", f"of={target}", "bs=1M", "conv=fsync", "status=none"]
            dd.append(seconds_of(lambda: subprocess.run(command, check=True)))
            target.unlink()
            bench.say(f"upload: {ours[-1]:.2f} s, peer {peers[-1]:.2f} s, dd {dd[-1]:.2f} s")
    share = median([p / o for p, o in zip(peers, ours)])
    yield Row(f"{size_text(size)} upload, durable", rate(size, median(ours)), f"hash, write, fsync: {rate(size, median(peers))}", share,
              "≥ 60 %", share >= 0.6, f"dd conv=fsync: {rate(size, median(dd))}")


NGINX = """daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {root}; }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port):
    deadline = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def nginx_command(folder, root, port):
    user = "user root;" if os.geteuid() == 0 else ""  # workers must be able to read the folder
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, root=root, port=port, user=user))
    return ["/usr/sbin/nginx", "-p", str(folder), "-c", str(config), "-e", str(folder / "error.log")]


def download(bench):
    """A large file that was read before, beside one thread that reads and sends it, and nginx."""
    size = bench.scaled(GIB, 4 << 20)
    seconds = {"ours": [], "peer": [], "nginx": []}
    with bench.server() as server, bench.room("download") as folder, bench.room("nginx") as nginx_folder:
        source = random_file(folder / "source", size)
        peer("put", server.port, f"{FILES}/download", source)
        first = peer("get", server.port, f"{FILES}/download")["seconds"]
        settle()
        port = free_port()
        with running([str(PEER), "serve", str(source)], stdout=subprocess.PIPE, text=True) as plain, \
                running(nginx_command(nginx_folder, folder, port)):
            peer_port = json.loads(plain.stdout.readline())["port"]
            wait_for_port(port)
            targets = {"ours": (server.port, f"{FILES}/download"), "peer": (peer_port, "/source"), "nginx": (port, "/source")}
            for number in range(bench.rounds + 1):
                for name, (target_port, path) in targets.items():
                    done = peer("get", target_port, path)
                    assert done["bytes"] == size, (name, done)
                    if number > 0:  # the first is for the caches
                        seconds[name].append(done["seconds"])
            bench.say(f"download: {seconds}")
    share = median([p / o for p, o in zip(seconds["peer"], seconds["ours"])])
    yield Row(f"{size_text(size)} download, verified before", rate(size, median(seconds["ours"])),
              f"read, send: {rate(size, median(seconds['peer']))}", share, "≥ 70 %", share >= 0.7,
              f"nginx: {rate(size, median(seconds['nginx']))}; our first read, which verifies: {rate(size, first)}")


def small(bench):
    """Files of 4 KiB, one per request, beside bare SQLite commits of the same bytes. Beside 32 clients stands also what SQLite does when
    32 rows share a commit, as puts of ours do that come at the same time."""
    for clients, wanted in ((1, 4000), (32, 16000)):
        count = bench.scaled(wanted, 64)
        ours, peers, grouped = [], [], []
        with bench.server() as server, bench.room("sqlite") as folder:
            peer("puts", server.port, f"{FILES}/warm", 64, clients)
            for number in range(bench.rounds):
                settle()
                peers.append(peer("commits", folder, count // (4 if clients > 1 else 1), 1))
                if clients > 1:
                    grouped.append(peer("commits", folder, count, clients))
                settle()
                ours.append(peer("puts", server.port, f"{FILES}/small-{number}", count, clients))
                bench.say(f"{clients} clients: {ours[-1]}, peer {peers[-1]}, in groups {grouped[-1:]}")
        ours_at, peer_at = (sorted(runs, key=lambda r: r["per_second"])[len(runs) // 2] for runs in (ours, peers))
        share = rate_share(ours, peers)
        beside = ""
        if grouped:
            at = sorted(grouped, key=lambda r: r["per_second"])[len(grouped) // 2]
            beside = f"SQLite, {clients} rows per commit: {at['per_second']:,.0f}/s, of which ours is {rate_share(ours, grouped) * 100:.0f} %"
        yield Row(f"4 KiB puts, {clients} client{'s' if clients > 1 else ''}", latencies(ours_at), f"SQLite, a row per commit: {latencies(peer_at)}",
                  share, "≥ 50 %", share >= 0.5, beside)


def rate_share(ours, peers):
    return median([o["per_second"] / p["per_second"] for o, p in zip(ours, peers)])


def latencies(run):
    return f"{run['per_second']:,.0f}/s, p50 {run['p50_ms']:.2f} ms, p99 {run['p99_ms']:.2f} ms"


def listing(bench):
    """All pages of one folder, beside find and ls on a folder of as many files."""
    count, batch = bench.scaled(100_000, 1000), 10_000
    name = "record-{:06d}.txt"
    with bench.server() as server, bench.room("listing") as folder:
        api = Api(server)
        start = time.monotonic()
        for first in range(0, count, batch):
            changes = [{"op": "put", "path": "many/" + name.format(i), "content": f"record {i}\n"}
                       for i in range(first, min(count, first + batch))]
            api.send("POST", "/api/v1/workspaces/default/batch", {"changes": changes})
        made_s = time.monotonic() - start
        for i in range(count):
            (folder / name.format(i)).write_text(f"record {i}\n")
        totals, pages = [], []
        for _ in range(bench.rounds):
            seconds = list_all(api, count)
            totals.append(sum(seconds))
            pages += seconds
        find = min(seconds_of(lambda: subprocess.run(["find", str(folder), "-type", "f", "-printf", "%p %s %T@ %m\n"],
                                                     stdout=subprocess.DEVNULL, check=True)) for _ in range(bench.rounds))
        ls = min(seconds_of(lambda: subprocess.run(["ls", "-l", str(folder)], stdout=subprocess.DEVNULL, check=True))
                 for _ in range(bench.rounds))
    bench.say(f"listing: {totals}; made in {made_s:.1f} s")
    yield Row(f"listing {count:,} files", f"{median(totals):.2f} s; a page of 1,000: p50 {median(pages) * 1e3:.1f} ms, "
              f"p99 {percentile(pages, 0.99) * 1e3:.1f} ms", f"find -printf: {find:.2f} s", find / median(totals), "", None,
              f"ls -l: {ls:.2f} s; made by batches of 10,000: {count / made_s:,.0f} files/s")


def list_all(api, count):
    """How long each page took. Reading its JSON is the client's affair."""
    seconds, seen, cursor = [], 0, ""
    while True:
        start = time.monotonic()
        content = api.send("GET", f"/api/v1/workspaces/default/list?folder=many&limit=1000{cursor}")
        seconds.append(time.monotonic() - start)
        page = json.loads(content)
        seen += len(page["items"])
        if not page["has_more"]:
            assert seen == count, f"{seen} of {count} files were listed"
            return seconds
        cursor = f"&cursor={page['next_cursor']}"


def make_rows(size):
    pick = random.Random(7)
    rows, total = [], 0
    while total < size:
        rows.append(f"{len(rows)},customer-{pick.randrange(1_000_000):06d},2026-{pick.randrange(1, 13):02d}-{pick.randrange(1, 29):02d},"
                    f"{pick.randrange(10_000_000) / 100:.2f},{pick.choice(('paid', 'open'))}\n")
        total += len(rows[-1])
    return rows


def versions(bench):
    """20 versions of a CSV of 100 MB, one row changed each, beside restic."""
    rows, count = make_rows(bench.scaled(100_000_000, 1_000_000)), 20
    pick = random.Random(8)
    ours, theirs = [], []
    with bench.server() as server, bench.room("versions") as folder:
        source, repository = folder / "table.csv", folder / "restic"
        environment = {**os.environ, "RESTIC_PASSWORD": "bench", "RESTIC_REPOSITORY": str(repository),
                       "RESTIC_CACHE_DIR": str(folder / "cache"), "HOME": str(folder)}
        restic = ["restic", "--quiet"]
        subprocess.run([*restic, "init"], env=environment, check=True, stdout=subprocess.DEVNULL)
        for number in range(count):
            if number > 0:  # of another length, so that all that follows moves
                changed = pick.randrange(len(rows))
                rows[changed] = f"{changed},changed in version {number},{'x' * number}\n"
            source.write_text("".join(rows))
            settle()
            ours.append(peer("put", server.port, f"{FILES}/table.csv", source)["seconds"])
            settle()
            theirs.append(seconds_of(lambda: subprocess.run([*restic, "backup", "--host", "bench", str(source)], env=environment, check=True)))
            bench.say(f"version {number + 1}: {ours[-1]:.2f} s, restic {theirs[-1]:.2f} s")
        size = source.stat().st_size
        at_once = disk_bytes(server.data)
        # What happens by itself, later, is asked for now.
        compressing_s = seconds_of(lambda: Api(server).send("POST", "/api/v1/gc", {}))
        later, restic_disk = disk_bytes(server.data), disk_bytes(repository)
    what = f"{count} versions of a CSV of {size / 1e6:.0f} MB"
    speed = sum(theirs) / sum(ours)
    yield Row(f"{what}: time", f"{sum(ours):.1f} s; first {ours[0]:.2f} s, then {median(ours[1:]):.2f} s each",
              f"restic: {sum(theirs):.1f} s; first {theirs[0]:.2f} s, then {median(theirs[1:]):.2f} s each", speed, "≥ 200 %", speed >= 2)
    yield Row(f"{what}: disk", f"{later / 1e6:.1f} MB", f"restic: {restic_disk / 1e6:.1f} MB", restic_disk / later, "no more disk",
              later <= restic_disk, f"{at_once / 1e6:.1f} MB before compression in the background, which takes {compressing_s:.1f} s")


def high_water_bytes(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def memory(bench):
    """The most memory that the server ever had, with one very large upload."""
    size = bench.scaled(4 * GIB, 16 << 20)
    with bench.server() as server:
        before = high_water_bytes(server.process)
        peer("put", server.port, f"{FILES}/large", size)
        after = high_water_bytes(server.process)
    yield Row(f"server memory, {size_text(size)} upload", f"{after / 1e6:.0f} MB", f"idle: {before / 1e6:.0f} MB", None, "< 100 MB", after < 100e6)
