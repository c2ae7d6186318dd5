import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SandboxResult, SkillError } from '../../core/contracts/index.ts';
import type { Verify } from '../../core/judge/index.ts';
import { oneLine } from '../../core/text/index.ts';
import { layFiles } from '../../workspaces/index.ts';
import { readJsonVerdict, readJunit, readReward, unreadable, type Verdict } from './read-verdict.ts';
import { type Contents, commandWords, type Site } from './site.ts';

/** Where verifiers of others write their reward. */
const LOGS = '/logs/verifier';

/**
 * Runs a task's verifier where the agent worked, once nothing of the agent is left: with tests that it never saw, without
 * network, without a key, and with a place for its verdict that the agent could not reach.
 */
export async function verifyWorkspace(verify: Verify, files: Contents, site: Site): Promise<Verdict> {
  await using logs = await openFolder();
  await using apart = verify.at === undefined ? undefined : await openFolder(files);
  await site.lay(apart ? {} : files, verify.report === undefined ? [] : [verify.report]);
  try {
    const result = await site.run({
      command: commandWords(verify.command),
      mounts: [
        { from: logs.path, to: LOGS, isWritable: true },
        ...(apart ? [{ from: apart.path, to: verify.at! }] : []),
      ],
      env: verifierEnv(verify, site.hasOwnNames ? LOGS : logs.path),
      timeoutMs: verify.timeoutMs,
    });
    const verdict = whyNoVerdict(result, verify) ?? (await readVerdict(verify, result, { logs: logs.path, site }));
    return withOutput(verdict, result, verify);
  } catch (error) {
    site.signal.throwIfAborted();
    if (error instanceof SkillError) throw error;
    return unreadable(`it could not be started: ${(error as Error).message} (verifier: ${shownCommand(verify)})`);
  }
}

/** Python takes compiled files from a folder that was empty: those in the workspace may say otherwise than their sources. */
const verifierEnv = ({ env }: Verify, folder: string) => ({
  PYTHONPYCACHEPREFIX: join(folder, '.pycache'),
  ...env,
  SKILLOPT_VERDICT_DIR: folder,
});

async function openFolder(files: Contents = {}) {
  const path = await mkdtemp(join(tmpdir(), 'skillopt-verdict-'));
  await layFiles({ folder: path }, files);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function whyNoVerdict({ timedOut, exceeded, exitCode, signal }: SandboxResult, { timeoutMs }: Verify) {
  if (timedOut) return unreadable(`it took more than ${timeoutMs} ms`);
  if (exceeded !== undefined) return unreadable(`it used too much: ${exceeded}`);
  // What a shell says of a program that is not there, or that a signal ended.
  if (exitCode === undefined || exitCode > 128)
    return unreadable(`it was ended by ${signal ?? `signal ${exitCode! - 128}`}`);
  const unstarted = UNSTARTED[exitCode];
  return unstarted === undefined ? undefined : unreadable(`it ended with exit code ${exitCode}: ${unstarted}`);
}

/** What a shell means by an exit code that is none of the program's. */
const UNSTARTED: Readonly<Record<number, string>> = {
  126: 'a command could not be executed in the sandbox',
  127: 'a command was not found in the sandbox',
};

const OUTPUT_LENGTH = 2_000;
const [SAID_LINES, SAID_LENGTH] = [3, 300];

/** Without its own last words nobody could tell why a verifier gave no verdict. */
function withOutput(verdict: Verdict, { stdout, stderr }: SandboxResult, verify: Verify): Verdict {
  const output = `${stdout}\n${stderr}`.trim().slice(-OUTPUT_LENGTH);
  const kept = output === '' ? {} : { output };
  if (!('missing' in verdict)) return verdict.hard === 1 ? verdict : { ...verdict, ...kept };
  const said = oneLine(output.split('\n').slice(-SAID_LINES).join(' ')).slice(-SAID_LENGTH);
  const printed = said === '' ? 'it printed nothing' : `it printed: ${said}`;
  return { missing: `${verdict.missing} (verifier: ${shownCommand(verify)}; ${printed})`, ...kept };
}

const shownCommand = ({ command }: Verify) => {
  const words = oneLine(typeof command === 'string' ? command : command.join(' '));
  return words.length > SAID_LENGTH ? `${words.slice(0, SAID_LENGTH)}…` : words;
};

type Places = { readonly logs: string; readonly site: Site };

async function readVerdict(
  { verdict, report }: Verify,
  result: SandboxResult,
  { logs, site }: Places,
): Promise<Verdict> {
  const written = (name: string) => readFile(join(logs, name), 'utf8').catch(() => undefined);
  if (verdict === 'json') return readJsonVerdict(result.stdout);
  if (verdict === 'reward')
    return readReward({ text: await written('reward.txt'), json: await written('reward.json') });
  if (verdict === 'junit') {
    const xml = report === undefined ? await written('junit.xml') : await site.read(report);
    return xml === undefined ? unreadable('it wrote no report') : readJunit(xml);
  }
  return byExitCode(result);
}

function byExitCode({ exitCode, stdout, stderr }: SandboxResult): Verdict {
  if (exitCode === 0) return { hard: 1, soft: 1 };
  const said = `${stdout}\n${stderr}`.trim().slice(-1_000);
  return { hard: 0, soft: 0, reason: `exit code ${exitCode}${said === '' ? '' : `: ${said}`}` };
}
