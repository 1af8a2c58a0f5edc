"""Word lists of the English rules."""

IRREGULAR = dict(
    pair.split(":")
    for pair in """
    am:be is:be are:be was:be were:be been:be went:go gone:go bought:buy got:get gotten:get left:leave met:meet
    made:make took:take taken:take gave:give given:give found:find lost:lose won:win sold:sell built:build began:begin
    begun:begin became:become grew:grow grown:grow taught:teach wrote:write written:write read:read ran:run swam:swim
    sang:sing sung:sing drew:draw drawn:draw drove:drive driven:drive rode:ride ridden:ride flew:fly flown:fly
    broke:break broken:break chose:choose chosen:choose spoke:speak spoken:speak saw:see seen:see came:come held:hold
    kept:keep felt:feel fell:fall fallen:fall told:tell said:say thought:think knew:know known:know ate:eat eaten:eat
    drank:drink drunk:drink slept:sleep woke:wake woken:wake sent:send spent:spend lent:lend hurt:hurt quit:quit
    put:put set:set cut:cut hit:hit let:let led:lead paid:pay heard:hear stood:stand understood:understand sat:sit
    caught:catch brought:bring fought:fight threw:throw thrown:throw wore:wear worn:wear hung:hang hid:hide
    forgot:forget forgotten:forget had:have has:have did:do done:do does:do started:start stopped:stop dealt:deal
    shot:shoot stuck:stick meant:mean lay:lie bred:breed fed:feed swapped:swap switched:switch
    """.split()  # noqa: SIM905 - word lists read best as text
)
PAST = frozenset(w for w in IRREGULAR if w not in ("am", "is", "are", "has", "does", "been"))
SAME_FORM = frozenset(("read", "put", "set", "cut", "hit", "let", "hurt"))

ADVERBS = frozenset(
    """now currently still just also really absolutely recently finally actually already always usually often definitely
    totally honestly officially only mostly mainly sometimes occasionally regularly normally generally typically
    probably truly simply basically even ever lately newly originally eventually successfully proudly happily
    personally seriously literally kinda sorta pretty quite so completely deeply strongly generally particularly
    especially initially previously formerly once again mistakenly happily accidentally briefly fully
    then last first otherwise somehow instead anyway together forever permanently temporarily daily weekly these nowadays presently rather especially super both all""".split()  # noqa: SIM905
)
CAPITAL_STARTS = frozenset(("i", "i'm", "i've", "i'll", "i'd"))

UNIQUE_RELATIONS = frozenset(
    """mother mom mum mommy mama father dad daddy papa wife husband spouse partner girlfriend boyfriend fiance fiancé
    fiancee fiancée boss manager landlord landlady grandmother grandfather mother-in-law father-in-law employer company
    team""".split()  # noqa: SIM905
)
RELATIONS = UNIQUE_RELATIONS | frozenset(
    """sister brother sibling siblings sisters brothers son sons daughter daughters kid kids child children baby twins
    twin aunt uncle cousin niece nephew grandma grandpa granny grandparents parents friend friends buddy colleague
    coworker co-worker roommate flatmate housemate neighbour neighbor teacher coach trainer doctor dentist therapist
    mentor client assistant intern supervisor dog dogs cat cats puppy kitten parrot horse hamster rabbit pet pets bird
    tortoise turtle fish ex grandson granddaughter stepfather stepmother stepson stepdaughter godmother godfather
    family in-laws professor agent pup pups doggo doggies doggie fam folks students student bandmates teammate
    teammates classmates classmate guinea-pig partner's girl boy buddies pals crew band sister-in-law brother-in-law accountant lawyer tailor gardener nanny""".split()  # noqa: SIM905
)

# Attributes that hold one value at a time.
SINGLE_NOUNS = frozenset(
    """name nickname surname birthday age address email e-mail phone number mobile password passcode pin code weight
    height salary income budget rent deadline size employer job occupation profession title position role hometown
    nationality religion blood type username handle timezone zone zip postcode licence license plate account balance
    limit port version ip goal target due date appointment flight train departure arrival time schedule shift wedding
    anniversary interview exam meeting start launch release major degree bedtime curfew extension room seat gate
    provider bank insurance insurer database framework language editor browser ringtone wifi ssid host server url
    domain status score rank level temperature dosage dose gpa mileage hourly rate fee price cost capacity quota
    """.split()  # noqa: SIM905
)

DIETS = frozenset(("vegetarian", "vegan", "pescatarian", "flexitarian", "omnivore", "carnivore"))
MARITAL = frozenset(("single", "married", "divorced", "engaged", "widowed", "separated"))
STATES = frozenset(
    """retired unemployed self-employed freelance bilingual trilingual left-handed right-handed ambidextrous diabetic
    asthmatic colourblind colorblind dyslexic autistic deaf blind pregnant gluten-free lactose-intolerant celiac coeliac
    teetotal sober jewish muslim christian catholic buddhist hindu atheist agnostic gay lesbian bisexual transgender
    nonbinary introverted extroverted nearsighted short-sighted night-owl color-blind""".split()  # noqa: SIM905
)
OCCUPATIONS = frozenset(
    """nurse teacher engineer doctor lawyer designer developer programmer architect accountant chef cook baker barista
    waiter waitress driver pilot journalist writer author editor translator professor lecturer researcher scientist
    biologist chemist physicist analyst consultant manager director electrician plumber carpenter mechanic farmer
    dentist pharmacist veterinarian vet surgeon therapist psychologist psychiatrist paramedic firefighter policeman
    officer soldier librarian photographer musician actor actress artist painter sculptor dancer student intern
    secretary receptionist cashier salesman salesperson recruiter banker broker realtor auditor coach trainer
    hairdresser barber tailor florist gardener welder technician administrator economist statistician historian
    illustrator animator producer tester marketer copywriter postdoc plumber builder roofer judge attorney
    midwife optometrist radiologist cardiologist pediatrician actuary clerk bartender butcher freelancer contractor
    """.split()  # noqa: SIM905
)

# What passes: a state of the moment is no fact.
MOODS = frozenset(
    """tired hungry thirsty busy happy sad sorry glad excited bored sleepy cold hot sick ill fine good great okay ok well
    better worse ready sure late early here back home there done free worried nervous anxious stressed confused lost
    stuck curious afraid scared angry upset mad proud thankful grateful lucky exhausted swamped overwhelmed
    disappointed surprised shocked amazed impressed relieved frustrated annoyed aware able unable welcome right wrong
    pumped thrilled stoked honored honoured blessed determined motivated inspired hooked happy certain convinced
    interested sweating freezing starving dying kidding joking serious honest clear down up off in out on away
    running-late drunk hungover jealous lonely full awake asleep quiet alone positive hopeful delighted touched
    pleased inclined wondering guessing super-excited""".split()  # noqa: SIM905
)
FLEETING_VERBS = frozenset(
    """remind motivate inspire struggle handle deal manage aim cherish value treasure admire respect hit slog grow tend
    belong own owe include involve explain focus push cheer root rush hurry think guess hope know see feel mean agree understand appreciate wonder remember bet promise swear say suppose hear
    wish thank believe imagine doubt care mind let look seem sound tell ask talk chat wait sit stand head come get do
    need notice recall realize realise forget expect assume admit apologize apologise congratulate try check call
    hang keep guarantee recommend suggest assure envy sleep wake eat drink shower nap rest relax breathe smile laugh
    cry yawn sneeze cough stare glance grab stay show share help give put set figure reckon hate-to be go find
    can want love like enjoy prefer miss catch make take have read listen watch speak wear live relate continue
    follow pick happen turn end mention search google type click open close press reboot restart refresh scroll
    trust consider matter deserve""".split()  # noqa: SIM905
)
"""In the simple present these say nothing that lasts, unless a rule of their own reads them."""

LASTING_PAST = frozenset(
    """move marry graduate buy adopt start join finish win lose sell build learn break sign volunteer donate open perform
    attend complete create paint publish launch found release visit travel participate compete organize organise host
    plant write record teach train enroll enrol apply pass fail propose retire resign quit leave earn receive achieve
    accomplish meet reconnect celebrate register purchase order rent lease renovate restore design develop compose
    produce invent discover explore hike climb camp sail surf dive ski bike cycle kayak swim run race fly drive ride
    grow plan book schedule cancel postpone switch change replace upgrade install set injure hurt sprain recover
    undergo survive inherit invest save pay borrow lend raise give present speak lead manage mentor coach tutor help
    support advise sponsor found establish rescue foster save become get go take make try do have see read watch finish
    bake cook prepare knit sew sculpt photograph film edit play sing dance draw sketch craft decorate clean fix repair
    pick collect find choose decide work study research interview experience encounter enjoy love throw hold spend
    begin stop skip miss bring call contact send mail ship lose gain hit reach beat score qualify submit present
    hire fire promote reorganize merge close expand introduce invite host welcome deliver exhibit display sign
    promise discuss connect bond collaborate partner team wrap post share survey tour audition graduate rehearse repaint replant reunite""".split()  # noqa: SIM905
)
EVERYDAY = frozenset(
    """lunch dinner breakfast brunch snack sandwich coffee tea nap shower bath bed sleep traffic bus subway tube metro
    store shop supermarket grocery groceries mail laundry dishes trash rubbish weather rain snow alarm headache cold
    minute minutes second moment sec bit question questions idea feeling problem issue trouble doubt point look
    thought thoughts time fun blast chat talk call walk break phone email message text meeting errand errands
    wine beer drink glass toilet bathroom chance choice lot something anything nothing everything stuff thing things
    news finals chance chances opportunity opportunities recommendation recommendations skill skills bond connection photo photos
    pic pics picture pictures respect faith hope confidence energy feelings memory memories interest vibe vibes moment moments turnout
    blessing passion appreciation support respect sense impact effect goodies goals dreams dream mood progress spot progress insight
    advice inspiration option options choices reason reasons experience experiences couple bunch people everyone lots week weekend night year month word words number numbers name address clue plan plans luck day one ones way""".split()  # noqa: SIM905
)
VAGUE = frozenset(
    """it that this them these those him her one ones so such something anything everything nothing someone everyone
    things thing stuff lot lots bit way there here you your yours same what how why when where""".split()  # noqa: SIM905
)
# Nobody likes these: whoever says so means the opposite.
UNLIKED = frozenset(
    """traffic waiting queue queues queuing line lines stuck delay delayed delays late bug bugs crash crashes crashing
    crashed overtime mondays meetings deadline deadlines ignored rejected yelled cancelled canceled robbed taxes tax
    homework paperwork spam ads broken flat leak leaks leaking outage outages hangover headache headaches flu
    dentist root canal parking ticket fined hold rain rained soaked noise drilling construction jackhammer alarm 3am
    hours nothing failing fails fail lost losing losing debt bills layoffs fired stolen mosquitoes screaming
    """.split()  # noqa: SIM905
)
NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
}
COLOURS = frozenset(
    """red blue green yellow orange purple black white grey gray brown pink silver gold teal turquoise navy beige
    burgundy violet indigo crimson""".split()  # noqa: SIM905
)

# What people do again and again, or for weeks.
ACTIVITIES = frozenset(
    """learn study train practice practise teach write paint draw sculpt knit sew sing dance play run jog swim cycle bike hike climb ski
    surf sail dive kayak garden cook bake volunteer coach mentor tutor lead build develop design research collect breed raise speak
    commute drive ride meditate exercise box fish hunt camp travel sell code program invest donate attend host organise organize date
    foster ferment brew photograph blog podcast stream lift row skate fence wrestle take grow read work live rent save prepare apply
    compose record produce edit film restore renovate write intern major specialise specialize manage serve help support smoke vape
    care plan wake sleep eat drink skip walk shop visit call pray fast journal stretch plant explore experiment pursue""".split()  # noqa: SIM905
)
LIGHT_VERBS = frozenset(
    [
        "get",
        "take",
        "make",
        "do",
        "see",
        "have",
        "give",
        "find",
        "hit",
        "say",
        "bring",
        "hold",
        "keep",
        "put",
        "come",
        "throw",
        "enjoy",
        "love",
        "experience",
        "reach",
        "realize",
    ]
)
PARTICLES = frozenset("back up down off in out on away over home here there around together".split())  # noqa: SIM905
ABSTRACT_STARTS = frozenset(
    [
        "so",
        "very",
        "really",
        "too",
        "quite",
        "super",
        "pretty",
        "such",
        "more",
        "most",
        "important",
        "true",
        "amazing",
        "awesome",
        "great",
        "good",
        "just",
    ]
)
