import { memoize } from '../../text/index.ts';
import { lowered, ofLast, wordFinder } from './rule.ts';

/**
 * What a name says about its value. `password`: any value is secret, unless it is code or a word about passwords. `key`: a dense value.
 * `perhaps`: only what looks random, for it may be a sort key. `told`: somebody says «the password is …». `spoken`: the value
 * comes right after the word, as in «token abc123def». `heard`: the word often means something else, as in «pass: …».
 */
export type Credential = 'password' | 'key' | 'perhaps' | 'told' | 'spoken' | 'heard';

/** Letters, digits and `_` of most languages, faster than classes of Unicode. */
export const LETTER = 'A-Za-z0-9_\\u00c0-\\u024f\\u0300-\\u1fff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7a3';

/** Words for a password in the languages in which people talk to agents. */
export const PASSWORD_WORDS = [
  'password|passwd|passwort|passphrase|passcode|passkey|kennwort|passord|lozinka|geslo|contraseña|contrasena|contrasenya',
  'senha|palavra-passe|mot de passe|motdepasse|parola|parolă|wachtwoord|lösenord|losenord|adgangskode|salasana|jelszó|jelszo',
  'heslo|hasło|haslo|şifre|sifre|пароль|пароля|κωδικός|סיסמה|סיסמא|كلمة المرور|كلمة السر|رمز عبور|पासवर्ड|รหัสผ่าน',
  'mật khẩu|kata sandi|密码|密碼|口令|暗証番号|パスワード|パスフレーズ|비밀번호|암호',
].join('|');

const PASSWORD_END = new RegExp(`(?:${PASSWORD_WORDS.replace(/[ -]/g, '')})$`);
const PASSWORD_LAST =
  /^(?:storepass|keypass|userpass|dbpass|rootpw|pwd|psw|passw|pw|mdp|totp|otp|mnemonic|seedphrase)$/;
/** `pass` alone may be one over the data, or what a test does. */
const OF_PASS =
  /^(?:db|database|user|admin|root|smtp|imap|mail|email|ssh|sudo|login|ftp|sftp|proxy|redis|mysql|pg|postgres|mongo|rabbitmq|key|store|cert|wifi|become|auth|basic|http|api|ldap|bind|vnc|rdp)$/;
const KEY_END =
  /(?:secret|token|apikey|appkey|accesskey|secretkey|privatekey|privkey|authkey|accountkey|encryptionkey|signingkey|masterkey|sharedkey|sharedaccesskey|storagekey|servicekey|subscriptionkey|sessionkey|deploykey|adminkey|writekey|ingestkey|integrationkey|routingkey|licensekey|consumerkey|clientkey|clientkeydata|serverkey|webhookkey|secretaccesskey|secretkeybase|secretbase|signingsecret|authtoken|credential|credentials|authorization|xamzsecuritytoken|connectionstring|connstring|dsn|webhookurl|refreshtoken|cookiesecret|hmackey|aeskey|jwtkey|vaulttoken|bearer|accesskeysecret|apikeysecret|keysecret|identitytoken|registrytoken|authconfig|dockerconfigjson|sastoken|wifikey|psk|presharedkey)$/;
const KEY_LAST = /^(?:auth|tok|creds?|jwt|bearer|apikey)$/;
const OTHER =
  /(?:primary|foreign|sort|partition|cache|idempotency|object|row|query|map|hash|group|unique|composite|page|next|continuation|stop|eos|bos|pad|unk|mask|sep|cls|start|end|special|syntax|design|colou?r|theme|client|request|trace|span|git)(?:key|token)$|sessid$|sessionid$|csrf$|xsrf$|salt$|signature$/;
/** What may come after the word for a credential: one of several. */
const WHICH =
  /(?:_|-|\.)?(?:\d{1,3}|prod|production|dev|development|test|testing|staging|stage|live|sandbox|old|new|backup|primary|secondary|main|default|local|ci|base|value|env)$/;

/** A part of every name and every word of a credential. Words of other scripts count by their letters. */
const PARTS =
  'pass|pwd|pw|psw|mdp|pin|otp|mnemonic|seed|kennwort|lozinka|geslo|contras|senha|parola|wacht|senord|kode|salasana|jelsz|heslo|haslo|sifre|sandi|secret|token|tok|key|auth|cred|bearer|jwt|dsn|psk|string|webhook|dockerconfig|sess|csrf|xsrf|salt|signature|ñ|ó|lös';
const MAYBE = `${PARTS}|[^\\0-ÿ]`;
const MAYBE_NAME = new RegExp(MAYBE);

/** Words that are no names: keys in other languages, schemes of headers, cookies and what sends them, and commands. */
const OTHER_WORDS =
  'api|access|private|schl|clave|clé|chiave|chave|ключ|токен|密钥|令牌|キー|トークン|토큰|basic|ssws|splunk|geniekey|bot|oauth|negotiate|ntlm|hawk|aws4|sharedkey|cookie|curl|vault|identified|machine|sid|aspnetcore|remember_|__secure|__host|li_at|wordpress_';
const ALL_WORDS = [...new Set(`${PARTS}|${PASSWORD_WORDS}|${OTHER_WORDS}`.split('|'))];
/** Without other scripts, and without two letters that name a password in Spanish and Hungarian. */
export const isPlain = (text: string) => !text.includes('ñ') && !text.includes('ó') && !/[\u0100-\uffff]/.test(text);
const findPlain = wordFinder(ALL_WORDS.filter(isPlain));
const OF_OTHERS = new RegExp(
  ALL_WORDS.filter((word) => !isPlain(word))
    .map((word) => word.split(' ')[0])
    .join('|'),
  'g',
);

/** The one cheap search that most rules share: where a word for a credential may begin. */
export const credentialWords = ofLast((text): readonly number[] => {
  if (isPlain(text)) return findPlain(text);
  const low = lowered(text);
  return [...findPlain(low), ...[...low.matchAll(OF_OTHERS)].map(({ index }) => index)];
});

/** Prose has one in a hundred letters. */
const DENSEST = 0.1;

/** Whether a cheap test holds at one of these places. To test each is not cheap in a text that is full of them: it may hold. */
export function mayHoldAtCredential(text: string, test: (at: number) => boolean): boolean {
  const places = credentialWords(text);
  return places.length > text.length * DENSEST || places.some(test);
}

export const credentialOf = memoize(findCredential, { maxEntries: 2_000 });

function findCredential(name: string): Credential | undefined {
  if (/^(?:OLD)?PWD$/.test(name)) return undefined; // the working directory
  if (!MAYBE_NAME.test(name.slice(-24).toLowerCase())) return undefined; // most names are of something else
  const words = wordsOf(name);
  return kindOf(words) ?? kindOf(wordsOf(name.toLowerCase().replace(WHICH, '')));
}

function kindOf(words: readonly string[]): Credential | undefined {
  const compact = words.join('');
  if (/public(?:key|token)$/.test(compact)) return undefined;
  const last = words.at(-1) ?? '';
  if (PASSWORD_END.test(compact) || PASSWORD_LAST.test(last)) return 'password';
  if (last === 'pass') return OF_PASS.test(words.at(-2) ?? '') ? 'password' : 'told';
  if (OTHER.test(compact)) return 'perhaps';
  if (KEY_END.test(compact) || KEY_LAST.test(last)) return 'key';
  return last === 'key' || last === 'keys' || last === 'tokens' ? 'perhaps' : undefined;
}

/** `dbPassword`, `DB_PASSWORD` and `db.password` are two words. */
const wordsOf = (name: string) =>
  name
    .replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '_')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter(Boolean);
