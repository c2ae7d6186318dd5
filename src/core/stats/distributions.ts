import { memoize } from '../text/index.ts';

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** ln Γ(x) for x > 0, to about 15 digits (Lanczos, g = 7). */
function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const shifted = x - 1;
  const t = shifted + 7.5;
  let series = LANCZOS[0]!;
  for (let i = 1; i < LANCZOS.length; i++) series += LANCZOS[i]! / (shifted + i);
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(series);
}

/** The regularised incomplete beta function I_x(a, b). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  // The fraction converges fast below the mean; above it, the mirror image does.
  if (x < (a + 1) / (a + b + 2)) return (front * betaFraction(x, a, b)) / a;
  return 1 - (front * betaFraction(1 - x, b, a)) / b;
}

/** The continued fraction of the incomplete beta function, by Lentz's method. */
function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  const away = (value: number) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const step of [even, odd]) {
      d = 1 / away(1 + step * d);
      c = away(1 + step / c);
      change = c * d;
      fraction *= change;
    }
    if (Math.abs(change - 1) < 1e-15) break;
  }
  return fraction;
}

/**
 * Clopper and Pearson's interval for a share, of which `solved` of `n` were seen: it covers the truth at least as often as it says,
 * also for few and for none.
 */
export function exactInterval(
  solved: number,
  n: number,
  confidence = 0.95,
): { readonly low: number; readonly high: number } {
  const tail = (1 - confidence) / 2;
  const quantile = (share: number, a: number, b: number) =>
    leastOf([0, 1], 50, (value) => incompleteBeta(value, a, b) >= share);
  return {
    low: solved <= 0 ? 0 : quantile(tail, solved, n - solved + 1),
    high: solved >= n ? 1 : quantile(1 - tail, solved + 1, n - solved),
  };
}

/** P(T ≤ t) of Student's t. */
export function tCdf(t: number, freedom: number): number {
  const tail = 0.5 * incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
  return t > 0 ? 1 - tail : tail;
}

/** The t that a share `probability` stays below. */
export function tQuantile(probability: number, freedom: number): number {
  if (probability < 0.5) return -tQuantile(1 - probability, freedom);
  return probability === 0.5 ? 0 : tQuantiles(freedom)(probability);
}

/** Bisection takes long, and the same few quantiles are asked for again and again. */
const KEPT = { maxEntries: 1_000 };
const tQuantiles = memoize(
  (freedom: number) => memoize((probability: number) => bisect((t) => tCdf(t, freedom), probability), KEPT),
  KEPT,
);

/** P(Z ≤ z) of the standard normal: half an incomplete gamma function, by its series or its fraction. */
export function normalCdf(z: number): number {
  const tail = 0.5 * upperGammaHalf((z * z) / 2);
  return z > 0 ? 1 - tail : tail;
}

/** Mean excess of a normal deviate over the bar that it passed, by how far the mean is above the bar. */
export const hazard = (z: number) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI) / Math.max(1e-12, normalCdf(z));

export function normalQuantile(probability: number): number {
  if (probability < 0.5) return -normalQuantile(1 - probability);
  return probability === 0.5 ? 0 : upperNormalQuantile(probability);
}

const upperNormalQuantile = memoize((probability: number) => bisect(normalCdf, probability), KEPT);

/** Q(1/2, x), the regularised upper incomplete gamma function. */
function upperGammaHalf(x: number): number {
  if (x <= 0) return 1;
  const front = Math.exp(-x + 0.5 * Math.log(x) - logGamma(0.5));
  return x < 1.5 ? 1 - front * lowerSeries(x) : front * upperFraction(x);
}

function lowerSeries(x: number): number {
  let term = 2;
  let sum = term;
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= x / (0.5 + k);
    sum += term;
  }
  return sum;
}

function upperFraction(x: number): number {
  let b = x + 0.5;
  let c = 1e300;
  let d = 1 / b;
  let fraction = d;
  for (let k = 1; k <= 500; k++) {
    const a = -k * (k - 0.5);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return fraction;
}

function bisect(rising: (t: number) => number, goal: number): number {
  let high = 1;
  while (rising(high) < goal && high < 1e12) high *= 2;
  let low = 0;
  for (let i = 0; i < 200 && high - low > 1e-13 * high; i++) {
    const middle = (low + high) / 2;
    if (rising(middle) < goal) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The least value between two for which something holds, which holds for all greater ones: by halving so many times. */
export function leastOf(
  between: readonly [number, number],
  halvings: number,
  holds: (value: number) => boolean,
): number {
  let [low, high] = between;
  for (let i = 0; i < halvings; i++) {
    const middle = (low + high) / 2;
    [low, high] = holds(middle) ? [low, middle] : [middle, high];
  }
  return high;
}

export type TestedNight = { readonly isProven: boolean };

/** The chance of ever proposing something useless in a world where nothing helps. */
export const TOTAL_ERROR = 0.1;

/** The share of the total error that the n-th night gets. They sum to 1 over all nights; the first is a half. */
const shareOf = (place: number) => (place < 1 ? 0 : 1 / (place * (place + 1)));

/** The error that the next tested night may make. Each proof starts the series again: where things help, few do not (alpha-investing). */
export function nextError(nights: readonly TestedNight[], total = TOTAL_ERROR): number {
  const next = nights.length + 1;
  const earned = nights.reduce((sum, { isProven }, index) => sum + (isProven ? shareOf(next - index - 1) : 0), 0);
  // Never more than a first night: a long row of proofs is no licence.
  return Math.min(total / 2, total * (shareOf(next) + earned));
}
