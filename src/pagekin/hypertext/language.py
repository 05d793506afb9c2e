"""The language of a page: what it declares, else what its text looks like; none rather than a guess."""

import re

from turbohtml.detect import detect_language

_TAG = re.compile(r"[a-z]{2,3}(?=$|[-_])")
_SAMPLE = 2_000
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
    """The primary part of a language tag, in lower case; '' if it is none ('en-GB' is 'en')."""
    found = _TAG.match(tag.strip().lower())
    if not found or found[0] in ("und", "mul", "zxx", "mis", "xx"):
        return ""
    return _TWO_LETTERS.get(found[0], found[0])


def detected_language(text: str) -> str:
    """The language that a text is in, if that is plain to see; else ''."""
    sample = text[:_SAMPLE]
    if len(sample) < _LEAST:
        return ""
    match = detect_language(sample)
    if not match.language or match.confidence < 0.6:
        return ""
    return _TWO_LETTERS.get(match.language, match.language)
