"""What was learnt of a function while its frames were compiled and run: what is not to be tried again."""

from dataclasses import dataclass, field


@dataclass
class Captures:
    """What of a frame is captured as symbols."""

    # The settings that are on, in the order in which they were wanted, and the files and lines for which they are.
    places: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    # Settings, and files and lines, for which it was in vain.
    refused: set[str | tuple[str, int]] = field(default_factory=set)
    # Whole numbers that were predicted are symbols too, where they change.
    general: bool = False

    def has(self, place: tuple[str, int]) -> bool:
        """Whether a symbol was wanted there."""
        return any(place in places for places in self.places.values())

    def drop(self, place: tuple[str, int]) -> None:
        """Does without the symbol that was wanted there, if one was."""
        self.places = {
            setting: kept
            for setting, places in self.places.items()
            if (kept := [each for each in places if each != place])
        }
        self.refused.add(place)

    def refuse_place(self) -> list[tuple[str, int]]:
        """Does without the symbol that was wanted last; its place."""
        setting, places = self.places.popitem()
        self.refused.add(places[-1])
        if len(places) > 1:
            self.places[setting] = places[:-1]
        return places[-1:]

    def refuse_setting(self, blamed: str = "") -> list[tuple[str, int]]:
        """Does without all symbols of the setting that is to blame, or else was wanted last; their places."""
        setting = blamed if blamed in self.places else next(reversed(self.places))
        self.refused.add(setting)
        return self.places.pop(setting)


@dataclass
class Learnt:
    """What is known of one function's frames."""

    captures: Captures = field(default_factory=Captures)
    # How often frames with predictions were compiled, and how many operations that were.
    versions: int = 0
    ops: int = 0
    # How often frames ran that were compiled, and with a prediction that was wrong.
    runs: int = 0
    wrong: int = 0
    # How often a frame raised for sure, while it was traced.
    raised: int = 0
    # How often in succession an operation raised while it was traced.
    in_vain: int = 0
    # There is, or was, more in its graphs than plain `torch.compile` has in one.
    is_mended: bool = False
    # Why it is traced as it is written.
    as_written: str | None = None
    # Why its graph can carry no marker.
    cannot_carry: str | None = None
    # Why Dynamo's settings are left as they are.
    without_settings: str = ""
    # It runs as it is.
    as_it_is: bool = False
    # It is compiled for the very numbers that attributes are.
    fixes_attributes: bool = False
