"""Every error that the `actors` package raises.

ActorError
├── ActorStopped       the actor takes no more messages, or stopped before it answered
├── MailboxFull        the actor has as many messages waiting as it may have
├── AskTimeout         no answer within the time given
├── GaveUp             the actor crashed more often than its policy allows
├── EmptyReport        a sub-agent's model said nothing; another try may do better
├── WorkCancelled      what the actor was doing was cancelled from within
└── Refused            an actor's deliberate answer "no": reaches the asker, is no crash
    ├── SubagentFailed a sub-agent cannot do its task
    ├── ReplyFailed    the main agent could not answer; the text is meant for the user
    ├── UnknownAgent   no sub-agent has that name
    └── BadToolCall    the model called a tool wrongly; the text goes back to the model
"""


class ActorError(Exception):
    """Root of the package's error tree."""


class ActorStopped(ActorError):  # noqa: N818 - says what happened, as the other states do
    """The actor takes no more messages, or it stopped before it answered."""


class MailboxFull(ActorError):  # noqa: N818
    """The actor has as many messages waiting as it may have; nothing was delivered."""


class AskTimeout(ActorError, TimeoutError):  # noqa: N818
    """No answer came within the time given; the actor may still be at work."""


class GaveUp(ActorError):  # noqa: N818
    """The actor crashed more often than its policy allows; `__cause__` is the last crash."""


class WorkCancelled(ActorError):  # noqa: N818
    """What the actor was doing was cancelled from within, not by its asker or its supervisor."""


class EmptyReport(ActorError):  # noqa: N818
    """A sub-agent's model said nothing; another try may do better."""


class Refused(ActorError):  # noqa: N818
    """An actor's deliberate answer "no". It reaches the asker as it is and is no crash of the actor."""


class ReplyFailed(Refused):
    """The main agent could not answer. The text is one that a user can be shown."""


class SubagentFailed(Refused):
    """A sub-agent cannot do its task, and could not at another try."""


class UnknownAgent(Refused):
    """No sub-agent has that name; the text lists those there are."""


class BadToolCall(Refused):
    """The model called a tool wrongly; the text says how and goes back to the model."""


def in_words(error: BaseException) -> str:
    """Why there is no answer, for a user. What is not of this tree was a crash; the log has it whole."""
    return str(error) if isinstance(error, ActorError) else f"the agent crashed ({type(error).__name__}); see the log"
