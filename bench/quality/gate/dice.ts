/** Seeded, fast and good enough for simulations (sfc32). Not for anything else. */
export type Dice = { uniform(): number; normal(): number };

export function createDice(...seeds: readonly number[]): Dice {
  let [a, b, c, d] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1];
  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 4294967296;
  };
  for (const seed of seeds) {
    a ^= seed;
    b = (b + Math.imul(seed, 0x85ebca6b)) | 0;
    for (let i = 0; i < 12; i++) next();
  }
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return { uniform: next, normal };
}

/** A draw from Beta(a, b) with a, b ≤ 1, by Jöhnk's method. */
export function drawBeta(dice: Dice, a: number, b: number): number {
  for (;;) {
    const x = dice.uniform() ** (1 / a);
    const y = dice.uniform() ** (1 / b);
    if (x + y > 0 && x + y <= 1) return x / (x + y);
  }
}

export function shuffleIndexes(dice: Dice, n: number): number[] {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let last = n - 1; last > 0; last--) {
    const other = Math.floor(dice.uniform() * (last + 1));
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return order;
}
