"""State offline: open a savepoint or a checkpoint, look at it, change it, or make a savepoint from data."""

from penstock.state.edit import KeyedEditor, StateEditor
from penstock.state.view import StateView, open_state

__all__ = ["KeyedEditor", "StateEditor", "StateView", "open_state"]
