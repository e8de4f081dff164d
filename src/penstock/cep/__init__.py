"""Complex event processing: FlinkCEP's Pattern API in Python."""

from penstock.api.pattern_stream import CEP, PatternStream
from penstock.core.cep.builder import GroupPattern, Pattern
from penstock.core.cep.conditions import IterativeCondition, RichIterativeCondition, SimpleCondition
from penstock.core.cep.errors import MalformedPatternException, MatchError
from penstock.core.cep.functions import (
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    TimedOutPartialMatchHandler,
)
from penstock.core.cep.patterns import WithinType
from penstock.core.cep.skip import AfterMatchSkipStrategy

__all__ = [
    "CEP",
    "AfterMatchSkipStrategy",
    "GroupPattern",
    "IterativeCondition",
    "MalformedPatternException",
    "MatchError",
    "Pattern",
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternStream",
    "PatternTimeoutFunction",
    "RichIterativeCondition",
    "SimpleCondition",
    "TimedOutPartialMatchHandler",
    "WithinType",
]
