"""The command line and its documents say the same."""

import re

import pytest
from sandkeep_cli import Cli
from sandkeep_server import PROJECT


@pytest.fixture(scope="module")
def cli(tmp_path_factory):
    return Cli(tmp_path_factory.mktemp("home"), key=None)


@pytest.fixture(scope="module")
def commands(cli):
    """Every command, from the overview: "trash ls|restore|purge|empty" stands for four."""
    found = []
    body = cli("help").out.split("\nThe server\n")[1].split("\nA PATH")[0]
    for line in re.findall(r"^  ([a-z]\S*(?: [a-z|-]+)?)  ", body, re.M):
        family, _, members = line.partition(" ")
        found += [f"{family} {member}" for member in members.split("|")] if members else [family]
    assert len(found) > 30
    return found


@pytest.fixture(scope="module")
def document():
    return (PROJECT / "docs" / "cli.md").read_text()


def test_every_command_is_documented_with_an_example(commands, document):
    sections = {title: text for title, text in re.findall(r"^### (.+)\n((?:(?!^##).*\n?)*)", document, re.M)}
    assert sorted(sections) == sorted(commands)
    for command in commands:
        assert re.search(rf"```sh\n(.*\n)*?.*sandkeep {command}\b", sections[command]), f"docs/cli.md shows no example of {command}"


def test_every_command_has_help(cli, commands):
    for command in commands:
        text = cli(*command.split(), "--help").out
        assert f"Usage: sandkeep {command}" in text
        assert "Examples" in text
        assert cli("help", *command.split()).out == text


def test_documented_examples_are_commands_with_known_options(cli, commands, document):
    known = {command: cli(*command.split(), "--help").out for command in commands}
    for line in re.findall(r"^.*?(?:\$\(|\| )?sandkeep ([a-z].*)$", "\n".join(re.findall(r"```sh\n(.*?)```", document, re.S)), re.M):
        words = line.split()
        command = " ".join(words[:2]) if " ".join(words[:2]) in known else words[0]
        assert command in known, line
        for option in re.findall(r" (--[a-z][a-z-]*)", line.split(" -- ")[0]):
            assert option in known[command], f"{line}: {option} is not an option of {command}"


def test_exit_codes_are_documented(cli, document):
    table = re.findall(r"^  (\d+) +(.+)$", cli("help").out.split("Exit codes\n")[1], re.M)
    assert len(table) >= 10
    for code, meaning in table:
        assert f"| {code} | {meaning} |" in document.replace("`", "'"), f"exit code {code} is not in docs/cli.md as '{meaning}'"


def test_the_version_is_the_projects(cli):
    project = re.search(r"project\(sandkeep VERSION (\S+)", (PROJECT / "CMakeLists.txt").read_text()).group(1)
    assert cli("--version").out == f"sandkeep {project}\n"
