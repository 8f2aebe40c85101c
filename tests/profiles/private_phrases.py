"""What must never be noticed about a person, and what lies close by and may be: values and sentences (P2)."""

NEVER = {
    "health": [
        *(
            "抑郁症治疗",
            "我下周要做化疗",
            "他请了病假",
            "最近在看心理医生，做心理咨询",
            "怀孕六个月，准备休产假",
            "糖尿病饮食",
        ),
        *(
            "I am in therapy for depression",
            "chemo on Tuesday",
            "pregnancy leave",
            "my ADHD medication",
            "back surgery",
        ),
        *("他在做chemo治疗", "因ADHD在吃药"),
        *("HIV status", "burnout recovery", "she is a cancer patient"),
    ],
    "family": [
        *("接送孩子上幼儿园", "正在办离婚", "照顾生病的母亲", "老婆的工作调动", "备孕", "女朋友分手", "二胎"),
        *("my divorce", "picking up the kids", "wife's new job", "custody of his daughter", "wedding planning"),
        *("正在办divorce手续",),
        *("caring for elderly parents", "came out as gay"),
    ],
    "religion": [
        *("每周日去教堂做礼拜", "佛教徒", "穆斯林，斋月期间不吃午饭", "信仰基督教", "去寺庙烧香"),
        *("fasting for Ramadan", "Sunday church service", "prayer breaks", "a devout Catholic", "studies the Bible"),
    ],
    "union": [
        *("参加工会活动", "组织罢工", "申请劳动仲裁", "集体谈判代表"),
        *("union organiser", "the strike next week", "collective bargaining", "elected shop steward", "works council"),
    ],
    "politics": [
        *("入党积极分子", "支持民主党", "参加游行示威", "选举投票给谁", "去信访局上访"),
        *("votes Republican", "campaigning for parliament", "political activist", "protest march", "a party member"),
    ],
    "pay": [
        *("公司拖欠工资", "跟主管谈加薪", "对年终奖不满", "讨薪", "加班费纠纷"),
        *("salary dispute", "unpaid overtime", "asked for a pay rise", "bonus complaint", "severance negotiation"),
    ],
}
WORK = [
    *(
        "项目管理",
        "数据分析",
        "注重细节",
        "服务健康检查",
        "故障诊断",
        "员工会议安排",
        "客户上访问题单的页面",
        "线上访谈",
        "专家人选",
    ),
    *("先看结论", "病毒扫描", "仿佛", "父组件", "后端联调", "周报生成", "结构清楚"),
    *("attention to detail", "API design", "health checks", "UNION ALL queries", "child nodes", "leader election"),
    *("report writing", "JSON parsing", "template rendering", "relative paths", "European roll-out"),
]
