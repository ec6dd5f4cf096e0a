"""docs/rest.md: its examples run, and it names every operation."""

import os
import re
import subprocess

import pytest

from rest_client import Client
from sandkeep_server import PROJECT, ROOT_KEY

DOCUMENT = (PROJECT / "docs" / "rest.md").read_text()


def test_every_example_runs(make_server, tmp_path):
    """In order, in one shell, as a reader would paste them. What curl refuses ends the script."""
    one = make_server(environment={"SANDKEEP_SANDBOX": "required"})
    blocks = re.findall(r"^```sh\n(.*?)^```", DOCUMENT, re.M | re.S)
    assert len(blocks) > 15
    script = "set -euo pipefail\n" + "\n".join(f"echo '== block {number}' >&2\n{block}" for number, block in enumerate(blocks))
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SANDKEEP_SERVER": one.url, "SANDKEEP_KEY": ROOT_KEY})
    assert done.returncode == 0, done.stderr[-2000:]
    assert "month,revenue" in done.stdout and "event: file.create" in done.stdout


def test_every_operation_is_named_and_no_other(server):
    document = Client(server, None).get("/api/v1/openapi.json", 200).json()
    operations = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    named = set(re.findall(r"^\| `([A-Z]+ /\S*)` \|", DOCUMENT, re.M))
    assert named == operations


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(#([a-z0-9-]+)\)", DOCUMENT))))
def test_links_within_the_document_lead_to_a_section(target):
    titles = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^## (.+)$", DOCUMENT, re.M)}
    assert target in titles
