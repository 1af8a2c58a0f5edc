"""Chinese sentences to clauses with a subject, as `memory.facts.english_clauses` does it for English."""

import re
from collections.abc import Iterator
from dataclasses import replace

from memory.facts.chinese_words import NOUNS
from memory.facts.english_clauses import USER, Clause

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;\n]*")
_QUOTE = re.compile(r"[“\"「『‘][^”\"」』’\n]{0,400}[”\"」』’]")
_TITLE = re.compile(r"《[^》]{1,60}》")
_ASKED = re.compile(
    r"[？?]|(?:吗|呢|么|嘛)[。！!~～]*$|什么|甚么|谁(?!都)|哪(?!怕|都)|怎么(?!也)|怎样|如何|多少|为何|是否|是不是|有没有|能不能|会不会|好不好|行不行|几(?:个|点|岁|次|年|月|天|号|时)|帮我|请问|能否|可否"
)
_DOUBT = re.compile(
    r"如果|要是|假如|假设|万一|倘若|想象|要不是|的话(?!题|剧)|可能|也许|大概会|说不定|好像|似乎|不确定|没想好|还没决定|在考虑|考虑(?:要|去|换|买)|或许|恐怕|但愿|梦见|梦到|做梦|真希望|多希望|恨不得|差点|差一点|险些"
    r"|犹豫|不知道(?:要不要|该不该|会不会)|开玩笑|逗你|假的|猜"
)
_REPORTED = re.compile(
    r"(?:他|她|他们|她们|人家|别人|大家|有人|网友|朋友们?|同事们?|老师|医生|老板|领导|客户|妈妈?|爸爸?|老婆|老公|妻子|丈夫|姐姐?|哥哥?|弟弟?|妹妹?|爷爷|奶奶|女儿|儿子|同学|室友|邻居|男朋友|女朋友|[\u4e00-\u9fff]{2,3})"
    r"(?:总是|老是|经常|昨天|今天|刚才|刚刚|曾经|曾|还|也|都|跟我|对我|向我|和我)*(?:说|告诉|认为|觉得|表示|声称|宣称|问我|回复|发消息|写道|抱怨|提到|坚持说|吹牛)"
)
_ACCORDING = re.compile(
    r"听说|据说|据报道|网上说|书里说|书上说|新闻说|歌词|台词|俗话说|常言道|电影里|小说里|剧里|故事里|游戏里"
)
_SELF_SAID = re.compile(
    r"^(?:我|我们)(?:跟你|和你|之前|刚才|上次|昨天|以前|不是|是|想|要|还|再|先|来)*(?:说|告诉|觉得|认为)"
)
SARCASM = re.compile(
    r"呵呵|真是(?:太)?(?:好|棒|妙|爽)(?:了|极了)?呢?[，,！!。]|可真(?:是|好|棒|爽)|我谢谢|谢谢您嘞|太“好”了|好极了呢|真会|真有你的|才怪|🙄|绝了呢|开心死了呢|也是没谁了|(?:喜欢|爱)(?:死|极)了呢"
)
UNLIKED = re.compile(
    r"堵车|加班|排队|开会|延误|晚点|被骂|挨骂|考试不及格|蚊子|垃圾|崩溃|报错|宕机|罚款|裁员|丢|迟到|失眠|等(?:了)?(?:半天|几个小时)|修bug|漏水|噪音|装修声|推销|骚扰|周一|早起|熬夜|收拾|扣钱|下雨天没带伞|淋雨|头疼|牙疼|感冒"
)
CUE = re.compile(
    r"现在|如今|目前|改成|改为|换成|换到|换了|改用|改到|不再|最近|新|了$|已经|刚|从今年|升|搬|推迟|提前|反而|转而|变成|开始"
)
CORRECTION = re.compile(
    r"其实|不对|更正|纠正|说错|记错|搞错|弄错|写错|打错|应该是|我是说|准确地?说|不是.{1,20}(?:而)?是|是.{1,20}不是|抱歉|口误|刚才(?:说|那个)|之前说"
)
_LEAD = re.compile(
    r"^(?:嗯+|哦|啊|唉|哎|哈哈+|对了|对|是的|好的|好|嘿|你好|您好|谢谢你?|不过|但是|但|可是|可|所以|因此|因为|而且|并且|然后|另外|还有|顺便(?:说一下|说一句|提一下)?|其实|说实话|老实说|说真的|坦白说|告诉你|跟你说(?:一下|个事)?|我跟你说|我告诉你|(?:请)?(?:记住|记得|记一下|记下来|备注|注意|帮我记一下|帮我记住)|更正(?:一下)?|纠正(?:一下)?|不对|抱歉|不好意思|说错了|我说错了|记错了|我记错了|搞错了|我搞错了|准确地?说|我觉得|我认为|我想说(?:的是)?|我要说(?:的是)?|事实上|实际上|没错|当然|总之|反正|首先|其次|最后|终于|原来|果然|毕竟|幸好|可惜|后来|结果|于是|只是|就是|当时|那时候?|顺便|话说|哎呀|天哪|太好了|真巧|说起来|说到这个?|话说回来)[，,：:。！!、\s]*"
)
_TIME = r"(?:从)?(?:今天|昨天|前天|大前天|明天|后天|昨晚|今晚|今早|今年|去年|前年|明年|后年|(?:上|下|这|本)?(?:个)?(?:周|星期|礼拜)[一二三四五六日天末]|上周|下周|这周|本周|上个?月|下个?月|这个月|上个?(?:星期|礼拜)[一二三四五六日天]?|下个?(?:星期|礼拜)[一二三四五六日天]?|(?:上|下|这|本)?(?:周|星期|礼拜)[一二三四五六日天末]|周末|现在|目前|如今|最近|近来|这几天|这段时间|平时|平常|通常|一般|经常|常常|有时候?|偶尔|每天|每周|每年|每个月|每晚|每天?早上|每天?晚上|早上|晚上|下午|中午|上午|春天|夏天|秋天|冬天|小时候|从小|大学时|毕业后|以前|之前|过去|曾经|当年|刚才|刚刚|\d{4}年|\d{1,2}月(?:份|\d{1,2}[日号])?|\d{1,2}[号日]|\d{1,2}点半?|[一二两三四五六七八九十\d]+(?:个)?(?:天|周|月|年|星期)(?:前|后|以前|以后)|起|开始|已经|就|都|也|又|还|才|刚|终于|一直|真的|确实|本来|原来|一共|总共|大概|差不多)"
TIME = re.compile(f"^(?:{_TIME}[，,]?)+")
_KIN = (
    r"妈妈|妈|母亲|爸爸|爸|父亲|爸妈|父母|老婆|妻子|太太|媳妇|爱人|老公|丈夫|先生|对象|女朋友|女友|男朋友|男友|未婚妻|未婚夫|女儿|儿子|孩子|宝宝|大女儿|小女儿|大儿子|小儿子|姐姐|姐|妹妹|妹|哥哥|哥|弟弟|弟|爷爷|奶奶|外公|外婆|姥姥|姥爷"
    r"|叔叔|阿姨|姑姑|舅舅|表姐|表妹|表哥|表弟|堂姐|堂妹|堂哥|堂弟|侄子|侄女|外甥|外甥女|孙子|孙女|岳父|岳母|公公|婆婆|最好的朋友|好朋友|闺蜜|朋友|同事|老板|领导|上司|经理|导师|老师|教练|医生|牙医|房东|室友|舍友|邻居|同桌|前任|前男友|前女友|狗狗|狗|猫咪|猫|鹦鹉|兔子|仓鼠|乌龟|宠物|公司|团队"
)
ONLY_ONE = frozenset(
    "妈妈 妈 母亲 爸爸 爸 父亲 老婆 妻子 太太 媳妇 爱人 老公 丈夫 先生 对象 女朋友 女友 男朋友 男友 未婚妻 未婚夫 爷爷 奶奶 外公 外婆 姥姥 姥爷 岳父 岳母 公公 婆婆 老板 领导 上司 导师 房东 公司 团队".split()  # noqa: SIM905 - word lists read best as text
)
_KIN = "|".join(sorted(_KIN.split("|"), key=len, reverse=True))
_MINE = re.compile(
    rf"^(?:我们|我|咱)(?:的|家的?)?(?P<kind>大|小|二|三|亲)?(?P<who>{_KIN})(?P<noun>的[\u4e00-\u9fff]{{1,6}}?(?=是|叫|在|为))?(?P<pred>.+)$"
)
_THING = re.compile(
    r"^(?:我|我们|咱们|公司|团队|项目)?(?:的)?(?P<noun>[\u4e00-\u9fffA-Za-z]{1,10}?)(?P<pred>(?:还|就|也|现在|已经|其实|仍然|仍)*(?:是|在|为|叫|改成|改为|换成|改到|改在|定在|定于|推迟到|延期到|提前到|变成|涨到|降到|调到|设为)(?!我).+)$"
)
_OWN = re.compile(
    r"^(?:我们|咱们|我|公司|团队|项目)(?:的|家的?)?(?P<noun>[\u4e00-\u9fffA-Za-z -]{1,14}?)(?P<pred>(?:是|在|为|叫|改成|改为|换成|改到|改在|定在|定于|推迟到|延期到|提前到|变成|涨到|降到|已经是|现在是|现在换成|现在改成|就是)(?!我).+)$"
)
_FIRST = re.compile(r"^(?:我们|咱们|我|俺|本人)(?:俩|一家|家里?|自己)?(?!的|说|问|告诉)(?P<pred>.+)$")
_PRONOUN = re.compile(r"^(?:他|她)(?!们)(?P<pred>.+)$")
_WHOLE = re.compile(
    r"^(?:把|从|不|没|有|在|是|叫|住|喜欢|爱|讨厌|想|要|打算|计划|准备|决定|今年|现在|养|买|卖|学|会|做|当|搬|来自|最|更|对|每|也|还|已|刚|改|换|戒|毕业|结婚|离婚|辞|跳槽|入职|加入|取消|推迟|经常|平时|从事|就读|出生|老家|职业|一直|正在|特别|非常|超|很|比较|常|只|用|开|家里|去年|上周|上个|昨天|前天|明年|下个|下周|\d|[\u4e00-\u9fff]{1,6}过敏$)"
)


_EMPHASIS = re.compile(r"(?:一点儿?|丝毫|半点|完全|根本|压根儿?)(?:都|也)?(?=不|没)")


def clauses(text: str) -> Iterator[Clause]:
    """Clauses in their speaker's own name. In Chinese a subject holds on until another one comes."""
    sarcastic = bool(SARCASM.search(text))
    last: Clause | None = None
    for match in _SENTENCE.finditer(_QUOTE.sub(lambda m: "□" * len(m[0]), text)):
        whole = text[match.start() : match.end()].strip()
        hidden = match[0].strip()
        if (
            _ASKED.search(hidden)
            or _DOUBT.search(hidden)
            or _ACCORDING.search(hidden)
            or (_REPORTED.search(hidden) and not _SELF_SAID.match(hidden))
        ):
            last = None if _REPORTED.search(hidden) else last
            continue
        subject: Clause | None = None
        for piece in re.split(r"[，,]|(?<=\S)\s+(?=我)", whole.strip(" 。！!；;\n")):
            clause = _clause(piece.strip(), subject, last)
            if clause is None:
                continue
            if not clause.noun:
                subject = clause
            elif not clause.noun.startswith("the ") and clause.subject == USER:
                subject = replace(clause, noun="")
            last = clause if clause.subject != USER else last
            plain = _EMPHASIS.sub("", clause.predicate)
            yield replace(
                clause,
                predicate=plain,
                cue=bool(CUE.search(whole)),
                correction=bool(CORRECTION.search(whole)),
                sarcastic=sarcastic,
            )


def _clause(piece: str, subject: Clause | None, last: Clause | None) -> Clause | None:
    text = piece
    while (shorter := _LEAD.sub("", text)) != text:
        text = shorter
    if not text:
        return None
    when = TIME.match(text)
    bare = text[when.end() :] if when and re.match(r"我|咱", text[when.end() :]) else text
    if match := _MINE.match(bare):
        kind = f"{match['kind'] or ''}{match['who']}"
        noun = (match["noun"] or "").removeprefix("的")
        return Clause(text, match["pred"], f"{USER}/{kind}", noun, match["who"] in ONLY_ONE)
    if match := re.match(
        r"^(?:我|我们|咱们)的(?P<noun>[\u4e00-\u9fffA-Za-z]{1,12}?)(?P<pred>(?:是|在|为|叫|改成|改为|换成|改到|定在|推迟到|提前到|变成|已经是|现在是|就是).+)$",
        bare,
    ):
        return Clause(text, match["pred"], noun=match["noun"])
    if (match := _OWN.match(bare)) and match["noun"].endswith(NOUNS):
        return Clause(text, match["pred"], noun=match["noun"])
    if match := _FIRST.match(bare):
        return Clause(text, match["pred"])
    if (match := _PRONOUN.match(bare)) and last is not None:
        return Clause(
            f"我{last.subject.removeprefix(USER + '/')}：{text}", match["pred"], last.subject, "", last.unique
        )
    if subject is not None and _WHOLE.match(text):
        said = text if subject.subject == USER else f"我{subject.subject.removeprefix(USER + '/')}{text}"
        return Clause(f"我{text}" if subject.subject == USER else said, text, subject.subject, "", subject.unique)
    if match := _THING.match(bare):
        return Clause(text, match["pred"], noun=f"the {match['noun']}")
    return Clause(text, text) if _WHOLE.match(text) else None
