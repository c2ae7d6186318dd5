/**
 * Any of these in a prompt, in any case, keeps a session out of everything that is learned. `docs/sleep.md` lists the English
 * ones as what is refused (learning, training, remembering) and what of (this, that, the session, the chat).
 */
const NOT_TO_LEARN = new RegExp(
  [
    String.raw`\b(?:don't|dont|do not|never|please don't|must not|should not|shouldn't|mustn't|may not) (?:ever )?(?:learn|train|remember|memorize|memorise|take lessons) (?:anything |something )?(?:from |on |about |of )?(?:any of )?(?:this|that|these|here|it\b|our (?:chat|conversation|session)|the (?:chat|conversation|session)|my (?:chat|session|code|data|words))`,
    String.raw`\b(?:don't|dont|do not|never) use (?:this|that|the|our|my)(?: \w+)? (?:for|to) (?:learn|train)`,
    String.raw`\b(?:learn|train) (?:nothing|on nothing) from (?:this|that|here|it\b|our|the|my)`,
    String.raw`\bno (?:learning|training) (?:from|on|with) (?:this|that|our|the|my)`,
    String.raw`\bnot (?:for|meant for|to be used for) (?:learning|training)\b`,
    String.raw`\b(?:keep|leave) (?:this|that|this session|this chat|this conversation) out of (?:the |your |any )?(?:learning|training|skill|memory)`,
    String.raw`\b(?:forget|ignore) this (?:session|chat|conversation)(?= *(?:$|[.,;!?)]|for (?:learn|train)|when (?:learn|train)|please))`,
    String.raw`\b(?:this|that) (?:is|stays) off the record\b`,
    String.raw`(?:^|[^\w&])#no-?(?:learn|train)(?:ing)?\b`,
    String.raw`\bskillopt: ?ignore\b`,
  ].join('|'),
);

/** In other languages, as they are. */
const NOT_TO_LEARN_PHRASES: readonly string[] = [
  'lerne das nicht',
  'lerne dies nicht',
  'lern das nicht',
  'lerne nicht daraus',
  'lerne nichts daraus',
  'nicht daraus lernen',
  'nichts daraus lernen',
  'hieraus nichts lernen',
  'hieraus nicht lernen',
  'hieraus bitte nicht',
  'davon nichts lernen',
  'nicht zum lernen',
  'nicht zum trainieren',
  'merk dir das nicht',
  'merke dir das nicht',
  "n'apprends pas ça",
  "n'apprends pas cela",
  "n'apprends rien de",
  "n'apprenez pas",
  'ne retiens pas ceci',
  "n'apprends pas de",
  'ne retiens rien de',
  'no aprendas esto',
  'no aprendas de esto',
  'no aprendas eso',
  'no aprendas nada de',
  'no recuerdes esto',
  'não aprenda isso',
  'não aprenda com isso',
  'não aprendas isto',
  'non imparare questo',
  'non imparare da questo',
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
const STEM =
  /[Ll](?:earn|ern|EARN|ERN)|[Tt](?:rain|RAIN)|[Rr]emember|REMEMBER|[Mm]emori|[Ff]orget this|[Ii]gnore this|off the record|[Mm]erke? dir|[Rr]ecuerd|[Aa]ppren|[Rr]etiens|[Aa]prend|[Ii]mparar|[Ss]killopt: ?|[学學覚]|학습/;

/** In a text that is longer than twice this, a person's own words stand before what was pasted or after it. */
const EDGE_LENGTH = 2_000;

/** Looked for in commands and notices, too: who asks for this must not have to ask twice. Not in code and quotations: others said that. */
export function askedNotToLearn(text: string): boolean {
  const isLong = text.length > 2 * EDGE_LENGTH;
  const edges = isLong ? `${text.slice(0, EDGE_LENGTH)}\n${text.slice(-EDGE_LENGTH)}` : text;
  if (!STEM.test(edges)) return false;
  const own = edges.replace(QUOTED, ' ');
  const plain = own.toLowerCase().replaceAll('’', "'").replace(/\s+/g, ' ');
  return NOT_TO_LEARN.test(plain) || NOT_TO_LEARN_PHRASES.some((phrase) => plain.includes(phrase));
}

/** Code, lines that are quoted, and words in quotes. */
const QUOTED =
  /```[^`]*(?:```|$)|`[^`\n]*`|^[ \t]*>.*$|"[^"\n]{0,200}"|“[^”\n]{0,200}”|«[^»\n]{0,200}»|„[^“\n]{0,200}“/gm;
