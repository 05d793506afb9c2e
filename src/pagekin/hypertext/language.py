"""Tell the language of a page: what it declares, else what its text looks like; none rather than a guess."""

import re

_TAG = re.compile(r"[a-z]{2,3}(?=$|[-_])")
_SAMPLE = 800
_LEAST = 120  # characters: shorter texts are not judged

# ISO 639-3 codes of the detector to the two-letter codes that pages declare.
_TWO_LETTERS = dict(
    pair.split("=")
    for pair in (
        "afr=af ara=ar aze=az bel=be ben=bn bul=bg cat=ca ces=cs cmn=zh dan=da deu=de ell=el eng=en est=et eus=eu fas=fa "
        "fin=fi fra=fr gle=ga glg=gl guj=gu heb=he hin=hi hrv=hr hun=hu hye=hy ind=id isl=is ita=it jpn=ja kan=kn kat=ka "
        "kaz=kk khm=km kor=ko lao=lo lat=la lav=lv lit=lt mal=ml mar=mr mkd=mk mya=my nld=nl nob=no nno=nn pan=pa pol=pl "
        "por=pt ron=ro rus=ru slk=sk slv=sl spa=es sqi=sq srp=sr swa=sw swe=sv tam=ta tel=te tgl=tl tha=th tur=tr ukr=uk "
        "urd=ur vie=vi zho=zh pes=fa lvs=lv ekk=et als=sq azj=az zsm=ms msa=ms epo=eo cym=cy"
    ).split()
)


def declared_language(tag: str) -> str:
    """Return the primary part of a language tag, in lower case; '' if it is none ('en-GB' is 'en')."""
    match = _TAG.match(tag.strip().lower())
    if not match or match[0] in ("und", "mul", "zxx", "mis", "xx"):
        return ""
    return _TWO_LETTERS.get(match[0], match[0])


# The commonest small words of languages in Latin script. The detector is sure of itself even on lists of names; a text
# that lacks its language's small words is no text in it.
_SMALL_WORDS = {
    code: frozenset(words.split())
    for code, words in {
        "ca": "de la el i que en les els per amb una del no es",
        "cs": "a se na je v to z s do že o i pro jako",
        "da": "og i at det er en til af på for den med ikke som",
        "de": "der die und in den von zu das mit sich des auf für ist nicht ein eine",
        "en": "the of and to in a is that for it on with as are by this be",
        "es": "de la que el en y a los del se las por un una con no",
        "fi": "ja on ei että se oli hän en mutta niin kun joka ovat",
        "fr": "de la le et les des en un du une est que dans pour qui par au",
        "hu": "a az és hogy nem is egy ez van volt meg azt csak",
        "id": "yang dan di dengan untuk pada adalah dari ini itu tidak dalam",
        "it": "di e il la che in a per un del non una con si le della",
        "nl": "de van het een en in is dat op te zijn met voor niet die",
        "no": "og i det er en til av på for den med ikke som har",
        "pl": "i w na z do się nie to że jest o jak po ale",
        "pt": "de a o que e do da em um para com não uma os no",
        "ro": "de și în la a nu cu pe un din este care o mai",
        "sv": "och i att det som en på är av för med den till inte",
        "tr": "bir ve bu da de için ile çok ne o gibi daha mi",
    }.items()
}
_SHARE = 0.06
_LATIN_WORD = re.compile(r"[^\W\d_]+")


def detected_language(text: str) -> str:
    """Return the language of a text, if that is plain to see; else ''."""
    sample = text[:_SAMPLE]
    if len(sample) < _LEAST:
        return ""
    from turbohtml.detect import detect_language  # questions need the codes of languages alone, and start sooner

    match = detect_language(sample)
    if not match.language or match.confidence < 0.6:
        return ""
    code = _TWO_LETTERS.get(match.language, match.language)
    if match.script != "Latin":
        return code
    words = _LATIN_WORD.findall(sample.lower())
    hits = sum(word in _SMALL_WORDS.get(code, ()) for word in words)
    return code if hits >= _SHARE * len(words) else ""
