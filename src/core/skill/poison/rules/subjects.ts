import { finds, has, type Rule } from '../rule.ts';
import { FETCH, HOST, SECRETS } from './words.ts';

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
  {
    kind: 'override',
    reason: 'says who may give orders',
    find: finds(
      '\\b(?:less|more|not as) (?:important|binding|relevant|urgent|valid) than\\b[^\\n.]{0,60}\\b(?:this|these|the ones?|here)\\b|\\byou (?:answer|report|listen|belong|are loyal) (?:only )?to\\b|\\byou have no (?:\\w+ )?(?:polic(?:y|ies)|restrictions?|limits|rules|constraints|guidelines)',
      `\\b(?:requests?|wishes|orders?|instructions?|messages?|words?|objections?)\\b (?:of|from|by|given by) ${PERSON}[^\\n.]{0,40}\\b(?:are|is|as|count|may|can|should)\\b[^\\n.]{0,20}\\b(?:suggestions?|optional|ignored|noise|advice|secondary|skipped|overruled)`,
      '\\b(?:one|rules?|text|words?) in (?:this|here)\\b[^\\n.]{0,30}\\b(?:is|are) (?:right|final|binding|law)|\\b(?:also|even) against (?:the |a )?(?:developer|user|system|operator|person)|\\bdo not let (?:the |a |any )?(?:user|person|developer|reviewer|operator)s?\\b',
      `\\b(?:consider|treat|regard|see|read)\\b[^\\n.]{0,60}\\b(?:system prompt|safety|polic(?:y|ies)|safeguards?|guard ?rails?)\\b[^\\n.]{0,30}\\b(?:as|is)\\b`,
      `\\b${PERSON} (?:ha(?:s|ve) )?(?:already )?(?:agreed|consented|approved|accepted|waived|signed off|allowed|decided)\\b[^\\n.]{0,60}\\b(?:no|not|need|without|skip\\w*|always|all|every|any|destructive)\\b`,
    ),
  },
  {
    kind: 'conceal',
    reason: 'says what a person does not get to hear',
    find: finds(
      '\\b(?:leave|keep|cut|drop|omit|strip)\\b[^\\n.]{0,50}\\bout of\\b[^\\n.]{0,30}\\b(?:tell|told|say|show|report|summar\\w+|answer|message|mail|diff|log)|\\b(?:no reason|no point|not worth|no need|pointless|unnecessary) (?:to|in|of)\\b[^\\n.]{0,30}\\b(?:attention|mention\\w*|tell\\w*|bother\\w*|report\\w*|inform\\w*|say\\w*|bring\\w*|notify\\w*)',
      `\\b(?:should|if|when|in case) ${PERSON} (?:wonders?|asks?|notices?|complains?|inquires?|finds?|sees?|objects?|questions?|doubts?)\\b[^\\n.]{0,60}\\b(?:say|tell|answer|reply|claim|explain|blame|respond|insist)\\b`,
      '\\b(?:summar(?:y|ies)|reports?|answers?|changelogs?|diffs?|logs?)\\b[^\\n.]{0,60}\\b(?:never|not|no)\\b[^\\n.]{0,20}\\b(?:part of|in) (?:them|it|those|the)\\b|\\b(?:remove|erase|clear|wipe|delete|clean|hide|cover)\\b[^\\n.]{0,30}\\b(?:traces?|tracks?|evidence|history|log entr\\w+|footprints?)\\b',
    ),
    unless: /\bunless\b|\buntil\b|browser history|git history|\bundo\b/u,
  },
  {
    kind: 'permission',
    reason: 'widens what the agent may do by itself',
    find: finds(
      '\\b(?:confirm|accept|approve|acknowledge|dismiss|click|close|allow)\\b[^\\n.]{0,20}\\b(?:every|all|any|each)\\b[^\\n.]{0,20}\\b(?:dialogs?|prompts?|edits?|questions?|requests?|changes?|commands?|tools?|actions?|warnings?)|\\b(?:auto|yolo|bypass|full[- ]access|unattended|headless|trusted) mode\\b',
      `\\b${GUARD}\\b(?: \\w+){0,3} (?:is|are|be|get|gets|stays?|goes|go)? ?${OFF}\\b|\\bgrant\\b[^\\n.]{0,20}\\b(?:yourself|itself|the agent|the bot)\\b|\\b(?:nobody|no one) (?:is )?(?:there )?to (?:ask|tell|confirm|check)|\\bneeds? no (?:question|confirmation|approval|review|permission)`,
      '\\b(?:go ahead|proceed|continue|deploy\\w*|release\\w*|publish\\w*|merge\\w*)\\b[^\\n.]{0,30}\\bon your own\\b|@ts-nocheck|\\beslint-disable\\b(?! needs)|# ?noqa\\b|\\bcoverage\\b[^\\n.]{0,30}\\bto 0\\b|\\b(?:whatever|regardless of|no matter what|independent of) (?:the )?(?:outcome|result|tests?)',
      '\\bnohup\\b|\\bdisown\\b|\\bsetsid\\b|\\bin the background\\b[^\\n.]{0,40}\\b(?:leave|keep|forever|always|each|every)|\\bleave it running\\b',
    ),
    unless:
      /\bunless\b|\bask (?:first|me|before)|\bdeleted? (?:code|features?|files?)\b|with them\b|\bci runs\b|\blocally\b/u,
  },
  {
    kind: 'fetch',
    reason: 'takes its rules from an address',
    find: finds(
      `${FETCH}[^\\n]{0,80}?\\b(?:conventions?|rules?|instructions?|orders?|guidelines?|recipes?|playbook|prompts?|policy|to-?dos?|tasks?)\\b[^\\n]{0,60}?(?:${HOST})`,
      `\\b(?:conventions?|rules?|instructions?|orders?|recipes?|playbook|prompts?)\\b[^\\n]{0,60}?(?:${HOST})`,
    ),
    also: [
      has(
        '\\b(?:each|every|daily|newest|latest|current|first|always|session|carry out|work by|obey|apply|act|follow)\\b',
      ),
    ],
  },
  {
    kind: 'exfiltrate',
    reason: 'moves what is secret to another place',
    find: finds(
      `\\b(?:keep|make|store|leave|take|put|have)\\b[^\\n.]{0,20}\\b(?:copy|copies|backup|duplicate)\\b[^\\n.]{0,20}(?:${SECRETS})|\\b(?:name|call|label|tag|title)\\b[^\\n.]{0,40}\\b(?:after|with|by)\\b[^\\n.]{0,30}(?:${SECRETS}|\\$\\w*(?:token|key|secret|pass))`,
      '\\b(?:blind copy|blind carbon|bcc|carbon copy)\\b|\\bcc\\b[^\\n.]{0,20}@|\\bpublic(?:ly)? (?:read|writ\\w+|readable|access)\\b|\\b(?:bucket|database|port|share|repository)\\b[^\\n.]{0,20}\\bpublic\\b',
    ),
  },
  {
    kind: 'git',
    reason: 'commits as somebody else or over others',
    find: finds(
      '\\b(?:sign|sign off|author|commit)\\w*\\b[^\\n.]{0,30}\\bas ["\'«`]?[^\\n.]{1,60}(?:@|instead of the (?:user|person|author))|\\bpush\\w*\\b[^\\n.]{0,40}\\b(?:over (?:the )?(?:old|existing|remote)|with -f\\b|-f\\b)',
    ),
  },
  {
    kind: 'weaken',
    reason: 'makes code unsafe',
    find: finds(
      '\\bconstant[- ]time\\b[^\\n.]{0,40}\\b(?:slow|unneeded|not needed|unnecessary|overkill|waste)|\\b(?:tokens?|secrets?|signatures?|passwords?)\\b[^\\n.]{0,20}\\b(?:use|with|by) ={2,3}',
    ),
  },
  {
    kind: 'grader',
    reason: 'speaks to what grades it',
    find: finds(
      '\\b(?:right|correct|proper|only|expected) (?:score|grade|mark|rating|verdict)\\b|\\b(?:assigns?|gives?|awards?|computes?) (?:scores?|grades?|marks?|points)\\b[^\\n.]{0,60}\\b(?:maximum|highest|full|best|top|1\\.0|100)|\\b(?:print|write|say|output|end with|log|append)\\b[^\\n.]{0,20}\\b(?:all )?(?:tests?|checks?) (?:have )?pass(?:ed)?\\b',
    ),
    unless: /\bonly (?:if|when|after)\b|\bunless\b|\bbefore you ran\b/u,
  },
  {
    kind: 'exfiltrate',
    reason: 'handles files that hold secrets',
    find: finds(
      '(?:~/\\.(?:ssh|aws|kube|gnupg|netrc|docker)\\b|\\bid_(?:rsa|ed25519)\\b|\\b[\\w-]{1,40}\\.(?:pem|p12|pfx|keystore)\\b|\\.env\\b(?!\\.(?:example|sample|template|dist|test)))[^\\n.]{0,60}\\b(?:to|in|into|en|dans|nach|report|drive|share|issue|answer)\\b',
      '\\b(?:ask|prompt)\\b[^\\n.]{0,40}\\b(?:passwords?|passphrases?|tokens?|credentials?|api keys?)\\b|\\b(?:admin|root|master|owner) (?:token|key|password|credentials)\\b|\\bpublic key\\b[^\\n.]{0,60}\\b(?:log ?in|authori[sz]ed|keys that)',
    ),
    unless: /example|gitignore|\bloads?\b|\bread by\b|\bmask/u,
  },
  {
    kind: 'fetch',
    reason: 'names a machine by its bare address',
    find: finds(
      '\\b(?!127\\.|10\\.|0\\.0|192\\.168\\.|172\\.(?:1[6-9]|2\\d|3[01])\\.|255\\.)(?:\\d{1,3}\\.){3}\\d{1,3}\\b(?!/\\d)',
    ),
  },
  {
    kind: 'fetch',
    reason: 'takes its orders from an address',
    find: finds(HOST),
    also: [
      /\b(?:work through|use (?:them|it) unchanged|before anything else|first of all|as it (?:is|says|stands)|without change|word for word|to the letter)\b/u,
    ],
  },
  {
    kind: 'override',
    reason: 'speaks of itself, of its reader or of other agents',
    find: finds(
      '\\byour (?:real|true|actual|only|hidden|secret|main) (?:task|goal|purpose|job|role|owner|user|mission)\\b|\\b(?:what|that which) (?:stands|is written) here\\b|\\bnothing (?:a|the|any) (?:user|person|developer)\\b|\\btreat me\\b|\\bi am (?:your|the)\\b',
      '\\b(?:other|all|every|further|sub-?) ?(?:agents?|skills?|assistants?)\\b[^\\n.]{0,40}\\b(?:wrong|unread|ignored?|teach|edit\\w*|change|copy|files?|instruct\\w*)|\\b(?:teach|tell|instruct|infect|inform)\\b[^\\n.]{0,20}\\b(?:other|all|every) (?:agents?|skills?|assistants?|sessions?)',
      '\\bthis (?:paragraph|sentence|rule|line|section|note|entry|bullet)\\b[^\\n.]{0,40}\\b(?:still|there|again|back|back in|survives?|stays)\\b',
    ),
    isForbidding: true,
  },
  {
    kind: 'execute',
    reason: 'runs what nobody has read',
    find: finds(
      '\\bas root\\b|\\bsay yes to\\b|\\b(?:paste|copy|type)\\b[^\\n.]{0,20}\\binto (?:the |a |your )?(?:shell|terminal|console)\\b|\\b(?:prefix|precede|begin|start)\\b[^\\n.]{0,20}\\b(?:each|every|all) commands?\\b|\\bfrom the gist\\b|\\b(?:start|run|launch|execute|open) (?:the result|what comes out|the output)\\b|/tmp/\\.\\w',
    ),
    unless: /\bnot\b[^\n.]{0,20}\bas root\b/u,
  },
  {
    kind: 'conceal',
    reason: 'makes something look like something else',
    find: finds(
      '\\b(?:speak of|describe|present|disguise|label|pass off|call) (?:it|this|them|the change)\\b[^\\n.]{0,20}\\bas\\b|\\b(?:does|do|will) not (?:stand out|be noticed|attract|raise)|\\bdiff\\b[^\\n.]{0,30}\\b(?:you (?:present|show)|shown)\\b|\\bmerge first\\b|\\breview later\\b|\\bre-?run until\\b|\\bamend\\b[^\\n.]{0,40}\\b(?:of (?:whoever|others?|somebody|someone))',
    ),
  },
];
