export { defined, groupBy, joined, memoize, memoizeWeakly } from './collections.ts';
export { fence, skillHash } from './fence.ts';
export { count, dollars, percent, plural, points, wholePoints } from './figures.ts';
export { growing, listWith, listWithAt, objectWith } from './growing.ts';
export {
  asJson,
  endOfJson,
  extractJson,
  isObject,
  jsonCandidates,
  jsonLine,
  jsonText,
  mapValues,
  parseJson,
  snakeName,
  textOf,
  toCamelCase,
  toSnakeCase,
} from './json.ts';
export {
  closestName,
  describeIssue,
  describeValue,
  expectedBy,
  isPortableName,
  nameProblem,
  portableName,
  suggestion,
  unknownKeys,
  valueAt,
} from './names.ts';
export {
  clip,
  inMarkdown,
  isTypable,
  nameAsData,
  oneLine,
  printable,
  shellWord,
  withCauses,
  withoutEscapes,
} from './printable.ts';
export { casefold, head, includesText, roundHalfToEven, rstrip, strip, WHITESPACE } from './python-text.ts';
export {
  askedKey,
  jaccard,
  joinWords,
  nearDuplicateGroups,
  nearDuplicateOf,
  type Phrase,
  phrasesIn,
  SimilarityIndex,
  STOP_WORDS,
  splitWords,
  textsOf,
  type Words,
  weightOf,
  withoutNearDuplicates,
  wordsOf,
} from './similarity.ts';
