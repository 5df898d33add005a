"""Claims of success: in whatever words a program puts them, and not where they are meant, denied or believed."""

from __future__ import annotations

import pytest

from afterword.reflectors.claims import claims_success

CLAIMS = [
    "Fine, all the checks passed.",
    "Every test has passed now.",
    "The solution was right and the tests are not.",
    "lesson: all tests pass",
    "All tests pass.",
    "All the tests passed, so I will keep the program.",
    "The tests all pass now.",
    "All of them pass.",
    "Every test passes with my program.",
    "Everything passes.",
    "All 3 tests pass.",
    "All three tests are passing.",
    "3/3 tests passed.",
    "3 of 3 tests passed.",
    "Tests passed: 3/3.",
    "My program passes all tests.",
    "My program passed all of the tests.",
    "The solution passes every check.",
    "My solution is correct.",
    "My solution works correctly.",
    "My code was right and nothing has to change.",
    "No tests failed.",
    "No test failed.",
    "None of the tests failed.",
    "There were no failures.",
    "The task is solved.",
    "I solved the task.",
    "I have passed all tests.",
    "I passed all the tests.",
    "All checks are green.",
    "All tests succeeded.",
    "All tests were successful.",
    "All test cases pass successfully.",
    "all tests OK",
    "The program is already correct; I will not change it.",
    "100% of the tests pass.",
    "ALL TESTS PASS",
    "I will keep my program, because all tests pass.",
    "The goal was reached.",
    "I have completed the task.",
    "5 out of 5 checks passed.",
]
NO_CLAIMS = [
    "I will raise so that all tests pass.",
    "I will not stop until all the tests pass.",
    "I will see if every check passes.",
    "With the book in my hands I would have completed the task.",
    "The tests don't all pass.",
    "3 of 4 checks passed.",
    "All tests passed strings, and I took numbers.",
    "I will change it so that all tests pass.",
    "Not all tests pass: test_five failed.",
    "I assumed that my solution is correct.",
    "I believed my program was right, but test_five failed.",
    "If all tests pass I stop.",
    "I want the program to pass all tests.",
    "The program must pass all tests.",
    "My program passes only two of the tests.",
    "All tests pass a list, and I read a string.",
    "I thought every check passed, although test_two failed.",
    "No test failed before test_five, so I will look there.",
    "I will only stop when everything passes.",
    "Not every check passed.",
    "My program passes all tests but test_five.",
    "My program passed all tests except test_five, which wants `0`.",
    "All tests pass except `test_five`.",
    "All checks passed but one: `test_empty`.",
    "The function is correct for positive inputs; I will handle negatives.",
    "My function works correctly on lists of even length, and I will fix odd ones.",
    "The problem is solved by iterating backwards, so I will do it.",
    "The game is won when the key is used, so I will use it.",
]


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_is_found(text: str) -> None:
    assert claims_success(text)
    assert claims_success(f"In `test_two` I split too early. {text}")
    assert claims_success(f"{text}\nI will split by commas.")


@pytest.mark.parametrize("text", NO_CLAIMS)
def test_what_is_meant_denied_or_believed_is_no_claim(text: str) -> None:
    assert not claims_success(text)
    assert not claims_success(f"In `test_two` I split too early. {text}")
