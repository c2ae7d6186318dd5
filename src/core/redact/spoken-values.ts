import { LETTER, PASSWORD_WORDS } from './credential-names.ts';
import { hideValues, type Judgement } from './read-value.ts';

const KEYS =
  '(?:api|access|secret|auth|private)[ _-]?(?:key|token)|token|secret(?!\\])|schl[uü]ssel|clave|clé|chiave|chave|ключ|токен|密钥|令牌|キー|トークン|토큰|pwd?';
const WORDS = `(?:${PASSWORD_WORDS.join('|')}|${KEYS})`;
/** Between the word and the value, in the languages of the words. */
const LINK =
  '(?:is|was|be|to|now|still|=+|:|：|->|→|ist|lautet|war|es|era|est|était|è|é|это|jest|je|on|är|er|là|adalah|は|が|是|为|為|은|는|이|—|–)';

const ANY_WORD = new RegExp(WORDS);
/** A word for a credential with its value right behind it. */
const NEAR = new RegExp(`${WORDS}["'\`*)]{0,3}[ \\t]{1,4}(?=\\S)`, 'g');
/** The same with up to forty letters between them: «the password for staging is …». */
const LINKED = new RegExp(
  `${WORDS}(?![${LETTER}-])[^\\n.!?;"'\`]{0,40}?(?:[ \\t]${LINK}[ \\t]{1,4}|[:：][ \\t]{1,4})(?:${LINK}[ \\t]{1,4})?(?=\\S)`,
  'g',
);
/** Languages that write no space between words. */
const TIGHT =
  /(?:密码|密碼|口令|パスワード|パスフレーズ|비밀번호|암호|密钥|令牌|トークン|토큰)[\u3040-\u9fff\uac00-\ud7a3]{0,12}[\s：:「『“"'`=]{0,4}(?=[!-~])/g;

const OF_PASSWORD = new RegExp(`^(?:${PASSWORD_WORDS.join('|')}|pwd?)`);
const INSIDE_A_WORD = new RegExp(`[${LETTER}.]$`);

/** Credentials that people say in a sentence. */
export function hideSpokenValues(text: string): string {
  if (!ANY_WORD.test(lowered(text))) return text;
  const tight = hideValues(text, TIGHT, tellsPassword);
  const told = hideValues(
    tight,
    LINKED,
    (match) => (isInsideAWord(match) ? undefined : tellsPassword(match)),
    lowered(tight),
  );
  const spoken = { credential: 'spoken' } as const;
  return hideValues(told, NEAR, (match) => (isInsideAWord(match) ? undefined : spoken), lowered(told));
}

/** In small letters and of the same length: patterns that take either case are several times as slow. */
const lowered = (text: string) => text.replaceAll('İ', 'i').toLowerCase();

const isInsideAWord = ({ input, index }: RegExpExecArray) =>
  index > 0 && input[index - 2] !== '\\' && INSIDE_A_WORD.test(input[index - 1]!);

/** What stands in quotes behind «the password is» is one, even if it is a word; behind «lautet» nothing else stands. */
const tellsPassword = ({ 0: lead, index, input }: RegExpExecArray): Judgement => ({
  credential:
    OF_PASSWORD.test(lead) && (/ lautet\W*$/.test(lead) || /["'`“„«「]/.test(input[index + lead.length] ?? ''))
      ? 'password'
      : 'told',
});
