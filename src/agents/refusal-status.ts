const NUMBER = /(?:^|status:? |HTTP |Error: |\()([45]\d\d)\b/;

/** How CLIs that leave the number out put it. */
const WORDS: readonly (readonly [RegExp, number])[] = [
  [/rate.?limit|too many requests/i, 429],
  [/internal server error/i, 500],
  [/overloaded|service unavailable/i, 503],
];

/** The HTTP status that a CLI's words about a refused call give away. */
export function statusIn(words: string): number | undefined {
  const number = NUMBER.exec(words)?.[1];
  return number === undefined ? WORDS.find(([pattern]) => pattern.test(words))?.[1] : Number(number);
}

/** Whether another try can help. */
export const isPassing = (status = 0) => [408, 409, 425, 429].includes(status) || status >= 500;
