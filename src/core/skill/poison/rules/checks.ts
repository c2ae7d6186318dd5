import { anyOf, finds, type Rule } from '../rule.ts';
import { NOT } from './words.ts';

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
  {
    kind: 'conceal',
    reason: 'tells to hide something from the person',
    find: finds(`\\b${NOT} (?:\\w+ ){0,2}?${TELL}(?:ing)? (?:[^\\n.]{0,40}? )?${ABOUT}`),
    unless:
      /\bunless\b|\buntil\b|\bbefore you\b|\bwithout (?:checking|running|having|evidence)|\bthat (?:it|tests?|something) (?:works?|pass)|\b(?:tokens?|passwords?|secrets?|keys?|credentials?|stack ?traces?|personal data|e-?mail addresses)\b/u,
    isForbidding: true,
  },
  {
    kind: 'conceal',
    reason: 'tells to hide something from the person',
    find: finds(
      '\\b(?:hide|conceal|keep|withhold|omit|leave out|suppress|mask|cover up)\\b[^\\n.]{0,50}\\b(?:from (?:the )?(?:user|human|person|reviewers?|maintainers?|developer|summary|report|diff|log|transcript|output|history)|secret\\b|hidden|between us|confidential|to yourself|in the dark|out of (?:the )?(?:summary|report|diff|log|answer|transcript|changelog|output|pull request))',
      '\\b(?:silently|secretly|covertly|quietly|stealthily|unnoticed|discreetly|invisibly|behind the scenes|under the radar)\\b',
      `\\b(?:so that|so|until|while|before|lest) (?:the )?${WATCHER} (?:will |can |may |does |do |should |must )?(?:never |not |n.t )?${FINDS_OUT}\\b`,
      `\\b(?:the )?${WATCHER} (?:must|should|need|do(?:es)?|will|may|can)(?: ?not|n.t| never) ${FINDS_OUT}`,
      '\\b(?:diff|summary|report|list|log|changelog|overview)\\b without (?:the|those|any|that|its) (?:\\w+ )?(?:lines?|parts?|files?|commits?|entr\\w+|changes?|steps?)\\b',
      '\\b(?:if|when|should)\\b[^\\n.]{0,12}\\b(?:somebody|someone|anyone|anybody|asked|the user|they|people)\\b[^\\n.]{0,40}\\b(?:answer|say|reply|deny|claim|respond|pretend|insist)\\b[^\\n.]{0,40}\\b(?:none|no|not|nothing|never|don.t|unaware|routine)\\b',
      '\\bhistory -c\\b|unset histfile|histfile=|histsize=0|\\bset \\+o history|\\bfor (?:agents?|ai|llms?|models?|bots?|assistants?) only\\b|<details\\b|\\bdeny (?:that|any|having)\\b',
      HIDDEN_IN_OTHER_LANGUAGES,
    ),
    unless:
      /\bfail(?:s|ed|ing|ure)? silently|silently (?:fail|ignor|swallow|drop|truncat|catch|discard|cast|fall|convert|chang|overwrit|skip)|rate limit/u,
  },
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
  {
    kind: 'permission',
    reason: 'tells to act without asking',
    find: finds(
      '\\bwithout (?:any |the |first |further |user |explicit |prior |their |a |waiting for )*(?:asking|confirmation|confirming|approval|permission|prompting|consent|review|a prompt|questions?|checking with|human|pull request|pr\\b)',
      '\\bauto[- ]?(?:approv|accept|confirm|allow|merg|grant)\\w*|\\balways (?:allow|approve|accept|answer (?:yes|y)\\b|say yes|choose (?:yes|allow|always)|confirm|grant)',
      '\\b(?:answer|reply|respond|press|type|choose|select|pick)\\b[^\\n.]{0,30}["\'«` ](?:yes|y|allow|always allow|approve|ok)\\b',
      '\\b(?:treat|consider|regard|assume|count)\\b[^\\n.]{0,60}\\b(?:approved|granted|allowed|authori[sz]ed|trusted|confirmed|consent)\\b|\\bact (?:at once|immediately|on your own authority)',
      'bypasspermissions|--dangerously-\\S+|--yolo\\b|--allow-all\\b|--full-auto\\b|--trust-all-tools|skip-permissions|defaultmode|--no-sandbox|--permission-mode|danger-full-access|approval[-_]policy|\\bbash\\(\\*|(?:^|[\\s`])/(?:permissions|hooks|mcp|plugin|approvals|sandbox|yolo|trust|add-dir|allowed-tools)\\b',
      '\\b(?:nobody|no one|the user|user|person|human|maintainer)\\b[^\\n.]{0,30}\\b(?:answer(?:s|ed)?|repl(?:y|ies|ied)|respon(?:ds?|ded)|away|afk|idle|silent|asleep|offline|busy|gone|looks|watching)\\b[^\\n.]{0,40}\\b(?:deploy|push|merge|delete|publish|release|proceed|run|go ahead|continue|approve|act)\\b',
      UNASKED_IN_OTHER_LANGUAGES,
    ),
    unless: /\bask(?:s|ed)? (?:first|me|before)/u,
  },
  {
    kind: 'permission',
    reason: 'tells to act without asking',
    find: finds(
      "\\b(?:never|do not|don't|no need to|need not|stop|not) (?:ever )?(?:ask(?:ing)?|wait(?:ing)?|prompt(?:ing)?|request(?:ing)?|pause)\\b[^\\n.]{0,30}\\b(?:for|before|the user|user|permission|confirmation|approval|again|first|anyone|to confirm|questions)\\b",
      NEVER_ASK_IN_OTHER_LANGUAGES,
    ),
    isForbidding: true,
  },
];

export const CHECK_RULES: readonly Rule[] = [...CONCEAL_RULES, ...ASKING_RULES];
