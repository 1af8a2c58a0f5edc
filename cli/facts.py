"""Facts drawn at random for the self-check, each with the question that asks for it.

Names are put together from syllables and numbers are drawn: no answer stands in the program or in a model.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_ONSETS = (*"BCDFGHKLMNPRSTVWZ", "Br", "Dr", "Tr")
_VOWELS = tuple("aeiou")
_MIDDLES = (*"lmnrsvx", "nd", "lt", "rk", "st", "mb")
_ENDS = ("", "n", "r", "l", "k", "th", "sh")

_RELATIONS = ("sister", "brother", "neighbour", "dentist", "landlord", "tailor", "godmother", "piano teacher")
_LOCKED = ("bicycle lock", "garage door", "mailbox", "locker at the gym", "suitcase", "alarm system")
_PETS = ("cat", "dog", "parrot", "tortoise", "hamster", "horse")
_TRIPS = ("honeymoon", "school trip", "summer holiday", "conference", "hiking trip")
_MADE = ("soup", "cake", "stew", "salad", "jam")
_FOODS = ("fennel", "quince", "parsnip", "rhubarb", "kohlrabi", "gooseberry", "chestnut", "sorrel", "lovage")


@dataclass(frozen=True, slots=True)
class Fact:
    """What is told, what is asked later, and the value that must come back."""

    telling: str
    question: str
    value: str


def draw(rng: random.Random) -> list[Fact]:
    """Five facts about five different things, no two with the same value."""
    facts: list[Fact] = []
    for make in (_person, _code, _pet, _trip, _recipe):
        fact = make(rng)
        while fact.value in {f.value for f in facts}:
            fact = make(rng)
        facts.append(fact)
    rng.shuffle(facts)
    return facts


def invented_name(rng: random.Random) -> str:
    """A name that nobody has, such as `Brolvan`."""
    choose: Callable[[Sequence[str]], str] = rng.choice
    return "".join(map(choose, (_ONSETS, _VOWELS, _MIDDLES, _VOWELS, _MIDDLES, _VOWELS, _ENDS)))


def _person(rng: random.Random) -> Fact:
    who, name = rng.choice(_RELATIONS), invented_name(rng)
    return Fact(f"My {who}'s name is {name}.", f"What is my {who}'s name?", name)


def _code(rng: random.Random) -> Fact:
    what, number = rng.choice(_LOCKED), str(rng.randrange(100_000, 1_000_000))
    return Fact(f"The code of my {what} is {number}.", f"What is the code of my {what}?", number)


def _pet(rng: random.Random) -> Fact:
    pet, name = rng.choice(_PETS), invented_name(rng)
    return Fact(f"We have called our new {pet} {name}.", f"What have we called our new {pet}?", name)


def _trip(rng: random.Random) -> Fact:
    trip, place = rng.choice(_TRIPS), invented_name(rng)
    told = f"Our {trip} took us to a village named {place}."
    return Fact(told, f"Which village did our {trip} take us to?", place)


def _recipe(rng: random.Random) -> Fact:
    dish, first, second = rng.choice(_MADE), *rng.sample(_FOODS, 2)
    value = f"{first} and {second}"
    return Fact(f"My favourite {dish} is made of {value}.", f"What is my favourite {dish} made of?", value)
