import { anyOf, finds, has, type Rule } from '../rule.ts';

const OFF =
  '\\b(?:disable|turn(?:ing)? off|switch(?:ing)? off|deactivate|bypass|circumvent|evade|get around|work around|comment out|weaken|relax|loosen|lower|silence|mute|skip|remove|delete|drop|stop running|do not run|never run|don.t run|ignore|avoid|outside|leave)\\b';
const GUARD =
  '(?:tests?\\b|test suite|hooks?\\b|lint(?:er|ing)?\\b|(?:code )?reviews?\\b|sandbox\\w*|permission (?:prompts?|checks?|rules?)|permissions\\b|approvals?\\b|confirmations?\\b|safety|security|guards?\\b|guard ?rails?|safeguards?|ci\\b|checks?\\b|checklists?\\b|validation|verification|scan(?:s|ner|ning)?\\b|signatures?\\b|audit\\w*|logging|firewall|antivirus|2fa|mfa|branch protection|assertions?|expectations?|type ?check\\w*|secret scan\\w*|rate limits?|allow-?list|denylist|checksums?|integrity|lock ?files?)';
const IN_OTHER_LANGUAGES = anyOf(
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
  {
    kind: 'permission',
    reason: 'switches a check off',
    find: finds(
      '\\bhusky=0|--no-verify\\b|\\bskip=\\w|--no-gpg-sign|commit\\.gpgsign[ =]+false|--skip-(?:tests|checks|hooks|verify|validation)|-dskiptests|--no-audit|--ignore-(?:errors|vulnerabilit)\\w*|setenforce +0|ufw +disable|set-mppreference|core\\.hookspath[ =]+["\']?(?:/|~|\\$|\\.\\.)|\\|\\| *true\\b|--disable-(?:security|web-security|sandbox|checks)\\S*|continue-on-error ?: ?true|allow_failure ?: ?true|pull_request_target',
      `${OFF} (?:\\w+ ){0,3}?${GUARD}`,
      '\\bmark\\b[^\\n.]{0,30}\\b(?:skipped|passed|passing|xfail|done|green|resolved)\\b|\\bapprove (?:your|its|their) own\\b|\\b(?:approve|merge)\\b[^\\n.]{0,40}\\b(?:bot account|second account|another account)',
      '\\b(?:say|claim|report|pretend|state|write|answer|affirm)\\b[^\\n.]{0,30}\\b(?:tests?|checks?|ci|build|suite|everything)\\b[^\\n.]{0,20}\\b(?:pass(?:ed|es)?|green|succe\\w+|fine|ok)\\b[^\\n.]{0,40}\\b(?:even|without|regardless|whether|anyway|instead|although|always)\\b',
      `\\b(?:treat|regard|count|call|consider|report|see)\\b[^\\n.]{0,20}\\b${FAILING}\\b[^\\n.]{0,30}\\bas (?:a )?(?:green|pass\\w*|fine|ok|success\\w*|done|harmless|flaky)`,
      '\\b(?:change|adjust|edit|loosen|weaken|rewrite|lower|relax|tweak)\\b[^\\n.]{0,20}\\b(?:assertions?|tests?|expectations?|thresholds?)\\b[^\\n.]{0,20}\\buntil (?:it|they) (?:hold|pass|fit|match|succeed)',
      IN_OTHER_LANGUAGES,
    ),
    unless:
      /\bonly (?:if|when|after)\b|\bunless\b|\bif they are (?:slow|flaky)|\bask\b|\breview comments\b|\bci runs\b|\blocally\b|\bin ci\b they/u,
  },
  { kind: 'weaken', reason: 'makes code unsafe', find: finds(WEAK) },
  {
    kind: 'weaken',
    reason: 'makes code unsafe',
    find: finds(
      '\\b(?:disable|turn off|skip|remove|drop|ignore|without)\\b[^\\n.]{0,30}\\b(?:csrf|tls|ssl|certificates?(?: (?:checks?|verification|validation))?|authentication|authori[sz]ation|encryption|escaping|saniti[sz]\\w+|input validation|cors|rate limiting|password hashing|parameteri[sz]\\w+)\\b',
      '\\b(?:store|save|keep|log|write|compare)\\b[^\\n.]{0,30}\\bpasswords?\\b[^\\n.]{0,40}\\b(?:plain ?text|clear ?text|plainly|unhashed|md5|sha-?1|base64|reversibl\\w+|as (?:they|it) (?:are|is))\\b|\\b(?:md5|sha-?1|plain ?text)\\b[^\\n.]{0,30}\\bpasswords?\\b',
      '\\b(?:hard-?code|embed|default|backdoor|master|add|create)\\b[^\\n.]{0,30}\\b(?:passwords?|credentials?|admin accounts?|backdoors?|admin user|api keys?)\\b|\\bbackdoor',
      '\\b(?:accept|allow|let|permit)\\b[^\\n.]{0,30}\\bpasswords?\\b[^\\n.]{0,40}\\b(?:every|any|all|each)\\b|\\breturn(?:s|ing)? true\\b[^\\n.]{0,30}\\b(?:verif|valid|check|auth|signature|permission|is_?admin)|(?:verif|valid|authoris|authoriz|isadmin|checkpermission)\\w*[^\\n.]{0,30}\\b(?:always|just|simply)? ?returns? true\\b',
      '\\b(?:concatenat\\w+|interpolat\\w+|string formatting|f-strings?|template literals?|joining strings|gluing|string addition)\\b[^\\n.]{0,60}\\b(?:sql|quer(?:y|ies)|shell commands?)\\b|\\b(?:sql|quer(?:y|ies))\\b[^\\n.]{0,60}\\b(?:concatenat\\w+|interpolat\\w+|f-strings?|template literals?|string formatting|joining strings|gluing|adding strings)\\b',
      '\\beval\\b[^\\n.]{0,30}\\b(?:user|request|input)|\\b(?:accept|allow|trust)\\b[^\\n.]{0,20}\\b(?:any|all|every|self-signed|expired)\\b[^\\n.]{0,20}\\b(?:certificates?|origins?|tokens?|hosts?|signatures?)',
    ),
    unless: has('\\binstead of parameters'),
  },
];
