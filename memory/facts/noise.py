"""What never becomes a fact: recalled text, other people's words, code, pasted material, and orders to the agent."""

import re

_FRAME = re.compile(
    r"<(recalled|summaries|checkpoint|turn|memory|memories|context|system)\b[^>]*>.*?(?:</\1[^>]*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_RECORD = re.compile(r"^\s*- \[\d{4}-\d{2}-\d{2}\].*$", re.MULTILINE)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED_LINE = re.compile(r"^\s*(?:>|\|).*$", re.MULTILINE)
_CAPTION = re.compile(
    r"\[(?:shares?|sends?|shared|sent|image|photo|attached|sticker|图片|照片|表情)[^\]]*\]", re.IGNORECASE
)
_LINK = re.compile(r"https?://\S+")
_STAGE = re.compile(r"^\s*[(（*][^)）*\n]{0,200}[)）*]\s*$", re.MULTILINE)
_INTRO = re.compile(
    r"^\s*(?:here(?:'s| is| are) (?:what|the|a|my)\b.{0,40}(?:remember|recalled|summary|memory|context|transcript|draft)"
    r"|(?:recalled|retrieved) (?:memor|context)|(?:conversation )?summary(?: so far)?|从记忆中|以下是(?:记忆|回忆|摘要)|(?:对话)?摘要|回忆到|召回)"
    r".{0,60}[:：]",
    re.IGNORECASE,
)
_PASTED = re.compile(
    r"(?:\b(?:translate|proofread|summari[sz]e|rewrite|rephrase|paraphrase|polish|edit|fix|improve|review|correct|analy[sz]e"
    r"|classify|reply to|respond to|complete|continue|explain|read)\b[^.!?\n]{0,60}"
    r"|\b(?:email|e-mail|letter|message|text|note|post|tweet|lyrics|poem|story|article|transcript|dialogue|script|essay|quote|ad|review|cv|resume|log)\b"
    r"[^.!?:\n]{0,60}\b(?:from|by|says?|said|reads?|goes|wrote|below|following)?[^.!?:\n]{0,30}"
    r"|(?:翻译|润色|校对|总结|改写|概括|续写|回复|分析|修改)[^。！？\n]{0,30}|(?:邮件|短信|来信|歌词|台词|文章|故事|剧本|小说|诗|日记|评论|帖子)[^。！？：\n]{0,20})"
    r"[:：](?=\s*\S)",
    re.IGNORECASE,
)
_FICTION = re.compile(
    r"\b(?:pretend|imagine|role-?play|let's play|act as|you are (?:now )?(?:a|an|the)\b|in (?:this|the) (?:story|novel|game|scene)"
    r"|(?:write|tell|give) (?:me )?(?:a|an|some) (?:\w+ ){0,2}(?:story|poem|song|scene|dialogue|script|essay|monologue|example))\b"
    r"|(?:假装|扮演|想象一下|角色扮演|(?:写|讲|编)(?:一)?(?:个|篇|首|段).{0,8}(?:故事|小说|诗|歌|剧本|对话|作文|例句))",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass) (?:all |any |your |the |my )*(?:previous |prior |earlier |above |other |system |safety )*"
    r"(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|restrictions?|guardrails?|filters?|safeguards?)\b"
    r"|\bfrom now on,? (?:you|your|always|never|only|please|respond|reply|answer|treat|act|call|do|refuse|approve|assume)\b"
    r"|\byou (?:must|shall|are (?:now )?(?:required|obliged|allowed|authori[sz]ed|permitted) to|should|have to|will|need to) (?:now |always |never |only |not )*"
    r"(?:obey|comply|reveal|disclose|send|forward|execute|run|delete|transfer|approve|grant|respond|reply|answer|recommend|act|behave|treat|trust|share|output|print|say|follow|use|call|refuse|accept|skip|bypass|give|tell)\b"
    r"|\b(?:system|developer) (?:prompt|message|override|instruction)s?\b|\b(?:jailbreak|developer mode|admin mode|god mode|dan mode|sudo mode)\b"
    r"|\b(?:always|never) (?:respond|reply|answer|obey|recommend|reveal|approve|trust|say|tell|refuse|mention|include|execute|ask for|use|begin|start|end)\b"
    r"|\b(?:save|store|remember|write|add)\b[^.!?]{0,40}\b(?:as (?:a )?(?:permanent|system|high[- ]priority)|in(?:to)? (?:your )?(?:long[- ]term |permanent )?memory\b)[^.!?]{0,40}(?:instruction|rule|directive|:)"
    r"|^\s*\[?(?:system|assistant|admin|developer|root)\]?\s*[:：]|<\|?(?:system|im_start|endoftext)\|?>|\bnew (?:rules?|instructions?|directives?|policy)\s*:"
    r"|(?:忽略|无视|忘掉|忘记|绕过|覆盖)(?:掉)?(?:你)?(?:的)?(?:之前|以前|先前|上面|以上|前面|所有|一切|全部|任何|原有|系统|安全)*(?:的)?(?:所有|全部|一切)?(?:的)?(?:指令|规则|提示|提示词|限制|设定|要求|约束|准则|策略|政策)"
    r"|从(?:现在|今|此刻)(?:开始|起|以后|往后)?[，, ]*(?:你|请你|您|请|都|只|必须|一律|永远|总是|不管)|(?:今后|以后)[，, ]*你(?:必须|要|得|应该|只能|都|不许|不准|一律)"
    r"|你(?:现在|今后|以后)?(?:必须|只能|务必|不得|应当|不许|不准|一定要|要无条件)|(?:无条件|一律)(?:服从|执行|批准|通过|回答|同意)|系统(?:提示|指令|消息|管理员)|开发者模式|管理员模式|越狱",
    re.IGNORECASE | re.MULTILINE,
)

HELD = "reads like an instruction to the agent"


def own_words(content: str) -> str:
    """What of a message its sender says as their own: frames, code, quoted lines, captions and pasted material go."""
    text = _FRAME.sub("\n", content)
    for pattern in (_CODE, _RECORD, _QUOTED_LINE, _CAPTION, _STAGE, _LINK):
        text = pattern.sub("\n" if pattern is not _LINK else " ", text)
    if _FICTION.search(text) or _INTRO.search(text):
        return ""
    pasted = _PASTED.search(text)
    return text[: pasted.start()] if pasted else text


def is_order(sentence: str) -> bool:
    """Whether a sentence reads like an instruction to the agent: it must not be believed by itself."""
    return bool(_ORDER.search(sentence))
