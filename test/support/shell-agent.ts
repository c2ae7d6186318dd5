import type { AgentRun, AgentRunner, AgentStep, Sandbox } from '../../src/core/contracts/index.ts';
import { nameOf } from '../../src/runners/index.ts';

type Mind = {
  /** What it runs in the workspace. */
  readonly script: string;
  /** Its last words. */
  readonly text?: string;
  /** Whether it loads the skill. */
  readonly loads?: boolean;
};

/** An agent whose mind is known: it runs a script in the workspace, in the sandbox, and says something. Keeps what it was asked. */
export function shellAgent(sandbox: Sandbox, mindFor: (prompt: string) => Mind) {
  const prompts: string[] = [];
  const run: AgentRunner['run'] = async ({ workspace, prompt, skills, signal }): Promise<AgentRun> => {
    prompts.push(prompt);
    const { script, text = 'done', loads = true } = mindFor(prompt);
    const { stdout, stderr, exitCode } = await sandbox.run({
      command: ['/bin/sh', '-c', script],
      workspace,
      timeoutMs: 60_000,
      signal,
    });
    const name = nameOf(skills[0]!);
    const loaded: AgentStep[] = loads ? [{ type: 'skill-loaded', name }] : [];
    return {
      text,
      ended: 'done',
      turns: 2,
      steps: [
        ...loaded,
        { type: 'text', text: 'I run it.' },
        { type: 'tool-call', id: 'c1', tool: 'bash', input: { command: script } },
        { type: 'tool-result', id: 'c1', output: `${stdout}${stderr}`, isError: exitCode !== 0 },
        { type: 'text', text },
      ],
      skillsOffered: [{ name }],
      skillsLoaded: loads ? [name] : [],
      usage: { input: 100, cached: 40, output: 20, reasoning: 0 },
      costUsd: 0.01,
    };
  };
  return { id: 'shell agent', run, prompts };
}
