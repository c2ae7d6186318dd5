import { tmpdir } from 'node:os';
import type { AgentCliName, Environment } from './agent-cli.ts';
import { agentClis } from './agent-clis.ts';
import { findBinary } from './find-binary.ts';
import { runProcess } from './run-process.ts';

export type InstalledAgent = {
  readonly cli: AgentCliName;
  readonly path: string;
  /** Absent when the program does not say. */
  readonly version: string | undefined;
};

/** The agent CLIs on `PATH`, with their versions, in the order of the table. Asks no model. */
export async function detectAgents(env: Environment = process.env): Promise<readonly InstalledAgent[]> {
  const found = Object.values(agentClis).flatMap(({ name, binary }) => {
    const path = findBinary(binary, env);
    return path === undefined ? [] : [{ cli: name, path }];
  });
  return Promise.all(found.map(async (agent) => ({ ...agent, version: await versionOf(agent.path, env) })));
}

async function versionOf(file: string, env: Environment): Promise<string | undefined> {
  const signal = AbortSignal.timeout(20_000);
  const printed = await runProcess({ file, args: ['--version'], input: '', cwd: tmpdir(), env, signal }).catch(
    () => undefined,
  );
  return /\d{1,9}\.\d{1,9}\.\d{1,9}[\w.-]*/.exec(printed?.stdout ?? '')?.[0];
}
