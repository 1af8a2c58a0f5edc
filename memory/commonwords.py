"""Words of everyday talk that say little: what a summary leaves out first, and what weighs little in it."""

# They colour a sentence and say nothing.
INTENSIFIERS = frozenset(
    """really very so just actually definitely totally absolutely super quite pretty truly certainly simply literally
    basically honestly seriously obviously probably kinda sorta also too even still already completely extremely
    incredibly especially particularly indeed well yeah yes yep yup wow oh hey hi hello haha lol hmm um uh ah okay ok
    sure gosh alas then plus anyway""".split()  # noqa: SIM905 - word lists read best as text
)
ARTICLES = frozenset(("a", "an", "the", "that", "which"))
# Left out as headlines do. Modal verbs and negations stay, and so does every subject but the speaker's own.
COPULAS = frozenset(("is", "are", "was", "were", "am", "it's", "that's", "there's", "it", "this", "these", "those"))
SPEAKER = frozenset(("i", "we", "i'm", "we're", "i've", "we've", "my", "our"))

# Nothing is told by these alone.
POLITE = frozenset(
    ("thanks", "thank", "please", "awesome", "cool", "bye", "welcome", "congrats", "sounds", "great", "nice", "you")
)

# Weigh little, though they may be needed.
PLAIN = frozenset(
    """good great nice cool amazing wonderful fantastic beautiful lovely fun happy glad sad sorry excited exciting proud
    important interesting special perfect best better worse hard easy big small little lot lots bit new old long short
    high low next last first second many much more most few other another every each day days time times today
    yesterday tomorrow tonight week weeks weekend month months year years morning evening night moment while way ways
    thing things stuff something anything everything nothing someone anyone everyone people person guy guys life world
    place part kind sort type go going goes went gone come comes coming came get gets getting got gotten make makes
    making made take takes taking took taken give gives giving gave given see sees seeing saw seen look looks looking
    looked find finds finding found feel feels feeling felt think thinks thinking thought know knows knowing knew known
    want wants wanted need needs needed like likes liked love loves loved hope hopes hoping hoped wish keep keeps
    keeping kept let lets start starts starting started try tries trying tried use uses using used work works working
    help helps helping helped tell tells telling told say says saying said talk talks talking talked hear hears hearing
    heard ask asks asking asked put puts show shows showing showed share shares shared sharing bring brings brought
    remember happen happens happened happening sound sounds sounded mean means meant believe guess suppose care enjoy
    enjoys enjoyed enjoying check idea ideas bet yet ago around back together forward away down always never ever often
    sometimes usually again once here there now soon later since able sure true right wrong whole same different own
    such luck chat bye welcome congrats congratulations appreciate support""".split()  # noqa: SIM905 - as above
)

FILLERS_ZH = (
    "作为一个人工智能", "作为人工智能", "作为一个AI", "作为AI", "听起来", "很高兴", "不客气", "没问题", "谢谢你", "谢谢", "感谢你",
    "你好", "再见", "当然", "好的", "哈哈", "嗯", "抱歉", "对不起", "请问", "祝你", "加油", "其实", "真的", "真是", "非常", "特别",
    "十分", "有点", "比较", "我觉得", "我认为", "我想", "一下", "一些", "这样", "那么", "就是", "然后", "而且", "不过", "但是",
    "因为", "所以", "以及", "的话", "有时候", "太棒了", "哦", "啊", "呢", "吧", "呀", "啦", "吗",
)  # fmt: skip
PARTICLES_ZH = frozenset("的了很")
WEAK_ZH = frozenset(
    "的了是在有和与或我你他她它这那就都也还很吗呢吧啊呀哦嗯么不会能要可以说到来去上下个一得着过为对把被让给从向"
)
