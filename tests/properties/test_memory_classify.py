"""What guards the patterns of a message's type never hides a match."""

from hypothesis import given
from hypothesis import strategies as st

from memory.classify import _ERROR, _RULES, _Head

_PIECES = (
    """
i; i'm; i've; i'd; we; my; it's; don't; can't; to; todo; - [ ]; :; action items; list; on my to-do list; is; a; of;
with; going; live in; i work as; was born in; have; got to; two cats; i need to; remember to; must; remind me to;
please; don't forget to; we decided; chose; agreed; settled; my decision is; made up my mind; let's go with;
i'll go with; i really like; love; to know; hate; stand; eat; i'd rather; my favourite; prefer; a big fan of; into;
fond of; allergic to; my name is; i have two dogs; i bought a car; my wife works; 30 years old; error; valueerror:;
my.exception :; traceback (most recent call last); fatal:; panic; segmentation fault:; exit code 1; exited with 2;
command not found; connection refused; permission denied; no such file or directory; 我; 我喜欢; 决定; 提醒我;
http/1.1 404; 报错：; é
""".replace("\n", " ")
    .strip()
    .split("; ")
)
_JOINTS = (" ", " ", " ", "", "'", "_", ", ", "-", '"', ": ", "\n", ". ", "，", "’")


@given(st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from(_JOINTS)), max_size=12))
def test_a_rule_finds_what_its_patterns_find(pieces: list[tuple[str, str]]) -> None:
    head = _Head("".join(piece + joint for piece, joint in pieces))
    for rule in (_ERROR, *(rule for _, rule in _RULES)):
        matches = rule.english.search(head.text) or rule.chinese.search(head.text)
        assert rule.finds(head, stated=False) == (matches is not None)
