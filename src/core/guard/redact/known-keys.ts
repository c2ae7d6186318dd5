import { isObject, mapValues, skillHash } from '../../text/index.ts';
import { longWords, type Rule } from './rule.ts';
import { isPlaceholder, SECRET } from './secret-value.ts';

/** In escaped text a word begins after `\n`, `\u0022`, `%3D` or the colour of a terminal. */
const ESCAPES = String.raw`\\[nrtfv]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9A-Fa-f]{2}|\[[\d;]{0,8}m`;
const BEFORE = `^|[^A-Za-z0-9]|${ESCAPES}`;
/** For keys of unknown length: they must not be searched again inside one word. */
const STRICT_BEFORE = `^|[^A-Za-z0-9_-]|${ESCAPES}`;

/** Keys as their services document them. A text without the letters in `needs` is not searched. */
type KnownKey = readonly [needs: string, pattern: RegExp];

const KEYS: readonly KnownKey[] = [
  // OpenAI, Anthropic, OpenRouter and all who took over their beginning
  ['k-', /(?:sk|rk|pk)-(?:[a-z0-9]{2,12}-){0,3}(?=[A-Za-z_]{0,60}\d)[A-Za-z0-9_]{10,}[\w-]*/],
  ['sk-', /sk-(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Z])[\w-]{32,}/],
  // Stripe
  ['k_', /(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,}/],
  // Models
  ['lsv2_', /lsv2_(?:pt|sk)_[a-z0-9_]{20,}/],
  // Amazon
  ['ABSK', /ABSK[A-Za-z0-9+/]{40,}={0,2}/],
  // GitHub, GitLab, Atlassian
  ['gh', /gh[pousr]_[A-Za-z0-9_]{16,}/],
  ['AT', /AT[AC]TT3[\w=-]{20,}/],
  ['gl', /gl(?:pat|dt|rt|cbt|ptt|ft|agent|oas|soat|imt|ffct|wt)-[\w.-]{16,}/],
  // Slack, Discord, Telegram
  ['xox', /xox[a-z](?:\.xox[a-z])?-[\w-]{10,}/],
  ['xapp-', /xapp-\d-[\w-]{10,}/],
  ['.', /[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}/],
  [':AA', /\d{8,10}:AA[\w-]{32,}/],
  // Mail and messages
  ['SG.', /SG\.[\w-]{16,80}\.[\w-]{16,}/],
  ['-us', /[0-9a-f]{32}-us\d{1,2}/],
  ['xkeysib-', /xkeysib-[a-f0-9]{40,80}-\w{8,}/],
  ['re_', /re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}/],
  // Package registries
  ['dckr_', /dckr_(?:pat|oat)_[\w-]{20,}/],
  // Clouds and databases
  ['do', /do[opr]_v1_[a-f0-9]{40,}/],
  ['dp.', /dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{20,}/],
  ['pscale_', /pscale_(?:tkn|pw|oauth)_[\w.-]{20,}/],
  ['dapi', /dapi[a-f0-9]{32}(?:-\d)?/],
  ['hv', /hv[sbr]\.[\w-]{20,}/],
  ['s.', /s\.(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![\w.])/],
  ['.atlasv1', /(?<![A-Za-z0-9]{6})\w{14}\.atlasv1\.[\w-]{40,}/],
  ['fm', /fm\d[a-z]?_[\w+/=,-]{40,}/],
  ['Q~', /[\w-]{3}[78]Q~[\w.~-]{31,}/],
  ['AZDO', /(?<![A-Za-z0-9]{6})[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}/],
  ['tskey-', /tskey-[a-z]{1,12}-[\w-]{16,}/],
  ['v1.0-', /v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}/],
  // Tools for work and shops
  ['lin_', /lin_(?:api|oauth)_[A-Za-z0-9]{30,}/],
  ['fig', /fig[doru]_[\w-]{30,}/],
  ['pat', /pat[A-Za-z0-9]{14}\.[a-f0-9]{60,}/],
  ['shp', /shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{30,}/],
  ['sq0', /sq0(?:atp|csp|idp)-[\w-]{20,}/],
  ['sl.', /sl\.(?:u\.)?[\w-]{60,}/],
  ['PMAK-', /PMAK-[a-f0-9]{24}-[a-f0-9]{34}/],
  ['access_token$production$', /access_token\$production\$[a-z0-9]{1,40}\$[a-f0-9]{32}/],
  // Monitoring
  ['NR', /NR(?:AK|JS|II|RA|AL|BR)-[\w-]{16,}/],
  ['NRAL', /[0-9a-f]{36}NRAL/],
  ['glsa_', /glsa_[A-Za-z0-9]{30,60}_[a-f0-9]{8}/],
  ['sntr', /sntr[yu]s?_[\w+/=-]{30,}/],
  ['hc', /hc[abiy][a-z]k_[A-Za-z0-9]{30,}/],
  ['ph', /ph[cx]_[A-Za-z0-9]{30,}/],
  ['dt0', /dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{60,}/],
  ['k.eyJ', /[sp]k\.eyJ[\w-]{20,400}\.[\w-]{16,}/],
  ['dd', /dd(?:api|app)_[a-z0-9]{30,}/],
  ['pdus', /pdus\+[\w+-]{16,}/],
  // Encryption, push messages
  ['A3-', /A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,6}/],
  ['AAAA', /AAAA[\w-]{7}:[\w-]{100,}/],
  ['APA91b', /(?:[\w-]{11}:)?APA91b[\w-]{50,}/],
  // Hashes of passwords open doors to those who have time
  ['$', /\$(?:2[abxy]|5|6|y|7|apr1|argon2i?d?)\$[\w./$=,+-]{20,}/],
];

/** Keys with a known beginning, followed by letters of one class: the class, then each beginning with how many letters. */
const PLAIN_KEYS: readonly (readonly [letters: string, beginnings: string])[] = [
  [
    '\\w-',
    `tgp_v1_ 20+ nvapi- 20+ tvly- 16+ pcsk_ 20+ AIza 30+ GOCSPX- 20+ 1//0 30+ 4/0A 30+ GR1348941 20+ pypi- 50+ dckrp_ 20+
    sb_secret_ 20+ fo1_ 40+ HRKU- 30+ EAAA 50+ CFPAT- 40+ ops_eyJ 40+`,
  ],
  [
    'A-Za-z0-9',
    `sk- 20+ sess- 32+ xai- 20+ gsk_ 20+ pplx- 20+ r8_ 20+ fw_ 20+ hf_ 20+ api_org_ 20+ LTAI 12+ AKID 13+ ATBB 24+
    npm_ 30+ cio 32 AKCp 60+ cmVmd 50+ rnd_ 24+ ntn_ 40+ secret_ 40+ EAA 60+`,
  ],
  ['a-f0-9', 'fc- 32 e2b_ 20+ SK 32 AC 32 key- 32 rubygems_ 40+ sbp_ 30+ pul- 40'],
  ['A-Z0-9', 'AKIA 16 ASIA 16 ABIA 16 ACCA 16 AGE-SECRET-KEY-1 50+'],
  ['a-z0-9', 'csk- 20+ jina_ 20+ oy2 40+ napi_ 30+'],
  ['A-Za-z0-9_', 'github_pat_ 20+ vercel_ 20+'],
  ['0-9a-f-', 'amzn.mws. 36'],
  ['\\w.-', 'ya29. 20+'],
  ['\\w+/=', 'whsec_ 16+ glc_ 30+'],
  ['\\w+/=-', 'bedrock-api-key- 20+'],
  ['\\w+/=,-', 'flyv1_ 20+'],
];

/** After the others: these would cut off the end of a key with several parts. */
const plainKeys = PLAIN_KEYS.flatMap(([letters, beginnings]) =>
  [...beginnings.matchAll(/(?<!\S)(\S+) (\d+)(\+?)/g)].map(([, beginning = '', length, isOpen]): KnownKey => {
    const literal = beginning.replace(/[.$/]/g, '\\$&');
    return [beginning, new RegExp(`${literal}[${letters}]{${length}${isOpen ? ',' : ''}}`)];
  }),
);

/** JSON Web Tokens, signed or encrypted, also cut off. */
const JWT = /ey[JI][\w-]{10,}\.(?:[\w-]{4,}|(?=\.))(?:\.[\w-]*){0,3}/;

/** True for every word with a token in it. Each run of letters is read once, however often a token seems to begin in it. */
const MAY_BE_JWT = /(?<![\w-])(?=[\w-]+\.)[\w-]*?ey[JI][\w-]{10}/;

const NEXT_LINES = String.raw`(?:[ \t]{0,40}\\?\r?\n[ \t>|+]{0,40}(?=[\w+/.=-]{0,200}\d)(?=[\w+/.=-]{0,200}[a-z])(?=[\w+/.=-]{0,200}[A-Z])[\w+/.=-]{8,200}(?=[ \t"'\\]{0,8}(?:\r?\n|$))){0,40}`;

const ENCODED_REST = String.raw`(?:%[0-9A-Fa-f]{2}[\w.~%-]*)?`;

const REST = `${ENCODED_REST}${NEXT_LINES}`;

/** The beginning of a pattern, if it is letters, one class or one choice. */
const HEAD = /^(?:(?:[\w-]|\\[.$/])+(?![?*{])|\[[^\]]+\](?![?*{])|\(\?:[A-Za-z|]+\)[-_]?)/;

/** Finds the beginning first, and then checks what stands before it: that is several times as fast. */
function searchFor({ source }: RegExp, before: string): RegExp {
  const head = HEAD.exec(source)?.[0] ?? '';
  return new RegExp(`${head}(?<=(?:${before})${head})(?:${source.slice(head.length)})${REST}`, 'g');
}

const SEARCHES = [
  ...[...KEYS, ...plainKeys].map(([needs, pattern]) => ({ needs, pattern, search: searchFor(pattern, BEFORE) })),
  { needs: 'ey', pattern: MAY_BE_JWT, search: searchFor(JWT, STRICT_BEFORE) },
];

/** The second half of a pair whose first half was known. */
const PARTNER =
  /(\[secret\]\\{0,8}["'`][ \t]{0,20}[,:][ \t]{0,20}\\{0,8}["'`])(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9+/_=-]{16,}(?=\\{0,8}["'`])/g;

const LONGEST_KNOWN = 100;
const answers = new Map<string, boolean>();

/** Answers are kept for a while: paths and addresses come again and again. */
function mayBeKey(word: string): boolean {
  const known = answers.get(word);
  if (known !== undefined) return known;
  const answer = SEARCHES.some(({ needs, pattern }) => word.includes(needs) && pattern.test(word));
  if (answers.size >= 2_000) answers.clear();
  if (word.length <= LONGEST_KNOWN) answers.set([...word].join(''), answer); // a slice would keep its whole text
  return answer;
}

/** Keys by their beginnings, except placeholders. */
export const knownKeys: Rule = {
  may: (text) => text.includes(SECRET) || longWords(text).some(mayBeKey),
  hide: (text) =>
    SEARCHES.filter(({ needs }) => text.includes(needs))
      .reduce((before, { search }) => before.replace(search, (key) => (isPlaceholder(key) ? key : SECRET)), text)
      .replace(PARTNER, (_, first: string) => `${first}${SECRET}`),
};

/** Whether a text has a key in it that its beginning gives away. */
export const holdsKnownKey = (text: string): boolean => knownKeys.hide(text) !== text;

const isKnownKey = (value: string) => knownKeys.hide(value) === SECRET;

/** A word that may continue for up to five more lines. */
const BROKEN = /(?<![\w.-])[\w.-]{4,160}(?:[ \t]{0,20}(?:\\?\r?\n|\\{1,4}n)[ \t]{0,20}[\w.-]{6,160}){1,5}(?![\w-])/g;
const LINE_BREAK = /[ \t]{0,20}(?:\\?\r?\n|\\{1,4}n)[ \t]{0,20}/;

/** A key continues with a digit in its next line. */
const GOES_ON = /(?:\n|\\n)[ \t]{0,20}(?=[A-Za-z_.-]{0,160}\d)[\w.-]{6}/;

export const brokenKeys: Rule = { may: (text) => GOES_ON.test(text), hide: (text) => text.replace(BROKEN, hideBroken) };

function hideBroken(found: string): string {
  const length = lengthOfKey(found.split(LINE_BREAK));
  if (length === 0) return found;
  const tail = found.split(new RegExp(`(${LINE_BREAK.source})`)).slice(2 * length - 1);
  return SECRET + tail.join('');
}

function lengthOfKey(parts: readonly string[]): number {
  let length = 0;
  for (let many = 2; many <= parts.length; many++) {
    if (!isContinuation(parts[many - 1]!)) break;
    if (isKnownKey(parts.slice(0, many).join(''))) length = many;
  }
  return length;
}

/** A word, a line of code and a sentence have less disorder. */
const isContinuation = (part: string) =>
  /\d/.test(part) &&
  /[A-Za-z]/.test(part) &&
  (part.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)|[a-z](?=[A-Z])/g)?.length ?? 0) >= 2;

const MARK = /-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}(?:PRIVATE|SECRET) KEY[A-Z ]{0,20}-{4,5}/g;

/** What tools put before a line: a diff, a quotation, a comment, a line number. */
const PREFIX = /^[ \t]*(?:\d{1,6}[ \t]*[|:→\t])?[ \t>|+*#"'-]*/;
const BODY =
  /^(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)\b.*|(?:[A-Za-z0-9+/=]|\\{1,8}[nr])*[ \t"',;\\\r]*)$/;
const WHOLE_BODY = /^[A-Za-z0-9+/=]{16,200}[ \t"',;\\\r]*$/;
/** Where `\\n` is written out, a key is one line. */
const REST_OF_LINE = /(?:[A-Za-z0-9+/=]|\\{1,8}[nr])*/y;

const PUTTY = /Private-Lines: \d{1,4}(?:\r?\n[A-Za-z0-9+/=]{1,200}){1,200}|Private-MAC: [0-9a-f]{40,64}/g;
/** A private key in base64, as in a kubeconfig: neither a certificate nor a public key. */
const ENCODED = /LS0tLS1CRUdJTi(?!BDRVJUSUZJQ0FUR|BQVUJMSUMg|BUUlVTVEVEIENFUlRJ)[A-Za-z0-9+/]{20,}={0,2}/g;

/** Longer than any key, and any line of one. */
const [MOST, LONGEST_LINE] = [20_000, 4_000];

const BLOCK_WORDS = [' KEY', 'Private-', 'LS0tLS1CRUdJTi'];

export const keyBlocks: Rule = {
  may: (text) => BLOCK_WORDS.some((word) => text.includes(word)),
  hide: (text) => hideBlocks(text).replace(PUTTY, SECRET).replace(ENCODED, SECRET),
};

function hideBlocks(text: string): string {
  const marks = [...text.matchAll(MARK)];
  const pieces: string[] = [];
  let done = 0;
  marks.forEach(({ index, 0: mark, 1: kind }, at) => {
    if (index < done) return;
    const end = index + mark.length;
    const start = kind === 'BEGIN' ? index : startOf(text, index, done);
    if (start === index && kind === 'END') return;
    pieces.push(text.slice(done, start), SECRET);
    done = kind === 'BEGIN' ? endOf(text, end, marks[at + 1]) : end;
  });
  return done === 0 ? text : pieces.join('') + text.slice(done);
}

function endOf(text: string, from: number, next: RegExpExecArray | undefined): number {
  if (next?.[1] === 'END' && next.index - from < MOST) return next.index + next[0].length;
  REST_OF_LINE.lastIndex = from;
  let end = from + REST_OF_LINE.exec(text)![0].length;
  while (text[end] === '\n' || text.startsWith('\r\n', end)) {
    const start = text.indexOf('\n', end) + 1;
    const line = lineAt(text, start);
    if (line === undefined || !BODY.test(line.replace(PREFIX, ''))) break;
    end = start + line.length;
  }
  return end;
}

function startOf(text: string, end: number, done: number): number {
  let start = text.lastIndexOf('\n', end - 1) + 1;
  if (start <= done || !/^[^A-Za-z0-9]*$/.test(text.slice(start, end))) return end;
  for (;;) {
    const before = Math.max(done, text.lastIndexOf('\n', start - 2) + 1);
    const line = text.slice(before, start - 1);
    if (before >= start - 1 || line.length > LONGEST_LINE || !WHOLE_BODY.test(line.replace(PREFIX, ''))) break;
    start = before;
  }
  return start;
}

function lineAt(text: string, start: number): string | undefined {
  const piece = text.slice(start, start + LONGEST_LINE);
  const end = piece.indexOf('\n');
  if (end === -1) return piece.length < LONGEST_LINE ? piece : undefined;
  return piece.slice(0, end);
}

/** Names of credentials, which change no result. */
const CREDENTIAL =
  /(?:^|[-_.])(?:(?:api|access|secret|private|subscription|auth|client|session|bearer|refresh|id)[-_]?(?:key|token|secret)|secret|password|passwd|authorization|cookie|credentials?)$/i;
/** Names that may mean a credential or something else: a sort key, a stop token, a pass over the data. */
const PERHAPS = /(?:^|[-_.])(?:key|token|pass|pwd|passphrase|passcode)$/i;

const BEARER = /^(?:Bearer|Basic)\s\S+$/;
const RANDOM = /^(?=[^\s]*\d)(?=[^\s]*[a-z])[\w+/=~-]{32,}$/i;

const ALREADY_HIDDEN = /^\((?:secret|hidden [0-9a-f]{12})\)$/;

/**
 * A value without what looks like a secret, by its name or by itself. A credential becomes a constant, since another one gives
 * the same results. What is only perhaps a secret becomes a hash, since another one may not.
 */
export function hideSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return hideText(value, name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_'));
  if (Array.isArray(value)) return value.map((entry) => hideSecrets(entry, name));
  return isObject(value) ? mapValues(value, hideSecrets) : value;
}

function hideText(text: string, name: string): string {
  if (text === '' || ALREADY_HIDDEN.test(text)) return text;
  if (CREDENTIAL.test(name) || BEARER.test(text) || isKnownKey(text)) return '(secret)';
  return PERHAPS.test(name) || RANDOM.test(text) ? `(hidden ${skillHash(text).slice(0, 12)})` : text;
}
