"""Reading the output of `kafka-acls --list`, and the commands that create the same ACLs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.bindings import Binding
from rules.kafka_acls import ListingError, commands, listed
from rules.values import EVERY, Pattern
from rules.vocabulary import Operation, PatternType, Permission, ResourceType

# As org.apache.kafka.tools.AclCommand 4.3.1 printed it, but for the blanks after the second heading, which are older.
LISTING = """\
ACLs for principal `User:alice`
Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=*, patternType=LITERAL)`:
\t(principal=User:alice, host=*, operation=DESCRIBE_CONFIGS, permissionType=ALLOW)
\t(principal=User:alice, host=*, operation=READ, permissionType=ALLOW)

Current ACLs for resource `ResourcePattern(resourceType=GROUP, name=my group, name=`x`, patternType=PREFIXED)`: \n \
\t(principal=User:bob, host=x, host=10.0.0.0/8, operation=ALL, permissionType=DENY) \n
"""
READ = [
    Binding(ResourceType.TOPIC, EVERY, "User:alice", "*", Operation.DESCRIBE_CONFIGS, Permission.ALLOW),
    Binding(ResourceType.TOPIC, EVERY, "User:alice", "*", Operation.READ, Permission.ALLOW),
    Binding(
        ResourceType.GROUP,
        Pattern(PatternType.PREFIXED, "my group, name=`x`"),
        "User:bob, host=x",
        "10.0.0.0/8",
        Operation.ALL,
        Permission.DENY,
    ),
]


def test_a_listing_is_read_as_it_is_printed() -> None:
    assert listed(LISTING, "listing") == READ
    assert listed(LISTING.replace("\n", "\r\n"), "listing") == READ
    assert listed("", "listing") == []


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["a\rb", "a\r\nb", "a\nb", "a\r"])
def test_a_line_break_in_a_name_stays_as_it_is(name: str, line_end: str) -> None:
    listing = (HEAD + ENTRY).replace("\n", line_end).replace("name=t", f"name={name}")
    assert [one.pattern.name for one in listed(listing, "listing")] == [name]


HEAD = "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL)`:\n"
ENTRY = "\t(principal=User:a, host=*, operation=READ, permissionType=ALLOW)\n"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            f"WARN something\n{HEAD}{ENTRY}",
            ["1:1: this is no line of `kafka-acls --list`; give its whole output and nothing else"],
        ),
        (ENTRY, ["1:1: this ACL stands under no resource; give the whole output, with its headings"]),
        (
            HEAD + ENTRY.replace("READ", "TELEPORT") + ENTRY.replace("ALLOW", "ALOW"),
            [
                '2:1: unknown operation "TELEPORT"; known here: ALL, ALTER, ALTER_CONFIGS, CLUSTER_ACTION, CREATE, '
                "CREATE_TOKENS, DELETE, DESCRIBE, DESCRIBE_CONFIGS, DESCRIBE_TOKENS, IDEMPOTENT_WRITE, READ, "
                "TWO_PHASE_COMMIT, WRITE",
                '3:1: unknown permission "ALOW"; did you mean "ALLOW"?',
            ],
        ),
        (
            HEAD.replace("TOPIC", "TOPICS") + ENTRY,
            ['1:1: unknown resource type "TOPICS"; did you mean "TOPIC"?'],
        ),
        (HEAD + ENTRY.replace("User:a", "a"), ['2:1: "a" is no principal; it would be "User:a"']),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text: str, problems: list[str]) -> None:
    with pytest.raises(ListingError) as error:
        listed(text, "listing")
    assert [str(problem) for problem in error.value.problems] == [f"listing:{line}" for line in problems]


ENDLESS = "Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name=t\n"
HALF_ENDED = ENDLESS.replace("\n", ", patternType=LITERAL)\n")


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (ENDLESS * 20_000, 20_000),
        (HALF_ENDED * 20_000, 20_000),
        (HEAD + ENDLESS * 20_000, 20_000),
        (HEAD + ENTRY.replace(", operation", ", host=" * 100_000), 1),
        (HEAD + ENTRY.replace(")\n", ", host=" * 100_000), 1),
    ],
    ids=["headings without end", "with half an end", "after a good one", "hosts", "hosts at the end"],
)
def test_a_long_listing_that_cannot_be_read_is_told_at_once(text: str, problems: int) -> None:
    with pytest.raises(ListingError) as error:  # it would take minutes if any part was read again and again
        listed(text, "listing")
    assert len(error.value.problems) == problems


names = st.text(alphabet="ab*'` =,()\n\t:é", max_size=8)
bindings = st.builds(
    Binding,
    st.sampled_from(ResourceType),
    st.builds(Pattern, st.sampled_from(PatternType), names),
    names.filter(lambda name: "\n" not in name).map(lambda name: f"User:{name}"),
    st.sampled_from(["*", "10.1.2.3", "0:0:0:0:0:0:0:1", "10.0.0.0/8"]),
    st.sampled_from(Operation),
    st.sampled_from(Permission),
)


def printed(of: list[Binding]) -> str:
    """As AclCommand prints it."""
    return "".join(
        f"Current ACLs for resource `ResourcePattern(resourceType={kind.name}, name={pattern.name}, "
        f"patternType={pattern.type.name})`:\n"
        f"\t(principal={who}, host={host}, operation={operation.name}, permissionType={permission.name})\n\n"
        for kind, pattern, who, host, operation, permission in of
    )


@given(st.lists(bindings, max_size=5))
def test_any_name_is_read_as_it_was_printed(of: list[Binding]) -> None:
    assert listed(printed(of), "listing") == of


def test_commands_say_what_goes_together() -> None:
    lines, unsayable = commands(READ, "kafka:9092")
    start = "kafka-acls --bootstrap-server kafka:9092 --add"
    assert lines == [
        f"{start} --allow-principal User:alice --operation Read --operation DescribeConfigs --topic '*'",
        f"{start} --deny-principal 'User:bob, host=x' --deny-host 10.0.0.0/8 --operation All "
        "--group 'my group, name=`x`' --resource-pattern-type prefixed",
    ]
    assert unsayable == []


def binding(kind: ResourceType, name: str, operation: Operation, who: str = "User:a") -> Binding:
    return Binding(kind, Pattern(PatternType.LITERAL, name), who, "*", operation, Permission.ALLOW)


def test_each_type_has_its_own_option() -> None:
    of = [
        binding(ResourceType.TOPIC, "n", Operation.READ),
        binding(ResourceType.GROUP, "n", Operation.READ),
        binding(ResourceType.CLUSTER, "kafka-cluster", Operation.ALTER),
        binding(ResourceType.TRANSACTIONAL_ID, "n", Operation.WRITE),
        binding(ResourceType.DELEGATION_TOKEN, "n", Operation.DESCRIBE),
        binding(ResourceType.USER, "User:n", Operation.CREATE_TOKENS),
    ]
    lines, _ = commands(of, "kafka:9092")
    assert [line.partition("--operation ")[2] for line in lines] == [
        "Read --topic n",
        "Read --group n",
        "Alter --cluster",
        "Write --transactional-id n",
        "Describe --delegation-token n",
        "CreateTokens --user-principal User:n",
    ]


@pytest.mark.parametrize(
    "one",
    [
        binding(ResourceType.GROUP, "g", Operation.WRITE),
        binding(ResourceType.CLUSTER, "*", Operation.ALTER),
        binding(ResourceType.TOPIC, " t", Operation.READ),
        binding(ResourceType.TOPIC, "", Operation.READ),
        binding(ResourceType.TOPIC, "t", Operation.READ, "User:a "),
        binding(ResourceType.TOPIC, "t\x1b[2Jt", Operation.READ),
        binding(ResourceType.TOPIC, "t", Operation.READ, "User:a\nb"),
    ],
)
def test_what_no_command_can_say_is_told(one: Binding) -> None:
    lines, ((left_out, why),) = commands([one], "kafka:9092")
    assert lines == []
    assert left_out == one
    assert "; " in why or ", " in why
