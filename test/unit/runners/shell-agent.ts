import type { AgentRun, AgentRunner } from 'skillopt';
import { openSandbox, probeSandbox } from 'skillopt/workspaces';

/** The best sandbox that works here. */
export const sandbox = openSandbox((await probeSandbox()).auto ?? 'none');

/** An agent whose mind is known: it runs the lines of the skill that begin with `DO:` in its workspace, if it loads the skill. */
export function shellAgent(
  options: { loads?: (prompt: string, description: string) => boolean; run?: Partial<AgentRun> } = {},
) {
  const { loads = () => true } = options;
  const calls: string[] = [];
  const agent: AgentRunner = {
    id: 'shell@1',
    async run({ workspace, prompt, skills, until }) {
      calls.push(prompt);
      const loaded = skills.filter(({ files }) =>
        loads(prompt, /^description: (.*)$/m.exec(files['SKILL.md']!)?.[1] ?? ''),
      );
      const names = loaded.map(({ files }) => /^name: (.*)$/m.exec(files['SKILL.md']!)![1]!);
      const steps: AgentRun['steps'][number][] = names.map((name) => ({ type: 'skill-loaded', name }));
      const isEnough = steps.some((step) => until?.(step));
      const commands = loaded.flatMap(({ files }) =>
        [...files['SKILL.md']!.matchAll(/^DO: (.*)$/gm)].map(([, line]) => line!),
      );
      for (const [index, line] of isEnough ? [] : [...commands.entries()]) {
        const command = ['/bin/sh', '-c', line];
        const { stdout, exitCode } = await sandbox.run({ command, workspace, timeoutMs: 30_000 });
        steps.push({ type: 'tool-call', id: `${index}`, tool: 'shell', input: { command: line } });
        steps.push({ type: 'tool-result', id: `${index}`, output: stdout, isError: exitCode !== 0 });
      }
      const usage = { input: 100, cached: 0, output: 10, reasoning: 0 };
      const run: AgentRun = {
        text: 'all done',
        ended: 'done',
        turns: 1 + commands.length,
        steps,
        skillsOffered: [],
        skillsLoaded: names,
        usage,
      };
      return { ...run, ...options.run };
    },
  };
  return { agent, calls };
}

export const skillThatDoes = (...lines: string[]) =>
  `---\nname: shop\ndescription: Works in the shop.\n---\n\n# Shop\n\n${lines.map((line) => `DO: ${line}\n`).join('')}`;
