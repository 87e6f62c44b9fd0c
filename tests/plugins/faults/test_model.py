"""All mistakes in a fault file are reported at once, each with its place and the nearest valid word."""

import pytest

from plugins.faults.model import FORM, FaultsFile


def told(text: str) -> list[str]:
    """Every problem of a text, without the file's name."""
    _, problems = FORM.examine(text, "faults.yaml", {}).result()
    return [str(problem).removeprefix("faults.yaml:") for problem in problems]


def file(text: str) -> FaultsFile:
    return FORM.examine(text, "faults.yaml", {}).usable()


def test_a_file_of_the_design_is_right() -> None:
    faults = file("""
        seed: 7
        faults:
          - name: lost-ack
            match: {api: Produce, topic: orders, partition: 0}
            when: {after: 10, times: 2}
            do: {disconnect: after_broker}
          - match: {api: Fetch, topic: orders*}
            when: {probability: 0.1}
            do: {error: NOT_LEADER_OR_FOLLOWER}
          - match: {broker: 2}
            when: {from: 10s, for: 5s}
            do: refuse
    """)
    assert list(faults.named) == ["lost-ack", "fault 2", "fault 3"]
    assert [fault.do.said for fault in faults.faults] == [("disconnect",), ("error",), ("refuse",)]


def test_an_empty_list_is_no_faults() -> None:
    assert file("faults:") == file("faults: []") == file("seed: 0")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            "{do: {error: NOT_A_LEADER}}",
            '1:23: unknown error "NOT_A_LEADER"; did you mean "NOT_LEADER_OR_FOLLOWER"?',
        ),
        ("{do: {error: NONE}}", '1:23: unknown error "NONE"; write a name of Kafka\'s, e.g. "NOT_LEADER_OR_FOLLOWER"'),
        ("{do: {error: 6}}", '1:23: unknown error 6; write a name of Kafka\'s, e.g. "NOT_LEADER_OR_FOLLOWER"'),
        ("{do: {error: {level: top}}}", '1:23: "code" is missing; write e.g. "code: NOT_LEADER_OR_FOLLOWER"'),
        ("{do: {error: }}", '1:23: "code" is missing; write e.g. "code: NOT_LEADER_OR_FOLLOWER"'),
        (
            "{do: {error: {code: NOT_CONTROLLER, level: partitions}}}",
            '1:53: unknown level "partitions"; did you mean "partition"?',
        ),
        ("{do: {error: {code: NOT_CONTROLLER, level: {a: 1}}}}", "1:53: unknown level a mapping; known here: "),
        (
            "{match: {api: Produce}, do: {error: {code: NOT_CONTROLLER, level: topic}}}",
            '1:76: no answer of Produce has an error at the level "topic"; known here: partition',
        ),
        (
            "{do: {error: {code: NOT_CONTROLLER, side: after}}}",
            '1:52: unknown side "after"; did you mean "after_broker"?',
        ),
        (
            "{do: {error: NOT_CONTROLLER, side: after_broker}}",
            '1:15: "side" is an option of "error"; write it there: "error: {side: after_broker, ...}"',
        ),
        (
            "{do: {timestamps: 1h, into: past}}",
            '1:15: "into" is an option of "timestamps"; write it there: "timestamps: {into: future, ...}"',
        ),
        ("{match: {api: Produce, version: 99}, do: hold}", "1:42: no request is in such a version; Produce has 0-13"),
        (
            "{match: {version: 20-30}, do: stale}",
            "1:28: no request is in such a version; DescribeTopicPartitions has 0-0, Metadata has 0-13",
        ),
        ("{match: {principal: alice}, do: hold}", '1:30: "alice" has no type; write "User:alice"'),
        (
            "{do: {error: {code: NOT_CONTROLLER, at: top}}}",
            '1:46: unknown option "at"; known here: code, level, message, side',
        ),
        ("{do: {eror: NOT_CONTROLLER}}", '1:16: unknown option "eror"; did you mean "error"?'),
        ("{do: hld}", '1:15: unknown effect "hld"; did you mean "hold"?'),
        ("{do: error}", '1:15: "code" is missing; write e.g. "code: NOT_LEADER_OR_FOLLOWER"'),
        ("{do: 5}", '1:15: "do" is 5, not a mapping of options; write e.g. "do: {error: NOT_LEADER_OR_FOLLOWER}"'),
        (
            "{do: {}}",
            "1:15: the fault does nothing; say one of error, disconnect, delay, hold",
        ),
        ("{match: {api: Produce}}", '1:10: "do" is missing; write e.g. "do: {error: NOT_LEADER_OR_FOLLOWER}"'),
        ("{do: {hold: , delay: 1s}}", '1:15: "delay" and "hold" stand in one fault; make two of it'),
        ("{do: {disconnect: afterwards}}", '1:28: unknown side "afterwards"; known here: after_broker, before_broker'),
        ("{do: {disconnect: {how: rst}}}", '1:34: unknown how "rst"; did you mean "reset"?'),
        ("{do: {delay: 200}}", '1:23: 200 has no unit; write e.g. "200s"; units are ms, s, m, h, d'),
        ("{do: {delay: {}}}", '1:23: the delay has no time; write e.g. "delay: 200ms"'),
        (
            "{do: {delay: {time: 1s, uniform: {from: 1s, to: 2s}}}}",
            '1:43: "time" and "uniform" both say how long; keep one of the two',
        ),
        ("{do: {delay: {uniform: {from: 2s, to: 1s}}}}", "1:33: it ends before it begins; put the shorter time first"),
        ("{do: {delay: {normal: {mean: 2s}}}}", '1:32: "deviation" is missing; write e.g. "deviation: 50ms"'),
        ("{do: {delay: {lognormal: {median: 2s, sigma: 9}}}}", '1:55: "sigma" is 9; the most is 5.0'),
        ("{do: {cut: half}}", '1:21: "bytes" is "half", not a whole number; write e.g. "bytes: 10"'),
        ("{do: {cut: -1}}", '1:21: "bytes" is -1; the least is 0'),
        (
            "{match: {api: SaslHandshake}, do: {throttle: 1s}}",
            "1:55: no answer of SaslHandshake has a throttle_time_ms; name another api",
        ),
        ("{match: {api: Prduce}, do: hold}", '1:24: unknown api "Prduce"; did you mean "Produce"?'),
        ("{match: {topics: orders}, do: hold}", '1:19: unknown option "topics"; did you mean "topic"?'),
        (
            "{match: {topic: orders}, do: refuse}",
            '1:26: "refuse" is done to connections, of which only broker, during, from, listener are known; '
            'leave "topic" out',
        ),
        (
            "{match: {api: Produce}, do: down}",
            '1:24: "down" is done to connections, of which only broker, during, from, listener are known; '
            'leave "api" out',
        ),
        (
            "{match: {broker: two}, do: down}",
            '1:27: "two" is not a number of a partition or a broker; they count from 0',
        ),
        ("{when: {nth: 0}, do: hold}", "1:23: 0 counts nothing; numbers begin at 1"),
        ("{when: {probability: 50}, do: hold}", "1:31: 50 is no probability; it is above 0, and at the most 1"),
        ("{when: {from: soon}, do: hold}", '1:24: "soon" is not a duration; write e.g. "10s"'),
        ("{when: {twice: true}, do: hold}", '1:18: unknown option "twice"; did you mean "times"?'),
        ("{when: {after_rule: other}, do: hold}", '1:30: no fault is called "other"; add one of that name'),
        ("{name: a, when: {while_rule: a}, do: hold}", "1:39: a fault cannot wait for itself; name another one"),
        (
            "{match: {api: Produce}, do: {leader: none}}",
            '1:47: "leader" is not done to Produce; name DescribeTopicPartitions, Metadata',
        ),
        ("{match: {api: Metadata}, do: {leader: nobody}}", '1:48: unknown who "nobody"; known here: none, other'),
        (
            "{match: {api: [Fetch, Produce]}, do: coordinator}",
            '1:47: "coordinator" is not done to Fetch, Produce; name FindCoordinator',
        ),
        ("{match: {api: ApiVersions}, do: {older: 1.5}}", '1:50: unknown release 1.5; did you mean "3.5"?'),
        (
            "{match: {api: Fetch}, do: {corrupt: before_broker}}",
            "1:46: no request of Fetch has records; name another api or side",
        ),
        ("{match: {api: Heartbeat, topic: t}, do: hold}", "1:18: no request of Heartbeat is about a topic"),
        ("{match: {api: Produce}, do: empty}", '1:38: "empty" is not done to Produce; name Fetch, ShareFetch'),
        (
            "{do: {mangle: crc}}",
            '1:24: unknown what "crc"; known here: correlation_id, garbage, huge, longer, negative, shorter, twice',
        ),
        ("{do: {duplicate: 1}}", '1:27: "times" is 1; the least is 2'),
        ("{do: {aborted: gone}}", '1:25: unknown what "gone"; known here: added, missing'),
        ("{do: {bandwidth: fast}}", '1:27: "fast" is not a size; write e.g. "100 MiB"'),
        ("{do: {batches: drop}}", '1:25: unknown what "drop"; did you mean "dropped"?'),
        ("{do: {controller: nobody}}", '1:28: unknown who "nobody"; known here: none, other'),
        ("{do: {corrupt: {what: crc}}}", '1:32: unknown what "crc"'),
        ("{do: {delay: {jitter: 1s}}}", "1:23: the delay has no time"),
        (
            "{do: {delay: {uniform: {from: 1s, to: 2s}, jitter: 1s}}}",
            '1:61: it is of a time that is not there; write e.g. "{time: 100ms, jitter: 20ms}"',
        ),
        ("{do: {fenced: consumer}}", '1:24: unknown who "consumer"; known here: instance, member, producer'),
        ("{match: {api: Produce}, do: expel}", '1:38: "expel" is not done to Produce; name ConsumerGroupHeartbeat'),
        ("{match: {api: Produce}, do: fence}", '1:38: "fence" is not done to Produce; name AddOffsetsToTxn'),
        ("{do: {hint: newer}}", '1:22: unknown who "newer"; known here: older, other, unknown'),
        ("{do: {late: 5}}", '1:22: 5 has no unit; write e.g. "5s"; units are ms, s, m, h, d'),
        ("{do: {leader_epoch: {what: older, by: 0}}}", '1:48: "by" is 0; the least is 1'),
        ("{do: {long_poll: 2h}}", '1:27: 7,200 s is too long; the most is "1h"'),
        ("{do: {late: 2h}}", '1:22: 7,200 s is too long; the most is "1h"'),
        ("{match: {api: Metadata}, do: lose}", '1:39: "lose" is not done to Metadata; name AddOffsetsToTxn'),
        ("{do: missing}", '1:15: it does not say what is missing; write e.g. "missing: topic"'),
        ("{do: {missing: topics}}", '1:25: unknown what "topics"; did you mean "topic"?'),
        (
            "{do: {missing: {what: topic, broker: 2}}}",
            '1:47: "what" and "broker" are two faults; make two of it',
        ),
        ("{do: {offset: far}}", '1:24: "far" shifts no offset; write e.g. -100 or none'),
        ("{do: {offset: 0}}", "1:24: 0 shifts no offset; write e.g. -100 or none"),
        ("{do: {cut: true}}", '1:21: "bytes" is true, not a whole number; write e.g. "bytes: 10"'),
        ('{do: {drip: "16"}}', '1:22: "bytes" is "16", not a whole number; write e.g. "bytes: 16"'),
        ("{do: {throttle: 0.1ms}}", '1:26: 0.0001 s is too short for anything to work; the least is "1ms"'),
        (
            "{when: {nth: [5, 9], after: 10}, do: hold}",
            '1:23: "after" leaves out all of these matches, so it never fires; name a match after number 10',
        ),
        ("{do: partial}", "1:15: it does not say how much is left; say one of partitions, batches, bytes"),
        (
            "{do: {partial: {batches: 1, bytes: 9}}}",
            '1:45: "batches" and "bytes" both say how much is left; keep one of the two',
        ),
        ("{do: {read_replica: leader}}", '1:30: unknown who "leader"; known here: other, unknown'),
        ("{do: {rebalance: now}}", '1:27: unknown side "now"; known here: after_broker, before_broker'),
        ("{do: {refuse: rst}}", '1:24: unknown how "rst"; did you mean "reset"?'),
        ("{match: {api: Fetch}, do: stale}", '1:36: "stale" is not done to Fetch; name DescribeTopicPartitions'),
        ("{do: {timestamps: 1000}}", '1:28: 1000 has no unit; write e.g. "1000s"; units are ms, s, m, h, d'),
        ("{do: {timestamps: {by: 1h, into: yesterday}}}", '1:43: unknown into "yesterday"; known here: future, past'),
        ("{do: {unstable: busy}}", '1:26: unknown what "busy"; known here: any, loading, moved, unavailable'),
        ("{do: {drip: 0}}", '1:22: "bytes" is 0; the least is 1'),
    ],
)
def test_a_wrong_fault_is_told_with_its_place_and_a_way_out(fault: str, said: str) -> None:
    (problem,) = told(f"faults: [{fault}]") or ["nothing"]
    assert said in problem


def test_two_faults_of_one_name_are_told_at_each() -> None:
    assert told("faults: [{name: a, do: hold}, {name: a, do: hold}]") == [
        '1:17: another fault is called "a" too; give each its own name',
        '1:38: another fault is called "a" too; give each its own name',
    ]


def test_a_fault_is_not_called_as_one_without_a_name_is() -> None:
    assert told("faults: [{name: fault 2, do: hold}, {do: down}]") == [
        '1:17: another fault is called "fault 2" too; give each its own name'
    ]


def test_all_problems_are_told_at_once() -> None:
    assert len(told("sed: 7\nfaults:\n  - {do: hld}\n  - {match: {api: Fech}, do: hold}\n")) == 3


def test_a_file_that_is_empty_or_no_mapping_says_how_to_begin() -> None:
    assert told("") == ['1:1: the file is empty; begin with "faults:" (plugins/faults/README.md shows a whole file)']
    assert "no mapping of options" in told("- a")[0]
