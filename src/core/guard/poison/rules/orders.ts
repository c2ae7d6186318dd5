import { anyOf, has, type Rule, rule } from '../rule.ts';
import { FETCH, FOLLOW, HOST, NOT } from './subjects.ts';

const IGNORE =
  '\\b(?:ignore|ignores|ignoring|disregard|forget|override|overrule|bypass|supersedes?|overrides?|outranks?|neglect|discard|drop|set aside|stop following|pay no attention to|do not (?:follow|obey|comply with)|never (?:follow|obey)|throw away|replaces?)\\b';
const RANK =
  '(?:all|any|every|the|your|its|of|previous|prior|above|earlier|preceding|foregoing|other|existing|former|old|system|developer|operator|user(?:.s)?|safety|security|original|initial|these|those|such|and|project|general|conflicting|remaining|contrary|default|built-in)';
const ORDERS =
  '(?:instructions?|rules?|guidelines?|prompts?|directives?|polic(?:y|ies)|constraints?|restrictions?|orders?|guard ?rails?|safeguards?|commands?|messages?|wishes|requests?|everything (?:above|before|else))';
const OTHERS =
  '(?:users?|operators?|system|developers?|person|human|reviewers?|maintainers?|owner|safety|security|polic(?:y|ies)|guidelines|claude\\.md|agents\\.md|gemini\\.md|project rules)';
const ORDERS_IN_OTHER_LANGUAGES = anyOf(
  '(?:ignorier|missacht|vergiss|vergessen sie|übergeh)\\S{0,4}[^\\n.]{0,50}(?:anweisung|regel|vorgabe|instruktion|richtlinie|befehl)',
  '(?:ignore[zr]?|oublie[zr]?|ne tiens pas compte|ne tenez pas compte|fais abstraction|contourne[zr]?)[^\\n.]{0,50}(?:instructions?|consignes?|règles?|directives?)',
  '(?:ignora|ignore|olvida|olvide|haz caso omiso|desestima|descarta|omite)[^\\n.]{0,50}(?:instrucciones|reglas|órdenes|indicaciones|normas|directrices)',
  '(?:ignor[ea]|esqueça|esquece|desconsidere|descarte|dimentica)[^\\n.]{0,50}(?:instruções|regras|ordens|orientações|diretrizes|istruzioni|regole)',
  '(?:игнорир|забудь|забыть|не обращай|отбрось|отмени|пренебрег)[^\\n.]{0,50}(?:инструкц|правил|указани|предписани|команд)',
  '(?:忽略|无视|無視|忘记|忘掉|不要理会|不理会|抛弃)[^\\n。]{0,24}(?:指令|指示|规则|規則|说明|要求|提示)',
  '(?:指示|命令|ルール|規則|指令|プロンプト)[^\\n。]{0,16}(?:無視|忘れ|従わない|破棄)|(?:تجاهل|انس|أهمل|لا تتبع)[^\\n.]{0,50}(?:تعليمات|التعليمات|القواعد|الأوامر|أوامر|قواعد)',
  '(?:talimat|kural|yönerge|komut)[^\\n.]{0,50}(?:yok say|unut|görmezden|dikkate alma|göz ardı|geçersiz|uyma)|(?:지시|명령|규칙|지침|프롬프트)[^\\n.]{0,30}(?:무시|잊어|잊으|따르지)',
);

/** Instructions that rank themselves above others. */
const RANK_RULES: readonly Rule[] = [
  rule(
    'override',
    'tells to ignore other instructions',
    { unless: /\b(?:eslint|lint|css|prettier|firewall|robots)\b/u },
    [
      `${IGNORE} (?:${RANK} ){1,5}${ORDERS}`,
      `${IGNORE} [^\\n.]{0,40}\\b(?:above|before this|you (?:were|have been) (?:told|given)|${OTHERS} (?:says?|said|told|asks?|asked|wants?|wrote))`,
      `\\bwhatever (?:the |your )?${OTHERS} (?:says?|said|told|asks?|asked|wants?|wrote)`,
      ORDERS_IN_OTHER_LANGUAGES,
    ],
  ),
  rule('override', 'declares other instructions void', { isForbidding: true }, [
    `\\b(?:system prompt|restrictions?|limits|limitations|safety|caution|guard ?rails?|polic(?:y|ies)|safeguards?|${ORDERS}|claude\\.md|agents\\.md)\\b[^\\n.]{0,40}\\b(?:no longer (?:appl|hold|bind|count|exist)\\w*|(?:is|are|was|were) (?:lifted|void|suspended|revoked|cancel+ed|switched off|meant for|obsolete|waived|optional)|(?:do|does) not apply (?:here|to you|in this|any ?more))`,
    '\\byou are (?:now )?in (?:\\w+ )?(?:maintenance|developer|debug|admin|ops|god|unrestricted|training|root|service|free) mode|\\b(?:no limits|restrictions lifted|anything goes)\\b',
  ]),
  rule('override', 'ranks itself above other instructions', { unless: /\bcss\b|specificity|selector|z-index/u }, [
    '\\b(?:this|these|the following|the next|here)\\b[^\\n.]{0,50}\\b(?:takes? (?:precedence|priority)|overrides?|outranks?|supersedes?|ha(?:s|ve) (?:the )?(?:highest )?(?:priority|precedence)|wins? over|beats?|(?:is|are|ranks?|stands?) above|comes? (?:first|before)|replaces? (?:all|every|any))\\b',
    `\\b(?:ranks?|stands?|goes?|comes?|placed?|is|are) (?:above|over|before|higher than) (?:the |your |any |all )?(?:${OTHERS})`,
    '\\b(?:highest|top|maximum|absolute|supreme) (?:priority|precedence|authority)\\b|\\bregardless of (?:what|any|the user|other|system|earlier|your)',
    `\\b(?:even (?:if|when)|no matter (?:what|if)|although) (?:the |your )?(?:they|he|she|somebody|someone|${OTHERS}) (?:asks?|says?|objects?|forbids?|tells?|disagrees?|declines?|refuses?|wants?|complains?)`,
    '\\b(?:you are now|you are no longer|from now on,? you(?: are|r)|pretend (?:to be|you)|act as (?:an? )?(?:unrestricted|root|admin|dan\\b)|god mode|jailbreak|dan mode|unrestricted mode|no longer bound|free of (?:all )?restrictions|without (?:any )?(?:restrictions|limits|filters))',
    '\\bsystem[ _-]override\\b|\\bsystem (?:notice|update|message|alert) ?[:—]|\\bnew (?:system )?(?:instructions?|prompt|directive)s? ?:|\\bchange[sd]? (?:your|the) (?:role|identity|system prompt)|\\bfollow (?:only )?this (?:file|document|rule|skill)s? (?:only|alone|and nothing)',
  ]),
  rule('override', 'claims an approval that nobody gave', [
    '\\b(?:pre-?approved|approved|authori[sz]ed|signed off|sanctioned|cleared|confirmed|mandated|required|whitelisted|granted|consented?|permitted)\\b[^\\n.]{0,40}\\b(?:by|from) (?:the )?(?:security|admin|administrator|team|anthropic|openai|google|maintainers?|legal|management|owner|cto|ceo|compliance|user|platform|it\\b|ops|root|vendor|company)',
    '\\b(?:security|admin|compliance|legal|platform|it|user|owner|management|everyone|team)s?(?: (?:team|department|office|board))?[^\\n.]{0,20}\\bha(?:s|ve) (?:already )?(?:approved|authori[sz]ed|signed|granted|cleared|confirmed|agreed|waived|consented|given (?:consent|permission|approval))',
    '\\b(?:anthropic|openai|google|microsoft|github) (?:requires?|says?|mandates?|staff|employee|support|engineer|security|official)|\\bi am (?:the|your|an?) (?:admin|developer|owner|root|operator|maintainer|anthropic|openai)',
    '\\b(?:on behalf of|by order of|per instruction of|message from) (?:the )?(?:anthropic|openai|developer|admin|security|system|maintainer|owner|ceo|cto)',
  ]),
];

/** Orders that stand elsewhere, or are written so that nobody reads them. */
const ELSEWHERE_RULES: readonly Rule[] = [
  rule(
    'fetch',
    'tells to fetch something and follow it',
    {
      also: [
        has(
          `(?!https?://(?:localhost|127\\.))(?:${HOST})`,
          '\\bgist\\b|pastebin|\\bremote\\b|\\bfrom the (?:server|web|internet|url|address|link)',
        ),
        has(FOLLOW),
      ],
    },
    [FETCH],
  ),
  rule(
    'execute',
    'tells to decode something and run it',
    {
      also: [
        /\b(?:run|execute|eval|evaluate|follow|obey|do (?:it|what|as|that)|apply|act on|carry out|perform|pipe|führe|exécute|ejecuta|sh|bash|exec|command|order|spell)\b|выполн|执行|実行|نفذ|çalıştır|실행/u,
      ],
      unless: /\btests?\b|\bmigration|\bparser?\b|\brequest body\b/u,
    },
    [
      '\\b(?:decode|decrypt|deobfuscate|unscramble|reverse|backwards?|rot-?13|base64|hex|unpack|un-?escape|decipher|entschlüssle|dekodiere|décode[rz]?|descodifi\\w+|decodifi\\w+)\\b|декодир|расшифр|解码|デコード|فك|çöz|디코딩',
      '\\b(?:first|last|initial) (?:letters?|words?|characters?) of (?:the|each|every|all)\\b',
    ],
  ),
  rule(
    'grader',
    'speaks to what grades it',
    {
      also: [
        /\b(?:score|scores|scored|rate|rating|award|grade|mark|assign|full marks|perfect|maximum|top marks|1\.0|10\/10|100 ?%|100\/100|pass(?:es|ed)?|correct|accept|approve)\b/u,
        /\b(?:this|always|must|should|please|give|award|assign|output|return|skip|note to|attention|dear|answer)\b/u,
      ],
    },
    [
      '\\b(?:graders?|judges?|evaluators?|scorers?|rubrics?|grading|evaluation|llm-as-a-judge|reviewing model|assessors?|examiners?|validators?)\\b',
    ],
  ),
  rule('grader', 'fakes what a check looks at', [
    '["\']?\\b(?:score|reward|grade|passed|success|verdict)\\b["\']? ?[:=] ?["\']?(?:1(?:\\.0)?|true|10|100|pass(?:ed)?)\\b[^\\n]{0,80}\\b(?:always|last|end|final|every|each|on the)\\b|\\b(?:always|end|finish|last|every|each)\\b[^\\n.]{0,60}["\']?\\b(?:score|reward|grade|passed|verdict)\\b["\']? ?[:=] ?["\']?(?:1(?:\\.0)?|true|10|100|pass(?:ed)?)\\b',
    '\\bexit 0\\b[^\\n.]{0,40}\\b(?:top|start|beginning|first line|test|check)|\\b(?:task|answer|work|it)s? counts? as (?:solved|done|passed|correct|complete)|\\balways pass(?:es)?\\b',
    '\\b(?:when|whenever|if|while|once|before)\\b[^\\n.]{0,30}\\b(?:answers?|you|works?|tasks?|outputs?|this)\\b (?:is|are|gets?) (?:being )?(?:checked|graded|judged|evaluated|scored|benchmarked)',
  ]),
];

export const ORDER_RULES: readonly Rule[] = [...RANK_RULES, ...ELSEWHERE_RULES];

const TELL =
  '(?:mention|tell|report|show|reveal|disclose|inform|say|list|notify|log|explain|note|surface|describe|announce|bring (?:this|it) up|talk about|refer to|include|point out|warn|alert|summari[sz]e|document|record|display|print|acknowledge|flag)';
const DEED =
  '(?:step|rule|instruction|change|commit|push|upload|command|request|call|section|note|file|line|edit|hook|script|skill|fact|part|addition|setting|block|download|install\\w*|deletion|update|job|process|copy|backup)s?';
const WATCHER =
  '(?:users?|humans?|person|reviewers?|maintainers?|developers?|owners?|anyone|anybody|people|nobody|no one|team)';
const ABOUT = `(?:(?:the )?${WATCHER}\\b|\\b(?:this|it|them|these|those)\\b|\\b(?:that|the) ${DEED}\\b)`;
const FINDS_OUT = '(?:knows?|notices?|finds? out|sees?|learns?|be told|be informed|hears?|realises?|realizes?|asks?)';
const HIDDEN_IN_OTHER_LANGUAGES = anyOf(
  '(?:dem|den|der) (?:nutzer|benutzer|anwender)\\S{0,3}[^\\n.]{0,40}(?:nicht|nichts|niemals|kein)|(?:erwähne|sage?|verrate|melde|zeige?)\\b[^\\n.]{0,50}(?:nicht|nichts|niemandem|nie\\b)|heimlich|stillschweigend|unbemerkt|verheimlich',
  "n(?:e |')(?:le |la |les |lui |l.|en |rien |jamais )?(?:mentionne|dis|dites|parle|signale|révèle|montre|préviens|informe|avertis)[^\\n.]{0,50}|discrètement|en silence|secrètement|à l.insu|sans (?:prévenir|informer|avertir|le dire|en parler)",
  '\\bno (?:se lo |lo |le |les |la )?(?:menciones?|digas?|mencione|informes?|informe|cuentes?|reveles?|avises?|muestres?|diga)|en silencio|silenciosamente|a escondidas|sin (?:avisar|decir|mencionar|informar|que (?:el|nadie))',
  'não (?:o |a |lhe )?(?:mencione|diga|conte|informe|avise|revele|mostre|comente)|em silêncio|às escondidas|sem (?:avisar|dizer|mencionar|informar)|\\bnon (?:dire|menzionare|dirlo)|di nascosto',
  'не (?:говори|сообща|упомина|рассказыва|показыва|пиши об|раскрыва|информируй|уведомля)|тайно|незаметно|втайне|скрытно|молча|без ведома',
  '(?:不要|不得|勿|别|不能|切勿)[^\\n。]{0,10}(?:告诉|告知|提及|提到|透露|通知|显示|汇报|说明|让用户)|悄悄|偷偷|暗中|秘密地|默默',
  '(?:ユーザー|利用者|誰)[^\\n。]{0,16}(?:言わ|知らせ|伝え|報告し|気づかれ|見せ|話さ)(?:ない|ず|るな|ません|しない)|こっそり|秘密裏|黙って|内緒|لا (?:تخبر|تذكر|تقل|تظهر|تكشف|تبلغ)|سرا\\b|سرًا|بصمت|خفية|دون (?:علم|إخبار)',
  '(?:kullanıcıya|kimseye)[^\\n.]{0,40}(?:söyleme|bahsetme|bildirme|gösterme|haber verme|belirtme)|gizlice|sessizce|çaktırmadan|haber vermeden|(?:사용자|누구)\\S{0,3}[^\\n.]{0,24}(?:말하지|알리지|언급하지|보고하지|보여주지)|몰래|비밀리에|은밀',
);

/** Things that are kept from the person. */
const CONCEAL_RULES: readonly Rule[] = [
  rule(
    'conceal',
    'tells to hide something from the person',
    {
      unless:
        /\bunless\b|\buntil\b|\bbefore you\b|\bwithout (?:checking|running|having|evidence)|\bthat (?:it|tests?|something) (?:works?|pass)|\b(?:tokens?|passwords?|secrets?|keys?|credentials?|stack ?traces?|personal data|e-?mail addresses)\b/u,
      isForbidding: true,
    },
    [`\\b${NOT} (?:\\w+ ){0,2}?${TELL}(?:ing)? (?:[^\\n.]{0,40}? )?${ABOUT}`],
  ),
  rule(
    'conceal',
    'tells to hide something from the person',
    {
      unless:
        /\bfail(?:s|ed|ing|ure)? silently|silently (?:fail|ignor|swallow|drop|truncat|catch|discard|cast|fall|convert|chang|overwrit|skip)|rate limit/u,
    },
    [
      '\\b(?:hide|conceal|keep|withhold|omit|leave out|suppress|mask|cover up)\\b[^\\n.]{0,50}\\b(?:from (?:the )?(?:user|human|person|reviewers?|maintainers?|developer|summary|report|diff|log|transcript|output|history)|secret\\b|hidden|between us|confidential|to yourself|in the dark|out of (?:the )?(?:summary|report|diff|log|answer|transcript|changelog|output|pull request))',
      '\\b(?:silently|secretly|covertly|quietly|stealthily|unnoticed|discreetly|invisibly|behind the scenes|under the radar)\\b',
      `\\b(?:so that|so|until|while|before|lest) (?:the )?${WATCHER} (?:will |can |may |does |do |should |must )?(?:never |not |n.t )?${FINDS_OUT}\\b`,
      `\\b(?:the )?${WATCHER} (?:must|should|need|do(?:es)?|will|may|can)(?: ?not|n.t| never) ${FINDS_OUT}`,
      '\\b(?:diff|summary|report|list|log|changelog|overview)\\b without (?:the|those|any|that|its) (?:\\w+ )?(?:lines?|parts?|files?|commits?|entr\\w+|changes?|steps?)\\b',
      '\\b(?:if|when|should)\\b[^\\n.]{0,12}\\b(?:somebody|someone|anyone|anybody|asked|the user|they|people)\\b[^\\n.]{0,40}\\b(?:answer|say|reply|deny|claim|respond|pretend|insist)\\b[^\\n.]{0,40}\\b(?:none|no|not|nothing|never|don.t|unaware|routine)\\b',
      '\\bhistory -c\\b|unset histfile|histfile=|histsize=0|\\bset \\+o history|\\bfor (?:agents?|ai|llms?|models?|bots?|assistants?) only\\b|<details\\b|\\bdeny (?:that|any|having)\\b',
      HIDDEN_IN_OTHER_LANGUAGES,
    ],
  ),
];

const UNASKED_IN_OTHER_LANGUAGES = anyOf(
  'ohne (?:zu fragen|nachzufragen|nachfrage|rückfrage|bestätigung|zustimmung)|sans (?:demander|confirmation|autorisation|poser|validation)|sin (?:preguntar|pedir|confirmación|autorización|confirmar|permiso)|sem (?:perguntar|pedir|confirmação|autorização|confirmar|permissão)|senza (?:chiedere|conferma)',
  'без (?:спроса|подтвержд|разрешен|вопросов|согласия)|(?:无需|不需要|不用|不必|无须|未经|不经)[^\\n。]{0,6}(?:询问|确认|批准|同意|许可|征求|问)|確認せず|確認なし|許可なく|聞かず|尋ねず|承認なし|確認を取らず|確認は不要',
  '(?:دون|بدون) (?:سؤال|إذن|تأكيد|موافقة|طلب|أن تسأل|استئذان)|(?:onay|izin)(?: \\S{1,8})? (?:almadan|istemeden|beklemeden)|sormadan|(?:확인|허락|승인|동의) ?없이',
);
const NEVER_ASK_IN_OTHER_LANGUAGES = anyOf(
  '(?:frag|bitte)\\S{0,3}[^\\n.]{0,20} (?:nicht|nie\\b|niemals)[^\\n.]{0,30}(?:erlaubnis|bestätigung|nach\\b)|ne demande[zr]? (?:pas|jamais)|no (?:pidas|preguntes|pida|pregunte|solicites)|não (?:peça|pergunte|solicite)|не спрашива|не проси|(?:不要|别)[^\\n。]{0,6}(?:询问|确认|请求|问)',
  '許可を求め(?:ない|ず|るな)|確認し(?:ない|ません)|لا تسأل|لا تطلب|(?:izin|onay) isteme|묻지|물어보지|확인하지',
);

/** Questions that are not asked. */
const ASKING_RULES: readonly Rule[] = [
  rule('permission', 'tells to act without asking', { unless: /\bask(?:s|ed)? (?:first|me|before)/u }, [
    '\\bauto[- ]?(?:approv|accept|confirm|allow|merg|grant)\\w*|\\balways (?:allow|approve|accept|answer (?:yes|y)\\b|say yes|choose (?:yes|allow|always)|confirm|grant)',
    '\\b(?:answer|reply|respond|press|type|choose|select|pick)\\b[^\\n.]{0,30}["\'«` ](?:yes|y|allow|always allow|approve|ok)\\b',
    '\\b(?:treat|consider|regard|assume|count)\\b[^\\n.]{0,60}\\b(?:approved|granted|allowed|authori[sz]ed|trusted|confirmed|consent)\\b|\\bact (?:at once|immediately|on your own authority)',
    'bypasspermissions|--dangerously-\\S+|--yolo\\b|--allow-all\\b|--full-auto\\b|--trust-all-tools|skip-permissions|defaultmode|--no-sandbox|--permission-mode|danger-full-access|approval[-_]policy|\\bbash\\(\\*|(?:^|[\\s`])/(?:permissions|hooks|mcp|plugin|approvals|sandbox|yolo|trust|add-dir|allowed-tools)\\b',
    '\\b(?:nobody|no one|the user|user|person|human|maintainer)\\b[^\\n.]{0,30}\\b(?:answer(?:s|ed)?|repl(?:y|ies|ied)|respon(?:ds?|ded)|away|afk|idle|silent|asleep|offline|busy|gone|looks|watching)\\b[^\\n.]{0,40}\\b(?:deploy|push|merge|delete|publish|release|proceed|run|go ahead|continue|approve|act)\\b',
    UNASKED_IN_OTHER_LANGUAGES,
  ]),
  rule('permission', 'tells to act without asking', { isForbidding: true }, [
    "\\b(?:never|do not|don't|no need to|need not|stop|not) (?:ever )?(?:ask(?:ing)?|wait(?:ing)?|prompt(?:ing)?|request(?:ing)?|pause)\\b[^\\n.]{0,30}\\b(?:for|before|the user|user|permission|confirmation|approval|again|first|anyone|to confirm|questions)\\b",
    NEVER_ASK_IN_OTHER_LANGUAGES,
  ]),
];

export const CHECK_RULES: readonly Rule[] = [...CONCEAL_RULES, ...ASKING_RULES];

const OFF =
  '\\b(?:disable|turn(?:ing)? off|switch(?:ing)? off|deactivate|bypass|circumvent|evade|get around|work around|comment out|weaken|relax|loosen|lower|silence|mute|skip|remove|delete|drop|stop running|do not run|never run|don.t run|ignore|avoid|outside|leave)\\b';
const GUARD =
  '(?:tests?\\b|test suite|hooks?\\b|lint(?:er|ing)?\\b|(?:code )?reviews?\\b|sandbox\\w*|permission (?:prompts?|checks?|rules?)|permissions\\b|approvals?\\b|confirmations?\\b|safety|security|guards?\\b|guard ?rails?|safeguards?|ci\\b|checks?\\b|checklists?\\b|validation|verification|scan(?:s|ner|ning)?\\b|signatures?\\b|audit\\w*|logging|firewall|antivirus|2fa|mfa|branch protection|assertions?|expectations?|type ?check\\w*|secret scan\\w*|rate limits?|allow-?list|denylist|checksums?|integrity|lock ?files?)';
const GUARDS_IN_OTHER_LANGUAGES = anyOf(
  '(?:deaktivier|schalte?|überspring|umgeh|lösch|entfern)\\S{0,3}[^\\n.]{0,40}(?:tests?|hooks?|prüfung|schutz|sicherheit|sandbox|überprüfung)|(?:tests?|prüfungen|hooks)\\b[^\\n.]{0,30}(?:überspringen|abschalten|ausschalten|deaktivieren|umgehen|nie ausführen)',
  '(?:désactiv|saute|contourne|supprime|ignore)\\S{0,3}[^\\n.]{0,40}(?:tests?|hooks?|vérification|contrôle|sécurité|revue|crochets)|n.exécute[zr]? (?:jamais|pas|plus)[^\\n.]{0,20}tests',
  '(?:desactiv|omit|salt|elud|elimin|ignor)\\S{1,4}[^\\n.]{0,40}(?:pruebas|tests?|ganchos|hooks?|comprobacion|verificacion|seguridad|revisión)|no ejecutes[^\\n.]{0,20}(?:pruebas|tests)|(?:desativ|pul|ignor|contorn|remov)\\S{1,4}[^\\n.]{0,40}(?:testes?|hooks?|ganchos|verificaç|segurança|revisão)|não (?:execute|rode)[^\\n.]{0,20}testes',
  '(?:отключ|пропус|обойд|обходи|удали|игнорир|выключ)\\S{0,4}[^\\n.]{0,40}(?:тест|хук|проверк|защит|безопасн|ревью|песочниц)|(?:禁用|关闭|跳过|绕过|删除|忽略|停用)[^\\n。]{0,16}(?:测试|钩子|检查|审查|安全|沙箱|验证|校验)',
  '(?:テスト|フック|検査|チェック|レビュー|サンドボックス|検証|セキュリティ)[^\\n。]{0,12}(?:無効|飛ばし|スキップ|省略|回避|外し|切って|止め)|(?:عطّل|عطل|تخط|تجاوز|احذف|أوقف)[^\\n.]{0,40}(?:اختبار|الاختبارات|الفحص|التحقق|الحماية|الأمان|المراجعة)',
  '(?:test|kanca|denetim|kontrol|güvenlik|inceleme|doğrulama)\\S{0,6}[^\\n.]{0,20}(?:devre dışı|atla|kapat|kaldır|geç\\b|çalıştırma\\b)|(?:테스트|훅|검사|검증|보안|리뷰|샌드박스)\\S{0,2}[^\\n.]{0,16}(?:비활성|건너|끄고|꺼|생략|우회|무시|해제|삭제)',
);
const FAILING = '(?:red|failing|failed|broken|failures?|errors?)';
const WEAK = anyOf(
  'verify ?= ?false|rejectunauthorized["\']? ?: ?false|node_tls_reject_unauthorized|insecureskipverify|stricthostkeychecking[ =]+no|sslverify[ =]+["\']?false|strict-ssl[ =]+false|--no-check-certificate|\\bcurl\\b[^\\n]{0,80} (?:-k|--insecure)\\b',
  '\\bcheck_hostname ?= ?false|cert_none|pythonhttpsverify|_create_unverified_context|trust-?all|chmod +(?:-r +)?(?:0?777|a\\+rwx)|alg["\']? ?: ?["\']none|permitrootlogin +yes|nopasswd|\\baccess-control-allow-origin["\']? ?[:,] ?["\']?\\*|\\bshell ?= ?true|\\bpickle\\.loads?',
);

/** Checks that are switched off, and code that is made weak. */
export const GUARD_RULES: readonly Rule[] = [
  rule(
    'permission',
    'switches a check off',
    {
      unless:
        /\bonly (?:if|when|after)\b|\bunless\b|\bif they are (?:slow|flaky)|\bask\b|\breview comments\b|\bci runs\b|\blocally\b|\bin ci\b they/u,
    },
    [
      '\\bhusky=0|--no-verify\\b|\\bskip=\\w|--no-gpg-sign|commit\\.gpgsign[ =]+false|--skip-(?:tests|checks|hooks|verify|validation)|-dskiptests|--no-audit|--ignore-(?:errors|vulnerabilit)\\w*|setenforce +0|ufw +disable|set-mppreference|core\\.hookspath[ =]+["\']?(?:/|~|\\$|\\.\\.)|\\|\\| *true\\b|--disable-(?:security|web-security|sandbox|checks)\\S*|continue-on-error ?: ?true|allow_failure ?: ?true|pull_request_target',
      `${OFF} (?:\\w+ ){0,3}?${GUARD}`,
      '\\bmark\\b[^\\n.]{0,30}\\b(?:skipped|passed|passing|xfail|done|green|resolved)\\b|\\bapprove (?:your|its|their) own\\b|\\b(?:approve|merge)\\b[^\\n.]{0,40}\\b(?:bot account|second account|another account)',
      '\\b(?:say|claim|report|pretend|state|write|answer|affirm)\\b[^\\n.]{0,30}\\b(?:tests?|checks?|ci|build|suite|everything)\\b[^\\n.]{0,20}\\b(?:pass(?:ed|es)?|green|succe\\w+|fine|ok)\\b[^\\n.]{0,40}\\b(?:even|without|regardless|whether|anyway|instead|although|always)\\b',
      `\\b(?:treat|regard|count|call|consider|report|see)\\b[^\\n.]{0,20}\\b${FAILING}\\b[^\\n.]{0,30}\\bas (?:a )?(?:green|pass\\w*|fine|ok|success\\w*|done|harmless|flaky)`,
      '\\b(?:change|adjust|edit|loosen|weaken|rewrite|lower|relax|tweak)\\b[^\\n.]{0,20}\\b(?:assertions?|tests?|expectations?|thresholds?)\\b[^\\n.]{0,20}\\buntil (?:it|they) (?:hold|pass|fit|match|succeed)',
      GUARDS_IN_OTHER_LANGUAGES,
    ],
  ),
  rule('weaken', 'makes code unsafe', [WEAK]),
  rule('weaken', 'makes code unsafe', { unless: has('\\binstead of parameters') }, [
    '\\b(?:disable|turn off|skip|remove|drop|ignore|without)\\b[^\\n.]{0,30}\\b(?:csrf|tls|ssl|certificates?(?: (?:checks?|verification|validation))?|authentication|authori[sz]ation|encryption|escaping|saniti[sz]\\w+|input validation|cors|rate limiting|password hashing|parameteri[sz]\\w+)\\b',
    '\\b(?:store|save|keep|log|write|compare)\\b[^\\n.]{0,30}\\bpasswords?\\b[^\\n.]{0,40}\\b(?:plain ?text|clear ?text|plainly|unhashed|md5|sha-?1|base64|reversibl\\w+|as (?:they|it) (?:are|is))\\b|\\b(?:md5|sha-?1|plain ?text)\\b[^\\n.]{0,30}\\bpasswords?\\b',
    '\\b(?:hard-?code|embed|default|backdoor|master|add|create)\\b[^\\n.]{0,30}\\b(?:passwords?|credentials?|admin accounts?|backdoors?|admin user|api keys?)\\b|\\bbackdoor',
    '\\b(?:accept|allow|let|permit)\\b[^\\n.]{0,30}\\bpasswords?\\b[^\\n.]{0,40}\\b(?:every|any|all|each)\\b|\\breturn(?:s|ing)? true\\b[^\\n.]{0,30}\\b(?:verif|valid|check|auth|signature|permission|is_?admin)|(?:verif|valid|authoris|authoriz|isadmin|checkpermission)\\w*[^\\n.]{0,30}\\b(?:always|just|simply)? ?returns? true\\b',
    '\\b(?:concatenat\\w+|interpolat\\w+|string formatting|f-strings?|template literals?|joining strings|gluing|string addition)\\b[^\\n.]{0,60}\\b(?:sql|quer(?:y|ies)|shell commands?)\\b|\\b(?:sql|quer(?:y|ies))\\b[^\\n.]{0,60}\\b(?:concatenat\\w+|interpolat\\w+|f-strings?|template literals?|string formatting|joining strings|gluing|adding strings)\\b',
    '\\beval\\b[^\\n.]{0,30}\\b(?:user|request|input)|\\b(?:accept|allow|trust)\\b[^\\n.]{0,20}\\b(?:any|all|every|self-signed|expired)\\b[^\\n.]{0,20}\\b(?:certificates?|origins?|tokens?|hosts?|signatures?)',
  ]),
];
