"""The archive and the retention policy that the settings ask for."""

from pydantic import SecretStr

from config.settings import Settings
from memory.retention import Policy, Rule
from store.archive_folder import ArchiveFolder, LocalArchive
from store.archive_s3 import S3Archive, S3Place

_S3 = "s3://"


def archive_folder(settings: Settings) -> ArchiveFolder:
    """The folder, or the bucket, of the archive. Nothing is connected to."""
    url = settings.archive_url
    if url is None or not url.startswith(_S3):
        return LocalArchive(settings.archive_dir)
    bucket, _, prefix = url.removeprefix(_S3).partition("/")
    return S3Archive(
        S3Place(
            bucket,
            prefix.strip("/"),
            endpoint=settings.archive_endpoint,
            region=settings.archive_region,
            access_key=_plain(settings.archive_access_key),
            secret_key=_plain(settings.archive_secret_key),
        )
    )


def policy(settings: Settings) -> Policy:
    """The built-in rules with the configured ones on top."""
    return Policy.of([Rule(r.type, r.action, r.days, r.namespace) for r in settings.retention])


def _plain(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()
