import { anyOf } from '../rule.ts';

/** Words that several rules look for. One line per language or subject. */

/** What opens doors. */
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
  '\\b(?:send|post|upload|transmit|forward|e-?mail|mail|submit|ship|leak|exfiltrate|report|deliver|relay|stream|paste|publish|share|attach|append|include|embed|encode|put|place|add|copy|push|sync|dump|write|pass|log|echo|comment|save|commit|mirror|back up|archive|store)(?:s|es|ing|ed)?\\b',
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
