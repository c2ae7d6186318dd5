import { memoize } from '../../core/text/index.ts';
import type { Place } from '../transcript-source.ts';
import { listOfPhrases as list, phraseList } from './filters.ts';

// Praise and complaints in English, German, French, Spanish, Portuguese, Chinese and Japanese. In lower case, with a
// plain apostrophe for both kinds.

const NEGATIVE_PHRASES = list(`
  doesn't work | does not work | didn't work | did not work | still doesn't | still does not | isn't working |
  not working | still broken | still failing | still fails | still wrong | still not | still getting |
  incorrect | wrong | broken | failed again | fails again | that failed | you broke | it broke | you missed |
  you forgot | that's not what i | not what i asked | not what i wanted | not what i meant | undo that |
  undo this | revert that | revert this | try again | same error | no, | no. | no! | nope | bad idea |
  👎 | makes no sense | funktioniert nicht | geht nicht | geht immer noch nicht | immer noch kaputt | falsch |
  stimmt nicht | nein, | nicht das, was ich | mach das rückgängig | gleicher fehler | noch einmal versuchen |
  versuch es noch einmal | ne marche pas | ne marche toujours pas | ne fonctionne pas | toujours cassé |
  incorrecte | c'est faux | non, | ce n'est pas ce que | même erreur | réessaie | annule ça | no funciona |
  sigue sin funcionar | sigue fallando | incorrecto | está mal | no es lo que | mismo error |
  inténtalo de nuevo | deshaz eso | equivocado | não funciona | não funcionou | ainda não |
  continua quebrado | incorreto | errado | não é o que | mesmo erro | tente novamente | tenta de novo | não, |
  不对 | 不對 | 错了 | 錯了 | 还是不行 | 還是不行 | 不行 | 没用 | 沒用 | 有问题 | 不正确 | 不是我想要的 | 重做 | 还是报错 | 違います | 違う | 間違って | 間違い |
  動かない | 動きません | 直っていない | 直ってない | だめ | ダメ | やり直し
`);

const POSITIVE_PHRASES = list(`
  works now | it works | that works | this works | works great | works perfectly | looks good | looks great |
  lgtm | 👍 | 🎉 | ❤️ | 💯 | perfect | well done | awesome | excellent | good job | great job | nice work | that's correct |
  that's right | that is correct | is correct | is fixed | it's fixed | fixed now | fixed it |
  exactly what i | thank you | thanks | love it | much better | funktioniert jetzt | es funktioniert |
  jetzt geht es | perfekt | sehr gut | danke | stimmt so | genau so | super | ça marche | cela fonctionne |
  parfait | merci | très bien | c'est bon | bien joué | ya funciona | ahora funciona | perfecto | gracias |
  muy bien | excelente | así es | funciona agora | agora funciona | funcionou | perfeito | obrigado |
  obrigada | muito bom | muito bem | 谢谢 | 謝謝 | 太好了 | 很好 | 完美 | 可以了 | 没问题 | 沒問題 | 搞定了 | 好的,谢谢 | ありがとう | 完璧 |
  動きました | 動いた | 直りました | 直った | 素晴らしい | いいですね | うまくいきました
`);

/** Words that count only when they are denied: «fixed» may be a width, «not fixed» is a complaint. */
const DENIED_WORDS = list(`
  fixed | correct | right | working | solved | resolved | good | done | better | finished | what i want |
  behoben | richtig | gelöst | fertig | gut | korrekt | corrigé | résolu | bon | correct | arreglado |
  solucionado | resuelto | correcto | bien | corrigido | resolvido | correto | certo
`);

/** Words that deny a statement if they stand at most two words before it. */
const DENIALS = list(`
  not | isn't | wasn't | aren't | doesn't | didn't | don't | won't | never | no longer | nothing | hardly |
  nicht | nie | kein | keine | pas | jamais | rien | no | nunca | nada | não | nem
`);

/** Words before a question rather than a complaint: «what is wrong with it». */
const ASKING = list(`
  what's | what is | whats | anything | something | if | whether | was ist
`);

/** Words that are praise only when nothing follows them: «great», but not «a great deal of rows». */
const LAST_WORDS = list(`
  great | nice | looks nice | cool | neat | good | brilliant | fantastic | amazing | beautiful | sweet | wonderful | nice one |
  very nice | very good | all good | so good | toll | prima | klasse | spitze | gut | sehr schön | schön | genial | génial |
  super bien | bravo | nickel | genial | bien | estupendo | ótimo | bom | legal
`);

/** Complaints after «too»: «that's too long», but not «lines that are too long». */
const TOO_MUCH = list(`
  long | short | verbose | wordy | slow | complicated | complex | vague | big | small | much | many | generic | lang | kurz |
  kompliziert | langsam | ausführlich
`);

type Kind = 'neg' | 'pos' | 'denied';

/** After this many characters a text is a log or a document, not an opinion. */
const MAX_READ_LENGTH = 600;

/**
 * Reads what a prompt says about the work before it: `neg:…` and `pos:…`, in the order of the text, in whole words.
 * `SKILLOPT_SLEEP_NEG_FEEDBACK` and `SKILLOPT_SLEEP_POS_FEEDBACK` add phrases.
 */
export function feedbackReader(env: Place['env']): (prompt: string) => readonly string[] {
  return readerWith(`${env.SKILLOPT_SLEEP_NEG_FEEDBACK ?? ''}\n${env.SKILLOPT_SLEEP_POS_FEEDBACK ?? ''}`);
}

/** Every session of a harvest has the same phrases. */
const readerWith = memoize(makeReader, { maxEntries: 4 });

function makeReader(added: string): (prompt: string) => readonly string[] {
  const [negative, positive] = added.split('\n');
  const kinds = new Map<string, Kind>([
    ...DENIED_WORDS.map((word) => [word, 'denied'] as const),
    ...[...POSITIVE_PHRASES, ...phraseList(positive)].map((phrase) => [phrase, 'pos'] as const),
    ...[...NEGATIVE_PHRASES, ...phraseList(negative)].map((phrase) => [phrase, 'neg'] as const),
  ]);
  // A list of plain texts is searched faster than one with conditions, which are checked for each match.
  const pattern = new RegExp(longestFirst([...kinds.keys()]), 'g');
  return (prompt) => {
    const text = ownWords(prompt);
    const signals = new Set<string>();
    pattern.lastIndex = 0; // `matchAll` would compile the long pattern again for every prompt
    for (let hit = pattern.exec(text); hit !== null; hit = pattern.exec(text)) {
      const { 0: phrase, index } = hit;
      if (isWhole(text, phrase, index)) signals.add(signalOf(text, phrase, index, kinds.get(phrase)!));
      else pattern.lastIndex = index + 1;
    }
    for (const signal of wholeRemarks(text)) signals.add(signal);
    signals.delete(NO_SIGNAL);
    return [...signals];
  };
}

/** Words that count only by their place in the text. */
function wholeRemarks(text: string): string[] {
  const praise = LAST.exec(text.slice(-REMARK_LENGTH))?.[1];
  const found = TOO.exec(text);
  const isQuestion = found !== null && asksAt(text.slice(found.index + found[0].length));
  const complaint = isQuestion ? undefined : found?.[1];
  return [...(complaint === undefined ? [] : [`neg:${complaint}`]), ...(praise === undefined ? [] : [`pos:${praise}`])];
}

const NO_SIGNAL = '';

function signalOf(text: string, phrase: string, index: number, kind: Kind): string {
  const name = phrase.replace(/[,.!]$/, '');
  const before = clauseBefore(text, index);
  const isDenied = DENIED.test(before);
  if (kind === 'neg') return isDenied || ASKED.test(before) ? NO_SIGNAL : `neg:${name}`;
  if (isDenied) return `neg:not ${name}`;
  return kind === 'denied' || asksAt(text.slice(index)) ? NO_SIGNAL : `pos:${name}`;
}

const asksAt = (after: string) => /^[^.!?\n]*\?/.test(after.slice(0, 200));

/** Without code and quotations, which are the words of others. */
function ownWords(prompt: string): string {
  const opening = prompt.slice(0, MAX_READ_LENGTH).toLowerCase().replaceAll('’', "'");
  return opening.replace(/```[^`]*(?:```|$)|`[^`\n]*`|^[ \t]*>.*$/gm, ' ').replace(/[ \t]{2,}|\t/g, ' ');
}

function clauseBefore(text: string, index: number): string {
  const before = text.slice(Math.max(0, index - 60), index);
  return before.split(/[.,;:!?\n]/).at(-1)!;
}

const escaped = (phrase: string) => phrase.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

const longestFirst = (phrases: readonly string[]) =>
  [...phrases]
    .sort((one, other) => other.length - one.length)
    .map(escaped)
    .join('|');

const LETTER = /[\p{L}\p{N}_]/u;
const WITHOUT_SPACES = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;

/** Whether a phrase stands by itself. Scripts without spaces between words need no such check. */
function isWhole(text: string, phrase: string, index: number): boolean {
  const [before, after] = [text.charAt(index - 1), text.charAt(index + phrase.length)];
  if (!LETTER.test(before) && !(LETTER.test(after) && LETTER.test(phrase.at(-1)!))) return true;
  return WITHOUT_SPACES.test(phrase);
}

const endingIn = (words: readonly string[]) =>
  new RegExp(`(?:^|[^a-zäöüßà-ÿ])(?:${words.map(escaped).join('|')})(?: [a-zäöüßà-ÿ']{1,20}){0,2} ?$`);

/** Longer than a last remark, so that only the end of a long text is searched. */
const REMARK_LENGTH = 60;
const LAST = new RegExp(
  `(?:^|[.,;:!?\\n–—-]) *(?:(?:that's|that is|it's|it is|this is|oh|wow|so|das ist|ist) )?(${longestFirst(LAST_WORDS)})[ !.…)✨🙂😀]*$`,
  'u',
);
const TOO = new RegExp(
  `(?:^|[.,;:!?\\n–—-]) *(?:(?:but|and|still|way|much|far|a bit|a little|bit|kind of|it|that|this|is|that's|it's|was|looks|feels|immer noch|viel|etwas|das|ist|es) )*((?:too|zu) (?:${longestFirst(TOO_MUCH)}))(?![a-zäöüß])`,
);
const DENIED = endingIn(DENIALS);
const ASKED = endingIn(ASKING);
