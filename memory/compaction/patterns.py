"""By which words a sentence is told to belong to a part of a checkpoint, in English and Chinese."""

import re
from typing import Final

from memory.compaction.parts import Part

_SCHEMA = re.compile(
    r"\b(?:create|alter|drop|rename)\s+(?:unique\s+|or\s+replace\s+)?(?:table|index|view|column|schema|database|type|trigger)\b"
    r"|\b(?:add|dropp?|renam|remov|chang)(?:e|ed|ing)?\s+(?:(?:a|the|an|new|old)\s+)*(?:\w+\s+)?(?:column|foreign key|constraint|primary key|table)\b"
    r"|\bschema (?:change|migration|version)|\bdata type of\b"
    r"|建表|表结构|(?:新增|增加|添加|删除|修改|加)了?(?:一个)?\S{0,12}(?:字段|列|索引|外键|约束|表)",
    re.IGNORECASE,
)
_DATA = re.compile(
    r"\binsert\s+into\b|\bupdate\s+[\w.\"`]+\s+set\b|\bdelete\s+from\b|\bselect\b.{1,200}\bfrom\b|\btruncate\s+\w|\bcopy\s+\w+\s+from\b"
    r"|\b(?:imported|exported|loaded|backfilled|migrated|copied|deleted|inserted|updated|queried|deduplicated|cleaned)\b.{0,60}\b(?:rows?|records?|entries|data|dataset|csv|table|lines)\b"
    r"|\b\d[\d,.]*\s+(?:rows?|records?|entries)\s+(?:were\s+|are\s+)?\w+ed\b"
    r"|(?:导入|导出|备份|清洗|迁移|插入|更新|删除|查询)了?.{0,20}(?:行|条|记录|数据)",
    re.IGNORECASE | re.DOTALL,
)
_OBJECT = re.compile(
    r"\b(?:creat|writ|wrot|add|updat|edit|chang|renam|delet|remov|generat|built|build|sav|draft|publish|set up|deploy)(?:e|es|ed|ten|ing|t)?\b.{0,80}?"
    r"(?:`[^`]+`|\b[\w-]+\.(?:py|sql|md|js|ts|json|csv|txt|html|yaml|yml|toml|pdf|docx|xlsx|png|sh)\b"
    r"|\b(?:file|folder|function|class|module|service|dashboard|report|document|branch|chart|repository|pipeline|endpoint|playlist|spreadsheet|calendar|ticket|project)s?\b)"
    r"|(?:创建|新建|生成|编写|写|修改|更新|删除|保存|部署|发布)了.{0,30}(?:文件|函数|模块|报表|报告|文档|页面|服务|项目|接口|脚本|表格|工单|仓库|类)",
    re.IGNORECASE | re.DOTALL,
)
_SOLUTION = re.compile(
    r"\b(?:fix(?:ed|es)?|solv(?:ed|es)|resolv(?:ed|es)|workaround|works now|caused by|the cause|root cause|the problem was|turned out)\b"
    r"|解决|修复|原因是|已恢复|可以了|搞定",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    r"\b(?:in conclusion|conclud(?:e|ed)|we found|i found that|the result (?:is|was|shows)|it turns out|this (?:means|shows) that|therefore|in short)\b"
    r"|结论|因此|所以(?:我们|结果)|结果(?:是|表明)|发现了?|总之",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^\W*(?:please|can you|could you|would you|will you|help me|i want|i'd like|i would like|i need you|let's|show|give|tell|explain|write|find|make|"
    r"compare|list|check|look|plan|book|recommend|suggest|translate|summari[sz]e|how (?:do|can|should)|what|which|why|when|where|who|is there|are there)\b"
    r"|^\W*(?:请|帮我|帮忙|能不能|能否|可以|我想|想要|怎么|如何|为什么|什么|哪|给我|告诉我|推荐|写|查)",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|finished|completed|took care of|taken care of|sent it|already (?:did|booked|paid|sent|bought|called))\b"
    r"|\bi(?:'ve| have) (?:just |already |now )?\w+(?:ed|en|ught|nt|de|id|ne)\b|\bi (?:just )?(?:booked|paid|sent|bought|called|submitted|ordered|returned|signed|fixed|cleaned|picked up)\b"
    r"|完成了|做完了|办好了|搞定了|已经(?:完成|做|买|付|寄|订|打|交)|(?:买|付|寄|订|交)好?了",
    re.IGNORECASE,
)

BY_WORDS: Final[tuple[tuple[Part, re.Pattern[str]], ...]] = (
    ("schema_changes", _SCHEMA),
    ("data_operations", _DATA),
    ("objects", _OBJECT),
)
"""Parts that are told by words alone, whoever speaks; the first that matches."""


def is_solution(sentence: str) -> bool:
    """It says what solved a problem, or what its cause was."""
    return _SOLUTION.search(sentence) is not None


def is_conclusion(sentence: str) -> bool:
    """It draws a conclusion."""
    return _CONCLUSION.search(sentence) is not None


def is_request(sentence: str) -> bool:
    """It asks or wants something."""
    return sentence.rstrip("\"'”’)] ").endswith(("?", "？")) or _REQUEST.search(sentence) is not None


def says_done(sentence: str) -> bool:
    """It says that something which was to be done is done."""
    return _DONE.search(sentence) is not None
