import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import {
  type ResourceLimits,
  type Sandbox,
  type SandboxRequest,
  type SandboxResult,
  SkillError,
  type WorkspaceView,
} from '../../core/contracts/index.ts';
import type { Command, Verify } from '../../core/judge/index.ts';
import { head, oneLine, parseJson, strip } from '../../core/text/index.ts';
import { layFiles, namesInterpreter } from '../../workspaces/index.ts';
import { reaching } from '../allowed-hosts.ts';

/** A workspace that nobody works in any more. Everything is read and run there by commands in the sandbox. */
export type Site = {
  readonly hasOwnNames: boolean;
  readonly signal: AbortSignal;
  /** Runs a verifier, which may reach the hosts that the project allows. */
  run(request: Omit<SandboxRequest, 'workspace' | 'signal'>): Promise<SandboxResult>;
  /** The text of a file, '' for a folder, `undefined` where nothing is. */
  read(path: string): Promise<string | undefined>;
  /** Paths of the files that a pattern stands for. */
  find(glob: string): Promise<readonly string[]>;
  /** Lays files over what is there, links and folders included, after taking away what may not be there. Returns why it cannot. */
  lay(files: Contents, without?: readonly string[]): Promise<string | undefined>;
};

/** Files by path. */
export type Contents = Readonly<Record<string, string | Uint8Array>>;

export const commandWords = (command: Command): readonly string[] =>
  typeof command === 'string' ? ['/bin/sh', '-c', command] : command;

const COMMAND_MS = 60_000;
const NOTHING_THERE = 3;

const READ = `test -e "$1" || exit ${NOTHING_THERE}; test -f "$1" || exit 0; head -c 1000000 -- "$1"`;

type SiteOptions = {
  readonly signal: AbortSignal;
  readonly limits: ResourceLimits;
  readonly verifierHosts: readonly string[];
};

/** The shell in the sandbox reads: a link that the agent left behind leads nowhere that the agent could not go. */
export function openSite(sandbox: Sandbox, view: WorkspaceView, options: SiteOptions): Site {
  const { signal, verifierHosts } = options;
  const { processes, memoryMb, diskMb } = options.limits;
  const limits = { processes, memoryMb, diskMb }; // work that an agent left may use as much as the agent might
  const runIn = (place: Sandbox): Site['run'] => {
    return (request) => place.run({ limits, ...request, workspace: view, signal });
  };
  const run = runIn(sandbox);
  return {
    hasOwnNames: sandbox.hasOwnNames,
    signal,
    run: runIn(reaching(verifierHosts, sandbox)),
    async read(path) {
      const { exitCode, stdout } = await run({ command: ['/bin/sh', '-c', READ, 'sh', path], timeoutMs: COMMAND_MS });
      return exitCode === NOTHING_THERE ? undefined : stdout;
    },
    async find(glob) {
      const { stdout } = await run({ command: ['find', '.', '-type', 'f', '-print0'], timeoutMs: COMMAND_MS });
      const paths = stdout.split('\0').map((path) => path.replace(/^\.\//, ''));
      return paths.filter((path) => isCovered(path, [glob])).sort();
    },
    async lay(files, without = []) {
      const stdin = scriptFor(files, without);
      if (stdin === '') return undefined;
      const { exitCode, stderr } = await run({ command: ['/bin/sh', '-e'], stdin, timeoutMs: COMMAND_MS });
      return exitCode === 0
        ? undefined
        : `its files could not be laid into the workspace: ${stderr.trim().slice(-300)}`;
    },
  };
}

/** Base64, so that no byte of a file is read by the shell. A folder that is a link is taken away: it may lead out. */
function scriptFor(files: Contents, without: readonly string[]): string {
  const removals = without.map((path) => `rm -rf -- ${quoted(path)}`);
  const makeFolder = (name: string) => `[ -d ${name} ] && [ ! -L ${name} ] || { rm -rf -- ${name}; mkdir -- ${name}; }`;
  const writes = Object.entries(files).flatMap(([path, content]) => [
    ...foldersOf(path).map((folder) => makeFolder(quoted(folder))),
    `rm -rf -- ${quoted(path)}`,
    `base64 -d > ${quoted(path)} <<'END'\n${Buffer.from(content).toString('base64')}\nEND`,
    ...(namesInterpreter(content) ? [`chmod 755 -- ${quoted(path)}`] : []),
  ]);
  return [...removals, ...writes].map((line) => `${line}\n`).join('');
}

const quoted = (path: string) => `'./${path.replaceAll("'", `'\\''`)}'`;

/** `a/b/c.txt` lies in `a` and in `a/b`. */
function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

/** Whether one of the patterns stands for a path: `*` and `?` within a name, `**` for any number of folders. */
export const isCovered = (path: string, globs: readonly string[]): boolean =>
  globs.some((glob) => toPattern(glob).test(path));

function toPattern(glob: string): RegExp {
  const parts = glob.split(/(\*\*\/|\*\*|\*|\?)/);
  return new RegExp(`^${parts.map((part) => WILD[part] ?? part.replace(/[\\^$.|+()[\]{}]/g, '\\$&')).join('')}$`, 'u');
}

const WILD: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

/** What one way of scoring says. Without a verdict nothing is known: that is not a zero. */
export type Verdict = {
  /** The end of what a verifier printed, unless all is well. */
  readonly output?: string;
  /** The line that it printed because it has no network. */
  readonly networkLack?: string;
} & (
  | { readonly hard: number; readonly soft: number; readonly reason?: string }
  | {
      readonly missing: string;
      readonly hint?: string;
      /** Whether the verifier was never started: that is not a matter of the work. */
      readonly isOutage?: true;
    }
);

/** What a verifier must leave behind, by where its verdict is read from. */
const VERDICT_HINTS: Readonly<Record<Verify['verdict'], string>> = {
  'exit-code':
    'The verifier must end by itself: with exit code 0 where the work is right, and another up to 125 where not.',
  reward:
    'With verdict: reward the verifier must write a number from 0 to 1 into reward.txt, or numbers by name into reward.json, in the folder $SKILLOPT_VERDICT_DIR (/logs/verifier in a sandbox).',
  junit:
    'With verdict: junit the verifier must write a JUnit report: junit.xml in the folder $SKILLOPT_VERDICT_DIR (/logs/verifier in a sandbox), or the file in the workspace that verify.report names.',
  json: 'With verdict: json the last line that the verifier prints must be {"hard": 1, "soft": 0.5, "reason": "…"}, of which hard is enough, or a number from 0 to 1.',
};

/**
 * Runs a task's verifier where the agent worked, once nothing of the agent is left: with tests that it never saw, without
 * network but to the hosts that the project allows, without a key, and with a place for its verdict that the agent could not reach.
 */
export async function verifyWorkspace(verify: Verify, files: Contents, site: Site): Promise<Verdict> {
  const verdict = await runVerifier(verify, files, site);
  return 'missing' in verdict ? { ...verdict, hint: VERDICT_HINTS[verify.verdict] } : verdict;
}

/** Where verifiers of other tools write their reward. */
const LOGS = '/logs/verifier';

async function runVerifier(verify: Verify, files: Contents, site: Site): Promise<Verdict> {
  await using logs = await openFolder();
  await using apart = verify.at === undefined ? undefined : await openFolder(files);
  const verdictFolder = site.hasOwnNames ? LOGS : logs.path;
  try {
    const unlaid = await site.lay(apart ? {} : files, verify.report === undefined ? [] : [verify.report]);
    if (unlaid !== undefined) return { missing: unlaid };
    const result = await site.run({
      command: commandWords(verify.command),
      mounts: [
        { from: logs.path, to: LOGS, isWritable: true },
        ...(apart ? [{ from: apart.path, to: verify.at! }] : []),
      ],
      env: {
        PYTHONPYCACHEPREFIX: join(verdictFolder, '.pycache'), // compiled files in the workspace may differ from their sources
        ...verify.env,
        SKILLOPT_VERDICT_DIR: verdictFolder,
      },
      timeoutMs: verify.timeoutMs,
    });
    const missing = whyNoVerdict(result, verify);
    const verdict = missing === undefined ? await readVerdict(verify, result, { logs: logs.path, site }) : { missing };
    return withOutput(verdict, result, verify);
  } catch (error) {
    site.signal.throwIfAborted();
    if (error instanceof SkillError) throw error;
    const missing = `it could not be started: ${(error as Error).message} (verifier: ${shownCommand(verify)})`;
    return { missing, isOutage: true };
  }
}

async function openFolder(files: Contents = {}) {
  const path = await mkdtemp(join(tmpdir(), 'skillopt-verdict-'));
  await layFiles({ folder: path }, files);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function whyNoVerdict({ timedOut, exceeded, exitCode, signal }: SandboxResult, { timeoutMs }: Verify) {
  if (timedOut) return `it took more than ${timeoutMs} ms`;
  if (exceeded !== undefined) return `it used too much: ${exceeded}`;
  // A shell reports a signal as 128 plus its number.
  if (exitCode === undefined || exitCode > 128) return `it was ended by ${signal ?? `signal ${exitCode! - 128}`}`;
  if (exitCode === 126) return 'it ended with exit code 126: a command could not be executed in the sandbox';
  if (exitCode === 127) return 'it ended with exit code 127: a command was not found in the sandbox';
  return undefined;
}

const OUTPUT_LENGTH = 2_000;
const [SAID_LINES, SAID_LENGTH] = [3, 300];

/** What programs print that look for a machine and have no network, or not to this host. */
const NETWORK_LACK =
  /^.*(?:could not resolve|unable to resolve|failed to resolve|name resolution|name or service not known|network is unreachable|getaddrinfo|ENOTFOUND|EAI_AGAIN|dns error|code 403 from proxy|tunnel (?:connection )?failed\D{0,12}403).*$/im;

/** Without its last words nobody could see why a verifier gave no verdict. */
function withOutput(verdict: Verdict, { stdout, stderr }: SandboxResult, verify: Verify): Verdict {
  const printed = `${stdout}\n${stderr}`;
  const output = printed.trim().slice(-OUTPUT_LENGTH);
  const [lack] = NETWORK_LACK.exec(printed) ?? [];
  const kept = {
    ...(output === '' ? {} : { output }),
    ...(lack === undefined ? {} : { networkLack: oneLine(lack).slice(0, SAID_LENGTH) }),
  };
  if (!('missing' in verdict)) return verdict.hard === 1 ? verdict : { ...verdict, ...kept };
  const said = oneLine(output.split('\n').slice(-SAID_LINES).join(' ')).slice(-SAID_LENGTH);
  const words = said === '' ? 'it printed nothing' : `it printed: ${said}`;
  return { missing: `${verdict.missing} (verifier: ${shownCommand(verify)}; ${words})`, ...kept };
}

function shownCommand({ command }: Verify): string {
  const words = oneLine(typeof command === 'string' ? command : command.join(' '));
  return words.length > SAID_LENGTH ? `${words.slice(0, SAID_LENGTH)}…` : words;
}

async function readVerdict(
  { verdict, report }: Verify,
  result: SandboxResult,
  { logs, site }: { readonly logs: string; readonly site: Site },
): Promise<Verdict> {
  const written = (name: string) => readFile(join(logs, name), 'utf8').catch(() => undefined);
  if (verdict === 'json') return readJsonVerdict(result.stdout);
  if (verdict === 'reward') return readReward(await written('reward.txt'), await written('reward.json'));
  if (verdict === 'junit')
    return readJunit(report === undefined ? await written('junit.xml') : await site.read(report));
  if (result.exitCode === 0) return { hard: 1, soft: 1 };
  const said = `${result.stdout}\n${result.stderr}`.trim().slice(-1_000);
  return { hard: 0, soft: 0, reason: `exit code ${result.exitCode}${said === '' ? '' : `: ${said}`}` };
}

const share = z.number().min(0).max(1);
const JsonVerdict = z.object({ hard: share, soft: share.optional(), reason: z.string().optional() });

/** The last line that it printed: `{hard, soft?, reason?}`, or a number. */
function readJsonVerdict(stdout: string): Verdict {
  const line = strip(stdout).split('\n').at(-1) ?? '';
  const value = parseJson(line);
  const read = JsonVerdict.safeParse(typeof value === 'number' ? { hard: value } : value);
  if (!read.success) return { missing: `its last line is no verdict: ${JSON.stringify(head(line, 100))}` };
  const { hard, soft = hard, reason } = read.data;
  return { hard, soft, ...(reason === undefined ? {} : { reason: head(reason, 1_000) }) };
}

/** `reward.txt` is a number, `reward.json` numbers by name, of which the mean counts. A mean of 1 is a success. */
function readReward(text: string | undefined, json: string | undefined): Verdict {
  if (text === undefined && json === undefined) return { missing: 'it wrote no reward' };
  const values = json === undefined ? [Number(strip(text!) || Number.NaN)] : rewardsIn(json);
  if (values.length === 0 || values.some((value) => !(value >= 0 && value <= 1)))
    return { missing: 'its reward is no number from 0 to 1' };
  const soft = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { hard: soft === 1 ? 1 : 0, soft };
}

function rewardsIn(json: string): number[] {
  const value = parseJson(json);
  if (typeof value === 'number') return [value];
  const read = z.record(z.string(), z.number()).safeParse(value);
  return read.success ? Object.values(read.data) : [];
}

const CASE = /<testcase\b(?:"[^"<]*"|'[^'<]*'|[^<>"'])*?(?:\/>|>([\s\S]*?)<\/testcase>)/g;

/** All test cases that ran must pass, and one must have run. */
function readJunit(xml: string | undefined): Verdict {
  if (xml === undefined) return { missing: 'it wrote no report' };
  if (!/<testsuites?[\s>]/.test(xml)) return { missing: 'its report is no JUnit: it has no testsuite' };
  const ran = [...xml.matchAll(CASE)]
    .map(([, inside = '']) => inside)
    .filter((inside) => !/<skipped[\s/>]/.test(inside));
  if (ran.length === 0) return { hard: 0, soft: 0, reason: 'no test ran' };
  const passed = ran.filter((inside) => !/<(?:failure|error)[\s/>]/.test(inside)).length;
  if (passed === ran.length) return { hard: 1, soft: 1 };
  return { hard: 0, soft: passed / ran.length, reason: `${passed} of ${ran.length} tests pass` };
}
