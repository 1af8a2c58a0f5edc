"""What every event has: its common fields, its flat form and its digest."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from sidestream.fieldtypes import Identifier, Meta, Timestamp, Version
from sidestream.flat import digest_of, flat_text


class Event(BaseModel):
    """What every event has. `ts` is when it happened; absent, the stream entry's own time is taken."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    DEFAULTS: ClassVar[dict[str, Any]] = {}

    type: str
    session_id: Identifier = Field(description="The session it belongs to; unique within its namespace.")
    id: Identifier | None = Field(
        default=None,
        description="Unique within the namespace for good; absent: the entry's id, and a retry is a new event.",
    )
    namespace: Identifier = Field(default="default", description="A world of its own: nothing is read across.")
    user_id: Identifier | None = Field(
        default=None, description="Whose memory it becomes; absent: the session's user, `default` in a new one."
    )
    agent_id: Identifier | None = Field(default=None, description="The agent that said it or that it concerns.")
    data_source: Identifier | None = Field(default=None, description="Where it comes from; absent means all.")
    ts: Timestamp | None = Field(
        default=None, description="When it happened; absent: the entry's time. The past is welcome."
    )
    turn_id: Identifier | None = Field(
        default=None, description="Its turn; a user's message of another turn than the open one begins a turn."
    )
    parent_id: Identifier | None = Field(default=None, description="The event that caused it.")
    run_id: Identifier | None = Field(default=None, description="The sub-agent run that it belongs to.")
    meta: Meta = Field(default_factory=dict, description="What else there is to keep, as JSON.")
    v: Version = Field(default=1, description="Version of this contract.")

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls.DEFAULTS = {
            name: field.get_default(call_default_factory=True, validated_data={})
            for name, field in cls.model_fields.items()
            if name != "type" and not field.is_required()
        }

    def to_fields(self) -> dict[str, str]:
        """Flat stream fields, all strings; absent and default values are left out but `type`."""
        fields: dict[str, str] = {}
        defaults = self.DEFAULTS
        for name, value in self.__dict__.items():
            if value is None or (name in defaults and value == defaults[name]):
                continue
            fields[name] = value if type(value) is str else flat_text(value)
        return fields

    def digest(self) -> str:
        """SHA-256 (hex) of what makes the event what it is: all but `id`, `ts` and `meta.trace`."""
        return digest_of(self.to_fields())
