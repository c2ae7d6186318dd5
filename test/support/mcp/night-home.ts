import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleepHome } from '../sleep/sleep-home.ts';

/** A home with one session, whose person names a model at `baseURL`. */
export function nightHome(baseURL: string, llmMine = false, more = '') {
  const home = sleepHome();
  home.said();
  const settings = `target: compatible:m@${baseURL}\nllmMine: ${llmMine}\nlookbackHours: 0\n${more}`;
  mkdirSync(home.state, { mode: 0o700 });
  writeFileSync(join(home.state, 'config.yaml'), settings);
  const env = { ...process.env, ...home.env, PATH: process.env.PATH, OPENAI_COMPATIBLE_API_KEY: 'dummy-key' };
  return { ...home, env, [Symbol.dispose]: () => home[Symbol.dispose]() };
}
