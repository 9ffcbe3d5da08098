"""What a decision is: a type of break of which only the user can say what the program means."""

from dataclasses import dataclass

from graphmend._reporting.changes import Changer
from graphmend._reporting.edits import Change
from graphmend._reporting.spot import Finder, Spot
from graphmend._tree import parse

# Longer expressions are not repeated in a sentence.
_LONGEST = 72


@dataclass(frozen=True)
class Decision:
    # Dynamo's number and name of the type.
    number: str
    gb_type: str
    # Completes "you decide …"; `{it}` is what broke, in the user's own words.
    decides: str
    # What to write for each answer.
    to_do: str
    # What in the line it is about.
    finds: Finder | None = None
    # The change for the answer that keeps the graph whole.
    change: Changer | None = None
    # Other names that Dynamo has for it.
    also: tuple[str, ...] = ()

    def sentences(self, spot: Spot | None, source: str) -> tuple[str, str]:
        """The decision and what to do, about this line."""
        node = self.finds(spot) if self.finds and spot else None
        if node and node.children and node.children[-1].kind == "Body":
            node = None
        text = node.text if node else source.strip()
        # A line that begins or ends in the middle of a statement says nothing by itself.
        is_whole = node or any(parse(f"async def f():\n while a:\n  {text}\n{rest}").ok for rest in ("", "   pass\n"))
        text = " ".join(text.split()).rstrip(":")
        it = f"`{text}`" if text and is_whole and len(text) <= _LONGEST and "`" not in text else "this line"
        return self.decides.replace("{it}", it), self.to_do.replace("{it}", it)

    def change_at(self, spot: Spot) -> Change | None:
        node = self.finds(spot) if self.finds else spot.tree.root
        return self.change(spot, node) if self.change and node else None
