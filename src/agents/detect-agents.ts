import type { AgentCliName, Environment, Located } from './agent-cli.ts';
import { agentClis } from './agent-clis.ts';
import { openCallFolder } from './call-folder.ts';
import { childEnvironment } from './child-environment.ts';
import { findBinary, projectFolders, realPath } from './find-binary.ts';
import { homeIn } from './require-installed.ts';
import { runProcess } from './run-process.ts';

export type InstalledAgent = {
  readonly cli: AgentCliName;
  /** Absolute and without links. */
  readonly path: string;
  /** Where it was found on `PATH`. */
  readonly foundAt: string;
  /** Absent when the program does not say. */
  readonly version: string | undefined;
};

/** The agent CLIs on `PATH` that `project` did not bring along, with their versions, in the order of the table. Asks no model. */
export async function detectAgents(
  env: Environment = process.env,
  project = process.cwd(),
): Promise<readonly InstalledAgent[]> {
  const found = findAgents(env, project);
  return Promise.all(found.map(async (agent) => ({ ...agent, version: await versionOf(agent, env) })));
}

/** The same, without running anything. */
export function findAgents(env: Environment, project: string): readonly Omit<InstalledAgent, 'version'>[] {
  const projects = projectFolders(project, homeIn(env));
  return Object.values(agentClis).flatMap(({ name, binary }) => {
    const foundAt = findBinary(binary, env, projects);
    return foundAt === undefined ? [] : [{ cli: name, path: realPath(foundAt), foundAt }];
  });
}

/** What a CLI says that its version is. */
export async function versionOf(program: Asked, inherited: Environment): Promise<string | undefined> {
  return versionIn((await printedVersion(program, inherited)) ?? '');
}

export const versionIn = (printed: string): string | undefined =>
  /\d{1,9}\.\d{1,9}\.\d{1,9}(?:[\w.-]*\w)?/.exec(printed)?.[0];

type Asked = Located & { readonly cli: AgentCliName };

/** What a CLI prints of its version; absent when it cannot be run. It is run like any call: in an empty folder, with the variables that it needs. */
export async function printedVersion({ cli, ...program }: Asked, inherited: Environment): Promise<string | undefined> {
  await using folder = await openCallFolder();
  const env = { ...childEnvironment({ cli: agentClis[cli], program, inherited }), NO_COLOR: '1', CI: '1' };
  const started = { file: program.path, name: program.foundAt, args: ['--version'], input: '', cwd: folder.work, env };
  const printed = await runProcess({ ...started, signal: AbortSignal.timeout(20_000) }).catch(() => undefined);
  return printed && `${printed.stdout}\n${printed.stderr}`;
}
