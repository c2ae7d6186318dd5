/** Figures in a text that cannot be: shares outside of 0 to 100 %, parts of a call, what is no number. */
export function impossibleWords(text: string): string[] {
  const found = [...text.matchAll(/NaN|Infinity|undefined|\bnull\b|(?<!\w)[-−]0(?:\.0+)?(?![\d.])/g)].map(
    ([word]) => word,
  );
  const shares = [...text.matchAll(/([-−]?\d[\d,.]*)(?= %| → [-−]?[\d.]+ %)/g)].map(([, share]) => share!);
  const counts = [...text.matchAll(/([-−]?[\d.]+)(?= (?:call|token|task|attempt|rollout|step)s?\b)/g)].map(
    ([, n]) => n!,
  );
  return [
    ...found,
    ...shares.filter((share) => !(Number(share) >= 0 && Number(share) <= 100)).map((share) => `${share} %`),
    ...counts.filter((n) => !/^\d+$/.test(n)).map((n) => `${n} of a count`),
  ];
}

const SHARES = /^(?:hard|soft|score|before|after|pValue|chance|confidence|minScore|mean|.*(?:Hard|Soft|Score|Share))$/;
const COUNTS = /^(?:calls|tokens|tasks|rollouts|n|errored|threw|total|replies|items)$/;

/** The same in an answer for programs, by the path of each value. */
export function impossibleValues(value: unknown, path = ''): string[] {
  const key = path.split('.').at(-1)!;
  if (typeof value === 'number')
    return isPossible(key, value) ? [] : [`${path} = ${Object.is(value, -0) ? '-0' : value}`];
  if (typeof value !== 'object' || value === null) return [];
  const parts = Object.entries(value).flatMap(([name, part]) =>
    impossibleValues(part, path === '' ? name : `${path}.${name}`),
  );
  const { value: estimate, interval } = value as { value?: number; interval?: { low: number; high: number } };
  if (estimate === undefined || interval === undefined) return parts;
  const isInside = interval.low <= estimate && estimate <= interval.high;
  return isInside ? parts : [...parts, `${path}: ${estimate} is not in ${interval.low} to ${interval.high}`];
}

function isPossible(key: string, value: number): boolean {
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  if (SHARES.test(key) && !/Delta/.test(key)) return value >= 0 && value <= 1;
  return COUNTS.test(key) ? Number.isInteger(value) && value >= 0 : true;
}
