"""`sidestream eval`: how much of the evidence that people marked a search finds."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from cli import environment, evaluation, signals
from cli.errors import BadLines, CheckFailed, CliError, Unavailable
from cli.evaluation import Answer
from cli.reading import patient_reader
from config.settings import Settings
from memory.datasets import Conversation, read_conversations
from memory.records import BadLine
from store import messages
from store.errors import StoreError
from store.opening import open_database

ADVERSARIAL = "adversarial"
_SHOWN = ("questions", "recall@5", "recall@10", "recall@20", "hit@10", "full@10", "mrr", "ndcg@10")


@click.command("eval")
@click.argument("files", type=click.Path(exists=True, dir_okay=False, path_type=Path), nargs=-1, required=True)
@click.option("--source", help="Name of the data set, where it was imported under another than the file's.")
@click.option("--namespace", default="default", show_default=True, help="Namespace that it was imported into.")
@click.option("--exclude-category", "excluded", multiple=True, help="Leave these questions out; may be repeated.")
@click.option("--adversarial", is_flag=True, help="Ask the adversarial questions too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--details",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write each question's result there, as JSON Lines.",
)
def evaluate(
    files: Sequence[Path],
    source: str | None,
    namespace: str,
    excluded: Sequence[str],
    adversarial: bool,
    as_json: bool,
    details: Path | None,
) -> None:
    """Ask the questions of imported conversations and measure how much of the marked evidence is found.

    Each conversation is searched alone, as the user that it was imported as. Prints by category: evidence
    recall@5/10/20, the share of questions with any and with all evidence among ten (hit@10, full@10), mean
    reciprocal rank and nDCG@10; then bootstrap intervals over the questions. Questions of the category
    adversarial, whose answer is not there, are left out unless --adversarial is given. Exit code 1 where
    conversations are not imported.
    """
    found = environment.settings()
    without = {*excluded} if adversarial else {*excluded, ADVERSARIAL}
    conversations = [c for path in files for c in _read(path, source)]
    _check_imported(found, conversations, namespace)
    answers = signals.run(_ask(found, conversations, namespace, without, quiet=as_json))
    if answers is None:
        raise click.exceptions.Exit(signals.INTERRUPTED)
    if details is not None:
        details.write_text("".join(f"{json.dumps(a.to_json(), ensure_ascii=False)}\n" for a in answers))
    result = evaluation.report(answers)
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _show(result)


def _read(path: Path, source: str | None) -> list[Conversation]:
    found: list[Conversation] = []
    with path.open(encoding="utf-8") as lines:
        for line, item in read_conversations(lines, dataset=source or path.stem):
            if isinstance(item, BadLine):
                raise BadLines(f"{path}:{line}: {item.reason}")
            found.append(item)
    if not any(c.questions for c in found):
        raise CliError(f"{path} has no questions; eval needs conversations with turns, questions and evidence")
    return found


def _check_imported(found: Settings, conversations: Sequence[Conversation], namespace: str) -> None:
    try:
        with open_database(found.database, readonly=True) as db:
            for conversation in conversations:
                ids = [event for event in conversation.index if event not in conversation.left_out]
                missing = len(ids) - len(messages.stored_events(db, namespace, ids))
                if missing:
                    raise CheckFailed(
                        f"{conversation.user_id}: {missing} of {len(ids)} turns are not stored; import "
                        "the file first, as in `sidestream import --wait FILE`"
                    )
    except StoreError as error:
        raise Unavailable(str(error)) from error
    for conversation in conversations:
        if conversation.left_out:
            click.echo(f"{conversation.user_id}: {len(conversation.left_out)} turns cannot be read", err=True)


async def _ask(
    found: Settings,
    conversations: Sequence[Conversation],
    namespace: str,
    without: Collection[str],
    *,
    quiet: bool,
) -> list[Answer]:
    total = sum(len(evaluation.wanted(c, without)) for c in conversations)
    console = Console(stderr=True)
    async with patient_reader(found) as reader:
        with Progress(console=console, disable=quiet or not console.is_terminal, transient=True) as progress:
            bar = progress.add_task("asking", total=total)
            asked = evaluation.ask(reader, conversations, namespace, without, lambda: progress.advance(bar))
            return [answer async for answer in asked]


def _show(result: dict[str, Any]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("category")
    for name in _SHOWN:
        # In short, so that all of them stand in a terminal of 80 columns.
        table.add_column(name.replace("recall@", "R@").replace("questions", "asked"), justify="right", no_wrap=True)
    for name, values in [*result["categories"].items(), ("all", result["all"])]:
        table.add_row(name or "-", *(f"{values[n]:.3f}" if n != "questions" else str(values[n]) for n in _SHOWN))
    Console(highlight=False).print(table)
    bounds = (f"{name} {low:.3f} to {high:.3f}" for name, (low, high) in result["intervals"].items())
    click.echo(f"95 % intervals: {', '.join(bounds)}")
    for note in result["degraded"]:
        click.echo(f"degraded: {note}", err=True)
