"""The type parameters of public classes, under PyFlink's names.

Each defaults to Any, so that a program may leave them out (`class Parse(MapFunction)`), also under a strict type
checker. Python 3.11 has no defaults of type variables: only type checkers see them, and only there is
`typing_extensions` needed, which they bring along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar
else:
    import typing

    def TypeVar(name, default, **options):
        return typing.TypeVar(name, **options)


__all__ = [
    "ACC",
    "IN",
    "IN1",
    "IN2",
    "KEY",
    "OUT",
    "CurrentKey",
    "CurrentWindow",
    "K",
    "K_co",
    "R",
    "T",
    "T_co",
    "T_contra",
    "V",
    "W",
    "W_co",
    "Win",
]

T = TypeVar("T", default=Any)
K = TypeVar("K", default=Any)
V = TypeVar("V", default=Any)
R = TypeVar("R", default=Any)
ACC = TypeVar("ACC", default=Any)
Win = TypeVar("Win", default=Any)
T_co = TypeVar("T_co", covariant=True, default=Any)
K_co = TypeVar("K_co", covariant=True, default=Any)
T_contra = TypeVar("T_contra", contravariant=True, default=Any)

# A function for records of a base class takes records of the derived ones, hence contravariant; a function that makes
# records of a derived class can stand where the base class is wanted, hence covariant.
IN = TypeVar("IN", contravariant=True, default=Any)
IN1 = TypeVar("IN1", contravariant=True, default=Any)
IN2 = TypeVar("IN2", contravariant=True, default=Any)
KEY = TypeVar("KEY", contravariant=True, default=Any)
W = TypeVar("W", contravariant=True, default=Any)
W_co = TypeVar("W_co", covariant=True, default=Any)
OUT = TypeVar("OUT", covariant=True, default=Any)

# A nested class cannot use the parameters of the class around it.
CurrentKey = TypeVar("CurrentKey", covariant=True, default=Any)
CurrentWindow = TypeVar("CurrentWindow", covariant=True, default=Any)
