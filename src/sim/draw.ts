/** A uniform number in [0, 1). The same label is always the same number. */
export type Draw = (label: string) => number;

export type Dice = (sides: number) => number;

/**
 * Draws that depend on the seed and the texts alone, so that no order of calls can change them.
 * Two 32-bit lanes, not SHA: a simulated model is asked hundreds of thousands of times.
 */
export function createDraw(seed: number, texts: readonly string[]): Draw {
  const start: Lanes = { low: 0x811c9dc5, high: 0x9e3779b9 };
  for (const text of [String(seed), ...texts]) absorb(start, text);
  return (label) => {
    const lanes = { ...start };
    absorb(lanes, label);
    return toUnit(lanes);
  };
}

export const pick = <T>(draw: Draw, label: string, options: readonly T[]): T =>
  options[Math.floor(draw(label) * options.length)]!;

export function createDice(draw: Draw): Dice {
  let throws = 0;
  return (sides) => Math.floor(draw(`throw ${throws++}`) * sides);
}

type Lanes = { low: number; high: number };

function absorb(lanes: Lanes, text: string): void {
  let { low, high } = lanes;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x5bd1e995) ^ (high >>> 15);
  }
  lanes.low = Math.imul(low ^ text.length, 0x01000193); // the length too, so that ['ab', 'c'] and ['a', 'bc'] differ
  lanes.high = Math.imul(high ^ text.length, 0x5bd1e995);
}

/** Crosses the lanes and spreads every bit, then takes 53 of them. */
function toUnit({ low, high }: Lanes): number {
  const first = spread(low ^ Math.imul(high, 0x9e3779b1));
  const second = spread(high ^ Math.imul(first, 0x85ebca77));
  return ((first >>> 5) * 67108864 + (second >>> 6)) / 9007199254740992;
}

function spread(word: number): number {
  const once = Math.imul(word ^ (word >>> 16), 0x7feb352d);
  const twice = Math.imul(once ^ (once >>> 15), 0x846ca68b);
  return (twice ^ (twice >>> 16)) >>> 0;
}
