"""`sidestream import`: existing chats go in through the same door as everything else."""

import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import islice
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from cli import environment, importing, signals
from cli.backlog import Backlog, Owed, handled, words
from cli.errors import AlreadyRunning, BadLines, CheckFailed, CliError, Unavailable
from cli.import_progress import ImportProgress
from cli.importing import ChatFile, Contents
from cli.publishing import open_publisher
from cli.stack import running
from config.settings import Settings
from recall.database import ReadDatabase
from sidestream.errors import PublishError
from sidestream.keys import Keys
from store.redis_client import REDIS_ERRORS, connect_async

_NAMED = 20


@click.command("import")
@click.argument("files", type=click.Path(exists=True, dir_okay=False, path_type=Path), nargs=-1, required=True)
@click.option("--user", "user_id", help="Whose chats they are, where the file does not say.")
@click.option("--namespace", default="default", show_default=True, help="Namespace that they go into.")
@click.option("--source", help="Name of the file in session and event ids; default its own name without the ending.")
@click.option("--skip-bad", is_flag=True, help="Import the rest of a file that has lines which cannot be read.")
@click.option("--wait", is_flag=True, help="Wait until everything is stored, embedded and summarised.")
@click.option(
    "--max-backlog",
    type=click.IntRange(importing.BATCH),
    default=10_000,
    show_default=True,
    help="Pause while more events than this wait in Redis.",
)
@click.option(
    "--patience",
    type=click.FloatRange(1),
    default=120.0,
    show_default=True,
    help="Give up after so many seconds without progress.",
)
def import_chats(
    files: Sequence[Path],
    user_id: str | None,
    namespace: str,
    source: str | None,
    skip_bad: bool,
    wait: bool,
    max_backlog: int,
    patience: float,
) -> None:
    """Import chats: JSON Lines of messages, OpenAI messages, ShareGPT, or conversations with turns.

    The form is told from the content. Every line is read before anything is published: lines that cannot be
    read are named, and nothing is imported unless --skip-bad is given. Importing a file again changes
    nothing; an interrupted import goes on where it stopped. Where nothing runs on the data folder, workers
    are started for as long as the import takes. Exit code 1 for bad lines, 4 where Redis is away.
    """
    found = environment.settings()
    try:
        names = importing.name_sources(files, source)
    except ValueError as error:
        raise CliError(str(error)) from error
    chats = [ChatFile(path, names[path], user_id, namespace) for path in files]
    contents = [importing.scan(chat) for chat in chats]
    _tell_bad(chats, contents, skip_bad)
    if signals.run(_Import(found, wait, max_backlog, patience).run(chats, contents)) is None:
        raise click.exceptions.Exit(signals.INTERRUPTED)


def _tell_bad(chats: Sequence[ChatFile], contents: Sequence[Contents], skip_bad: bool) -> None:
    bad = [
        f"{c.path}:{line.line_no}: {line.reason}" for c, held in zip(chats, contents, strict=True) for line in held.bad
    ]
    for text in islice(bad, None if skip_bad else _NAMED):
        click.echo(text, err=True)
    if bad and not skip_bad:
        rest = f" (and {len(bad) - _NAMED} more)" if len(bad) > _NAMED else ""
        raise BadLines(f"{len(bad)} lines cannot be read{rest}; nothing was imported. --skip-bad imports the others")


class _Import:
    """One run of the command."""

    def __init__(self, found: Settings, wait: bool, max_backlog: int, patience: float) -> None:
        self._settings = found
        self._wait = wait
        self._max_backlog = max_backlog
        self._patience = patience
        self._kinds = handled(found)
        self._done = words(self._kinds)
        self._console = Console(stderr=True)

    async def run(self, chats: Sequence[ChatFile], contents: Sequence[Contents]) -> bool:
        async with self._workers() as started, self._backlog() as backlog:
            newest = await backlog.newest_letter()
            for chat, held in zip(chats, contents, strict=True):
                await self._publish(chat, held, backlog)
            if self._wait or started:
                await self._finish(backlog)
                dead = await backlog.dead_since(newest)
                if dead:
                    raise CheckFailed(f"{dead} dead letters came up meanwhile; see `sidestream dead list`")
                click.echo(f"everything is {self._done}")
        return True

    @contextlib.asynccontextmanager
    async def _workers(self) -> AsyncIterator[bool]:
        """The workers of the embedded system, unless they run already; whether they were started here."""
        async with contextlib.AsyncExitStack() as stack:
            started = False
            if not self._settings.redis_url:
                with contextlib.suppress(AlreadyRunning):
                    await stack.enter_async_context(running(self._settings, _to_stderr, api=False))
                    started = True
                    click.echo("nothing runs on this data folder, so workers run for this import", err=True)
            yield started

    @contextlib.asynccontextmanager
    async def _backlog(self) -> AsyncIterator[Backlog]:
        url = environment.redis_url(self._settings)
        redis = connect_async(url)
        # A file that was not there a moment ago may be there now: the workers may only be starting.
        database = ReadDatabase(self._settings.database, retry_every=0.0)
        try:
            await redis.ping()
            keys = Keys(self._settings.redis_prefix)
            yield Backlog(redis, keys, database, patience=self._patience, kinds=self._kinds)
        except REDIS_ERRORS as error:
            shown = environment.without_password(url)
            raise Unavailable(f"Redis at {shown} does not answer: {error}; start `sidestream up`") from error
        finally:
            database.close()
            await redis.aclose()

    async def _publish(self, chat: ChatFile, held: Contents, backlog: Backlog) -> None:
        progress = ImportProgress(self._settings.data_dir, chat)
        count = already = min(progress.accepted(), held.events)
        if already:
            click.echo(f"{chat.path}: going on after {already} of {held.events} events", err=True)
        with self._bar(chat.path.name, held.events, already) as bar:

            def accepted(more: int) -> None:
                nonlocal count
                count += more
                progress.save(count)
                bar.advance(bar.task_ids[0], more)

            async def room(more: int) -> None:
                await backlog.room(more, self._max_backlog)

            async with open_publisher(self._settings) as publisher:
                try:
                    await importing.publish(islice(chat.events(), already, None), publisher, room, accepted)
                except PublishError as error:
                    raise Unavailable(
                        f"{error}; import again to go on after {count} of {held.events} events"
                    ) from error
        progress.end()
        skipped = f", {len(held.bad)} lines skipped" if held.bad else ""
        click.echo(f"{chat.path}: {held.messages} messages published{skipped}")

    async def _finish(self, backlog: Backlog) -> None:
        with self._bar(self._done, None, 0) as bar:
            most = 0

            def told(owed: Owed) -> None:
                nonlocal most
                most = max(most, owed.total)
                bar.update(bar.task_ids[0], total=most, completed=most - owed.total)

            await backlog.done(told)

    @contextlib.contextmanager
    def _bar(self, name: str, total: int | None, done: int) -> Iterator[Progress]:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._console, disable=not self._console.is_terminal) as bar:
            bar.add_task(name, total=total, completed=done)
            yield bar


def _to_stderr(line: str) -> None:
    click.echo(line, err=True)
