/** Any of these in a prompt, in any case, keeps a session out of everything that is learned. */
const NOT_TO_LEARN_PHRASES: readonly string[] = [
  "don't learn this",
  "don't learn that",
  "don't learn from this",
  "don't learn from that",
  'do not learn this',
  'do not learn that',
  'do not learn from this',
  'do not learn from that',
  'never learn from this',
  'not for learning',
  '#no-learn',
  '#nolearn',
  'skillopt: ignore',
  'lerne das nicht',
  'lerne dies nicht',
  'lern das nicht',
  'lerne nicht daraus',
  'lerne nichts daraus',
  'nicht daraus lernen',
  'nichts daraus lernen',
  "n'apprends pas ça",
  "n'apprends pas cela",
  "n'apprends rien de",
  "n'apprenez pas",
  'ne retiens pas ceci',
  'no aprendas esto',
  'no aprendas de esto',
  'no aprendas eso',
  'não aprenda isso',
  'não aprenda com isso',
  'não aprendas isto',
  'non imparare questo',
  '不要学习这',
  '不要从中学习',
  '不要學習這',
  '别学这',
  '別學這',
  '学習しないで',
  '学ばないで',
  '覚えないで',
  '학습하지 마',
];

/** A part of each of them: most texts have none, and need not be looked at again. */
const STEM = /[Ll](?:earn|ern|EARN|ERN)|[Aa]ppren|[Rr]etiens|[Aa]prend|[Ii]mparar|[Ss]killopt: |[学學覚]|학습/;

/** In a text that is longer than twice this, a person's own words stand before what was pasted or after it. */
const EDGE_LENGTH = 2_000;

/** Looked for in commands and notices, too: who asks for this must not have to ask twice. */
export function askedNotToLearn(text: string): boolean {
  const isLong = text.length > 2 * EDGE_LENGTH;
  const edges = isLong ? `${text.slice(0, EDGE_LENGTH)}\n${text.slice(-EDGE_LENGTH)}` : text;
  if (!STEM.test(edges)) return false;
  const plain = edges.toLowerCase().replaceAll('’', "'").replace(/\s+/g, ' ');
  return NOT_TO_LEARN_PHRASES.some((phrase) => plain.includes(phrase));
}
