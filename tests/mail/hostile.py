"""Values that would be headers, receivers or lines."""

from __future__ import annotations

_BCC = "Bcc:_evil=40example.net"
_WORDS = (
    f"=?utf-8?q?a=0D=0A{_BCC}?=",
    f"=?utf-8?q?a=0A{_BCC}?=",
    f"=?utf-8?q?a=0D{_BCC}?=",
    f"=?UTF-8?Q?=0D=0A{_BCC}?=",
    f"=?us-ascii?q?a=0D=0A{_BCC}?=",
    f"=?iso-8859-1?q?=E9=0D=0A{_BCC}?=",
    f"=?utf-8*en?q?a=0D=0A{_BCC}?=",
    f"é =?utf-8?q?a=0D=0A{_BCC}?=",
    f"a =?utf-8?q?a=0D=0A{_BCC}?= é",
    f'"=?utf-8?q?a=0D=0A{_BCC}?="',
    f"(=?utf-8?q?a=0D=0A{_BCC}?=)",
    f"{'x' * 100} =?utf-8?q?a=0D=0A{_BCC}?=",
    f"=?utf-8?q?=3D=3Futf-8=3Fq=3Fa=3D0D=3D0A{_BCC}=3F=3D?=",
    "=?utf-8?b?YQ0KQmNjOiBldmlsQGV4YW1wbGUubmV0?=",
    "=?utf-8?b?YQ0KDQpBbm90aGVyIGJvZHk=?=",
    "=?utf-8?q?a?= =?utf-8?q?b?=",
    "=?utf-8?q?evil=40example.net=2C?=",
    "=?utf-8?q?=22=2C_evil=40example.net=2C_=22?=",
    "=?utf-8?q?unfinished",
    "=?unknown?x?a?=",
)
_ADDRESSES = (
    "Amy, evil@example.net",
    "Amy <evil@example.net>,",
    '"Amy" <evil@example.net>, "',
    f'é "{"Amy, " * 20}" <evil@example.net>, é',
    f"{'Zoë, ' * 30}evil@example.net",
    "Amy; evil@example.net: b;",
    "Amy\\",
    "Amy (evil@example.net",
)
_LINES = (
    "a\r\nBcc: evil@example.net",
    "a\nBcc: evil@example.net",
    "a\rBcc: evil@example.net",
    "a\x85Bcc: evil@example.net",
    "a\u2028Bcc: evil@example.net",
    "a\x0bBcc: evil@example.net",
)
_TEXTS = (
    "{link} {{ link }} {name}",
    "%(title)s %s {0}",
    "{% raw %} <b>&amp;</b>",
    ". From me",
    "מיה שָׁלוֹם 🤷🏽 " * 12,
    "   ",
)
VALUES = (*_WORDS, *_ADDRESSES, *_LINES, *_TEXTS)
RECEIVERS = (
    "=?utf-8?q?evil=40example.net?=@example.org",
    f"=?utf-8?q?a=0D=0A{_BCC}?=@example.org",
    "amy@=?utf-8?q?example.net?=",
    "amy@example.org,evil@example.net",
    "amy;evil@example.net",
    "amy@example.org\r\nBcc: evil@example.net",
    "amy@example.org> SIZE=1",
    "zoë@example.org",
)
