"""What is never noticed about a person: health, family, religion, unions, politics, and disputes about pay (P2).

By words, in Chinese and English, on both sides of the model: sentences that touch on them are not sent, and values that
do are not kept. Where a word has a harmless meaning too, the harmless sentence is left out with the others: a tag too
few harms nobody.
"""

import re

_HAN = """
病 癌 肿瘤 化疗 住院 手术 医院 门诊 看医生 体检 诊断 用药 药物 服药 吃药 处方 症状 残疾 抑郁 焦虑 躁郁 失眠
心理咨询 心理治疗 心理健康 怀孕 备孕 孕期 孕妇 产检 产假 流产 试管婴儿 更年期 高血压 糖尿
过敏 感冒 发烧 头疼 头痛 酗酒 戒酒 成瘾 健康状况 身体不 艾滋 乙肝 阳性 康复
家庭 家人 家里 家属 婚 恋爱 相亲 分手 出轨 前妻 前夫 妻子 丈夫 老婆 老公 爱人 配偶 伴侣 男友 女友 男朋友 女朋友
孩子 小孩 儿子 女儿 宝宝 二胎 三胎 生育 育儿 带娃 父母 父亲 母亲 爸 妈 岳父 岳母 公婆
婆婆 祖父 祖母 爷爷 奶奶 外公 外婆 姥 兄弟 姐妹 亲戚 抚养 赡养 监护 幼儿园 接送 丧 去世 同性恋 性取向 出柜 跨性别
宗教 信仰 信教 佛 基督 天主教 伊斯兰 穆斯林 清真 道教 教会 教堂 寺 庙 礼拜 祷告 祈祷 圣经 古兰经 斋月 神父 牧师
受洗 犹太教 印度教 无神论
工会 罢工 集体谈判 劳动仲裁 怠工 劳资 维权 劳动监察 职代会 停工抗议
政治 政党 入党 党员 党费 党组织 党支部 党课 共产党 国民党 民主党 共和党 选举 投票给 竞选 游行 示威 请愿 抗议 台独
港独 左派 右派 上访 信访 异见 反政府 政见
欠薪 讨薪 薪酬纠纷 工资纠纷 薪资纠纷 拖欠 克扣 少发 扣工资 扣薪 降薪 减薪 同工不同酬 薪资争议 工资争议 薪酬争议
加班费 涨薪 加薪 涨工资 加工资 薪水 薪资 薪酬 工资 年终奖 奖金 补偿金 赔偿金
"""
_LATIN = r"""
ill(?:ness)?|sick(?:ness)?|disease\w*|cancer\w*|tumou?rs?|chemo\w*|hospital\w*|surger(?:y|ies)|doctors?|physicians?
|clinic\w*|diagnos\w*|medicat\w*|medicines?|prescription\w*|symptoms?|disab(?:led|ility|ilities)|depress\w*|anxiety
|bipolar|adhd|autis\w*|insomnia|therap\w*|counsell?ing|pregnan\w*|miscarr\w*|maternity|paternity|ivf|menopaus\w*
|diabet\w*|hypertens\w*|allerg\w*|migraines?|alcoholi\w*|addict\w*|rehab\w*|hiv|aids|hepatitis|health|healthcare|mental
|burn[- ]?out|asthma\w*|covid|vaccin\w*
|famil(?:y|ies)|marri\w*|wedding\w*|divorc\w*|dating|spouses?|wi(?:fe|ves)|husbands?|boyfriends?|girlfriends?|partner['’]s
|fianc\w*|child(?:ren|care)?|kids?|bab(?:y|ies)|sons?|daughters?|parent(?:s|ing|al|hood)?|mothers?|fathers?|mum|mom|dad
|brothers?|sisters?|siblings?|grand(?:ma|pa|mother|father|parents?|child\w*)|in-laws?|custody|kindergarten|relatives
|funeral\w*|bereave\w*|gay|lesbian|bisexual|transgender|queer|sexual\w*
|religi\w*|faith|church\w*|mosques?|temples?|synagogues?|christian\w*|catholic\w*|protestant\w*|muslim\w*|islam\w*
|buddh\w*|hindu\w*|jew(?:s|ish)?|judaism|pray(?:er|ers|ing|s)?|bible|quran|koran|ramadan|sabbath|baptis\w*|priests?
|pastors?|imams?|rabbis?|atheis\w*|worship\w*|halal|kosher
|(?:labou?r|trade|works?|worker'?s|staff)[- ]?(?:unions?|councils?)|unions?|unioni[sz]\w*|collective\ bargain\w*
|shop\ stewards?|walk-?outs?|picket\w*|(?:go|going|went|on)\ (?:on\ )?strike|strikes?|labou?r\ (?:arbitration|disputes?)
|politic\w*|elections?|vot(?:e|es|ed|ing|ers?)|democrats?|republicans?|communis\w*|socialis\w*|conservatives?|liberals?
|left-wing|right-wing|protest\w*|demonstrators?|street\ demonstrations?|petition\w*|activis\w*|party\ member\w*
|parliament\w*|senat\w*|dissident\w*
|pay\ (?:disputes?|rises?|raises?|cuts?|gaps?|claims?|days?)|(?:under|un)paid|wages?|salar(?:y|ies)|bonus(?:es)?
|back\ pay|overtime\ pay|severance|compensation|equal\ pay|my\ (?:pay|raise)|payroll\ (?:dispute|complaint)s?
"""
_WORDS = re.IGNORECASE | re.ASCII
"""In ASCII an English word ends where a Chinese character begins: 他在做chemo治疗."""
_PRIVATE = re.compile(
    "|".join(map(re.escape, _HAN.split())) + rf"|\b(?:{''.join(line.strip() for line in _LATIN.splitlines())})\b",
    _WORDS,
)
# With their meaning in offices and code, in which they are no matter of anybody's private life.
_HARMLESS = re.compile(
    r"健康检查|服务健康|病毒|毛病|通病|弊病|仿佛|佛山|父子?组件|父节点|子节点|父类|母版|故障诊断|性能诊断|诊断日志|选举算法"
    r"|[专大国商厂买卖玩独]家人|[施开手]工会|(?<!参)加工会|员工会[议上]|上访[问谈客]|道教育|教会[了他她我你新同大]"
    r"|\bhealth[- ]?checks?\b|\b(?:child(?:ren)?|parent)\ (?:node|process|class|component)(?:s|es)?\b"
    r"|\bunion\ (?:all|types?|queries)\b|\bleader\ elections?\b|\bfont\ famil(?:y|ies)\b",
    _WORDS,
)
_SENTENCES = re.compile(r"[^。！？!?；;\n]+[。！？!?；;\n]*|[。！？!?；;\n]+")


def is_private(text: str) -> bool:
    """Whether a text touches on what is nobody's business at work."""
    return _PRIVATE.search(_HARMLESS.sub(" ", text)) is not None


def without_private(text: str) -> str:
    """The text without the sentences that do."""
    return "".join(part for part in _SENTENCES.findall(text) if not is_private(part)).strip()
