"""Mutations fit the tree, say what they break, and name tests that exist."""

import functools
import re
import shlex
import sys

from project import ROOT, complain, files, name, text

sys.path.insert(0, str(ROOT / "tests" / "mutations"))

import run  # noqa: E402

MUTATIONS = run.all_mutations()


def test_every_mutation_says_what_it_breaks_and_who_notices():
    complain((one.name for one in MUTATIONS if not one.breaks or not one.noticed_by or not one.diff.startswith("--- ")),
             "Needs '# breaks:', '# noticed by:' and a diff:")


def test_every_mutation_applies_to_this_tree():
    complain((one.name for one in MUTATIONS if not run.apply(one, ROOT, "--check")), "Does not apply any more; make it again (tests/mutations/README.md):")


def test_every_mutation_changes_one_file_of_the_product():
    def changed(one):
        return re.findall(r"^\+\+\+ b/(\S+)", one.diff, re.M)

    complain((one.name for one in MUTATIONS if len(changed(one)) != 1 or not changed(one)[0].startswith(("src/", "runtime/"))), "One file of src/ or runtime/ each:")


@functools.cache
def cases_of(program):
    """Names of the tests of a unit-test program, from its sources."""
    folder = f"tests/unit/{program.removeprefix('test_')}"
    sources = "\n".join(text(path) for path in files(f"{folder}/*.cpp", f"{folder}/*.h"))
    found = re.findall(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|RC_GTEST_PROP)\(\s*(\w+),\s*(\w+)", sources, re.M)
    return [f"{suite}.{case}" for suite, case in found]


def matches(pattern, case):
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), case) is not None


def problem_of(selection):
    words = shlex.split(selection)
    if re.fullmatch(r"model \d+", selection):
        return None
    if selection.startswith("tests/"):
        return next((f"{word} does not exist" for word in words if word.startswith("tests/") and not (ROOT / word.partition("::")[0]).exists()), None)
    cases = cases_of(words[0])
    if not cases:
        return f"there is no program {words[0]}"
    wanted = (words[1] if len(words) > 1 else "*").partition("-")[0]
    # Parameterised suites have a name before theirs.
    if not any(matches(pattern, case) or matches(pattern, "X/" + case + "/0") for pattern in wanted.split(":") for case in cases):
        return f"no test of {words[0]} is called {wanted}"
    return None


def test_every_selection_exists():
    complain((f"{one.name}: {problem}" for one in MUTATIONS for selection in one.noticed_by if (problem := problem_of(selection))), "Names no test:")


def test_at_most_one_in_twenty_is_known_to_survive():
    assert sum(bool(one.survives) for one in MUTATIONS) <= len(MUTATIONS) * (1 - run.GOAL)


def test_properties_are_checked_with_a_limit():
    """Rapidcheck searches for a smaller counterexample without end."""
    own = ROOT / "tests/support/property.h"
    complain((name(path) for path in files("tests/*.cpp", "tests/*.h") if path != own and re.search(r"\brc::check\(|#include <rapidcheck", text(path))),
             "Include \"support/property.h\" and use check_property():")
