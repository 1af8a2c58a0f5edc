"""Chinese rules for where somebody lives and works."""

import re
from collections.abc import Iterator

from memory.facts.chinese_parts import Part, cut, end
from memory.facts.chinese_words import CITIES, JOBS, PLACES
from memory.facts.keys import key
from memory.facts.meaning import Meaning

_ROLE = re.compile(
    r"^(?:是|当|做|成为|成|变成|升为|升任|升职为|升职成|晋升为|被提拔为|转行做|转行当|改行做|改行当|转岗做)(?:了)?(?:一?[名个位])?(?P<v>[\u4e00-\u9fffA-Za-z]{2,14})$",
)
_THERE = re.compile(
    r"^在(?P<v>[\u4e00-\u9fffA-Za-z0-9 ]{2,20}?)(?:工作|上班|任职|实习|就职|当(?P<j>[\u4e00-\u9fff]{2,8})|做(?P<k>[\u4e00-\u9fff]{2,8}))",
)


def home(p: Part) -> Iterator[Meaning]:
    s, polarity, over, _when, c = p
    if match := re.match(
        r"^从(?P<o>[\u4e00-\u9fff]{2,10}?)(?:搬家?|搬迁)(?:到|去|来|回)(?:了)?(?P<v>[\u4e00-\u9fff]{2,16})", s
    ):
        yield Meaning("home", key(_place(match["v"])), "home", single=True, ends=(key(match["o"]),), importance=0.8)
    elif match := re.match(
        r"^(?P<w>要|打算|计划|准备|想|会)?(?:搬家?|定居)(?:到|去|来|回|在)(?:了)?(?P<v>[\u4e00-\u9fff]{2,16})", s
    ):
        if match["w"]:
            yield Meaning(
                "plan 搬", key(cut(match["v"])), key(_place(match["v"])), "open_loop", polarity, episodic=True
            )
        elif polarity > 0:
            yield Meaning("home", key(_place(match["v"])), "home", single=c.unique or c.cue, importance=0.8)
    elif match := re.match(r"^(?:住|定居|居住|生活)(?:在|到|了)?(?P<v>[\u4e00-\u9fffA-Za-z]{2,20})", s):
        value = _place(cut(match["v"]))
        named = value.startswith(PLACES) or re.search(r"(?:市|省|区|县|国|州|镇|村|路|街)$", value)
        if re.match(r"^(?:宿舍|家里|学校|父母|公寓|酒店|一起|不惯|得|一套|两|三|单间|出租|楼)", value) or not named:
            yield Meaning("dwelling", key(value), key(value), polarity=polarity, ends=("",) if over else ())
        else:
            yield Meaning("home", key(value), "home", polarity=polarity, single=c.unique or c.cue, importance=0.8)


def _place(text: str) -> str:
    named = next((place for place in PLACES if text.startswith(place)), None)
    if named is not None and len(text) <= len(named) + 1:
        return named
    return (
        re.sub(r"(?:了.*|已经.*|住|生活|定居|工作|上班|那边|这边|都.*|有.{1,4}年.*|好几年.*|\d.*)$", "", text) or text
    )


def work(p: Part) -> Iterator[Meaning]:
    """Job, employer, school; and that they are over."""
    s, polarity = p.said, p.polarity
    role, there = _ROLE.match(end(s)), _THERE.match(s)
    if role is not None:
        yield from _role(role["v"], p)
    elif there is not None:
        yield from _at_work(there, p)
    elif match := re.match(
        r"^(?:从(?P<o>[\u4e00-\u9fffA-Za-z]{2,12}?))?(?:跳槽|入职|加入|加盟|转到|调到)(?:到|去|了)*(?P<v>[\u4e00-\u9fffA-Za-z0-9]{2,16})",
        s,
    ):
        yield Meaning(
            "employer",
            key(re.sub(r"(?:公司)?(?:当|做|工作|上班).*$", "", match["v"])),
            "employer",
            polarity=polarity,
            single=True,
            ends=(key(match["o"]),) if match["o"] else (),
            importance=0.7,
        )
    elif re.match(r"^(?:辞职|离职|辞掉|辞了|被裁|失业|退休|被辞退|被开除)", s) and polarity > 0:
        yield Meaning("employer", "离开", "employer", polarity=-1, ends=("job", "employer"), importance=0.7)
    elif match := re.match(r"^(?:离开)(?:了)?(?P<v>[\u4e00-\u9fffA-Za-z]{2,12})$", cut(s)):
        yield Meaning("over", key(match["v"]), key(match["v"]), polarity=-1, ends=(key(match["v"]),))
    elif match := re.match(r"^从事(?:的是)?(?P<v>[\u4e00-\u9fffA-Za-z]{2,14}?)(?:工作|行业|方面.*)?$", cut(s)):
        yield Meaning("job", key(match["v"]), "job", polarity=polarity, single=True, importance=0.7)
    elif match := re.match(
        r"^(?:(?:在)?(?P<v>[\u4e00-\u9fffA-Za-z]{2,14}?)(?:读书|上学|读大学|读研|读博|念书|上大学)|(?:就读于|毕业于|毕业自|考上了?|考入了?)(?P<w>[\u4e00-\u9fffA-Za-z]{2,16}))",
        s,
    ):
        yield Meaning("school", key(match["v"] or match["w"]), key(match["v"] or match["w"]), polarity=polarity)


def _role(value: str, p: Part) -> Iterator[Meaning]:
    """ "我是护士": a job if it ends like one."""
    s, polarity, c = p.said, p.polarity, p.clause
    if value.endswith(JOBS):
        single = c.unique and (c.cue or c.correction or not s.startswith("是"))
        yield Meaning("job", key(value), "job", polarity=polarity, single=single, importance=0.7)
    elif s.startswith("是") and value.startswith(("素食", "纯素")):
        yield Meaning("diet", "素食", "diet", "constraint", polarity, True)
    elif s.startswith("是") and value.endswith(("者", "主义", "迷", "粉丝", "爱好者", "党", "派", "控")):
        yield Meaning("is", key(value), key(value), polarity=polarity)


def _at_work(match: re.Match[str], p: Part) -> Iterator[Meaning]:
    """ "我在腾讯工作", "我在北京当老师": an employer or a city, and a job."""
    single = p.clause.unique or p.clause.cue
    job, place = match["j"] or match["k"], match["v"].strip()
    if place in ("家", "家里", "线", "外面", "那里", "这里"):
        yield Meaning("work mode", key(place), "work mode", polarity=p.polarity, single=True)
    else:
        city = place in CITIES or place.endswith(("市", "省", "区", "县", "国"))
        where = "work city" if city else "employer"
        yield Meaning(where, key(place), where, polarity=p.polarity, single=single, importance=0.7)
    if job and cut(job).endswith(JOBS):
        yield Meaning("job", key(cut(job)), "job", polarity=p.polarity, single=single, importance=0.7)
