"""Words and character pairs that say nothing in a query; they are dropped from queries, never from the index."""

ENGLISH = frozenset(
    """
    a about after again all also am an and any are aren as at be because been before being between both but by
    can cannot cant could couldnt couldn d did didnt didn do does doesnt doesn doing done dont don during each
    for from had hadnt has hasnt have havent having he her here hers herself hes hi him himself his how hows i
    id if ill im in into is isnt isn it its itself ive just let lets ll m me might more most must my myself no
    nor not now of off oh ok on once only or other our ours ourselves out over own please really s same shall
    she shes should shouldnt so some such t than that thats the their theirs them themselves then there theres
    these they theyre theyve this those through to too until up us ve very was wasnt we well were weve werent
    what whats when whens where wheres which while who whom whos whose why will with wont would wouldnt yeah yes
    you youd youll your youre yours yourself yourselves youve tell know think say said does kind type sort
    """.split()  # noqa: SIM905 - word lists read best as text
)
CHINESE = frozenset(
    """
    什么 怎么 怎样 为什 哪些 哪个 哪里 哪儿 哪一 哪家 哪种 多少 几个 几次 是否 可以 是不 不是
    有没 没有 还有 我们 你们 他们 她们 它们 咱们 自己 我的 你的 他的 她的 我在 我给 你给 给我
    给你 我和 我是 你是 我有 我对 我想 我跟 跟你 跟我 和你 和我 你还 还记 记得 得我 得你 你知
    知道 告诉 诉我 一下 一个 一些 一次 这个 那个 这些 那些 这样 那样 这里 那里 时候 的时 候我
    因为 所以 但是 如果 然后 而且 或者 以及 的是 了吗 吗我 么我 过什 了什 是什 有什 些什 个什
    的什 说过 过我 说我 我说 你说 曾经 之前 我曾 我之 什麼 怎麼 為什 我們 你們 他們 這個 那個
    這些 沒有 時候 記得 嗎我 です ます した して いる ある ない これ それ から
    """.split()  # noqa: SIM905 - as above
)
CHINESE_SINGLE = frozenset("がでとにのはもを与么也了他你吗吧呀呢和哦啊嗎嗯在她它就很我或是有的还这這那都麼")
