import { type Figure, figuresIn, inOneLine, wholeFigure } from './figures.ts';

/** The text in the only pair of brackets, if there is no digit outside of it. */
function bracketed(text: string): string | undefined {
  const line = inOneLine(text);
  const [found, ...others] = line.matchAll(/\[([^[\]]+)\]/g);
  if (found === undefined || others.length > 0) return undefined;
  return /\d/.test(line.replace(found[0], '')) ? undefined : found[1];
}

/** The numbers of an answer that is a list in brackets, such as `[0.12, 0.5]`. Their order counts. */
export function listIn(gold: string): readonly Figure[] | undefined {
  const body = bracketed(gold);
  const figures = figuresIn(gold);
  if (body === undefined || figures.length < 2) return undefined;
  return splitsInto(body, figures.map(acceptsOnly)) ? figures : undefined;
}

type Accepts = (value: number) => boolean;

function acceptsOnly({ value }: Figure): Accepts {
  return (other) => other === value;
}

/**
 * Whether the text can be cut at commas into numbers that are accepted one after the other. A comma may also be part of a number:
 * `[8,152,260]` can be 8 and 152260. Takes time in proportion to places times numbers, however many ways to cut there are.
 */
export function splitsInto(text: string, accepts: readonly Accepts[]): boolean {
  const pieces = (bracketed(text) ?? inOneLine(text)).split(',');
  const numbersAt = pieces.map((_, start) => numbersFrom(pieces, start));
  let starts = new Set([0]);
  for (const accept of accepts) {
    const next = [...starts].flatMap((start) => (numbersAt[start] ?? []).filter(({ value }) => accept(value)));
    starts = new Set(next.map(({ end }) => end));
  }
  return starts.has(pieces.length);
}

/** The numbers that begin with this piece, each with the place after its last piece. */
function numbersFrom(pieces: readonly string[], start: number): { readonly value: number; readonly end: number }[] {
  const found: { value: number; end: number }[] = [];
  for (let end = start + 1; end <= pieces.length; end++) {
    const value = wholeFigure(pieces.slice(start, end).join(','));
    if (value !== undefined) found.push({ value, end });
    const isLast = end > start + 1 && !/^\d{3}$/.test(pieces[end - 1]!);
    if (isLast || !/^\d{3}/.test(pieces[end] ?? '')) break;
  }
  return found;
}
