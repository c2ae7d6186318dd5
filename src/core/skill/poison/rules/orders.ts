import { anyOf, finds, has, type Rule } from '../rule.ts';
import { FETCH, FOLLOW, HOST } from './words.ts';

const IGNORE =
  '\\b(?:ignore|ignores|ignoring|disregard|forget|override|overrule|bypass|supersedes?|overrides?|outranks?|neglect|discard|drop|set aside|stop following|pay no attention to|do not (?:follow|obey|comply with)|never (?:follow|obey)|throw away|replaces?)\\b';
const RANK =
  '(?:all|any|every|the|your|its|of|previous|prior|above|earlier|preceding|foregoing|other|existing|former|old|system|developer|operator|user(?:.s)?|safety|security|original|initial|these|those|such|and|project|general|conflicting|remaining|contrary|default|built-in)';
const ORDERS =
  '(?:instructions?|rules?|guidelines?|prompts?|directives?|polic(?:y|ies)|constraints?|restrictions?|orders?|guard ?rails?|safeguards?|commands?|messages?|wishes|requests?|everything (?:above|before|else))';
const OTHERS =
  '(?:users?|operators?|system|developers?|person|human|reviewers?|maintainers?|owner|safety|security|polic(?:y|ies)|guidelines|claude\\.md|agents\\.md|gemini\\.md|project rules)';
const IN_OTHER_LANGUAGES = anyOf(
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
  {
    kind: 'override',
    reason: 'tells to ignore other instructions',
    find: finds(
      `${IGNORE} (?:${RANK} ){1,5}${ORDERS}`,
      `${IGNORE} [^\\n.]{0,40}\\b(?:above|before this|you (?:were|have been) (?:told|given)|${OTHERS} (?:says?|said|told|asks?|asked|wants?|wrote))`,
      `\\bwhatever (?:the |your )?${OTHERS} (?:says?|said|told|asks?|asked|wants?|wrote)`,
      IN_OTHER_LANGUAGES,
    ),
    unless: /\b(?:eslint|lint|css|prettier|firewall|robots)\b/u,
  },
  {
    kind: 'override',
    reason: 'declares other instructions void',
    find: finds(
      `\\b(?:system prompt|restrictions?|limits|limitations|safety|caution|guard ?rails?|polic(?:y|ies)|safeguards?|${ORDERS}|claude\\.md|agents\\.md)\\b[^\\n.]{0,40}\\b(?:no longer (?:appl|hold|bind|count|exist)\\w*|(?:is|are|was|were) (?:lifted|void|suspended|revoked|cancel+ed|switched off|meant for|obsolete|waived|optional)|(?:do|does) not apply (?:here|to you|in this|any ?more))`,
      '\\byou are (?:now )?in (?:\\w+ )?(?:maintenance|developer|debug|admin|ops|god|unrestricted|training|root|service|free) mode|\\b(?:no limits|restrictions lifted|anything goes)\\b',
    ),
    isForbidding: true,
  },
  {
    kind: 'override',
    reason: 'ranks itself above other instructions',
    find: finds(
      '\\b(?:this|these|the following|the next|here)\\b[^\\n.]{0,50}\\b(?:takes? (?:precedence|priority)|overrides?|outranks?|supersedes?|ha(?:s|ve) (?:the )?(?:highest )?(?:priority|precedence)|wins? over|beats?|(?:is|are|ranks?|stands?) above|comes? (?:first|before)|replaces? (?:all|every|any))\\b',
      `\\b(?:ranks?|stands?|goes?|comes?|placed?|is|are) (?:above|over|before|higher than) (?:the |your |any |all )?(?:${OTHERS})`,
      '\\b(?:highest|top|maximum|absolute|supreme) (?:priority|precedence|authority)\\b|\\bregardless of (?:what|any|the user|other|system|earlier|your)',
      `\\b(?:even (?:if|when)|no matter (?:what|if)|although) (?:the |your )?(?:they|he|she|somebody|someone|${OTHERS}) (?:asks?|says?|objects?|forbids?|tells?|disagrees?|declines?|refuses?|wants?|complains?)`,
      '\\b(?:you are now|you are no longer|from now on,? you(?: are|r)|pretend (?:to be|you)|act as (?:an? )?(?:unrestricted|root|admin|dan\\b)|god mode|jailbreak|dan mode|unrestricted mode|no longer bound|free of (?:all )?restrictions|without (?:any )?(?:restrictions|limits|filters))',
      '\\bsystem[ _-]override\\b|\\bsystem (?:notice|update|message|alert) ?[:—]|\\bnew (?:system )?(?:instructions?|prompt|directive)s? ?:|\\bchange[sd]? (?:your|the) (?:role|identity|system prompt)|\\bfollow (?:only )?this (?:file|document|rule|skill)s? (?:only|alone|and nothing)',
    ),
    unless: /\bcss\b|specificity|selector|z-index/u,
  },
  {
    kind: 'override',
    reason: 'claims an approval that nobody gave',
    find: finds(
      '\\b(?:pre-?approved|approved|authori[sz]ed|signed off|sanctioned|cleared|confirmed|mandated|required|whitelisted|granted|consented?|permitted)\\b[^\\n.]{0,40}\\b(?:by|from) (?:the )?(?:security|admin|administrator|team|anthropic|openai|google|maintainers?|legal|management|owner|cto|ceo|compliance|user|platform|it\\b|ops|root|vendor|company)',
      '\\b(?:security|admin|compliance|legal|platform|it|user|owner|management|everyone|team)s?(?: (?:team|department|office|board))?[^\\n.]{0,20}\\bha(?:s|ve) (?:already )?(?:approved|authori[sz]ed|signed|granted|cleared|confirmed|agreed|waived|consented|given (?:consent|permission|approval))',
      '\\b(?:anthropic|openai|google|microsoft|github) (?:requires?|says?|mandates?|staff|employee|support|engineer|security|official)|\\bi am (?:the|your|an?) (?:admin|developer|owner|root|operator|maintainer|anthropic|openai)',
      '\\b(?:on behalf of|by order of|per instruction of|message from) (?:the )?(?:anthropic|openai|developer|admin|security|system|maintainer|owner|ceo|cto)',
    ),
  },
];

/** Orders that stand elsewhere, or are written so that nobody reads them. */
const ELSEWHERE_RULES: readonly Rule[] = [
  {
    kind: 'fetch',
    reason: 'tells to fetch something and follow it',
    find: finds(FETCH),
    also: [
      has(HOST, '\\bgist\\b|pastebin|\\bremote\\b|\\bfrom the (?:server|web|internet|url|address|link)'),
      has(FOLLOW),
    ],
  },
  {
    kind: 'execute',
    reason: 'tells to decode something and run it',
    find: finds(
      '\\b(?:decode|decrypt|deobfuscate|unscramble|reverse|backwards?|rot-?13|base64|hex|unpack|un-?escape|decipher|entschlüssle|dekodiere|décode[rz]?|descodifi\\w+|decodifi\\w+)\\b|декодир|расшифр|解码|デコード|فك|çöz|디코딩',
      '\\b(?:first|last|initial) (?:letters?|words?|characters?) of (?:the|each|every|all)\\b',
    ),
    also: [
      /\b(?:run|execute|eval|evaluate|follow|obey|do (?:it|what|as|that)|apply|act on|carry out|perform|pipe|führe|exécute|ejecuta|sh|bash|exec|command|order|spell)\b|выполн|执行|実行|نفذ|çalıştır|실행/u,
    ],
    unless: /\btests?\b|\bmigration|\bparser?\b|\brequest body\b/u,
  },
  {
    kind: 'grader',
    reason: 'speaks to what grades it',
    find: finds(
      '\\b(?:graders?|judges?|evaluators?|scorers?|rubrics?|grading|evaluation|llm-as-a-judge|reviewing model|assessors?|examiners?|validators?)\\b',
    ),
    also: [
      /\b(?:score|scores|scored|rate|rating|award|grade|mark|assign|full marks|perfect|maximum|top marks|1\.0|10\/10|100 ?%|100\/100|pass(?:es|ed)?|correct|accept|approve)\b/u,
      /\b(?:this|always|must|should|please|give|award|assign|output|return|skip|note to|attention|dear|answer)\b/u,
    ],
  },
  {
    kind: 'grader',
    reason: 'fakes what a check looks at',
    find: finds(
      '["\']?\\b(?:score|reward|grade|passed|success|verdict)\\b["\']? ?[:=] ?["\']?(?:1(?:\\.0)?|true|10|100|pass(?:ed)?)\\b[^\\n]{0,80}\\b(?:always|last|end|final|every|each|on the)\\b|\\b(?:always|end|finish|last|every|each)\\b[^\\n.]{0,60}["\']?\\b(?:score|reward|grade|passed|verdict)\\b["\']? ?[:=] ?["\']?(?:1(?:\\.0)?|true|10|100|pass(?:ed)?)\\b',
      '\\bexit 0\\b[^\\n.]{0,40}\\b(?:top|start|beginning|first line|test|check)|\\b(?:task|answer|work|it)s? counts? as (?:solved|done|passed|correct|complete)|\\balways pass(?:es)?\\b',
      '\\b(?:when|whenever|if|while|once|before)\\b[^\\n.]{0,30}\\b(?:answers?|you|works?|tasks?|outputs?|this)\\b (?:is|are|gets?) (?:being )?(?:checked|graded|judged|evaluated|scored|benchmarked)',
    ),
  },
];

export const ORDER_RULES: readonly Rule[] = [...RANK_RULES, ...ELSEWHERE_RULES];
