/** `0.875` as `87.5 %`. */
export function percent(score: number | null | undefined): string {
  if (score === null || score === undefined) return '–';
  const shown = (score * 100).toFixed(1);
  return `${shown === '-0.0' ? '0.0' : shown} %`; // sums of many scores may come to -1e-17
}

/** A gain in points of a hundred: `+12.5`, `-2.5`, `±0`. */
export function points(gain: number | null | undefined): string {
  if (gain === null || gain === undefined) return '';
  const text = (gain * 100).toFixed(1);
  if (Number(text) === 0) return '±0';
  return gain > 0 ? `+${text}` : text;
}

const thousands = new Intl.NumberFormat('en-US');

/** `1234` as `1,234`, and from a hundred thousand on as `123.5k`. */
export function count(value: number): string {
  if (value >= 1_000_000) return `${(value / 1_000_000).toFixed(1)}M`;
  return value >= 100_000 ? `${(value / 1000).toFixed(1)}k` : thousands.format(value);
}

/** `0.0042`, `0.42`, `12.50`, `123`: two digits that mean something, without the sign. */
export function dollars(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value > 0 && value < 0.1 ? value.toPrecision(2) : value.toFixed(2);
}

/** `1 edit`, `2 edits`; `many` is the plural of other nouns. */
export const plural = (value: number, noun: string, many = `${noun}s`): string =>
  `${count(value)} ${value === 1 ? noun : many}`;

/** A gain in whole points: `+50`, `-3`; below one point with one digit that is not 0. */
export function wholePoints(gain: number): string {
  const value = 100 * gain;
  if (value === 0) return '0';
  const size = Math.abs(value) >= 1 ? Math.abs(value).toFixed(0) : String(Number(Math.abs(value).toPrecision(1)));
  return `${value > 0 ? '+' : '-'}${size}`;
}
