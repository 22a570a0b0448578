"""Values of cells as their number formats show them (ECMA-376 part 1, 18.8.31)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache

Value = str | int | float | Decimal | bool | datetime | date | time | timedelta | None
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_(?P<space>.)|\*.'
    r"|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<elapsed>h+|m+|s+)\]"
    r"|\[(?P<condition>[<>=]+-?[\d.]+)\]|\[[^\]]*\]"
    r"|(?P<general>General|Standard)|(?P<half>AM/PM|A/P)|(?P<exponent>E[+-])"
    r"|(?P<point>\.(?=[0#?]))|(?P<digit>[0#?])|(?P<date>y+|m+|d+|h+|s+|e+|b+)|(?P<sign>.)",
    re.IGNORECASE | re.DOTALL,
)
_SECTION = re.compile(r'(?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[]|["\\\[])*', re.DOTALL)
# What spreadsheets show as the short date of the country that they are used in.
_SHORT_DATES = {"mm-dd-yy": "yyyy-mm-dd", "m/d/yy h:mm": "yyyy-mm-dd h:mm"}
_LONGEST = 11
_MOST_DECIMALS = 30
_LARGEST = 10**15
_EPOCH = datetime(1899, 12, 30)  # noqa: DTZ001  cells know no time zone
_DAY = timedelta(days=1)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class _Piece:
    """A part of a format: literal text, or a sign that stands for part of a value."""

    kind: str
    text: str


def formatted(value: Value, code: str) -> str:
    """Give a value as a cell shows it."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).upper()
    sections = _sections(_SHORT_DATES.get(code, code) or "General")
    if isinstance(value, str):
        return _as_text(value, sections)
    if isinstance(value, datetime | date | time | timedelta):
        pieces = sections[0]
        is_date = any(piece.kind in ("date", "elapsed") for piece in pieces)
        return _as_date(value, pieces) if is_date else _hidden_or(_iso(value), pieces, code)
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    if not number.is_finite():
        return str(value)
    pieces, is_signed = _chosen(number, sections)
    if any(piece.kind in ("date", "elapsed") for piece in pieces):
        return _from_serial(number, pieces)
    shown = _as_number(abs(number), pieces)
    is_zero = not re.search(r"[1-9]", shown)
    return f"-{shown}" if number < 0 and is_signed and shown and not is_zero else shown


def _from_serial(number: Decimal, pieces: tuple[_Piece, ...]) -> str:
    """A number as the date that this many days lead to."""
    try:
        if any(piece.kind == "elapsed" for piece in pieces):
            return _as_date(timedelta(days=float(number)), pieces)
        return _as_date(_EPOCH + timedelta(days=float(number)), pieces)
    except (OverflowError, ValueError):
        return _general(number)


def _hidden_or(text: str, pieces: tuple[_Piece, ...], code: str) -> str:
    return text if pieces or code.strip(";") else ""


@lru_cache(maxsize=500)
def _sections(code: str) -> tuple[tuple[_Piece, ...], ...]:
    parts, at = [], 0
    while at <= len(code):
        match = _SECTION.match(code, at)
        end = match.end() if match else len(code)
        parts.append(tuple(_pieces(code[at:end])))
        at = end + 1
    return tuple(parts)


def _pieces(section: str) -> list[_Piece]:
    pieces = []
    for match in _TOKEN.finditer(section):
        kind = str(match.lastgroup or "")
        text = str(match[kind]) if kind else ""
        if kind in ("quoted", "escaped", "currency"):
            pieces.append(_Piece("literal", text))
        elif kind == "space":
            pieces.append(_Piece("literal", " "))
        elif kind == "sign" and text not in "%,/@":
            pieces.append(_Piece("literal", text))
        elif kind:
            pieces.append(_Piece("date" if kind == "half" else kind, text))
    return pieces


def _as_text(value: str, sections: tuple[tuple[_Piece, ...], ...]) -> str:
    """A text: only the fourth section, or a first one with its sign, is for texts."""
    if len(sections) > 3:  # noqa: PLR2004  as the standard counts
        pieces = sections[3]
    elif any(piece.text == "@" for piece in sections[0]):
        pieces = sections[0]
    else:
        return value
    return "".join(
        value if piece.text == "@" and piece.kind == "sign" else piece.text
        for piece in pieces
        if piece.kind == "literal" or piece.text == "@"
    )


def _chosen(
    number: Decimal, sections: tuple[tuple[_Piece, ...], ...]
) -> tuple[tuple[_Piece, ...], bool]:
    """The section for a number, and whether a minus sign has to be put before it."""
    for pieces in sections[:3]:
        conditions = [piece.text for piece in pieces if piece.kind == "condition"]
        if conditions and _holds(number, conditions[0]):
            return pieces, number < 0
    if any(piece.kind == "condition" for pieces in sections for piece in pieces):
        free = [p for p in sections[:3] if not any(piece.kind == "condition" for piece in p)]
        return (free or [sections[-1]])[-1], True
    if number < 0 and len(sections) > 1:
        return sections[1], False
    if not number and len(sections) > 2:  # noqa: PLR2004  as the standard counts
        return sections[2], False
    return sections[0], True


def _holds(number: Decimal, condition: str) -> bool:
    sign = re.match(r"[<>=]+", condition)
    assert sign  # noqa: S101  the pattern of tokens has it
    try:
        bound = Decimal(condition[sign.end() :])
    except ArithmeticError:
        return False
    is_equal = "=" in sign[0] and number == bound
    if sign[0] == "<>":
        return number != bound
    return is_equal or ("<" in sign[0] and number < bound) or (">" in sign[0] and number > bound)


def _as_number(number: Decimal, pieces: tuple[_Piece, ...]) -> str:
    kinds = {piece.kind for piece in pieces}
    signs = "".join(piece.text for piece in pieces if piece.kind == "sign")
    if "digit" not in kinds:
        return "".join(
            _general(number) if piece.kind == "general" or piece.text == "@" else piece.text
            for piece in pieces
            if piece.kind in ("literal", "general") or piece.text in "%@"
        )
    number *= 100 ** signs.count("%")
    if "exponent" in kinds:
        return _scientific(number, pieces)
    if "/" in signs:
        return _fraction(number, pieces)
    return _decimal(number, pieces)


def _decimal(number: Decimal, pieces: tuple[_Piece, ...]) -> str:
    """A number with as many digits as the format has places for."""
    places = [n for n, piece in enumerate(pieces) if piece.kind == "digit"]
    point = next((n for n, piece in enumerate(pieces) if piece.kind == "point"), len(pieces))
    whole = [n for n in places if n < point]
    decimals = [pieces[n].text for n in places if n > point][:_MOST_DECIMALS]
    commas = [n for n, piece in enumerate(pieces) if piece.kind == "sign" and piece.text == ","]
    last = max(whole, default=-1)
    number = number.scaleb(-3 * sum(last < n < point or n > places[-1] for n in commas))
    rounded = f"{_rounded(number, len(decimals)):f}"
    digits, _, rest = rounded.partition(".")
    while rest and decimals[len(rest) - 1] != "0" and rest.endswith("0"):
        rest = rest[:-1]
    grouped = any(whole and whole[0] < n < last for n in commas)
    written = iter(
        _distributed(digits.lstrip("0"), [pieces[n].text for n in whole], grouped=grouped)
    )
    out = []
    for n, piece in enumerate(pieces):
        if piece.kind == "literal" or piece.text == "%":
            out.append(piece.text)
        elif n in whole:
            out.append(next(written))
        elif n == point:
            out.append(("" if whole else digits.lstrip("0")) + (f".{rest}" if rest else ""))
    return "".join(out).strip()


def _distributed(digits: str, places: list[str], *, grouped: bool) -> list[str]:
    """What each place of the whole part shows: the first one takes all digits that are left."""
    shown: list[str] = []
    count = 0
    for n, place in reversed(list(enumerate(places))):
        taken = digits if not n else digits[-1:]
        digits = "" if not n else digits[:-1]
        if not taken and place != "#":
            taken = "0" if place == "0" else " "
        text = ""
        for digit in reversed(taken):
            if grouped and count and not count % 3 and digit != " ":
                text = f",{text}"
            text = digit + text
            count += 1
        shown.append(text)
    return shown[::-1]


def _scientific(number: Decimal, pieces: tuple[_Piece, ...]) -> str:
    at = next(n for n, piece in enumerate(pieces) if piece.kind == "exponent")
    point = next((n for n, p in enumerate(pieces) if p.kind == "point"), at)
    decimals = sum(piece.kind == "digit" for piece in pieces[point:at])
    mantissa, _, exponent = f"{number:.{decimals}E}".partition("E")
    width = sum(piece.kind == "digit" for piece in pieces[at:])
    power = int(exponent)
    sign = "-" if power < 0 else "+" if pieces[at].text.endswith("+") else ""
    return f"{mantissa}E{sign}{abs(power):0{width}d}"


def _fraction(number: Decimal, pieces: tuple[_Piece, ...]) -> str:
    slash = next(n for n, piece in enumerate(pieces) if piece.text == "/")
    digits = sum(piece.kind == "digit" for piece in pieces[slash:])
    before = "".join("d" if p.kind == "digit" else "-" for p in pieces[:slash]).strip("-")
    part = Fraction(number).limit_denominator(max(10 ** min(digits, 4) - 1, 1))
    whole = int(part) if "-" in before else 0
    rest = part - whole
    if not rest:
        return str(whole)
    return f"{whole or ''} {rest.numerator}/{rest.denominator}".strip()


def _rounded(number: Decimal, decimals: int) -> Decimal:
    try:
        return number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    except ArithmeticError:
        return number


def _general(number: Decimal) -> str:
    """A number as a cell without a format shows it."""
    if number == number.to_integral_value() and abs(number) < _LARGEST:
        return str(int(number))
    return f"{float(number):.{_LONGEST - 1}g}".replace("e", "E")


def _iso(value: datetime | date | time | timedelta) -> str:
    if isinstance(value, datetime):
        return value.isoformat(" ", "minutes") if value.time() != time() else f"{value.date()}"
    return str(value)


def _as_date(value: datetime | date | time | timedelta, pieces: tuple[_Piece, ...]) -> str:
    if isinstance(value, timedelta):
        moment, elapsed = _EPOCH + value % _DAY, value
    elif isinstance(value, time):
        moment = datetime.combine(_EPOCH, value)
        elapsed = moment - _EPOCH
    else:
        moment = value if isinstance(value, datetime) else datetime.combine(value, time())
        moment = moment.replace(tzinfo=None)
        elapsed = moment - _EPOCH
    halved = any(piece.text.upper() in ("AM/PM", "A/P") for piece in pieces)
    out, parts = [], [piece for piece in pieces if piece.kind in ("date", "elapsed")]
    for piece in pieces:
        if piece.kind == "date":
            out.append(_date_part(moment, piece.text, _is_minute(parts, piece), halved=halved))
        elif piece.kind == "elapsed":
            seconds = {"h": 3600, "m": 60, "s": 1}[piece.text[0].lower()]
            count = int(elapsed.total_seconds() // seconds)
            out.append(f"{count:0{len(piece.text)}d}")
        elif piece.kind == "literal" or piece.text in "/,":
            out.append(piece.text)
    return "".join(out).strip()


def _is_minute(parts: list[_Piece], piece: _Piece) -> bool:
    """Whether an m means minutes: it is behind hours, or before seconds."""
    at = next(n for n, one in enumerate(parts) if one is piece)
    before = parts[at - 1].text[0].lower() if at else ""
    after = parts[at + 1].text[0].lower() if at + 1 < len(parts) else ""
    return before == "h" or after == "s"


def _date_part(moment: datetime, code: str, is_minute: bool, *, halved: bool) -> str:  # noqa: FBT001
    sign, width = code[0].lower(), len(code)
    if sign == "a":
        half = "PM" if moment.hour >= 12 else "AM"  # noqa: PLR2004  noon
        return half if width > 3 else half[0]  # noqa: PLR2004  A/P
    if sign == "m" and not is_minute and width > 2:  # noqa: PLR2004  names
        name = _MONTHS[moment.month - 1]
        return {3: name[:3], 5: name[0]}.get(width, name)
    if sign == "d" and width > 2:  # noqa: PLR2004  names
        name = _WEEKDAYS[moment.weekday()]
        return name[:3] if width == 3 else name  # noqa: PLR2004
    if sign in "yeb":
        return f"{moment.year % 100:02d}" if width <= 2 and sign == "y" else f"{moment.year:04d}"  # noqa: PLR2004
    hour = (moment.hour % 12 or 12) if halved else moment.hour
    number = {"m": moment.minute if is_minute else moment.month, "d": moment.day}
    number |= {"h": hour, "s": moment.second}
    return f"{number[sign]:0{min(width, 2)}d}"
