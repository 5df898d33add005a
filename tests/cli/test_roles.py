import pytest

from afterword.cli.roles import ModelChoice, roles_of
from afterword.core.messages import Price
from afterword.core.records import Strategy
from afterword.errors import InputError

BOTH = Strategy.LAST_ATTEMPT_AND_REFLEXION


def test_what_is_not_said_of_the_reflector_is_as_for_the_actor() -> None:
    roles = roles_of(ModelChoice(model="openai:a"), BOTH)
    assert (roles.actor.name, roles.reflector.name) == ("openai:a", "openai:a")
    assert (roles.actor.temperature, roles.reflector.temperature) == (0.0, 0.2)
    assert roles.warning is None


def test_settings_reach_both_models() -> None:
    choice = ModelChoice(model="openai:a", timeout_s=7.0, requests_per_minute=30, threads=2, price="1,2,0.5")
    roles = roles_of(choice, BOTH)
    for role in (roles.actor, roles.reflector):
        options = role.options
        assert (options.timeout_s, options.requests_per_minute, options.threads) == (7.0, 30, 2)
        assert options.price == Price(1.0, 2.0, 0.5)


def test_address_and_key_stay_with_their_provider() -> None:
    choice = ModelChoice(model="openai:a", base_url="http://h/v1", api_key="k", reflector_model="anthropic:b")
    roles = roles_of(choice, BOTH)
    assert (roles.actor.options.base_url, roles.actor.options.api_key) == ("http://h/v1", "k")
    assert (roles.reflector.options.base_url, roles.reflector.options.api_key) == (None, None)


def test_address_is_the_reflectors_where_the_actor_takes_none() -> None:
    choice = ModelChoice(model="local", base_url="http://h/v1", reflector_model="openai:b")
    roles = roles_of(choice, BOTH)
    assert roles.actor.options.base_url is None
    assert roles.reflector.options.base_url == "http://h/v1"


@pytest.mark.parametrize(
    ("temperature", "strategy", "expected", "warned"),
    [
        (None, Strategy.RETRY, 0.7, False),
        ("0", Strategy.RETRY, 0.0, True),
        ("none", Strategy.RETRY, None, False),
        (None, Strategy.REFLEXION, 0.0, False),
        (" NONE ", Strategy.REFLEXION, None, False),
        ("1.5", Strategy.REFLEXION, 1.5, False),
    ],
)
def test_temperature(temperature: str | None, strategy: Strategy, expected: float | None, warned: bool) -> None:
    roles = roles_of(ModelChoice(model="local", temperature=temperature), strategy)
    assert roles.actor.temperature == expected
    assert (roles.warning is not None) == warned


@pytest.mark.parametrize("wrong", ["hot", "2.1", "-0.1", "nan", "inf", ""])
def test_wrong_temperature_is_named(wrong: str) -> None:
    with pytest.raises(InputError, match="--temperature takes a number from 0 to 2"):
        roles_of(ModelChoice(model="local", temperature=wrong), BOTH)


@pytest.mark.parametrize("wrong", ["", "1", "1,2,3,4", "a,b", "1,-2", "nan,1", "inf,1"])
def test_wrong_price_is_named(wrong: str) -> None:
    with pytest.raises(InputError, match="--price takes IN,OUT"):
        roles_of(ModelChoice(model="local", price=wrong), BOTH)


def test_wrong_name_is_found_at_once() -> None:
    with pytest.raises(InputError, match="'gpt-4o'"):
        roles_of(ModelChoice(model="local", reflector_model="gpt-4o"), BOTH)


def test_the_prompt_cache_of_the_local_model_is_off_unless_asked_for() -> None:
    assert not roles_of(ModelChoice(model="local"), BOTH).actor.options.prompt_cache
    assert roles_of(ModelChoice(model="local", prompt_cache=True), BOTH).actor.options.prompt_cache
