import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { execa } from 'execa';

/** The program of a CLI from npm, installed into the cache folder unless it is there. */
export async function installCli(binary: string, specifier: string): Promise<string> {
  const folder = resolve('.cache/agents', specifier.replace(/^@/, '').replaceAll('/', '-'));
  const program = resolve(folder, 'node_modules/.bin', binary);
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  await execa('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', specifier]);
  return program;
}
