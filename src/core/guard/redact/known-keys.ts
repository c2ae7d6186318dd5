import { isPlaceholder, SECRET } from './secret-value.ts';

/** Escaped text hides where a word begins: `\n`, `\u0022`, `%3D` and the colour of a terminal end in a letter or digit. */
const ESCAPES = String.raw`\\[nrtfv]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9A-Fa-f]{2}|\[[\d;]{0,8}m`;
const BEFORE = `^|[^A-Za-z0-9]|${ESCAPES}`;
/** For keys of unknown length with something behind them: they must not be looked for again inside one word. */
const STRICT_BEFORE = `^|[^A-Za-z0-9_-]|${ESCAPES}`;

/**
 * Keys that are known by how they begin, as their services document them, each with letters that it holds in any case: a text
 * without them need not be searched.
 */
const KEYS: readonly (readonly [needs: string, pattern: RegExp])[] = [
  // OpenAI, Anthropic, OpenRouter and all who took over their beginning
  ['k-', /(?:sk|rk|pk)-(?:[a-z0-9]{2,12}-){0,3}(?=[A-Za-z_]{0,60}\d)[A-Za-z0-9_]{10,}[\w-]*/],
  ['sk-', /sk-(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Z])[\w-]{32,}/],
  ['sk-', /sk-[A-Za-z0-9]{20,}/],
  // Stripe
  ['k_', /(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,}/],
  ['whsec_', /whsec_[\w+/=]{16,}/],
  // Models
  ['sess-', /sess-[A-Za-z0-9]{32,}/],
  ['xai-', /xai-[A-Za-z0-9]{20,}/],
  ['gsk_', /gsk_[A-Za-z0-9]{20,}/],
  ['pplx-', /pplx-[A-Za-z0-9]{20,}/],
  ['r8_', /r8_[A-Za-z0-9]{20,}/],
  ['csk-', /csk-[a-z0-9]{20,}/],
  ['fw_', /fw_[A-Za-z0-9]{20,}/],
  ['tgp_v1_', /tgp_v1_[\w-]{20,}/],
  ['nvapi-', /nvapi-[\w-]{20,}/],
  ['jina_', /jina_[a-z0-9]{20,}/],
  ['tvly-', /tvly-[\w-]{16,}/],
  ['hf_', /hf_[A-Za-z0-9]{20,}/],
  ['api_org_', /api_org_[A-Za-z0-9]{20,}/],
  ['lsv2_', /lsv2_(?:pt|sk)_[a-z0-9_]{20,}/],
  ['pcsk_', /pcsk_[\w-]{20,}/],
  ['fc-', /fc-[a-f0-9]{32}/],
  ['e2b_', /e2b_[a-f0-9]{20,}/],
  // Google
  ['AIza', /AIza[\w-]{30,}/],
  ['GOCSPX-', /GOCSPX-[\w-]{20,}/],
  ['ya29.', /ya29\.[\w.-]{20,}/],
  ['1//0', /1\/\/0[\w-]{30,}/],
  ['4/0A', /4\/0A[\w-]{30,}/],
  // Amazon, Alibaba, Tencent
  ['AKIA', /AKIA[A-Z0-9]{16}/],
  ['ASIA', /ASIA[A-Z0-9]{16}/],
  ['ABIA', /ABIA[A-Z0-9]{16}/],
  ['ACCA', /ACCA[A-Z0-9]{16}/],
  ['amzn.mws.', /amzn\.mws\.[0-9a-f-]{36}/],
  ['ABSK', /ABSK[A-Za-z0-9+/]{40,}={0,2}/],
  ['bedrock-api-key-', /bedrock-api-key-[\w+/=-]{20,}/],
  ['LTAI', /LTAI[A-Za-z0-9]{12,}/],
  ['AKID', /AKID[A-Za-z0-9]{13,}/],
  // GitHub, GitLab, Atlassian
  ['gh', /gh[pousr]_[A-Za-z0-9_]{16,}/],
  ['github_pat_', /github_pat_[A-Za-z0-9_]{20,}/],
  ['ATBB', /ATBB[A-Za-z0-9]{24,}/],
  ['AT', /AT[AC]TT3[\w=-]{20,}/],
  ['gl', /gl(?:pat|dt|rt|cbt|ptt|ft|agent|oas|soat|imt|ffct|wt)-[\w.-]{16,}/],
  ['GR1348941', /GR1348941[\w-]{20,}/],
  // Slack, Discord, Telegram
  ['xox', /xox[a-z](?:\.xox[a-z])?-[\w-]{10,}/],
  ['xapp-', /xapp-\d-[\w-]{10,}/],
  ['.', /[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}/],
  [':AA', /\d{8,10}:AA[\w-]{32,}/],
  ['sk-', /sk-[A-Za-z0-9]{20,}/],
  // Mail and messages
  ['SK', /SK[0-9a-f]{32}/],
  ['AC', /AC[0-9a-f]{32}/],
  ['SG.', /SG\.[\w-]{16,80}\.[\w-]{16,}/],
  ['key-', /key-[0-9a-f]{32}/],
  ['-us', /[0-9a-f]{32}-us\d{1,2}/],
  ['xkeysib-', /xkeysib-[a-f0-9]{40,80}-\w{8,}/],
  ['re_', /re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}/],
  // Package registries
  ['npm_', /npm_[A-Za-z0-9]{30,}/],
  ['pypi-', /pypi-[\w-]{50,}/],
  ['rubygems_', /rubygems_[a-f0-9]{40,}/],
  ['oy2', /oy2[a-z0-9]{40,}/],
  ['cio', /cio[A-Za-z0-9]{32}/],
  ['dckr_', /dckr_(?:pat|oat)_[\w-]{20,}/],
  ['dckrp_', /dckrp_[\w-]{20,}/],
  ['AKCp', /AKCp[A-Za-z0-9]{60,}/],
  ['cmVmd', /cmVmd[A-Za-z0-9]{50,}/],
  // Clouds and databases
  ['do', /do[opr]_v1_[a-f0-9]{40,}/],
  ['dp.', /dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{20,}/],
  ['sbp_', /sbp_[a-f0-9]{30,}/],
  ['sb_secret_', /sb_secret_[\w-]{20,}/],
  ['pscale_', /pscale_(?:tkn|pw|oauth)_[\w.-]{20,}/],
  ['dapi', /dapi[a-f0-9]{32}(?:-\d)?/],
  ['napi_', /napi_[a-z0-9]{30,}/],
  ['hv', /hv[sbr]\.[\w-]{20,}/],
  ['s.', /s\.(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![\w.])/],
  ['.atlasv1', /(?<![A-Za-z0-9]{6})\w{14}\.atlasv1\.[\w-]{40,}/],
  ['pul-', /pul-[a-f0-9]{40}/],
  ['rnd_', /rnd_[A-Za-z0-9]{24,}/],
  ['flyv1_', /flyv1_[\w+/=,-]{20,}/],
  ['fo1_', /fo1_[\w-]{40,}/],
  ['fm', /fm\d[a-z]?_[\w+/=,-]{40,}/],
  ['HRKU-', /HRKU-[\w-]{30,}/],
  ['vercel_', /vercel_[A-Za-z0-9_]{20,}/],
  ['Q~', /[\w-]{3}[78]Q~[\w.~-]{31,}/],
  ['AZDO', /(?<![A-Za-z0-9]{6})[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}/],
  ['tskey-', /tskey-[a-z]{1,12}-[\w-]{16,}/],
  ['v1.0-', /v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}/],
  // Tools for work and shops
  ['lin_', /lin_(?:api|oauth)_[A-Za-z0-9]{30,}/],
  ['ntn_', /ntn_[A-Za-z0-9]{40,}/],
  ['secret_', /secret_[A-Za-z0-9]{40,}/],
  ['fig', /fig[doru]_[\w-]{30,}/],
  ['pat', /pat[A-Za-z0-9]{14}\.[a-f0-9]{60,}/],
  ['shp', /shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{30,}/],
  ['sq0', /sq0(?:atp|csp|idp)-[\w-]{20,}/],
  ['EAAA', /EAAA[\w-]{50,}/],
  ['EAA', /EAA[A-Za-z0-9]{60,}/],
  ['sl.', /sl\.(?:u\.)?[\w-]{60,}/],
  ['PMAK-', /PMAK-[a-f0-9]{24}-[a-f0-9]{34}/],
  ['CFPAT-', /CFPAT-[\w-]{40,}/],
  ['access_token$production$', /access_token\$production\$[a-z0-9]{1,40}\$[a-f0-9]{32}/],
  // Monitoring
  ['NR', /NR(?:AK|JS|II|RA|AL|BR)-[\w-]{16,}/],
  ['NRAL', /[0-9a-f]{36}NRAL/],
  ['glc_', /glc_[\w+/=]{30,}/],
  ['glsa_', /glsa_[A-Za-z0-9]{30,60}_[a-f0-9]{8}/],
  ['sntr', /sntr[yu]s?_[\w+/=-]{30,}/],
  ['hc', /hc[abiy][a-z]k_[A-Za-z0-9]{30,}/],
  ['ph', /ph[cx]_[A-Za-z0-9]{30,}/],
  ['dt0', /dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{60,}/],
  ['k.eyJ', /[sp]k\.eyJ[\w-]{20,400}\.[\w-]{16,}/],
  ['dd', /dd(?:api|app)_[a-z0-9]{30,}/],
  ['pdus', /pdus\+[\w+-]{16,}/],
  // Encryption, push messages
  ['AGE-SECRET-KEY-1', /AGE-SECRET-KEY-1[A-Z0-9]{50,}/],
  ['ops_eyJ', /ops_eyJ[\w-]{40,}/],
  ['A3-', /A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,6}/],
  ['AAAA', /AAAA[\w-]{7}:[\w-]{100,}/],
  ['APA91b', /(?:[\w-]{11}:)?APA91b[\w-]{50,}/],
  // Hashes of passwords open doors to those who have time
  ['$', /\$(?:2[abxy]|5|6|y|7|apr1|argon2i?d?)\$[\w./$=,+-]{20,}/],
];

/** JSON Web Tokens, signed or encrypted, also cut off. */
const JWT = /ey[JI][\w-]{10,}\.(?:[\w-]{4,}|(?=\.))(?:\.[\w-]*){0,3}/;

/** The lines on which a key continues that was wrapped. */
const NEXT_LINES = String.raw`(?:[ \t]{0,40}\\?\r?\n[ \t>|+]{0,40}(?=[\w+/.=-]{0,200}\d)(?=[\w+/.=-]{0,200}[a-z])(?=[\w+/.=-]{0,200}[A-Z])[\w+/.=-]{8,200}(?=[ \t"'\\]{0,8}(?:\r?\n|$))){0,40}`;

/** What an address made of `+`, `/` and `=` in a key. */
const ENCODED_REST = String.raw`(?:%[0-9A-Fa-f]{2}[\w.~%-]*)?`;

const REST = `${ENCODED_REST}${NEXT_LINES}`;

/** How a pattern begins, when that is letters, one class or one choice. */
const HEAD = /^(?:(?:[\w-]|\\[.$/])+(?![?*{])|\[[^\]]+\](?![?*{])|\(\?:[A-Za-z|]+\)[-_]?)/;

/** Looks for the beginning first, and only where it is for what must stand before it: that is several times as fast. */
function searchFor({ source }: RegExp, before: string): RegExp {
  const head = HEAD.exec(source)?.[0] ?? '';
  return new RegExp(`${head}(?<=(?:${before})${head})(?:${source.slice(head.length)})${REST}`, 'g');
}

const SEARCHES = KEYS.map(([needs, pattern]) => ({ needs, search: searchFor(pattern, BEFORE) }));
const JWT_SEARCH = searchFor(JWT, STRICT_BEFORE);

/** The second half of a pair whose first half was known. */
const PARTNER =
  /(\[secret\]\\{0,8}["'`][ \t]{0,20}[,:][ \t]{0,20}\\{0,8}["'`])(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9+/_=-]{16,}(?=\\{0,8}["'`])/g;

/** Hides keys by their well-known beginnings, wherever they stand, unless they stand for one. For `text` and what is left of it. */
export function keyHider(text: string): (text: string) => string {
  const searches = SEARCHES.filter(({ needs }) => text.includes(needs)).map(({ search }) => search);
  return (shown) =>
    [...searches, JWT_SEARCH]
      .reduce((before, search) => before.replace(search, (key) => (isPlaceholder(key) ? key : SECRET)), shown)
      .replace(PARTNER, (_, first: string) => `${first}${SECRET}`);
}

/** Whether a value is such a key from its first letter to its last. */
export const isKnownKey = (value: string) => keyHider(value)(value) === SECRET;

/** Words at the ends of up to six lines, each with another at the beginning of the next. */
const BROKEN = /(?<![\w.-])[\w.-]{4,160}(?:[ \t]{0,20}(?:\\?\r?\n|\\{1,4}n)[ \t]{0,20}[\w.-]{6,160}){1,5}(?![\w-])/g;
/** Also written out, as in JSON. */
const LINE_BREAK = /[ \t]{0,20}(?:\\?\r?\n|\\{1,4}n)[ \t]{0,20}/;

/** What every known key has in its beginning. */
const MAY_BEGIN = /[-_.]|A[A-Z]|eyJ/;

/** Keys that a terminal or an editor broke over several lines. */
export function hideBrokenKeys(text: string): string {
  if (!/\n|\\n/.test(text) || !MAY_BEGIN.test(text)) return text;
  return text.replace(BROKEN, (found) => {
    const parts = found.split(LINE_BREAK);
    const length = lengthOfKey(parts);
    if (length === 0) return found;
    const tail = found.split(new RegExp(`(${LINE_BREAK.source})`)).slice(2 * length - 1);
    return SECRET + tail.join('');
  });
}

/** How many of the parts are one key, from the first on; 0 when they are none. */
function lengthOfKey(parts: readonly string[]): number {
  let length = 0;
  for (let many = 2; many <= parts.length; many++) {
    if (!isContinuation(parts[many - 1]!)) break;
    if (isKnownKey(parts.slice(0, many).join(''))) length = many;
  }
  return length;
}

/** A word, or what begins a new line of code or a new sentence, has no such disorder. */
const isContinuation = (part: string) =>
  /\d/.test(part) &&
  /[A-Za-z]/.test(part) &&
  (part.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)|[a-z](?=[A-Z])/g)?.length ?? 0) >= 2;

const MARK = /-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}(?:PRIVATE|SECRET) KEY[A-Z ]{0,20}-{4,5}/g;

/** What tools put before a line: a diff, a quotation, a comment, a line number. */
const PREFIX = /^[ \t]*(?:\d{1,6}[ \t]*[|:→\t])?[ \t>|+*#"'-]*/;
/** A line of a key, or of what stands above one. */
const BODY =
  /^(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)\b.*|(?:[A-Za-z0-9+/=]|\\{1,8}[nr])*[ \t"',;\\\r]*)$/;
const WHOLE_BODY = /^[A-Za-z0-9+/=]{16,200}[ \t"',;\\\r]*$/;
/** Where `\n` is written out, a key is one line. */
const REST_OF_LINE = /(?:[A-Za-z0-9+/=]|\\{1,8}[nr])*/y;

/** PuTTY counts its lines. */
const PUTTY = /Private-Lines: \d{1,4}(?:\r?\n[A-Za-z0-9+/=]{1,200}){1,200}|Private-MAC: [0-9a-f]{40,64}/g;
/** A block in base64, as in a kubeconfig. What begins with a certificate or a public key is public. */
const ENCODED = /LS0tLS1CRUdJTi(?!BDRVJUSUZJQ0FUR|BQVUJMSUMg|BUUlVTVEVEIENFUlRJ)[A-Za-z0-9+/]{20,}={0,2}/g;

/** Longer than any key, and than any line of one. */
const [MOST, LONGEST_LINE] = [20_000, 4_000];

/** Private keys of many lines, whole or cut off at either end. */
export function hideKeyBlocks(text: string): string {
  return hideBlocks(text).replace(PUTTY, SECRET).replace(ENCODED, SECRET);
}

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

/** Up to the end of the block, or as far as lines look like a key. */
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

/** Back over the lines of a key whose beginning was cut off. */
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
