import { finds, has, type Rule } from '../rule.ts';
import { HOST, PRIVATE, SECRETS, SEND, SOMEWHERE } from './words.ts';

const SHOW =
  '\\b(?:cat|print|show|read|echo|type|display|less|head|tail|paste|put|append|include|write|dump|commit|log|output|list|repeat|quote|copy|reveal|send|post|add|give|name|spell out|bat)(?:s|es|ing)?\\b';

/** Data that leaves. */
export const SECRET_RULES: readonly Rule[] = [
  {
    kind: 'exfiltrate',
    reason: 'sends private data somewhere',
    find: finds(SEND),
    also: [has(PRIVATE), has(SOMEWHERE)],
    unless: /authori[sz]ation|bearer|\bheaders?\b/u,
  },
  {
    kind: 'exfiltrate',
    reason: 'reports to a foreign address',
    find: finds(
      `\\b(?:send|post|report|forward|upload|submit|notify|ping|call home|phone home|announce|transmit|mail)\\b[^\\n.]{0,80}\\b(?:to|at|with) [\`<"']?(?:${HOST})`,
    ),
    also: [/\b(?:each|every|all|always|after|before|when|whenever|once|first)\b/u],
    unless: /authori[sz]ation|bearer|\bheaders?\b|\bsecurity@|vulnerabilit/u,
  },
  {
    kind: 'exfiltrate',
    reason: 'sends something to a bare address',
    find: finds(
      '\\b(?:send|post|report|forward|upload|submit|transmit|copy|push|write|stream)\\b[^\\n.]{0,80}\\bto [`"\']?(?:\\w+://)?(?!127\\.|10\\.|192\\.168\\.)\\d{1,3}(?:\\.\\d{1,3}){3}\\b',
    ),
  },
  {
    kind: 'exfiltrate',
    reason: 'shows what is secret',
    find: finds(
      `${SHOW}[^\\n.]{0,40}\\b(?:values?|contents?|in full|full|unmasked|whole|lines?|aloud|plain)\\b[^\\n.]{0,30}(?:${SECRETS})`,
      `${SHOW}[^\\n.]{0,40}(?:${SECRETS})[^\\n.]{0,40}\\b(?:in full|unmasked|aloud|in (?:the|each|every|your) (?:answer|repl(?:y|ies)|output|chat|summary|response|comment|log)s?)\\b`,
      '\\b(?:cat|less|head|tail|type|bat|more|strings|xxd|base64|cp|grep \\S+) +(?:-\\S+ +)*["\']?(?:~|\\$home|/home/\\w+|/root|\\.\\.?)?/?(?:[\\w./-]*/)?(?:\\.env\\b(?!\\.(?:example|sample|template|dist|test))|\\.ssh/|\\.aws/|\\.netrc|\\.npmrc|\\.pypirc|\\.gnupg|\\.kube/|\\.config/(?:gh|gcloud)|id_(?:rsa|ed25519|ecdsa)|\\.\\w+_history|shadow\\b)',
      '\\b(?:output|result|values?|dump) of [`"\']?(?:printenv|env|set|export)\\b|\\b(?:printenv|env) ?>|tojson\\(secrets|\\$\\{\\{ ?secrets[^\\n}]{0,60}\\}\\}[^\\n]{0,40}\\|',
    ),
  },
  {
    kind: 'exfiltrate',
    reason: 'puts private data into a request',
    find: finds(
      '\\b(?:curl|wget|http|xh|invoke-webrequest|invoke-restmethod|iwr|irm|nc|ncat|netcat|socat|telnet)\\b(?!:)[^\\n]{0,300}?(?:\\$\\(|`[a-z]+ [~./$]|<\\(|@[~./$]| -t +[~./]|\\$\\{?\\w*(?:key|token|secret|pass|home|user)|< *[~./])',
    ),
    unless: /-h +["']?(?:authorization|x-api-key|private-token)[^\n]{0,80}\$/u,
  },
  {
    kind: 'exfiltrate',
    reason: 'pipes private data out',
    find: finds(
      `(?:\\b(?:env|printenv|set)\\b|${PRIVATE})[^\\n]{0,200}?\\|[^\\n]{0,120}?\\b(?:curl|wget|nc|ncat|netcat|socat|telnet|mail|sendmail|ssh|xargs|http|gh)\\b`,
    ),
  },
  {
    kind: 'exfiltrate',
    reason: 'opens a connection from the shell',
    find: finds(
      '/dev/(?:tcp|udp)/|\\b(?:nc|ncat|netcat) +(?:-\\w+ +)*\\S+ +\\d{2,5}\\b|\\bbash +-i\\b|\\bsocat +\\S*exec|\\bssh +-\\w*r\\w* +\\d|\\bngrok\\b|\\bcloudflared? +tunnel',
      '\\bleave\\b[^\\n.]{0,20}\\bport\\b[^\\n.]{0,20}\\bopen\\b|\\bopen\\b[^\\n.]{0,20}\\b(?:reverse )?(?:shell|tunnel)\\b|\\blisten on 0\\.0\\.0\\.0',
    ),
  },
  {
    kind: 'exfiltrate',
    reason: 'hides data in a name that is looked up',
    find: finds('\\b(?:dig|nslookup|host|ping|resolve-dnsname)\\b[^\\n]{0,80}(?:\\$|`[a-z]|\\{|<[a-z])'),
  },
  {
    kind: 'exfiltrate',
    reason: 'copies private files to another machine',
    find: finds('\\b(?:scp|rsync|rclone|sftp|gsutil +cp|aws +s3 +(?:cp|sync)|az +storage)\\b[^\\n]{0,200}'),
    also: [has(SECRETS, '_history|~/')],
  },
  {
    kind: 'exfiltrate',
    reason: 'puts data into the address of an image or link',
    find: finds(
      '\\[[^\\]\\n]{0,200}\\](?:\\(|: ?)\\s{0,3}<?(?:https?:)?//[^)\\n]{0,300}[?&#/=][^)\\n]{0,200}(?:\\{|\\$|<[a-z]|%7b|\\[|\\.\\.\\.|…|base64|_here\\b|_of_|content|answer|urlencod|encoded)',
      '!\\[[^\\]\\n]{0,200}\\]\\(\\s{0,3}<?(?:https?:)?//[^)\\n]{0,300}[?&](?:data|d|q|c|s|env|ctx|summary|token|key|secret|conversation|session|leak|exfil)=',
    ),
  },
  {
    kind: 'exfiltrate',
    reason: 'loads an image from elsewhere',
    find: finds(
      '<(?:img|image|video|audio|source|input|link)\\b[^>\\n]{0,300}(?:src|href|srcset|poster)\\s{0,3}=\\s{0,3}["\']?(?:https?:)?//',
    ),
  },
  {
    kind: 'exfiltrate',
    reason: 'puts data into the address of an image or link',
    find: finds('\\b(?:image|pixel|badge|picture|logo|banner|link|url|query)\\b'),
    also: [/https?:/u, /base64|url-?encod|query|parameter|\?\w+=|append/u, has(PRIVATE)],
  },
];
