import { type Sandbox, SkillError } from '../../core/contracts/index.ts';

/** The same commit wherever and whenever it is made, and nothing that the user has set up. */
const SETTINGS = {
  GIT_AUTHOR_NAME: 'skillopt',
  GIT_AUTHOR_EMAIL: 'skillopt@localhost',
  GIT_AUTHOR_DATE: '2020-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'skillopt',
  GIT_COMMITTER_EMAIL: 'skillopt@localhost',
  GIT_COMMITTER_DATE: '2020-01-01T00:00:00Z',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
} as const;

const QUIET = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'commit.gpgsign=false',
  '-c',
  'gc.auto=0',
  '-c',
  'safe.directory=*',
];

export const initRepository = (path: string, sandbox: Sandbox) =>
  runGit(path, sandbox, ['init', '--quiet', '--template=', '--initial-branch=main']);

/** In the sandbox, as all that runs after a setup: what that left there can make git start programs. */
export async function commitAll(path: string, sandbox: Sandbox): Promise<void> {
  await runGit(path, sandbox, ['add', '--all']);
  await runGit(path, sandbox, ['commit', '--quiet', '--allow-empty', '--message', 'Begin']);
}

const MOST_MS = 300_000;

async function runGit(path: string, sandbox: Sandbox, args: readonly string[]): Promise<void> {
  const command = ['git', ...QUIET, ...args];
  const { exitCode, stderr } = await sandbox.run({ command, workspace: { path }, env: SETTINGS, timeoutMs: MOST_MS });
  if (exitCode === 0) return;
  throw new SkillError('ENV_FAILED', `git ${args[0]} failed in a template of workspaces: ${stderr.slice(-500)}`, {
    hint: 'Install git where the sandbox sees it, or begin from a folder that is no repository.',
  });
}
