"""The structure holds: every module has its test, imports point one way."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
IMPORT = re.compile(r"^\s*(?:from|import) ([\w.]+)", re.MULTILINE)

PACKAGES = ("proxy", "rules", "plugins", "chaos", "deploy")
MESSAGES = (("proxy", "protocol", "messages"), ("proxy", "protocol", "consumer_protocol"))
EXAMPLES = ROOT / "chaos" / "examples"  # separate projects, with their own tests

# Parts that only work together -> the tests that run all of them.
CONVERSATION = "tests/proxy/core/test_link.py"
GATEWAY = "tests/proxy/net/test_gateway.py"
TESTED_WITH = {
    "chaos/commits.py": "tests/chaos/test_checker.py",
    "plugins/acl/acl_messages.py": "tests/plugins/acl/test_managed.py",
    "plugins/acl/answers.py": "tests/plugins/acl/test_checks.py",
    "plugins/acl/errors.py": "tests/plugins/acl/test_checks.py",
    "plugins/acl/fetched.py": "tests/plugins/acl/test_fetch.py",
    "plugins/acl/metadata.py": "tests/plugins/acl/test_topics.py",
    "plugins/acl/pending_fetch.py": "tests/plugins/acl/test_fetch.py",
    "plugins/audit/connection_events.py": "tests/plugins/audit/test_audit.py",
    "plugins/audit/event_reading.py": "tests/plugins/audit/test_search.py",
    "plugins/audit/request_notes.py": "tests/plugins/audit/test_audit.py",
    "plugins/audit/resource_reading.py": "tests/plugins/audit/test_resources.py",
    "plugins/audit/unread.py": "tests/plugins/audit/test_counted.py",
    "plugins/audit/window_counts.py": "tests/plugins/audit/test_windows.py",
    "plugins/audit/reports/controls.py": "tests/plugins/audit/reports/render/test_page.py",
    "plugins/audit/reports/expressions.py": "tests/plugins/audit/reports/catalogue/test_recounts.py",
    "plugins/audit/reports/pipeline/computed.py": "tests/plugins/audit/reports/test_job.py",
    "plugins/audit/reports/pipeline/sources.py": "tests/plugins/audit/reports/test_job.py",
    "plugins/faults/kinds.py": "tests/plugins/faults/effects/test_answers.py",
    "plugins/faults/trials.py": "tests/plugins/faults/test_on_requests.py",
    "plugins/sasl_inspected/claims.py": "tests/plugins/test_sasl_inspected.py",
    "plugins/sasl_inspected/raw_tokens.py": "tests/plugins/test_sasl_inspected.py",
    "plugins/sasl_terminated/bare_tokens.py": "tests/plugins/test_sasl_terminated.py",
    "plugins/sasl_terminated/session.py": "tests/plugins/test_sasl_terminated.py",
    "proxy/admin/fault_names.py": "tests/proxy/admin/test_fault_operations.py",
    "proxy/admin/run_time_faults.py": "tests/proxy/admin/test_fault_operations.py",
    "proxy/cli/admin_options.py": "tests/proxy/cli/test_faults.py",
    "proxy/cli/journals.py": "tests/proxy/cli/test_audit.py",
    "proxy/cli/report_options.py": "tests/proxy/cli/test_report.py",
    "proxy/cli/sealed_journals.py": "tests/proxy/cli/test_audit.py",
    "proxy/cli/sent_faults.py": "tests/proxy/cli/test_faults.py",
    "proxy/config/limit_options.py": "tests/proxy/config/test_model.py",
    "proxy/core/arrival.py": "tests/proxy/core/test_handling.py",
    "proxy/core/admission.py": "tests/proxy/core/test_gate.py",
    "proxy/core/alone.py": "tests/proxy/core/test_gate.py",
    "proxy/core/assembly.py": CONVERSATION,
    "proxy/core/counted_chain.py": "tests/proxy/core/test_counting.py",
    "proxy/core/counted_exchanges.py": "tests/proxy/core/test_counting.py",
    "proxy/core/fast_path.py": "tests/proxy/core/test_requests.py",
    "proxy/core/gate_protocol.py": "tests/proxy/core/test_gate.py",
    "proxy/core/handled.py": CONVERSATION,
    "proxy/core/handled_requests.py": "tests/proxy/core/test_requests.py",
    "proxy/core/handled_responses.py": "tests/proxy/core/test_responses.py",
    "proxy/core/lane.py": CONVERSATION,
    "proxy/core/outbox.py": CONVERSATION,
    "proxy/core/parts.py": CONVERSATION,
    "proxy/core/questions.py": CONVERSATION,
    "proxy/core/readers.py": CONVERSATION,
    "proxy/core/request_heads.py": "tests/proxy/core/test_requests.py",
    "proxy/core/steps.py": "tests/proxy/core/test_handling.py",
    "proxy/core/request_lane.py": "tests/proxy/core/test_requests.py",
    "proxy/core/response_lane.py": "tests/proxy/core/test_responses.py",
    "proxy/core/strangers.py": "tests/proxy/core/test_requests.py",
    "proxy/core/topic_writer.py": "tests/proxy/net/test_topic_writing.py",
    "proxy/core/unhandled_requests.py": "tests/proxy/core/test_requests.py",
    "proxy/core/verdict.py": CONVERSATION,
    "proxy/core/waiting.py": "tests/proxy/core/test_task.py",
    "proxy/net/agreement.py": "tests/proxy/net/test_workers.py",
    "proxy/net/applying.py": "tests/proxy/net/test_changing.py",
    "proxy/net/beginning.py": "tests/proxy/net/test_arrivals.py",
    "proxy/net/broker_ports.py": "tests/proxy/net/test_exposure.py",
    "proxy/net/cluster_access.py": "tests/proxy/net/test_upstream.py",
    "proxy/net/conversation.py": GATEWAY,
    "proxy/net/fronts.py": GATEWAY,
    "proxy/net/open_sockets.py": "tests/proxy/net/test_reactor.py",
    "proxy/net/reaching.py": "tests/proxy/net/test_arrivals.py",
    "proxy/net/reading.py": "tests/proxy/net/test_reactor.py",
    "proxy/net/reporting.py": GATEWAY,
    "proxy/net/served.py": GATEWAY,
    "proxy/net/served_clusters.py": "tests/proxy/net/test_changing.py",
    "proxy/net/serving.py": "tests/proxy/net/test_reactor.py",
    "proxy/net/shared.py": "tests/proxy/net/test_reactor.py",
    "proxy/net/side.py": "tests/proxy/net/test_reactor.py",
    "proxy/net/side_pair.py": "tests/proxy/net/test_reactor.py",
    "proxy/net/worker_changes.py": "tests/proxy/net/test_worker.py",
    "proxy/net/worker_parts.py": GATEWAY,
    "proxy/net/worker_process.py": "tests/proxy/net/test_workers.py",
    "proxy/protocol/frame.py": "tests/proxy/protocol/test_splitter.py",
    "proxy/protocol/frame_reading.py": "tests/proxy/protocol/test_splitter.py",
    "proxy/protocol/emit/finders.py": "tests/proxy/protocol/emit/test_spans.py",
    "proxy/protocol/release_tables.py": "tests/proxy/protocol/test_releases.py",
    "proxy/scenarios/fault_control.py": "tests/proxy/scenarios/test_play.py",
    "proxy/testing/lending.py": "tests/proxy/testing/test_playbook.py",
}


def sources(*packages: str) -> Iterator[Path]:
    """The files of these packages."""
    found = (path for package in packages for path in (ROOT / package).rglob("*.py"))
    return (path for path in found if EXAMPLES not in path.parents)


def modules() -> list[str]:
    named = (path.relative_to(ROOT).as_posix() for path in sources(*PACKAGES) if not path.name.startswith("__"))
    return sorted(named)


@cache
def names_in_tests() -> frozenset[str]:
    """Every module that some test imports."""
    tests = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    return frozenset(name for text in tests for name in IMPORT.findall(text))


@pytest.mark.parametrize("module", modules())
def test_every_module_has_its_test(module: str) -> None:
    """A test file of its name in the mirrored folder, or tests that import it, or the tests named in TESTED_WITH."""
    path = Path(module)
    named = f"tests/{path.parent}/test_{path.stem}.py"
    if path.parent.name == "messages":
        named = "tests/proxy/protocol/test_messages.py"  # it covers all messages
    if path.parent.name == "catalogue":
        named = "tests/plugins/audit/reports/catalogue/test_recounts.py"  # it covers all reports
    dotted = ".".join(path.with_suffix("").parts)
    found = (ROOT / TESTED_WITH.get(module, named)).exists() or dotted in names_in_tests()
    assert found, f"write {named}"


def test_no_module_is_said_to_be_tested_elsewhere_without_need() -> None:
    assert set(modules()) >= TESTED_WITH.keys()
    for module in TESTED_WITH:
        path = Path(module)
        named = f"tests/{path.parent}/test_{path.stem}.py"
        assert not (ROOT / named).exists(), f"{named} is there; take {module} out of TESTED_WITH"


@pytest.mark.parametrize("module", modules())
def test_every_module_says_its_idea(module: str) -> None:
    assert (ROOT / module).read_text(encoding="utf-8").startswith('"""')


def test_no_class_has_the_name_of_another_class_or_of_a_type() -> None:
    """Message modules are exempt: they repeat names of elements, and the message around a class tells it apart.

    So are the `Options` inside of plugins.
    """
    classes: dict[str, list[str]] = {}
    types: dict[str, list[str]] = {}
    for path in sources(*PACKAGES):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[:3] in MESSAGES:
            continue
        home = ".".join(parts).removesuffix(".__init__")
        module = ast.parse(path.read_text(encoding="utf-8"))
        public = [each for each in ast.walk(module) if isinstance(each, ast.ClassDef) and not each.name.startswith("_")]
        for defined in public:
            if defined.name != "Options" or defined in module.body:
                classes.setdefault(defined.name, []).append(home)
        for defined in module.body:
            if isinstance(defined, ast.Assign) and isinstance(defined.targets[0], ast.Name):
                types.setdefault(defined.targets[0].id, []).append(home)  # constants too, which are in capitals
    told = {name: ", ".join(sorted([*homes, *types.get(name, [])])) for name, homes in classes.items()}
    assert {name: homes for name, homes in told.items() if "," in homes} == {}


def names_given(path: Path) -> Iterator[str]:
    """The functions, arguments, variables and attributes that a file defines."""
    for defined in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(defined, ast.FunctionDef | ast.AsyncFunctionDef):
            yield defined.name
        elif isinstance(defined, ast.arg):
            yield defined.arg
        elif isinstance(defined, ast.Name) and not isinstance(defined.ctx, ast.Load):
            yield defined.id
        elif isinstance(defined, ast.Attribute) and isinstance(defined.ctx, ast.Store):
            yield defined.attr


def test_a_word_that_once_had_several_meanings_names_one_thing() -> None:
    """Only a link settles: it does what became possible. `passed` is said of frames in sentences, and names nothing.

    Only plugins `observe`, by the decorator of that name.
    """
    here = {"observe": {"proxy/core"}, "passed": set(), "settle": {"proxy/core"}, "settled": set(), "settling": set()}
    homes: dict[str, set[str]] = {name: set() for name in here}
    for path in sources(*PACKAGES):
        for name in homes.keys() & set(names_given(path)):
            homes[name].add(path.relative_to(ROOT).parent.as_posix())
    assert homes == here


def test_imports_point_one_way() -> None:
    check = [sys.executable, str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    result = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_what_runs_in_a_users_process_needs_python_and_pytest_alone() -> None:
    imported = {
        name.partition(".")[0] for path in sources("chaos") for name in IMPORT.findall(path.read_text(encoding="utf-8"))
    }
    assert imported - {"toxiproxy"} <= sys.stdlib_module_names | {"chaos", "pytest"}
    program = "import chaos.toxiproxy, sys; assert 'toxiproxy' not in sys.modules"  # it is imported on first use
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_the_package_needs_only_what_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"doorkeeper": "proxy.__main__:main"}
    assert not any("pyspark" in line for line in project["dependencies"])


def test_the_command_runs_where_no_test_tools_are_installed() -> None:
    """Each of its modules is imported in a process that has none of these."""
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in sources("proxy/cli")
    ]
    program = "import sys; sys.modules |= dict.fromkeys(('pytest', '_pytest', 'hypothesis', 'tests')); " + "; ".join(
        f"import {name}" for name in names
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_a_proxy_without_certificates_does_not_import_what_reads_them() -> None:
    program = "import proxy.net.supervisor, sys; assert 'cryptography' not in sys.modules"  # it takes 10 MB
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_the_package_has_no_pages_since_no_command_reads_one() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    assert not [pattern for patterns in data.values() for pattern in patterns if pattern.endswith("md")]
    naming = [module for module in modules() if '.md"' in (ROOT / module).read_text(encoding="utf-8")]
    writers = ["plugins/audit/page.py", "plugins/audit/reports/listing.py", "proxy/config/reference.py"]
    assert naming == writers  # each of these writes a page, in a clone


def test_the_formatter_leaves_pages_alone() -> None:
    ruff = [sys.executable, "-m", "ruff", "format", "--no-cache", "--stdin-filename", "README.md", "-"]
    page = "```python\nx = {  'by' : 'hand' }\n```\n"
    result = subprocess.run(ruff, cwd=ROOT, input=page, capture_output=True, text=True, check=True)
    assert result.stdout == page
