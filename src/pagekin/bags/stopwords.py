"""English words that say nothing about a page's topic.

The list is Pagekin's own. It fits words as the corpus holds them: runs of letters and digits in lower case, so that
"don't" arrives as `don` and `t`, and both stand here. Where a word is both filler and topic ("may", "can", "us") the
far commoner use decides; a word that names a subject in its own right ("state", "water", "search") stays out.
"""

_DETERMINERS_AND_PRONOUNS = """
a an the this that these those such same
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
one ones oneself somebody someone something anybody anyone anything nobody none nothing everybody everyone everything
who whom whose which what whoever whichever whatever
all any both each either every few fewer less least little lot lots many more most much neither no other others
another some several enough half plenty various certain
"""

_AUXILIARIES = """
am is are was were be been being have has had having do does did doing done
can could may might must ought shall should will would cannot need needs needed needing dare used
"""

_PIECES_OF_CONTRACTIONS = """
ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn ll ve re nt
im ive youre theyre dont doesnt didnt isnt wasnt cant couldnt wouldnt shouldnt hasnt havent hadnt thats whats theres
heres
"""

# The two letters that are words, "a" and "i", stand with the words.
_LETTERS = "b c d e f g h j k l m n o p q r s t u v w x y z"

_PREPOSITIONS = """
about above across after against along among amongst around as at away back before behind below beneath beside besides
between beyond by concerning considering despite down during except excluding following for from in including inside
into like near nearby of off on onto out outside over past per plus regarding round since than through throughout thru
till to toward towards under underneath unlike until unto up upon versus via vs with within without
"""

_CONJUNCTIONS = """
and but or nor so yet if unless because although though while whilst whereas whether once provided then else otherwise
thus hence therefore thereby therein thereafter whereby wherein wherever whenever when where why how however
nevertheless nonetheless notwithstanding moreover furthermore meanwhile likewise accordingly consequently
"""

_ADVERBS = """
not never ever always often sometimes sometime seldom rarely usually normally generally commonly frequently
occasionally again already anymore anyway anywhere somewhere nowhere everywhere elsewhere somehow somewhat here there
herein now nowadays soon sooner later lately recently currently presently formerly previously afterwards afterward
beforehand early earlier eventually finally lastly initially originally immediately quickly still just only even also
too very quite rather really truly almost nearly hardly merely simply mostly mainly largely partly partially fully
completely entirely absolutely exactly precisely approximately roughly closely highly extremely fairly relatively
particularly especially specifically namely basically essentially actually apparently obviously clearly evidently
certainly surely definitely probably possibly perhaps maybe likely unlikely hopefully unfortunately fortunately
together apart alone forth forward backward ahead yes ok okay hi hello well indeed instead directly easily
respectively similarly necessarily overall today tonight tomorrow yesterday ago
"""

_VERBS = """
go goes going went gone come comes coming came get gets getting got gotten give gives giving gave given
make makes making made take takes taking took taken put puts putting keep keeps keeping kept let lets letting
say says saying said tell tells telling told ask asks asking asked call calls calling called
see sees seeing saw seen look looks looking looked seem seems seemed appear appears appearing appeared
know knows knowing knew known think thinks thinking thought believe believes believed suppose supposed
want wants wanted wanting likes liked try tries trying tried
use uses using become becomes becoming became begin begins beginning began begun start starts starting started
continue continues continuing continued remain remains remaining remained happen happens happening happened
find finds finding found bring brings bringing brought
shown mean means meant include includes included contain contains containing contained
provide provides providing follow follows followed allow allows allowing allowed enable enables enabling enabled
consider considers considered regard regards regarded concerned involve involves involving involved
describe describes describing described mention mentions mentioned refer refers referring referred based
"""

_ADJECTIVES_AND_GENERIC_NOUNS = """
able unable available good better best bad worse worst great greater greatest big large larger largest small smaller
smallest long longer longest short new old older own different similar main usual general specific particular
important interesting interested possible necessary sure true real whole entire full complete easy easier ready actual
recent current latest previous next last former latter further additional extra due useful thing things stuff way ways
kind kinds example examples day days year years time
"""

_NUMBERS = """
zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion first firstly second
secondly third fourth fifth sixth seventh eighth ninth tenth twice st th
"""

_ABBREVIATIONS = "etc eg ie et al cf mr mrs ms dr jr inc ltd co pm"

_WORDS_OF_WEB_PAGES = """
www http https html htm mailto url urls com edu org nbsp quot
home homepage page pages webpage webpages website websites web site sites webmaster
link links click clicked menu top contents contact email mail fax
copyright copyrighted reserved disclaimer welcome please thanks thank sorry
update updated updates updating modified maintained faq info
"""

_GROUPS = (
    _DETERMINERS_AND_PRONOUNS,
    _AUXILIARIES,
    _PIECES_OF_CONTRACTIONS,
    _LETTERS,
    _PREPOSITIONS,
    _CONJUNCTIONS,
    _ADVERBS,
    _VERBS,
    _ADJECTIVES_AND_GENERIC_NOUNS,
    _NUMBERS,
    _ABBREVIATIONS,
    _WORDS_OF_WEB_PAGES,
)

STOP_WORDS: frozenset[str] = frozenset(" ".join(_GROUPS).split())
"""The words that bags leave out."""
