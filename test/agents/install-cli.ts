import { mkdir, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import pLimit from 'p-limit';
import type { TestProject } from 'vitest/node';
import { type AgentCliName, agentClis } from '../../src/agents/index.ts';
import { cliRows } from './cli-rows.ts';

declare module 'vitest' {
  interface ProvidedContext {
    clis: Partial<Record<AgentCliName, Installed>>;
  }
}

/** Before the tests: every CLI is installed once, and the tests are given where each is. */
export default async function provideClis(project: TestProject): Promise<void> {
  project.provide('clis', await installClis());
}

async function installClis(): Promise<Partial<Record<AgentCliName, Installed>>> {
  const twoAtATime = pLimit(2);
  const entries = cliRows.map(({ cli, specifier }) =>
    twoAtATime(async () => [cli, await installCli(agentClis[cli].binary, specifier)] as const),
  );
  await twoAtATime(installConformance);
  return Object.fromEntries(await Promise.all(entries));
}

/** The program of a CLI, or why there is none on this machine. */
export type Installed = { readonly program: string; readonly missing?: never } | Missing;

type Missing = { readonly missing: string; readonly isOffline: boolean };

/** The examination of MCP servers, which wants a newer Node than ours: that one is installed beside it. */
export const installConformance = () =>
  installCli('conformance', '@modelcontextprotocol/conformance@0.2.0-alpha.12', ['node@24']);

/** A CLI from npm, installed into the cache folder unless one is there that starts. */
async function installCli(binary: string, specifier: string, beside: readonly string[] = []): Promise<Installed> {
  const folder = resolve('.cache/agents', specifier.replace(/^@/, '').replaceAll('/', '-'));
  const program = resolve(folder, 'node_modules/.bin', binary);
  try {
    await start(program, folder).catch(async () => {
      await install(folder, [specifier, ...beside]);
      await start(program, folder);
    });
    return { program };
  } catch (error) {
    return toMissing(error as Error & { stderr?: string });
  }
}

/** Some unpack themselves into the home when they start for the first time. */
async function start(program: string, home: string): Promise<void> {
  await execa(program, ['--version'], {
    timeout: 60_000,
    stdin: 'ignore',
    env: { HOME: home, PATH: pathWith(program) },
  });
}

/** Programs are found first where this one is: the Node that it wants. */
export const pathWith = (program: string) => `${dirname(program)}:${process.env.PATH}`;

async function install(folder: string, specifiers: readonly string[]): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const patience = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000'];
  await execa('npm', ['install', '--prefix', folder, ...quiet, ...patience, ...specifiers], { timeout: 240_000 });
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

// Started as a program, it installs them in advance: CI does so beside other tests.
if (process.argv[1] === fileURLToPath(import.meta.url)) await installClis();
