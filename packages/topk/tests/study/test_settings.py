"""The settings that a type checker knows are those that there are."""

from inspect import Parameter, signature

from topk.registry import COMMON_ORDER_SELECTORS, SELECTORS
from topk.study import Study
from topk.study.settings import AlgorithmOptions, SelectSettings, StudySettings

BY_THE_STUDY = {"accuracy", "groups", "prices", "questions", "scores"}  # it fills these in
BY_THE_APPLICATION = {"joined_late"}


def test_every_option_of_an_algorithm_is_known():
    kinds = (SELECTORS | COMMON_ORDER_SELECTORS).values()
    options = {option.name for kind in kinds for option in kind.known_options}
    known = set(AlgorithmOptions.__annotations__)
    assert known == options - BY_THE_STUDY - BY_THE_APPLICATION


def test_every_setting_of_a_study_is_known():
    settings = {
        name
        for name, parameter in signature(Study).parameters.items()
        if parameter.kind is Parameter.KEYWORD_ONLY
    }
    known = set(StudySettings.__annotations__) - set(AlgorithmOptions.__annotations__)
    assert known | {"batch"} == settings
    assert set(SelectSettings.__annotations__) - set(StudySettings.__annotations__) == {
        "batch",
        "n",
        "rows",
    }
