"""Languages as people call them."""

_NAMES = dict(
    pair.split("=")
    for pair in (
        "ar=Arabic bg=Bulgarian ca=Catalan cs=Czech cy=Welsh da=Danish de=German el=Greek en=English eo=Esperanto es=Spanish "
        "et=Estonian eu=Basque fa=Persian fi=Finnish fr=French ga=Irish gl=Galician he=Hebrew hi=Hindi hr=Croatian "
        "hu=Hungarian id=Indonesian is=Icelandic it=Italian ja=Japanese ko=Korean la=Latin lt=Lithuanian lv=Latvian "
        "ms=Malay nl=Dutch no=Norwegian nn=Norwegian pl=Polish pt=Portuguese ro=Romanian ru=Russian sk=Slovak sl=Slovenian "
        "sq=Albanian sr=Serbian sv=Swedish sw=Swahili th=Thai tr=Turkish uk=Ukrainian vi=Vietnamese zh=Chinese"
    ).split()
)


def language_name(code: str) -> str:
    """Return the name of a language by its code; the code where no name is known."""
    return _NAMES.get(code, code)
