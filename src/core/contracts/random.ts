import { SkillError } from './errors.ts';

const WORDS = 624;
const MIDDLE = 397;

/**
 * The Mersenne Twister of Python's `random.Random(seed)`: the same seed gives the same shuffles as the reference.
 * Seeds are whole numbers; as in Python, the sign does not matter. One above 2^53 must be a bigint.
 */
export class PythonRandom {
  readonly #state = new Uint32Array(WORDS);
  #position = WORDS;

  constructor(seed: number | bigint) {
    this.#seedByArray(typeof seed === 'bigint' ? toWordsOfBig(seed < 0n ? -seed : seed) : toWords(Math.abs(seed)));
  }

  getRandBits(bits: number): number {
    return this.#next32() >>> (32 - bits);
  }

  /** Float in [0, 1) with 53 random bits. */
  random(): number {
    return ((this.#next32() >>> 5) * 67108864 + (this.#next32() >>> 6)) / 9007199254740992;
  }

  /** Whole number in [0, limit), by rejection as in Python. */
  randBelow(limit: number): number {
    const bits = 32 - Math.clz32(limit);
    let value = this.getRandBits(bits);
    while (value >= limit) value = this.getRandBits(bits);
    return value;
  }

  #seedByArray(key: readonly number[]): void {
    const state = this.#state;
    state[0] = 19650218;
    for (let i = 1; i < WORDS; i++) state[i] = Math.imul(1812433253, state[i - 1]! ^ (state[i - 1]! >>> 30)) + i;
    let i = 1;
    const mix = (factor: number, add: number) => {
      state[i] = (state[i]! ^ Math.imul(state[i - 1]! ^ (state[i - 1]! >>> 30), factor)) + add;
      if (++i < WORDS) return;
      state[0] = state[WORDS - 1]!;
      i = 1;
    };
    for (let k = 0; k < Math.max(WORDS, key.length); k++) mix(1664525, key[k % key.length]! + (k % key.length));
    for (let k = 0; k < WORDS - 1; k++) mix(1566083941, -i);
    state[0] = 0x80000000;
  }

  #next32(): number {
    if (this.#position === WORDS) this.#twist();
    let word = this.#state[this.#position++]!;
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
  }

  #twist(): void {
    const state = this.#state;
    for (let i = 0; i < WORDS; i++) {
      const bits = (state[i]! & 0x80000000) | (state[(i + 1) % WORDS]! & 0x7fffffff);
      state[i] = state[(i + MIDDLE) % WORDS]! ^ (bits >>> 1) ^ (bits & 1 ? 0x9908b0df : 0);
    }
    this.#position = 0;
  }
}

function toWords(seed: number): number[] {
  const high = Math.floor(seed / 4294967296);
  return high === 0 ? [seed >>> 0] : [seed >>> 0, high];
}

function toWordsOfBig(seed: bigint): number[] {
  const words = [Number(seed & 0xffffffffn)];
  for (let rest = seed >> 32n; rest > 0n; rest >>= 32n) words.push(Number(rest & 0xffffffffn));
  return words;
}

/** A shuffled copy: the order that Python's `random.Random(seed).shuffle` gives. */
export function shuffle<T>(items: readonly T[], seed: number | bigint): T[] {
  const random = new PythonRandom(seed);
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = random.randBelow(last + 1);
    [shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!];
  }
  return shuffled;
}

export function chunk<T>(items: readonly T[], size: number): T[][] {
  if (!(size >= 1)) throw new SkillError('CONFIG_INVALID', `a batch must hold at least 1, got ${size}`);
  const chunks: T[][] = [];
  for (let start = 0; start < items.length; start += size) chunks.push(items.slice(start, start + size));
  return chunks;
}
