/** `0.875` as `87.5 %`. */
export function percent(score: number | null | undefined): string {
  return score === null || score === undefined ? '–' : `${(score * 100).toFixed(1)} %`;
}

/** What was gained, in points of a hundred: `+12.5`, `-2.5`, `±0`. */
export function points(gain: number | null | undefined): string {
  if (gain === null || gain === undefined) return '';
  const text = (gain * 100).toFixed(1);
  if (Number(text) === 0) return '±0';
  return gain > 0 ? `+${text}` : text;
}

/** `850 ms` as `0.9 s`, and from a minute on as `4:05` or `1:04:05`. */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const tail = `${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${tail}` : `${minutes}:${tail}`;
}

/** `1234` as `1,234`, and from a hundred thousand on as `123.5k`. */
export function count(value: number): string {
  if (value >= 1_000_000) return `${(value / 1_000_000).toFixed(1)}M`;
  return value >= 100_000 ? `${(value / 1000).toFixed(1)}k` : value.toLocaleString('en-US');
}

/** `0.0042`, `0.42`, `12.50`, `123`: two digits that mean something, without the sign. */
export function dollars(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value > 0 && value < 0.1 ? value.toPrecision(2) : value.toFixed(2);
}

/** `1 edit`, `2 edits`; nouns that do not take an s have their plural given. */
export function plural(value: number, noun: string, many = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : many}`;
}

/** How long ago, in the largest unit that fits: `just now`, `5 min ago`, `3 h ago`, `12 days ago`. */
export function ago(at: Date, now: Date): string {
  const minutes = Math.floor((now.getTime() - at.getTime()) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} days ago`;
}

const two = (value: number) => String(value).padStart(2, '0');

/** `1536` as `1.5 kB`. */
export function byteSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
