"""The runner of the stages notices what tests leave behind, and has a stage for the mutations."""

import subprocess
import sys
import types

from project import ROOT

sys.path.insert(0, str(ROOT / "tests"))

import run_stages  # noqa: E402


def test_what_a_program_leaves_in_its_temporary_folder_is_named_and_removed():
    with run_stages.OwnTemp() as temp:
        assert temp.left() == []
        subprocess.run(["mktemp", "-p", temp.path, "sandkeep-XXXXXX"], check=True, capture_output=True)
        (temp.path / "pytest-of-somebody").mkdir()
        assert len(temp.left()) == 1 and temp.left()[0].startswith("sandkeep-")
    assert not temp.path.exists()


def test_a_unit_program_that_leaves_something_has_failed(tmp_path, monkeypatch):
    program = tmp_path / "test_littering"
    program.write_text('#!/bin/sh\nmktemp -d -t sandkeep-test-XXXXXX\necho "[       OK ] Litter.Bug"\n')
    program.chmod(0o755)
    monkeypatch.setattr(run_stages, "LOGS", tmp_path)
    run = run_stages.Run(long=False, fuzz_seconds=1, log=tmp_path / "unit.log")
    run.log.write_text("")
    result = run_stages.unit_program(run, program, {})
    assert result.passed == 1 and len(result.failures) == 1 and "left in its temporary folder" in result.failures[0]


def test_mutations_run_at_night_and_when_asked_for():
    def chosen(**wanted):
        return run_stages.chosen_stages(types.SimpleNamespace(**{"stages": [], "quick": False, "long": False, **wanted}))

    assert "mutations" not in chosen() and "mutations" in chosen(long=True)
    assert chosen(stages=["mutations"]) == ["mutations"]
