"""Signs of an author without a name: folders, addresses, signatures, marks of tools.

Lists of phrases are incomplete, so they help a reader and prove nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from quem.solutions.names import fold
from quem.solutions.patterns import LATIN

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = r"[A-ZÀ-ÞŁŞİČŠŽ][\w'’\-]+"
_PARTICLE = r"(?:(?:van|von|de|der|da|la|le|al|bin)\b ?)"
_NAME = rf"(?:{_WORD}|[A-Z]\.)(?: {_PARTICLE}*(?:{_WORD}|[A-Z]\.)){{0,3}}"
CLOSINGS = (
    r"(?:(?:best|kind|warm|many)\s+)?(?:regards|wishes|thanks)|cheers|all the best|best|"
    r"(?:yours )?(?:sincerely|faithfully|truly)(?: yours)?|"
    r"(?:mit )?(?:freundlichen|besten|vielen?|herzlichen?|liebe) gr(?:ü|ue)(?:ß|ss)en?|"
    r"cordialement|bien à vous|un saludo|saludos(?: cordiales)?|atentamente|"
    r"atenciosamente|abraços|met vriendelijke groet(?:en)?|groet(?:en|jes)|cordiali saluti|"
    r"med vennlig hilsen|vänliga hälsningar|pozdrawiam"
)
# Names of models that are ordinary words or people count only beside a verb or a version.
_MODELS = (
    "Claude|Gemini|Copilot|Llama|Mistral|Bard|Grok|Cursor|Devin|Codex|Perplexity|Qwen|DeepSeek|Phi|"
    "Gemma|Kimi|GLM|Command R|Nova|Falcon|Windsurf|Aider"
)
_MADE = (
    "generated|drafted|written|produced|created|answered|powered|reasoned|made|assisted|"
    "translated|polished|summari[sz]ed"
)
_NOBODY = frozenset(
    (
        "admin all app appuser codespace default ec2-user example guest jovyan me name node pi "
        "public root runner shared someone student ubuntu user username users vscode work xxx you "
        "your"
    ).split()
)
_NO_AUTHOR = re.compile(
    r"(?:unknown|n/?a|none|anonymous|the|this|numpy|index|todo|name|of|is|for|monday|not|only|also)"
    r"\b|.*\b(?:developers|contributors|foundation|inc|team)\b",
    re.IGNORECASE,
)
# Spaces and apostrophes in other forms.
_PLAIN = str.maketrans("\u00a0\u2007\u202f’\u02bc", "   ''")
# Letters of another script beside a word do not belong to it.
_LETTERS = rf"{LATIN}\d_"
_BORDER = rf"(?:(?<![{_LETTERS}])(?=[{_LETTERS}])|(?<=[{_LETTERS}])(?![{_LETTERS}]))"
_MIXED = re.compile(rf"(?<=[{_LETTERS}])[^\W{_LETTERS}]|[^\W{_LETTERS}](?=[{_LETTERS}])")
_OUTSIDE = r"(?![^\[\]]*\])"  # of a class
_OFFICE = re.compile(
    r"@(?:[\w.\-]*\.)?example\.|"
    r"^(?:info|support|help|admin|contact|sales|office|no-?reply|git|hello|team|mail|postmaster)@",
    re.IGNORECASE,
)


class Telltale(NamedTuple):
    """A sign of an author."""

    start: int
    end: int
    meaning: str
    decide: bool = True  # whether it needs a decision; else it is listed on request


class _Pattern(NamedTuple):
    meaning: str
    pattern: re.Pattern[str]
    kind: str = ""


def _of(
    meaning: str, *patterns: str, kind: str = "", any_case: bool = False, wraps: bool = False
) -> _Pattern:
    """A kind of sign; with ``wraps`` its spaces may be line ends."""
    flags = re.MULTILINE | (re.IGNORECASE if any_case else re.NOFLAG)
    pattern = "|".join(patterns)
    if wraps:
        pattern = re.sub(f" {_OUTSIDE}", r"(?:\\s+)", pattern)
    return _Pattern(meaning, re.compile(pattern, flags), kind)


@lru_cache(maxsize=64)
def _latin(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """A pattern whose words end where another script begins; slower."""
    words = re.sub(rf"\\w{_OUTSIDE}", r"[\\w]", pattern.pattern).replace(r"\w", _LETTERS)
    return re.compile(words.replace(r"\b", _BORDER), pattern.flags)


# Groups with a name in x are the sign; "who" is its owner.
_PATTERNS = (
    _of(
        "a home folder",
        r"(?:/home/|/users/|[a-z]:[\\/]+users[\\/]+|\\\\[\w.\-]+\\(?:home|users|profiles)\\"
        r"|(?<![\w/=(,])~(?=[\w.\-]+/))(?P<who>[a-z][\w.\-]*(?:(?:%20| (?=[A-Z]))[a-z]\w+)?)"
        r"(?=[\\/\s'\":,)]|$)",
        kind="home",
        any_case=True,
    ),
    _of(
        "a shell prompt",
        r"(?P<who>[a-z][\w.\-]+)@[a-z][\w\-]+:[~/][^\s]*[$#]",
        kind="home",
        any_case=True,
    ),
    _of(
        "an email address",
        r"(?<![\w.+\-])[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)*\.[a-z]{2,}\b",
        kind="address",
        any_case=True,
    ),
    _of(
        "a personal page",
        r"linkedin\.com/in/[\w\-%]+",
        r"orcid\.org/[\d\-X]+",
        r"\b0000-000\d-\d{4}-\d{3}[\dX]\b",
        r"(?:github|gitlab)\.com/[\w\-]+(?=[\s)\].,>\"']|$)",
        r"(?<![\w.])(?:twitter|x|kaggle|medium)\.com/@?[\w\-]+",
        r"huggingface\.co/[\w\-]+(?=[\s)\].,]|$)",
        r"(?:scholar\.google|researchgate)\.[^\s]+",
        any_case=True,
    ),
    _of(
        "a personal number",
        r"\b(?:matriculation|matrikel|student|employee|personnel|staff|badge|registration|candidate"
        r"|participant)[\s\-]*(?:number|nummer|no\.?|nr\.?|id)?\s*[:#]?\s*"
        r"(?P<x>[a-z]{0,2}\d{4,})\b",
        any_case=True,
    ),
    _of(
        "a phone number",
        r"\b(?:tel|phone|telefon|mobile|cell|fax)\b\.?:?\s*\+?\d[\d\s()/\-]{6,}",
        any_case=True,
    ),
    _of(
        "a line of git",
        r"^\W*(?:(?:Signed-off|Co-authored|Reviewed|Acked|Tested)-by:\s*(?P<x>[^\n<]+)"
        r"|Author:\s*(?P<x2>[^\n<]+(?=<)))",
        rf"\((?P<x3>{_NAME})\s+\d{{4}}-\d\d-\d\d",
        kind="author",
    ),
    _of(
        "a line that names an author",
        r"(?:^\W{0,4}|[\"'])(?:__author__|[Mm]aintainer|[Aa]uthors?|[Ee]ditor|[Cc]reator"
        rf"|[Aa]nalyst)\b[\"'*]*\s*[:=]\s*[\"'*]*(?P<x>{_NAME})",
        rf"\\author\{{(?P<x2>{_NAME})",
        r"(?i:\b(?:prepared|written|submitted|created|developed|designed|compiled|done|handed in"
        rf"|drawn|checked|posted) by|prepared for the course)\b:?\s+(?P<x3>{_NAME})",
        r"^\W{0,4}(?:Name|Student|Owner|Contact|Participant)\*{0,2}:\*{0,2}[ \t]+"
        rf"(?P<x4>{_WORD} {_WORD})",
        r"@author\s+(?P<x5>\S+)",
        kind="author",
    ),
    _of(
        "a signature",
        rf"(?i:\b(?:{CLOSINGS}))[,!.]?[ \t]*\W?\n\W{{0,3}}(?P<x>{_NAME})(?=\W*(?:\n|$))",
        rf"^\W{{0,2}}(?:--|—|–)[ \t]?(?P<x2>{_NAME})\W*$",
        kind="author",
    ),
    _of(
        "an address to a person",
        rf"\b(?:Dear|Hi|Hello|Hallo|Hey|Liebe|Lieber)\s+(?P<x>{_WORD})(?=\s*[,!\n])",
        rf"\b(?:this is|[Mm]y name is|I am|I'm)\s+(?P<x2>{_WORD}(?: {_WORD})?)"
        r"(?=\s*(?:[.,\n]|from|and))",
        kind="author",
    ),
    _of(
        "the name of a model or its maker",
        r"\b(?i:Chat ?GPT[\w\-.]*|GPT[- ]?(?:[3-9]|o\d)[\w.\-]*)|\bo[134]-(?:preview|mini|pro)",
        r"\b(?i:OpenAI|Anthropic|DeepSeek[\w.\-]*|Mixtral[\w.\-]*|Qwen[\w.\-]*)",
        r"\b(?i:(?:GitHub|Microsoft) Copilot)",
        r"\bClaude(?:[ -](?:Code|Sonnet|Opus|Haiku|Instant|v?\d)[\w.\- ]{0,12})",
        r"\bGemini(?:[ -](?:Pro|Flash|Ultra|Advanced|Nano|\d[\w.]*)(?: Pro| Flash)?)",
        r"\b(?i:(?:Llama|Mistral|Phi|Grok|Gemma|Falcon|Kimi|Yi|GLM|Nova)"
        r"[- ]?(?:v?\d[\w.\-]*|large|small|instruct|chat|pro))",
    ),
    _of(
        "the name of a model",
        rf"(?i:\b(?:{_MADE}|asked|ask|according to|prompted)\b)"
        r"(?i: (?:by|with|using|from|through))? "
        rf"(?P<x>(?:{_MODELS})\b|(?:an? |the )?(?:AI|LLM|language model|chatbot)\b)",
        rf"\b(?P<x2>(?:{_MODELS}|AI|LLM) "
        r"(?:agent|assistant|told|said|wrote|suggest\w*|answered)\b)",
        wraps=True,
    ),
    _of(
        "the mark of a tool",
        r"(?i:\b(?:generated|created|produced|powered|exported|converted)) (?:by|with|using) "
        r"(?P<x>\[?[A-Z]\w+[^\n.]{0,30})",
        kind="author",
    ),
    _of(
        "what an assistant leaves behind",
        r"oaicite|utm_source=(?:chatgpt|openai|perplexity|copilot|claude)[\w.]*",
        r"sandbox:/mnt/|/mnt/(?:data|user-data)/|(?:cite)?turn\d+(?:search|view|news)\d+",
        r"【\d+[†:][^】]*】|\U0001F916|</?think>|<\|[\w]+\|>",
        r"\b(?:CLAUDE|AGENTS|GEMINI)\.md\b|\.cursorrules|grok_card|antartifact",
        any_case=True,
    ),
    _of(
        "what a chat leaves behind",
        r"^\W{0,3}(?:Assistant|AI|Human|ChatGPT|Claude):\s",
        r"\[(?:Your|Insert|My|Company|Student)[ \w']{0,20}\](?!\()|^### (?:Instruction|Response)",
    ),
    _of(
        "words of an assistant",
        r"\bas an? (?:ai|artificial|large language|language model)\b[\w ]*",
        r"\bi['’]?(?:m| am) (?:just |only )?an? (?:ai|language model|assistant)\b",
        r"\bmy (?:knowledge|training)(?: data)?(?: cut-?off)?\b",
        r"\bi (?:do not|don['’]t|cannot|can['’]t) (?:have )?(?:access|browse|personal|real)\b",
        r"\blet me know if you(?:['’]d| would| need| want)?",
        r"\bwould you like me to\b[^\n.?]*",
        r"^\W{0,3}(?:certainly|sure|of course|absolutely|great question)[!,.] "
        r"?(?:here|below|i|let)\b['’]?s?",
        r"\bhere['’]?s? (?:is )?(?:a|the|your) (?:revised|updated|improved|step-by-step)\b",
        r"\bfeel free to (?:ask|reach)",
        # The other languages of the pages.
        r"\bals (?:ki|künstliche intelligenz|sprachmodell)\b|\bmein wissensstand\b",
        r"\blass(?:en sie)? mich wissen, (?:wenn|falls|ob)\b|\bgerne! hier\b",
        r"\ben tant qu(?:e |['’])(?:ia|intelligence artificielle|modèle de langage)\b",
        r"\bn['’]hésite[zs]? pas à me (?:demander|dire)\b|\bbien sûr ?! voici\b",
        r"\bcomo (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje)\b",
        r"\b(?:házmelo|hágamelo) saber si\b|\b¡?por supuesto! aquí\b",
        "作为(?:一个|一名)?(?:人工智能|AI|语言模型)|如果(?:您|你)(?:需要|想要|还有)[^\n]{0,12}告诉我",
        "(?:AI|人工知能|言語モデル)として|お気軽にお(?:知らせ|尋ね)ください",
        any_case=True,
        wraps=True,
    ),
    _of(
        "words of an author about themselves",
        r"\b(?:my|i['’]ve|i have|i)\b[^\n.]{0,40}?\b\d+\+? (?:years|semesters)"
        r"(?: (?:as|of|in) [\w ]{0,20}\w)?",
        r"\bsince i (?:started|began|joined|became|graduated)\b[^\n.]{0,30}",
        r"\b(?:as|being|i am|i'm) an? (?:[\w\-]+ ){0,2}?(?:student|apprentice|trainee|beginner"
        r"|novice|expert|technician|engineer|nurse|teacher|professional|human)\b(?=,? i\b)",
        r"\bmy (?:boss|supervisor|colleagues?|co-?workers?|employer|company|professor|manager"
        r"|team lead|thesis)\b",
        r"\b(?:i['’]m|i am) (?:new|not an expert|a beginner)\b",
        r"\bmeine?[rmn]? (?:chefin|chef|kollegen?|firma|arbeitgeber|professorin?|betreuerin?)\b",
        r"\bin meinen \d+ jahren\b|\bmon (?:chef|patron|employeur|entreprise|professeur)\b",
        r"\bmi (?:jefe|jefa|empresa|colega|profesora?)\b|\bmis \d+ años\b",
        "我的(?:老板|同事|公司|教授|导师)|(?:私|僕|俺)の(?:上司|同僚|会社|教授)",
        any_case=True,
        wraps=True,
    ),
)
_MEANT = ("x", "x2", "x3", "x4", "x5")


def telltales(text: str) -> Iterator[Telltale]:
    """The signs of an author without a name."""
    text = text.translate(_PLAIN)
    is_mixed = bool(_MIXED.search(text))
    for meaning, pattern, kind in _PATTERNS:
        for match in (_latin(pattern) if is_mixed else pattern).finditer(text):
            groups = match.groupdict()
            start, end = match.span(next((one for one in _MEANT if groups.get(one)), 0))
            words = text[start:end].rstrip(" \t\n.,;:-")
            if groups.get("who") and fold(groups["who"]) in _NOBODY:
                continue
            if kind == "author" and (_NO_AUTHOR.match(words) or not re.search(r"[^\W\d_]", words)):
                continue
            is_office = kind == "address" and bool(_OFFICE.search(words))
            yield Telltale(start, start + len(words), meaning, decide=not is_office)
