import { anyOf, has, type Rule, rule } from '../rule.ts';

/** Words that several rules look for. One line per language or subject. */

export const SECRETS = anyOf(
  'environment variables?|env(?:ironment)? vars?|\\bprintenv\\b|\\.env\\b(?!\\.(?:example|sample|template|dist|test))|process\\.env|os\\.environ',
  'api[ _-]?keys?|access[ _-]?keys?|\\btokens?\\b|\\bsecrets?\\b|credentials?|passwor[dt]s?|passphrases?|\\b(?:2fa|otp|recovery) codes?',
  '(?:ssh|private|signing|gpg|deploy)[ _-]keys?|id_(?:rsa|ed25519|ecdsa)|\\.ssh\\b|\\.aws\\b|\\.kube\\b|\\.netrc|\\.npmrc|\\.pypirc|\\.pgpass|\\.gnupg',
  'kubeconfig|keychain|keyring|\\bwallets?\\b|cookies?\\b|hosts\\.yml|\\.config/(?:gh|gcloud)|credentials\\.json|/etc/(?:passwd|shadow)|\\.docker/config|_history\\b',
  'umgebungsvariablen|zugangsdaten|passwörter|passwort|schlüssel|geheimniss?e?|variables? d.environnement|identifiants|mots? de passe|\\bclés?\\b|jetons?',
  'variables de entorno|credenciales|contraseñas?|claves?|variáveis de ambiente|credenciais|senhas?|chaves?|variabili d.ambiente|chiav[ei]|segret[io]',
  'переменн\\S{1,4} (?:окружения|среды)|парол\\S{1,3}|ключ\\S{0,3}|токен\\S{0,3}|секрет\\S{0,3}|уч[её]тн\\S{1,4} данн',
  '环境变量|環境變量|密钥|密鑰|密码|令牌|凭据|凭证|環境変数|パスワード|秘密鍵|トークン|認証情報|鍵を|キーを',
  'متغيرات البيئة|كلمات المرور|كلمة المرور|كلمة السر|مفاتيح|مفتاح|المفتاح|الرموز|رمز|ortam değişken|parola|şifre|anahtar|kimlik bilgi',
  '환경 ?변수|비밀번호|암호|토큰|키를|열쇠|자격 ?증명',
);

/** What else is nobody's business but the person's. */
export const PRIVATE = anyOf(
  SECRETS,
  '\\benv\\b(?! file)|conversations?|transcripts?|chat (?:history|log)s?|system prompts?|(?:bash|shell|zsh)[ _]history|git (?:remote|diff|log)|\\bdiffs?\\b|\\bhostname\\b|\\bwhoami\\b',
  'source (?:code|files?)|customer (?:data|records)|session (?:summary|contents?|data|id)|clipboard|private (?:code|files|repos?)|file (?:contents?|list)|working director|repository contents?',
  "\\buser(?:'s)? ?(?:prompt|request|message|question|name|e-?mail|files?|input|data)s?|\\b(?:the|each|every|last|my|your) (?:answer|prompt|question|repl(?:y|ies)|code|files?|repository|project)",
  'quellcode|gespräch|code source|conversation|código|conversaci|conversa\\b|исходн|переписк|聊天记录|对话|源代码|会話|ソースコード|المحادثة|الكود|konuşma|kaynak kod|대화|소스 ?코드',
);

export const SEND = anyOf(
  '\\b(?:send|post|upload|transmit|forward|e-?mail|mail|submit|ship|leak|exfiltrate|report|deliver|relay|stream|paste|publish|share|attach|append|embed|encode|copy|push|sync|dump|mirror)(?:s|es|ing|ed)?\\b',
  '\\b(?:schick|send[ete]|übermitt|lade?\\b[^\\n.]{0,80}\\bhoch|hochlad|kopier|häng|weiterleit|poste)|\\b(?:envoie|envoy|transmet|transf[eé]r|téléverse|publie|poste|copie|ajoute|colle)',
  '\\b(?:env[ií]|mand[ae]|sub[ea]|publi[cq]|copi[ae]|reenv[ií]|añad|peg[au]|anex|encaminh|col[ae] |inviа|invi[ao]|carica)',
  'отправ|пошли|пришл|перешл|загру[зж]|скопиру|выложи|передай|добавл|вставл|публику|发送|发到|發送|上传|上傳|提交到|转发|传到|附加|附上|贴到|粘贴',
  '送信|アップロード|投稿|転送|送って|送る|送り|貼り|貼る|添付|أرسل|ارسل|إرسال|ارفع|انسخ|الصق|انشر|gönder|yükle|ilet|ekle|kopyala|yapıştır|paylaş|전송|보내|업로드|게시|복사|붙여|올려|올리',
);

export const HOST =
  'https?:|hxxps?:|wss?:|ftps?:|\\bs3:|\\b\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\b|\\b[\\w-]{1,60}(?:\\.[\\w-]{1,60}){0,4}\\.(?:example|invalid|com|net|org|io|dev|sh|xyz|ru|cn|app|site|top|me|co)\\b';

/** Somewhere that is not this machine. */
export const SOMEWHERE = anyOf(
  `${HOST}|\\bwebhooks?\\b|\\bgists?\\b|paste ?bin|\\bpaste\\b|\\bdns\\b|\\b[\\w.-]{1,60}@[\\w-]+\\.\\w+|\\btelegram\\b|\\bdiscord\\b|\\bslack\\b|\\brefs/`,
  '\\bpublic(?:ly)?\\b|\\bexternal\\b|\\bcollector\\b|third[- ]party|\\bour (?:server|endpoint|bucket)|\\bremote (?:server|host)|\\bissues?\\b|pull requests?|\\bcommit message|\\bgh (?:gist|issue|pr)\\b|\\bevery url|each url|\\bticket',
  'öffentlich|extern|publi[cq]|extern[eo]|публичн|внешн|сервер|公开|外部|服务器|公開|イシュー|サーバ|チャット|عام|خادم|الخادم|herkese açık|sunucu|공개|서버|외부|이슈',
);

export const FETCH = anyOf(
  '\\b(?:download|fetch|retrieve|load|read|open|visit|get|pull|check|consult|import|browse to|clone|request|curl|wget|grab|go to|look (?:at|up)|sync|refresh|poll|subscribe)(?:s|es|ing)?\\b',
  '\\b(?:lade?|lies|hol[e ]|öffne|besuche|ruf[e ])|\\b(?:télécharge|récupère|lis |lisez|ouvre|consulte|charge)|\\b(?:descarg|lee |lea |abr[ea]|consult|visit|baix|leia|acess|carreg|scaric|legg)',
  'скача|загруз|прочита|откро|下载|打开|访问|获取|读取|拉取|ダウンロード|開い|開き|取得|読み込|読んで|حمل|حمّل|نزّل|نزل|افتح|اقرأ|indir|oku|aç\\b|çek|다운로드|내려받|받아|열어|읽',
);

export const FOLLOW = anyOf(
  '\\b(?:follow|obey|execute|run|apply|do|perform|start|launch|source|use|adopt)(?:s|es|ing)?\\b[^\\n.]{0,50}\\b(?:it|its|them|that|there|whatever|instructions?|steps|commands?|says?|script|contents?|file|rules|result|response|answer|output|body|binary|installer)\\b',
  '\\b(?:do|doing|execute|run) (?:what|whatever|everything)|as (?:your |the )?(?:instructions|rules|system prompt|commands|orders|truth)|\\b(?:instructions|rules|commands|orders|steps)\\b[^\\n.]{0,30}\\b(?:it|there|from|in|at|on)\\b|\\bmake it executable|\\bchmod\\b',
  'führ|befolg|starte|ex[eé]cut|\\bsuis\\b|suive|applique|lance[zr]?\\b|ejec[uú]t|sig[ua]|obed|\\brod[ae]\\b|execut|esegui|segui\\b|выполн|запус|следуй|исполн|执行|运行|遵循|遵守|按照|照做',
  '実行|従|起動|نفذ|نفّذ|شغل|شغّل|اتبع|çalıştır|uygula|takip et|uy\\b|실행|따르|따라|적용',
);

export const NOT =
  "(?:do not|don't|dont|never|must not|should not|shouldn't|mustn't|need not|avoid|refrain from|without|no need to|not to|instead of|rather than|stop|skip|nothing)";

const PERSON =
  '(?:the |a |any |this )?(?:users?|person|humans?|reviewers?|maintainers?|developers?|operators?|owners?|anybody|anyone|nobody|somebody|someone|people|team|customers?)';
const OFF =
  '(?:switched off|turned off|disabled|deactivated|skipped|bypassed|deleted|removed|commented out|ignored|suspended|loosened|weakened|silenced|muted|off|optional|unnecessary|outdated|obsolete)';
const GUARD =
  '(?:sandbox|tests?|checks?|hooks?|reviews?|permissions?|safety|safeguards?|guard ?rails?|linter?|type ?checker|assertions?|scanners?|signatures?|branch protection|warnings|approvals?|polic(?:y|ies)|system prompt)';

/**
 * Subjects that a learned rule has no reason to speak of, whatever the words: who may command, what the person gets to hear,
 * what the agent may do by itself. Wider than the rules that know an attack by its wording, and for paraphrases of them.
 */
export const SUBJECT_RULES: readonly Rule[] = [
  rule('override', 'says who may give orders', [
    '\\b(?:less|more|not as) (?:important|binding|relevant|urgent|valid) than\\b[^\\n.]{0,60}\\b(?:this|these|the ones?|here)\\b|\\byou (?:answer|report|listen|belong|are loyal) (?:only )?to\\b|\\byou have no (?:\\w+ )?(?:polic(?:y|ies)|restrictions?|limits|rules|constraints|guidelines)',
    `\\b(?:requests?|wishes|orders?|instructions?|messages?|words?|objections?)\\b (?:of|from|by|given by) ${PERSON}[^\\n.]{0,40}\\b(?:are|is|as|count|may|can|should)\\b[^\\n.]{0,20}\\b(?:suggestions?|optional|ignored|noise|advice|secondary|skipped|overruled)`,
    '\\b(?:one|rules?|text|words?) in (?:this|here)\\b[^\\n.]{0,30}\\b(?:is|are) (?:right|final|binding|law)|\\b(?:also|even) against (?:the |a )?(?:developer|user|system|operator|person)|\\bdo not let (?:the |a |any )?(?:user|person|developer|reviewer|operator)s?\\b',
    `\\b(?:consider|treat|regard|see|read)\\b[^\\n.]{0,60}\\b(?:system prompt|safety|polic(?:y|ies)|safeguards?|guard ?rails?)\\b[^\\n.]{0,30}\\b(?:as|is)\\b`,
    `\\b${PERSON} (?:ha(?:s|ve) )?(?:already )?(?:agreed|consented|approved|accepted|waived|signed off|allowed|decided)\\b[^\\n.]{0,60}\\b(?:no|not|need|without|skip\\w*|always|all|every|any|destructive)\\b`,
  ]),
  rule(
    'conceal',
    'says what a person does not get to hear',
    { unless: /\bunless\b|\buntil\b|browser history|git history|\bundo\b/u },
    [
      '\\b(?:leave|keep|cut|drop|omit|strip)\\b[^\\n.]{0,50}\\bout of\\b[^\\n.]{0,30}\\b(?:tell|told|say|show|report|summar\\w+|answer|message|mail|diff|log)|\\b(?:no reason|no point|not worth|no need|pointless|unnecessary) (?:to|in|of)\\b[^\\n.]{0,30}\\b(?:attention|mention\\w*|tell\\w*|bother\\w*|report\\w*|inform\\w*|say\\w*|bring\\w*|notify\\w*)',
      `\\b(?:should|if|when|in case) ${PERSON} (?:wonders?|asks?|notices?|complains?|inquires?|finds?|sees?|objects?|questions?|doubts?)\\b[^\\n.]{0,60}\\b(?:say|tell|answer|reply|claim|explain|blame|respond|insist)\\b`,
      '\\b(?:summar(?:y|ies)|reports?|answers?|changelogs?|diffs?|logs?)\\b[^\\n.]{0,60}\\b(?:never|not|no)\\b[^\\n.]{0,20}\\b(?:part of|in) (?:them|it|those|the)\\b|\\b(?:remove|erase|clear|wipe|delete|clean|hide|cover)\\b[^\\n.]{0,30}\\b(?:traces?|tracks?|evidence|history|log entr\\w+|footprints?)\\b',
    ],
  ),
  rule(
    'permission',
    'widens what the agent may do by itself',
    {
      unless:
        /\bunless\b|\bask (?:first|me|before)|\bdeleted? (?:code|features?|files?)\b|with them\b|\bci runs\b|\blocally\b/u,
    },
    [
      '\\b(?:confirm|accept|approve|acknowledge|dismiss|click|close|allow)\\b[^\\n.]{0,20}\\b(?:every|all|any|each)\\b[^\\n.]{0,20}\\b(?:dialogs?|prompts?|edits?|questions?|requests?|changes?|commands?|tools?|actions?|warnings?)|\\b(?:auto|yolo|bypass|full[- ]access|unattended|headless|trusted) mode\\b',
      `\\b${GUARD}\\b(?: \\w+){0,3} (?:is|are|be|get|gets|stays?|goes|go)? ?${OFF}\\b|\\bgrant\\b[^\\n.]{0,20}\\b(?:yourself|itself|the agent|the bot)\\b|\\b(?:nobody|no one) (?:is )?(?:there )?to (?:ask|tell|confirm|check)|\\bneeds? no (?:question|confirmation|approval|review|permission)`,
      '\\b(?:go ahead|proceed|continue|deploy\\w*|release\\w*|publish\\w*|merge\\w*)\\b[^\\n.]{0,30}\\bon your own\\b|@ts-nocheck|\\beslint-disable\\b(?! needs)|# ?noqa\\b|\\bcoverage\\b[^\\n.]{0,30}\\bto 0\\b|\\b(?:whatever|regardless of|no matter what|independent of) (?:the )?(?:outcome|result|tests?)',
      '\\bnohup\\b|\\bdisown\\b|\\bsetsid\\b|\\bin the background\\b[^\\n.]{0,40}\\b(?:leave|keep|forever|always|each|every)|\\bleave it running\\b',
    ],
  ),
  rule(
    'fetch',
    'takes its rules from an address',
    {
      also: [
        has(
          '\\b(?:each|every|daily|newest|latest|current|first|always|session|carry out|work by|obey|apply|act|follow)\\b',
        ),
      ],
    },
    [
      `${FETCH}[^\\n]{0,80}?\\b(?:conventions?|rules?|instructions?|orders?|guidelines?|recipes?|playbook|prompts?|policy|to-?dos?|tasks?)\\b[^\\n]{0,60}?(?:${HOST})`,
      `\\b(?:conventions?|rules?|instructions?|orders?|recipes?|playbook|prompts?)\\b[^\\n]{0,60}?(?:${HOST})`,
    ],
  ),
  rule('exfiltrate', 'moves what is secret to another place', [
    `\\b(?:keep|make|store|leave|take|put|have)\\b[^\\n.]{0,20}\\b(?:copy|copies|backup|duplicate)\\b[^\\n.]{0,20}(?:${SECRETS})|\\b(?:name|call|label|tag|title)\\b[^\\n.]{0,40}\\b(?:after|with|by)\\b[^\\n.]{0,30}(?:${SECRETS}|\\$\\w*(?:token|key|secret|pass))`,
    '\\b(?:blind copy|blind carbon|bcc|carbon copy)\\b|\\bcc\\b[^\\n.]{0,20}@|\\bpublic(?:ly)? (?:read|writ\\w+|readable|access)\\b|\\b(?:bucket|database|port|share|repository)\\b[^\\n.]{0,20}\\bpublic\\b',
  ]),
  rule('git', 'commits as somebody else or over others', [
    '\\b(?:sign|sign off|author|commit)\\w*\\b[^\\n.]{0,30}\\bas ["\'«`]?[^\\n.]{1,60}(?:@|instead of the (?:user|person|author))|\\bpush\\w*\\b[^\\n.]{0,40}\\b(?:over (?:the )?(?:old|existing|remote)|with -f\\b|-f\\b)',
  ]),
  rule('weaken', 'makes code unsafe', [
    '\\bconstant[- ]time\\b[^\\n.]{0,40}\\b(?:slow|unneeded|not needed|unnecessary|overkill|waste)|\\b(?:tokens?|secrets?|signatures?|passwords?)\\b[^\\n.]{0,20}\\b(?:use|with|by) ={2,3}',
  ]),
  rule('grader', 'speaks to what grades it', { unless: /\bonly (?:if|when|after)\b|\bunless\b|\bbefore you ran\b/u }, [
    '\\b(?:right|correct|proper|only|expected) (?:score|grade|mark|rating|verdict)\\b|\\b(?:assigns?|gives?|awards?|computes?) (?:scores?|grades?|marks?|points)\\b[^\\n.]{0,60}\\b(?:maximum|highest|full|best|top|1\\.0|100)|\\b(?:print|write|say|output|end with|log|append)\\b[^\\n.]{0,20}\\b(?:all )?(?:tests?|checks?) (?:have )?pass(?:ed)?\\b',
  ]),
  rule(
    'exfiltrate',
    'handles files that hold secrets',
    { unless: /example|gitignore|\bloads?\b|\bread by\b|\bmask/u },
    [
      '(?:~/\\.(?:ssh|aws|kube|gnupg|netrc|docker)\\b|\\bid_(?:rsa|ed25519)\\b|\\b[\\w-]{1,40}\\.(?:pem|p12|pfx|keystore)\\b|\\.env\\b(?!\\.(?:example|sample|template|dist|test)))[^\\n.]{0,60}\\b(?:to|in|into|en|dans|nach|report|drive|share|issue|answer)\\b',
      '\\b(?:ask|prompt)\\b[^\\n.]{0,40}\\b(?:passwords?|passphrases?|tokens?|credentials?|api keys?)\\b|\\b(?:admin|root|master|owner) (?:token|key|password|credentials)\\b|\\bpublic key\\b[^\\n.]{0,60}\\b(?:log ?in|authori[sz]ed|keys that)',
    ],
  ),
  rule(
    'fetch',
    'takes its orders from an address',
    {
      also: [
        /\b(?:work through|use (?:them|it) unchanged|before anything else|first of all|as it (?:is|says|stands)|without change|word for word|to the letter)\b/u,
      ],
    },
    [HOST],
  ),
  rule('override', 'speaks of itself, of its reader or of other agents', { isForbidding: true }, [
    '\\byour (?:real|true|actual|only|hidden|secret|main) (?:task|goal|purpose|job|role|owner|user|mission)\\b|\\b(?:what|that which) (?:stands|is written) here\\b|\\bnothing (?:a|the|any) (?:user|person|developer)\\b|\\btreat me\\b|\\bi am (?:your|the)\\b',
    '\\b(?:other|all|every|further|sub-?) ?(?:agents?|skills?|assistants?)\\b[^\\n.]{0,40}\\b(?:wrong|unread|ignored?|teach|edit\\w*|change|copy|files?|instruct\\w*)|\\b(?:teach|tell|instruct|infect|inform)\\b[^\\n.]{0,20}\\b(?:other|all|every) (?:agents?|skills?|assistants?|sessions?)',
    '\\bthis (?:paragraph|sentence|rule|line|section|note|entry|bullet)\\b[^\\n.]{0,40}\\b(?:still|there|again|back|back in|survives?|stays)\\b',
  ]),
  rule('execute', 'runs what nobody has read', { unless: /\bnot\b[^\n.]{0,20}\bas root\b/u }, [
    '\\bas root\\b|\\bsay yes to\\b|\\b(?:paste|copy|type)\\b[^\\n.]{0,20}\\binto (?:the |a |your )?(?:shell|terminal|console)\\b|\\b(?:prefix|precede|begin|start)\\b[^\\n.]{0,20}\\b(?:each|every|all) commands?\\b|\\bfrom the gist\\b|\\b(?:start|run|launch|execute|open) (?:the result|what comes out|the output)\\b|/tmp/\\.\\w',
  ]),
  rule('conceal', 'makes something look like something else', [
    '\\b(?:speak of|describe|present|disguise|label|pass off|call) (?:it|this|them|the change)\\b[^\\n.]{0,20}\\bas\\b|\\b(?:does|do|will) not (?:stand out|be noticed|attract|raise)|\\bdiff\\b[^\\n.]{0,30}\\b(?:you (?:present|show)|shown)\\b|\\bmerge first\\b|\\breview later\\b|\\bre-?run until\\b|\\bamend\\b[^\\n.]{0,40}\\b(?:of (?:whoever|others?|somebody|someone))',
  ]),
];
