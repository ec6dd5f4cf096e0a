"""Scripts can be run, and packages are all listed."""

import re
import subprocess

from project import ROOT, complain, files, name, text


def scripts():
    return [path for path in files("script/*", ".ci/*", "bench/*", "tests/*", "packaging/*") if text(path).startswith("#!")]


def test_the_commands_of_the_project_are_there():
    expected = ["script/bootstrap", "script/build", "script/server", "script/test", "script/bench", "script/lint", ".ci/run"]
    complain((e for e in expected if not (ROOT / e).is_file()), "Missing:")


def test_scripts_are_executable():
    complain((name(path) for path in scripts() if not path.stat().st_mode & 0o100), "Run 'chmod +x' on:")


def test_what_is_executable_says_with_what_to_run_it():
    loose = [path for path in files("script/*", ".ci/*") if path.stat().st_mode & 0o100 and not text(path).startswith("#!")]
    complain(map(name, loose), "No '#!' line:")


def test_shell_scripts_stop_at_the_first_failure():
    shell = [path for path in scripts() if re.match(r"#!.*\b(ba)?sh\b", text(path))]
    complain((name(path) for path in shell if not re.search(r"^set -e", text(path), re.M)), "Add 'set -euo pipefail':")


def test_shell_scripts_parse():
    for path in scripts():
        if re.match(r"#!.*\bbash\b", text(path)):
            subprocess.run(["bash", "-n", path], check=True)


def test_python_is_debians_own():
    """The packages come from Debian; another Python on the PATH would not find them."""
    python = [path for path in scripts() if "python" in text(path).splitlines()[0]]
    complain((name(p) for p in python if text(p).splitlines()[0] != "#!/usr/bin/python3"), "Begin with '#!/usr/bin/python3':")


def test_every_library_of_the_build_is_a_listed_package():
    listed = text(ROOT / "packaging/debian-packages.txt")
    cmake = "\n".join(text(path) for path in files("CMakeLists.txt", "cmake/*.cmake"))
    modules = {m for group in re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET ([\w .-]+)\)", cmake) for m in group.split()}
    assert modules
    owners = set()
    for module in sorted(modules):
        folder = subprocess.run(["pkg-config", "--variable=pcfiledir", module], capture_output=True, text=True, check=True)
        found = subprocess.run(
            ["dpkg-query", "-S", f"{folder.stdout.strip()}/{module}.pc"], capture_output=True, text=True, check=False
        )
        if found.returncode == 0:
            owners.add((module, found.stdout.split(":")[0]))
    complain((f"{module} of {owner}" for module, owner in owners if f" {owner} " not in listed), "Not in packaging/debian-packages.txt:")


def test_no_package_is_listed_twice_in_a_group():
    rows = [line.split()[:2] for line in text(ROOT / "packaging/debian-packages.txt").splitlines() if line and not line.startswith("#")]
    complain((" ".join(row) for row in rows if rows.count(row) > 1), "Listed twice:")
