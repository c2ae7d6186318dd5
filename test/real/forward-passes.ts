import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/**
 * Forward passes kept on disk, one line each. A pass is a function of model and prompt, so draws for the same prompt
 * share it: only the dice differ. A line that a crash tore is computed again.
 */
export class ForwardPasses {
  readonly #path: string;
  readonly #known = new Map<string, readonly number[]>();
  computed = 0;

  constructor(path: string) {
    this.#path = path;
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    for (const line of lines) {
      const [, key, values] = /^(\w{32}) (\[[^\]]*\])$/.exec(line) ?? [];
      if (key && values) this.#known.set(key, JSON.parse(values));
    }
  }

  async get(model: string, prompt: string, compute: () => Promise<readonly number[]>): Promise<readonly number[]> {
    const key = createHash('sha256').update(`${model}\n${prompt}`).digest('hex').slice(0, 32);
    const known = this.#known.get(key);
    if (known) return known;
    const values = await compute();
    this.computed += 1;
    this.#known.set(key, values);
    appendFileSync(this.#path, `${key} ${JSON.stringify(values)}\n`);
    return values;
  }
}
