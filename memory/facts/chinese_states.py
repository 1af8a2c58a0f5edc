"""Chinese rules for what somebody is, likes and must not have, and for what something of theirs is."""

import re
from collections.abc import Iterator

from memory.facts.chinese_clauses import UNLIKED
from memory.facts.chinese_parts import USE_OF, Part, cut, end, thing
from memory.facts.chinese_words import EVERYDAY, JOBS, NOUNS
from memory.facts.english_clauses import USER, Clause
from memory.facts.keys import key
from memory.facts.meaning import Meaning

_LIST = re.compile(r"、|和|跟|与|以及|还有|或者?")
_FEEL = r"(?:喜欢|喜爱|热爱|钟爱|偏爱|爱(?!上|人|好|情|国|心|护)|迷恋|着迷于|痴迷于|爱上了?|迷上了?|喜欢上了?)"
_NO_ORIGIN = frozenset(
    [
        "好",
        "大",
        "老",
        "男",
        "女",
        "新",
        "年轻",
        "成年",
        "普通",
        "中年",
        "老年",
        "怕冷的",
        "急性子的",
        "自己",
        "本地",
        "外地",
        "中间",
        "主持",
        "负责",
        "当事",
        "单身",
    ]
)
_SURNAMES = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
_PERSON = re.compile(
    rf"^(?:是|换成了?|变成了?|改成了?|换了|姓)(?P<v>[{_SURNAMES}][\u4e00-\u9fff]{{0,2}}(?:教授|老师|总|经理|先生|女士|医生|工|师傅|阿姨|叔叔|主任)?)$"
)


def identity(p: Part) -> Iterator[Meaning]:
    s, polarity, _over, _when, c = p
    if c.subject != USER and (match := _PERSON.match(end(s))) and not match["v"].endswith(JOBS[:3]):
        yield Meaning("name", key(match["v"]), "name", polarity=polarity, single=c.unique or c.cue, importance=0.7)
    elif match := re.match(r"^(?:的?名字)?(?:叫做?|名叫|名字叫|名字是|改名叫?|姓)(?P<v>[^，,。\s]{1,12})$", s):
        value = cut(match["v"])
        if not re.match(r"(?:你|他|她|它|车|外卖|我|滴|醒|人)", value):
            yield Meaning("name", key(value), "name", polarity=polarity, single=c.unique or c.cue, importance=0.9)
    elif match := re.match(r"^(?:今年|快|刚满|满|已经)*(?P<v>\d{1,3}|[一二两三四五六七八九十]{1,3})岁", s):
        yield Meaning("age", key(match["v"] + "岁"), "age", polarity=polarity, single=c.unique or c.cue)
    elif match := re.match(r"^(?:的?生日)(?:是|在|为)(?P<v>.+)$", s):
        yield Meaning("birthday", key(cut(match["v"])), "birthday", single=True, importance=0.7)
    elif match := re.match(r"^(?:是)?(?P<d>\d{4}年|\d{1,2}月).*出生", s):
        yield Meaning("birthday", key(s.replace("出生", "").replace("是", "")), "birthday", single=True)
    elif match := re.match(
        r"^(?:来自|老家(?:是|在)|出生(?:在|于)|是(?=[\u4e00-\u9fff]{2,6}人$))(?P<v>[\u4e00-\u9fff]{2,10}?)(?:人)?$",
        end(s),
    ):
        if match["v"] not in _NO_ORIGIN:
            yield Meaning("origin", key(match["v"]), "origin", polarity=polarity, single=True)
    elif match := re.match(r"^(?:是)?(?P<v>单身|已婚|未婚|离异|离婚|结婚|订婚|分手)(?:了|的)?", s):
        value = {"已婚": "结婚", "离异": "离婚", "未婚": "单身", "分手": "单身"}.get(match["v"], match["v"])
        if len(cut(s)) <= 8:
            yield Meaning("marital", value, "marital", polarity=polarity, single=True, importance=0.7)


def taste(p: Part) -> Iterator[Meaning]:
    s, polarity, over, _when, c = p
    if match := re.match(
        rf"^(?:更{_FEEL}|偏好|更愿意|宁愿|宁可|更偏向|倾向于?)(?P<v>[^，,]{{1,20}}?)(?:(?:而不是|胜过|多过|，不是|，而不是)(?P<o>.{{1,16}}))?$",
        c.predicate if "更" in c.predicate[:8] else s,
    ):
        value, other = cut(match["v"]), cut(match["o"]) if match["o"] else ""
        topic = " ".join(sorted((thing(value), thing(other)))) if other else thing(value)
        yield Meaning(
            "prefer",
            thing(value),
            topic,
            "preference",
            polarity,
            True,
            (thing(other),) if other and c.cue else (),
            importance=0.6,
        )
    elif match := re.match(
        r"^(?:最)?(?:喜欢|爱|讨厌)(?:吃|喝|看|听|玩|读)?的(?P<n>[\u4e00-\u9fff]{1,8}?)(?:还)?(?:是|变成了?|换成了?|成了)(?P<v>.{1,24})$",
        s,
    ):
        yield Meaning(
            f"favourite {match['n']}" if "讨厌" not in s else f"worst {match['n']}",
            thing(cut(match["v"])),
            match["n"],
            "preference",
            polarity,
            True,
            importance=0.6,
        )
    elif match := re.match(
        rf"^(?P<f>{_FEEL}|讨厌|厌恶|受不了|反感|恨|烦透了?|腻了|吃腻了?|喜好)(?P<v>[^，,。]{{1,30}})$", s
    ):
        bad = not re.match(_FEEL, match["f"])
        yield from _liked(match["v"], c, -polarity if bad else polarity, over)
    elif match := re.match(
        r"^对(?P<v>[^，,。]{1,16}?)(?P<n>没|没有|不|不太|失去了?|不再|很|非常|特别|超级)?(?:有)?(?:感兴趣|兴趣|着迷|上瘾)",
        s,
    ):
        bad = bool(match["n"] and re.match(r"没|不|失", match["n"]))
        yield from _liked(match["v"], c, -1 if bad else polarity, over or (bad and s.endswith("了")))
    elif match := re.match(r"^(?:害怕|怕|恐惧|恐)(?P<v>(?!你|他|她|什么)[\u4e00-\u9fff]{1,10})$", cut(s)):
        yield Meaning("fear", key(match["v"]), key(match["v"]), polarity=polarity)


def _liked(said: str, c: Clause, polarity: int, over: bool) -> Iterator[Meaning]:
    value = cut(said)
    if (polarity > 0 and (c.sarcastic or UNLIKED.search(value))) or re.match(
        r"^(?:你|您|这|那|它|他|她|听你|跟你|和你)", value
    ):
        return
    listed = [part for part in _LIST.split(value) if part] if len(value) <= 30 else [value]
    listed = listed if all(len(part) <= 8 for part in listed) else [value]
    verb = USE_OF.match(listed[0])
    start = c.text[: c.text.find(listed[0])] if listed[0] in c.text else ""
    for item in listed:
        words = (
            None
            if len(listed) == 1
            else f"{start}{item if item is listed[0] or not verb or USE_OF.match(item) else verb[0] + item}"
        )
        topic = thing(item)
        if topic:
            yield Meaning(
                "like",
                topic,
                topic,
                "preference",
                polarity,
                ends=("",) if over and polarity < 0 else (),
                importance=0.6,
                text=words,
            )


_ALLERGIC = re.compile(
    r"^(?!又|有|会|不|没|容易|季节|今|昨|好像|我|皮肤|鼻|脸|眼|手|脚|身|全身|去|上次|食物|药物|经常|总|老|严重)"
    r"(?P<v>[\u4e00-\u9fff]{1,6}?)过敏$"
)


def body(p: Part) -> Iterator[Meaning]:
    s, polarity, over, _when, c = p
    if match := re.match(r"^对(?P<v>[^，,。]{1,20}?)(?P<n>不|并不|没有)?(?:严重|有点|也|都)?过敏", s):
        sign = -1 if match["n"] else polarity
        for item in _LIST.split(match["v"]):
            words = None if item == match["v"] else f"{c.text.split(match['v'])[0]}{item}{c.text.split(match['v'])[-1]}"
            yield Meaning("allergy", key(item), key(item), "constraint", sign, importance=0.9, text=words)
    elif match := _ALLERGIC.match(s):
        yield Meaning("allergy", key(match["v"]), key(match["v"]), "constraint", polarity, importance=0.9)
    elif re.match(r"^(?:吃素|茹素)", s):
        yield Meaning("diet", "素食", "diet", "constraint", polarity, True, importance=0.8)
    elif (
        (match := re.match(r"^(?P<w>能|可以|敢)?(?P<f>吃|喝|碰|抽)(?P<v>[\u4e00-\u9fff]{1,10})$", cut(s)))
        and polarity < 0
        and match["v"] not in EVERYDAY
    ):
        sign = polarity
        yield Meaning(
            f"do {match['f']}",
            key(match["v"]),
            key(match["v"]),
            "constraint",
            sign,
            ends=("",) if over else (),
            importance=0.8,
        )
    elif match := re.match(r"^(?:戒|戒掉|戒除)(?:了)?(?P<v>[\u4e00-\u9fff]{1,8})", s):
        yield Meaning("over", key(cut(match["v"])), key(cut(match["v"])), polarity=-1, ends=("", key(cut(match["v"]))))
    elif match := re.match(
        r"^(?:患有?|得了|确诊(?:了|为)?|被诊断(?:出|为)(?:了)?|有)(?P<v>[\u4e00-\u9fff0-9]{2,10}(?:病|症|炎|糖尿病|高血压|哮喘|癌))",
        s,
    ):
        yield Meaning("health", key(match["v"]), key(match["v"]), "constraint", polarity, importance=0.8)


def noun_value(noun: str, predicate: str, c: Clause) -> Iterator[Meaning]:
    own = not noun.startswith("the ")
    name = noun.removeprefix("the ")
    match = re.match(
        r"^(?:还|也|已经|现在|就|其实|仍然|仍)*(?P<f>是|在|为|叫|改成|改为|换成|改到|改在|定在|定于|推迟到|延期到|提前到|变成|涨到|降到|调到|设为)(?:了|在)?(?P<v>[^，,。]{1,40})$",
        predicate,
    )
    if match is None:
        return
    value = cut(match["v"])
    favourite = re.match(r"^最?(?:喜欢|爱)(?:吃|喝|看|听|玩|读)?的?(?P<n>[\u4e00-\u9fff]{1,8})$", name)
    negative = value.startswith("不是")
    listed = name.endswith(NOUNS)
    changed = match["f"] not in ("是", "在", "为", "叫")
    if (
        not value
        or not (own or listed)
        or re.match(r"^(?:不|很|非常|真|因为|为了|这|那|什么|我|你)", value)
        or (match["f"] == "在" and not listed)
    ):
        return
    what = favourite["n"] if favourite else key(name)
    if what in ("名字", "姓名"):
        yield Meaning("name", key(value), "name", single=True, importance=0.9)
    elif what in ("生日",):
        yield Meaning("birthday", key(value), "birthday", single=True, importance=0.7)
    elif what in ("职业", "工作"):
        yield Meaning("job", key(value), "job", single=True, importance=0.7)
    elif what in ("老家", "家乡", "故乡"):
        yield Meaning("origin", key(value), "origin", single=True)
    else:
        attribute = f"favourite {what}" if favourite else f"my {what}"
        yield Meaning(
            attribute,
            key(value),
            what,
            "preference" if favourite else "fact",
            -1 if negative else 1,
            bool(favourite) or listed or changed or c.correction,
            importance=0.6,
        )
