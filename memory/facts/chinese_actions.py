"""Chinese rules for what somebody has and does, plans, has decided, and does no longer."""

import re
from collections.abc import Iterator

from memory.facts.chinese_parts import Part, bare, cut, thing
from memory.facts.chinese_words import EVERYDAY, FLEETING, LASTING, NOUNS
from memory.facts.english_clauses import Clause
from memory.facts.keys import key
from memory.facts.meaning import Meaning

_COUNTED = re.compile(r"^(?P<n>\d+|[一二两三四五六七八九十]+|好几|几)(?P<m>[只个条台辆套部本位口匹双张家间栋把])?")
_DATED = re.compile(
    r"\d{1,2}月|\d{1,2}[号日点]|[一二三四五六七八九十]+(?:月|号|点)|明天|后天|大后天|下周|下个?月|明年|后年|周[一二三四五六日末天]|星期[一二三四五六日天]|礼拜|春节|国庆|五一|元旦|暑假|寒假|年底|年初|\d{4}|春天|夏天|秋天|冬天|月底|月初|中秋|清明|端午|圣诞"
)
_NOW = re.compile(r"今天|今晚|现在|马上|待会|等会|一会|等下|刚才|这就|先|再说|赶紧|正要|中午|晚上吃|早饭|午饭|晚饭")


def own(p: Part) -> Iterator[Meaning]:
    s, polarity, over, _when, _c = p
    if (match := re.match(r"^(?:把)(?P<v>.{1,14}?)(?:给)?(?:卖|送|扔|丢|退|捐|转让)(?:掉|人|出去|走|了)", s)) or (
        match := re.match(r"^(?:卖|送|弄丢|丢|扔|转让)(?:掉|走|出去)?(?:了)(?P<v>[^，,。]{1,14})$", s)
    ):
        topic = _owned(match["v"])
        yield Meaning("over", topic, topic, polarity=-1, ends=("", topic))
    elif match := re.match(
        r"^(?:家里?|家)?(?P<f>有|养|买|领养|收养|拥有|入手)(?:了|着|过)?(?P<v>[^，,。]{1,24})$", cut(s)
    ):
        value = cut(match["v"])
        count = _COUNTED.match(value)
        head = value[count.end() :] if count else value
        if (
            not head
            or re.search("|".join(EVERYDAY), head)
            or (
                match["f"] in ("有", "买")
                and not count
                and polarity > 0
                and not re.search(r"房|车|公司|店|孩子|女儿|儿子|猫|狗", head)
            )
        ):
            return
        topic = _owned(head)
        yield Meaning("have", key(value), topic, "fact", polarity, ends=("",) if over else ())


def _owned(text: str) -> str:
    """The thing alone: "那辆红色的旧车" is about a car."""
    last = re.split(
        r"的|叫|名叫",
        re.sub(
            r"^(?:我|我们)?(?:的|那|这|家的?)*(?:\d+|[一二两三四五六七八九十几]+)?[只个条台辆套部本位口匹双张家间栋把]?",
            "",
            text,
        ),
    )
    body = last[0] if re.search("叫", text) else last[-1] or last[0]
    return key(re.sub(r"^(?:旧|老|新|大|小|橘|黑|白|花|二手)(?=[\u4e00-\u9fff])", "", body))


def change(p: Part) -> Iterator[Meaning]:
    s, polarity, over, _when, _c = p
    if match := re.match(
        r"^(?:决定|最终|最后)*(?:把|从|将)(?P<o>.{1,16}?)(?:换|改|迁移|切换|升级|转)(?:成|为|到|用|成了)+(?P<v>[^，,。]{1,20})$",
        s,
    ):
        old, new = cut(match["o"]), cut(match["v"])
        noun = old if old.endswith(NOUNS) else ""
        if noun:
            yield Meaning(f"my {key(noun)}", key(new), key(noun), single=True)
        else:
            yield Meaning("use", thing(new), thing(new), ends=(thing(old),), importance=0.6)
    elif match := re.match(r"^(?:决定|打算)?(?:改用|换成|换用|改喝|改吃|改学|换到)(?:了)?(?P<v>[^，,。]{1,24})$", s):
        yield from _chosen(cut(match["v"]), "use", polarity)
    elif match := re.match(
        rf"^(?:改成|改到|改为|改在|推迟到|延期到|提前到)(?:了)?(?P<d>(?:{_DATED.pattern})+)(?:再)?(?P<v>(?:去|到)?[^，,。]{{2,20}})$",
        s,
    ):
        topic = _trip(bare(cut(match["v"]))[0])
        yield Meaning("plan", key(cut(s)), topic, "open_loop", 1, True, confidence=0.75, episodic=True)
    elif match := re.match(r"^(?:取消|放弃|推掉)(?:了)?(?P<v>[^，,。]{1,20})$", s):
        topic = _trip(cut(match["v"]))
        yield Meaning("over", topic, topic, "decision", -1, ends=("", topic))
    elif match := re.match(
        r"^(?:决定|选定|选择|敲定|商定|定下|选)(?:了|用|使用|采用|要|选|选择)*(?P<v>[^，,。]{2,30})$", s
    ):
        value = cut(match["v"])
        yield from _chosen(value, "decide", polarity)
    elif match := re.match(
        r"^(?:在)?(?:用|使用|采用|开)(?:的是|着)?(?P<v>[\u4e00-\u9fffA-Za-z][^，,。]{1,20}?)(?:(?:作为|做|当|来|写)(?P<w>[^，,。]{1,10}))?$",
        s,
    ):
        value, aim_text = cut(match["v"]), cut(match["w"]) if match["w"] else ""
        if not re.match(r"^(?:会|车去|了|心|始|玩笑)", value):
            yield Meaning(
                f"use for {key(aim_text)}" if aim_text else "use",
                thing(value),
                key(aim_text) if aim_text else thing(value),
                polarity=polarity,
                single=bool(aim_text),
                ends=("",) if over else (),
            )


def _chosen(value: str, attribute: str, polarity: int) -> Iterator[Meaning]:
    """What was chosen, and what for if that was said."""
    against = value.startswith("不")
    kind = "decision" if attribute == "decide" else "fact"
    value = re.sub(r"^(?:不|改用|用|使用|采用|换成)+", "", value)
    if aim := re.match(r"^(?P<v>.+?)(?:作为|做|当|来写|写)(?P<w>[^，,。]{1,8})$", value):
        purpose = key(aim["w"])
        yield Meaning(
            f"use for {purpose}", thing(aim["v"]), purpose, kind, -1 if against else polarity, True, importance=0.7
        )
    else:
        topic = thing(value)
        sign, ends = (-1, ("",)) if against else (polarity, ())
        yield Meaning(attribute, topic, topic, kind, sign, ends=ends, importance=0.7)


def plan(p: Part) -> Iterator[Meaning]:
    s, polarity, _over, when, c = p
    match = re.match(r"^(?:打算|计划|准备|要|会|将|将要|想要|想|一定要|决心|立志|目标是)(?P<v>[^，,。]{2,30})$", s)
    if match is None:
        return
    value, dated = cut(match["v"]), bool(_DATED.search(when + match["v"]))
    firm = s.startswith(("打算", "计划", "准备", "决心", "立志", "目标"))
    inner = bare(value)[0]
    lasting = inner.startswith(LASTING)
    if (
        _NOW.search(when + value)
        or inner.startswith(FLEETING)
        or not (dated or (firm and len(inner) >= 3) or (lasting and not s.startswith("会")))
        or (s.startswith("会") and not dated)
    ):
        if (
            s.startswith("会")
            and re.match(r"^(?:说|弹|拉|吹|打|游泳|开车|编程|写|做|下|唱|跳|画)", inner)
            and not dated
        ):
            yield Meaning("skill", key(inner), key(inner), polarity=polarity)
        return
    topic = _trip(inner)
    yield Meaning(
        "plan",
        key(f"{when}{value}"),
        topic,
        "open_loop" if dated else "project",
        polarity,
        bool(c.cue),
        ("",) if polarity < 0 else (),
        0.75,
        episodic=True,
    )


def _trip(text: str) -> str:
    body = re.sub(_DATED, "", text)
    return key(
        re.sub(
            r"^(?:去|到|前往|飞|的|回)+|(?:旅行|旅游|玩|之行|行程|的?计划|出差|一趟|看看|度假|自由行)+$",
            "",
            re.sub(r"^(?:去|到|前往)", "", body),
        )
    )


def habit(p: Part) -> Iterator[Meaning]:
    s, polarity, over, when, c = p
    often = re.search(r"每|经常|常常|通常|平时|习惯|总是|一般", when + s[:6])
    if match := re.match(r"^(?:正?在)?(?:准备|备)(?P<v>考[\u4e00-\u9fff]{1,8})$", cut(s)):
        yield Meaning("do 考", key(match["v"]), key(match["v"]), polarity=polarity)
    elif match := re.match(r"^在(?P<w>[\u4e00-\u9fff]{2,16}?)教(?P<v>[\u4e00-\u9fff]{1,8})$", cut(s)):
        yield Meaning("do 教", key(match["v"]), key(match["v"]), polarity=polarity)
    elif match := re.match(
        r"^(?:正?在|开始)?(?:学习?|自学|练习?|准备考|备考)(?:习|了|着)?(?P<v>[\u4e00-\u9fffA-Za-z]{2,12})$", cut(s)
    ):
        yield Meaning("do 学", key(match["v"]), key(match["v"]), polarity=polarity, ends=("",) if over else ())
    elif match := re.match(
        r"^(?:正?在)(?:做|开发|写|搞|筹备|负责|研究|筹划|设计|策划)(?:一个|一款|一本|一篇|一项)?(?P<v>[\u4e00-\u9fffA-Za-z][^，,。]{1,20})$",
        cut(s),
    ):
        if match["v"] not in EVERYDAY:
            yield Meaning("work on", key(match["v"]), key(match["v"]), "project", polarity)
    elif often and len(cut(s)) >= 2 and polarity > 0 and not s.startswith(FLEETING):
        yield from _again(cut(s), when, c)
    elif polarity < 0 and over and len(cut(s)) >= 2 and not s.startswith(FLEETING):
        topic = key(cut(re.sub(r"^(?:去|做|打|学|吃|喝|抽|用|养)(?=[\u4e00-\u9fff]{1,})", "", cut(s))))
        yield Meaning("over", topic, topic, polarity=-1, ends=("", topic))
    elif (
        polarity > 0
        and s.startswith(LASTING)
        and ("了" in s or "过" in s or re.search(r"昨|前天|上周|上个|去年|前年|刚|\d{4}年|周末", when))
        and len(cut(s)) >= 4
        and not _NOW.search(when)
    ):
        yield Meaning("event", key(f"{when}{cut(s)}"), episodic=True, confidence=0.7)


def _again(said: str, when: str, c: Clause) -> Iterator[Meaning]:
    """ "每天早上喝咖啡": the thing is coffee, whatever the time."""
    plain = re.sub(r"(?:\d+|[一二两三四五六七八九十]+)(?:点半?|次|公里|小时|分钟|个小时)|早上|晚上|中午|下午", "", said)
    verb = re.match(r"^(?:去|来)?(?P<f>喝|吃|抽|打|练|弹|踢|看|读|做|跑|写|学|玩|听|骑|游)(?P<v>.*)$", plain)
    topic = key(verb["v"] or plain) if verb else key(plain)
    first = verb["f"] if verb else plain[:1]
    if topic:
        yield Meaning(f"do {first}", key(f"{when}{said}"), topic, single=c.cue and "现在" in c.text, confidence=0.7)
