import { mkdir, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { execa } from 'execa';

/** The program of a CLI, or why there is none on this machine. */
export type Installed = { readonly program: string; readonly missing?: never } | Missing;

type Missing = { readonly missing: string; readonly isOffline: boolean };

/** A CLI from npm, installed into the cache folder unless one is there that starts. */
export async function installCli(binary: string, specifier: string): Promise<Installed> {
  const folder = resolve('.cache/agents', specifier.replace(/^@/, '').replaceAll('/', '-'));
  const program = resolve(folder, 'node_modules/.bin', binary);
  try {
    await start(program, folder).catch(async () => {
      await install(folder, specifier);
      await start(program, folder);
    });
    return { program };
  } catch (error) {
    return toMissing(error as Error & { stderr?: string });
  }
}

/** Some unpack themselves into the home when they start for the first time. */
async function start(program: string, home: string): Promise<void> {
  await execa(program, ['--version'], { timeout: 60_000, stdin: 'ignore', env: { HOME: home } });
}

async function install(folder: string, specifier: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const patience = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000'];
  await execa('npm', ['install', '--prefix', folder, ...quiet, ...patience, specifier], { timeout: 240_000 });
}

const OFFLINE =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|timed out/;

function toMissing({ stderr = '', message }: Error & { stderr?: string }): Missing {
  const words = stderr.trim() || message;
  const offline = OFFLINE.exec(words)?.[0];
  const reason =
    offline === undefined ? words.split('\n').slice(0, 2).join(' ').slice(0, 160) : `no network: ${offline}`;
  return { missing: `not on ${process.platform}-${process.arch}: ${reason}`, isOffline: offline !== undefined };
}
