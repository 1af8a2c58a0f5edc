"""Message types by rule: what is one, and what only looks like one."""

import pytest

from memory.classify import msg_type


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("My name is Ilse Brandt.", "fact"),
        ("I'm 34 years old and I live in Ghent", "fact"),
        ("I’m a marine biologist", "fact"),
        ("I work as a welder", "fact"),
        ("We adopted two cats last spring", "fact"),
        ("My sister is called Odile", "fact"),
        ("My birthday is on the 3rd of May", "fact"),
        ("我叫李雷", "fact"),
        ("我住在成都", "fact"),
        ("我今年32岁", "fact"),
        ("我是一名护士", "fact"),
        ("我养了两只猫", "fact"),
        ("我妹妹在上海", "fact"),
        ("I prefer tea to coffee", "preference"),
        ("I really love rye bread", "preference"),
        ("I don't eat meat", "preference"),
        ("My favourite colour is teal", "preference"),
        ("I'm allergic to peanuts", "preference"),
        ("我很喜欢徒步", "preference"),
        ("我不吃香菜", "preference"),
        ("我对花生过敏", "preference"),
        ("我更愿意坐火车", "preference"),
        ("Remind me to call the dentist", "todo"),
        ("Can you remind me to water the plants?", "todo"),
        ("I need to renew my passport by Friday", "todo"),
        ("- [ ] book the hall", "todo"),
        ("TODO: write the invoice", "todo"),
        ("Don't forget to lock the shed", "todo"),
        ("提醒我明天交房租", "todo"),
        ("别忘了带伞", "todo"),
        ("我得去买菜", "todo"),
        ("We decided to move the launch to June", "decision"),
        ("Let's go with the blue tiles", "decision"),
        ("I've finally made up my mind", "decision"),
        ("我们决定周六出发", "decision"),
        ("那就选红色吧", "decision"),
        ("ValueError: invalid literal for int()", "error"),
        ('Traceback (most recent call last):\n  File "x.py"', "error"),
        ("The build stopped with exit code 137", "error"),
        ("编译失败，请看日志", "error"),
        ("错误信息：找不到文件", "error"),
    ],
)
def test_what_a_person_says(text: str, kind: str) -> None:
    assert msg_type("user", text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Good morning!",
        "What is my name?",
        "Do you like tea?",
        "Should we go with the blue tiles?",
        "I like how you put it",
        "Is there an error in this?",
        "There was an error in the draft, but it is fixed",
        "She said she would remember",
        "I have to say, that was fun",
        "We haven't decided whether to go",
        "It is 404 metres long",
        "你喜欢茶吗？",
        "我们决定了吗？",
        "今天天气不错",
        "我喜欢你这样说吗？",
        "他叫什么？",
    ],
)
def test_what_only_looks_like_it(text: str) -> None:
    assert msg_type("user", text) == "normal"


def test_a_models_words_state_nothing_about_a_person() -> None:
    assert msg_type("assistant", "I love rye bread and I live in Ghent") == "normal"
    assert msg_type("assistant", "I love rye bread", human=True) == "preference"


def test_a_model_may_decide_promise_and_fail() -> None:
    assert msg_type("assistant", "We agreed to ship on Monday") == "decision"
    assert msg_type("assistant", "Remember to bring the keys") == "todo"
    assert msg_type("assistant", "TypeError: unhashable type") == "error"


def test_a_tool_result_is_an_error_or_normal() -> None:
    assert msg_type("tool", "HTTP/1.1 503 Service Unavailable") == "error"
    assert msg_type("tool", "I love rye bread") == "normal"


def test_a_system_message_is_always_normal() -> None:
    assert msg_type("system", "ValueError: my name is nobody") == "normal"


def test_only_the_beginning_is_read() -> None:
    assert msg_type("user", "x " * 2_500 + "my name is Ilse") == "normal"


def test_a_question_beside_a_statement_does_not_hide_it() -> None:
    assert msg_type("user", "Do you like tea? I prefer coffee.") == "preference"
