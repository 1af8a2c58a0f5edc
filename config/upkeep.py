"""Settings of the nightly run, of retention and of the archive; part of `config.settings.Settings`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from config.zone import time_zone


class RetentionRule(BaseModel):
    """What happens to one type of memory in a namespace once it is `days` old; `*` is every namespace that has no
    rule of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    namespace: str = Field("*", min_length=1)
    type: Literal["message", "summary", "run", "timeline", "fact", "dead_letter", "usage", "job"]
    action: Literal["keep", "archive", "delete"]
    days: float = Field(0.0, ge=0)

    @model_validator(mode="after")
    def _archivable(self) -> "RetentionRule":
        if self.action == "archive" and self.type in ("usage", "job"):
            raise ValueError(f"{self.type} cannot be archived: its action is keep or delete")
        return self


class UpkeepSettings(BaseModel):
    """Fields of `Settings`."""

    nightly_at: str = Field(
        "02:00",
        pattern=r"^([01]\d|2[0-3]):[0-5]\d$",
        description="Time of day, HH:MM, at which the nightly run begins.",
    )
    nightly_zone: str = Field("local", description="Time zone of the nights: a name such as Europe/Berlin, or local.")
    nightly_batch: int = Field(200, ge=1, le=10_000, description="Most rows in one transaction of the nightly run.")
    nightly_pause: float = Field(0.05, ge=0, description="Pause between two of its transactions.")
    retention: tuple[RetentionRule, ...] = Field(
        (), description="Rules of age, over the built-in ones: namespace, type, action (keep, archive, delete), days."
    )
    archive_url: str | None = Field(
        None, description="Folder or s3://bucket/prefix of the archive; absent: archive in the data folder."
    )
    archive_endpoint: str | None = Field(None, description="Base URL of an S3-compatible store that is not Amazon's.")
    archive_region: str = Field("us-east-1", min_length=1, description="Region of the archive's bucket.")
    archive_access_key: SecretStr | None = Field(None, description="Access key of the archive's bucket.")
    archive_secret_key: SecretStr | None = Field(None, description="Its secret.")
    archive_warm_days: float = Field(
        30.0, ge=0, description="Days for which what was restored from the archive stays, at least."
    )
    archive_warm_on_search: int = Field(
        10,
        ge=0,
        description="Most items found by a search in the archive that it brings back; 0: it brings none back.",
    )

    @field_validator("nightly_zone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        time_zone(name)
        return name

    @field_validator("archive_url")
    @classmethod
    def _known_place(cls, place: str | None) -> str | None:
        if place is not None and "://" in place and not place.startswith("s3://"):
            raise ValueError("a folder or s3://bucket/prefix is allowed")
        return place
