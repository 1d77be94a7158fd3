"""The comparison by meaning: what it must see, and what it must not."""

import pytest
from compare import (
    difference,
    fields,
    outputs_difference,
    picture_difference,
    same_number,
    text_difference,
)

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
    '<defs><path id="m0123456789" d="M 0 0 L 0 3.5" style="stroke: #595959"/></defs>'
    '<g id="line2d_1"><path d="M 10.5 20.25 L 30 -40.125 z" style="fill: #0b5fa5"'
    ' clip-path="url(#pabcdef0123)"/></g>'
    '<use xlink:href="#m0123456789" x="1" y="2"/><use xlink:href="#m0123456789" x="3" y="2"/>'
    '<g transform="translate(5 6) scale(0.09 -0.09)"><text>one</text></g>'
    '<clipPath id="pabcdef0123"><rect width="100" height="50"/></clipPath></svg>'
)


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("1.602", "1.602"),
        ("1.602", "1.603"),
        ("-12.3", "-12.4"),
        ("1.23e-07", "1.24e-07"),
        ("9.999", "10.00"),  # three decimals as two: %.4g
        ("9.999", "10"),
        ("999.9", "1000"),
        ("0.1", "0.1001"),  # %.4g drops zeros
        ("9.999e+04", "1e+05"),
        ("-0.0", "0.0"),
        ("0", "-0"),
        ("−0.00", "0.00"),
        ("−1.234", "−1.235"),
    ],
)
def test_rounding_is_not_seen(kept, found):
    assert same_number(kept, found)
    assert same_number(found, kept)
    assert text_difference(f"a {kept}.\n", f"a {found}.\n") is None


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("1.602", "1.604"),
        ("1.602", "-1.602"),
        ("0.001", "-0.001"),
        ("1602", "1603"),  # a whole number
        ("0.99", "1.00"),  # two digits, rounded up or not
        ("0.012", "0.013"),
        ("1e-16", "2e-16"),
        ("1.5e-07", "1.6e-07"),
        ("0.000", "0.001"),
        ("0.5", "0.500"),  # another format
        ("0.0", "0.00"),
        ("1.23e-07", "1.23e-06"),
        ("100", "100.0"),
    ],
)
def test_more_than_rounding_is_seen(kept, found):
    assert not same_number(kept, found)
    assert not same_number(found, kept)
    assert text_difference(f"a {kept}\n", f"a {found}\n")


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("holds  a", "tight  a"),
        ("a b", "a  b"),  # spaces count where no number changed its length
        ("one\ntwo\n", "one\n"),
        ("one\n", "one"),
        ("version 2.400.6", "version 2.401.6"),
        ("x1.234", "x1.235"),
        ("nan", "1.234"),
        ("1.234", "1.234 1.234"),
        ("3 rounds", "4 rounds"),
        ("$10^{-5}$", "$10^{-6}$"),
        ("[1.234, 2.5]", "[1.234; 2.5]"),
    ],
)
def test_words_and_structure_are_seen(kept, found):
    for before, after in ((kept, found), (found, kept)):
        assert text_difference(before, after)


def test_columns_may_shift_where_a_number_changed_its_length():
    assert text_difference("a   9.999 b\nrow     1\n", "a  10.000 b\nrow      1\n") is None
    assert text_difference("| 9.999 | b |\n", "| 10.00 | b |\n") is None
    assert text_difference("a 9.999 b", "a 10.000b")
    assert text_difference("[0.123 -0.   ]", "[0.123 0.   ]") is None


def test_a_difference_names_the_place_and_both_sides():
    said = text_difference("one\nR2 = 0.912 here\n", "one\nR2 = 0.914 here\n")
    assert said.startswith("line 2: the number 0.912 is now 0.914\n")
    assert "stored: R2 = 0.912 here" in said
    said = picture_difference(SVG, SVG.replace("10.5 20.25", "10.7 20.25"))
    assert said == "in line2d_1, <path>: d: a coordinate moved by 0.2 px"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("10.5 20.25", "10.52 20.23"),
        ('x="1"', 'x="1.05"'),
        ("translate(5 6)", "translate(5.05 5.95)"),
        ('width="100"', 'width="99.96"'),
        ("m0123456789", "m9876543210"),  # a derived name, everywhere
        ("pabcdef0123", "p0000000000"),
        ("-40.125", "-40.1250001"),
    ],
)
def test_what_no_eye_sees_in_a_picture_is_not_seen(before, after):
    assert before in SVG
    assert picture_difference(SVG, SVG.replace(before, after)) is None
    assert picture_difference(SVG.replace(before, after), SVG) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("10.5 20.25", "10.7 20.25"),
        ("10.5 20.25", "10.5 20.301"),
        ("L 30 -40.125", "L 30 -40.125 L 30 -40.125"),
        ("L 30 -40.125", "C 30 -40.125"),
        (" z", ""),
        ("#0b5fa5", "#0b5fa6"),
        ("<text>one</text>", "<text>two</text>"),
        ("<text>one</text>", ""),
        ('<use xlink:href="#m0123456789" x="3" y="2"/>', ""),
        ('<use xlink:href="#m0123456789" x="3"', '<use xlink:href="#m0123456788" x="3"'),
        ("scale(0.09 -0.09)", "scale(0.08 -0.09)"),
        ("translate(5 6) scale(0.09 -0.09)", "scale(0.09 -0.09) translate(5 6)"),
        ("translate(5 6)", "translate(5 6.2)"),
        ('height="50"', 'height="51"'),
        (' height="50"', ""),
        ("</svg>", "<g/></svg>"),
        ("</svg>", ""),
    ],
)
def test_what_an_eye_could_see_in_a_picture_is_seen(before, after):
    assert before in SVG
    assert picture_difference(SVG, SVG.replace(before, after))
    assert picture_difference(SVG.replace(before, after), SVG)


def test_two_names_do_not_become_one():
    two = SVG.replace(
        '<use xlink:href="#m0123456789" x="3"', '<use xlink:href="#m1111111111" x="3"'
    )
    one = SVG.replace("m0123456789", "m1111111111")
    assert picture_difference(two, one)
    assert picture_difference(one, two)


def test_elements_in_another_order_are_seen():
    uses = '<use xlink:href="#m0123456789" x="{}" y="2"/>'
    swapped = SVG.replace(uses.format(1) + uses.format(3), uses.format(3) + uses.format(1))
    assert swapped != SVG
    assert picture_difference(SVG, swapped)


def test_pictures_of_dots_and_data_are_equal_or_not():
    assert difference("image/png", "aGk=", "aGk=") is None
    assert difference("image/png", "1.234", "1.235")
    assert difference("application/json", {"a": 1.234}, {"a": 1.235})


def test_every_form_of_a_verdict_is_compared():
    def shown(plain, marked):
        data = {"text/plain": plain, "text/markdown": marked}
        return [{"output_type": "display_data", "metadata": {}, "data": data}]

    kept = shown("holds  k = 1.234", "**holds** $k = 1.234$")
    skipped = ("metadata", "output_type")
    assert outputs_difference(kept, shown("holds  k = 1.235", "**holds** $k = 1.235$")) is None
    assert outputs_difference(kept, shown("tight  k = 1.234", "**holds** $k = 1.234$"), skipped)
    assert outputs_difference(kept, shown("holds  k = 1.234", "**holds** $k = 1.236$"), skipped)
    assert outputs_difference(kept, shown("holds  k = 1.234", "**tight** $k = 1.234$"), skipped)
    more = [shown("holds  k", f"**holds** $k$ *({n} checks)*") for n in (71, 72)]
    assert outputs_difference(*more, skipped) is None
    assert outputs_difference(kept, kept + kept, skipped)
    assert outputs_difference(kept, [], skipped)


def test_streams_are_told_apart_by_their_names():
    out = [{"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]}]
    skipped = ("name", "output_type")
    assert fields(out, skipped) == {"stdout": ["one\ntwo\n"]}
    assert outputs_difference(out, [out[0] | {"name": "stderr"}], skipped)
