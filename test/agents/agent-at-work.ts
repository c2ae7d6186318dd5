import { type AgentCliName, type AgentName, agentPrograms } from 'skillopt/agents';
import { agentRunner } from 'skillopt/runners';
import type { FakeAgentLLM } from 'skillopt/testing';
import { openSandbox, openTemplate, openWorkspace, probeSandbox } from 'skillopt/workspaces';
import { inject } from 'vitest';
import { isMissing } from '../support/machine.ts';
import { cliRows } from './cli-rows.ts';

/** Those that are driven where time is short. */
export const MOST_USED: readonly AgentName[] = ['claude', 'codex'];

/** The real agents, each installed, or with the reason why it is not here, which is also printed. */
export function installedAgents(names: readonly AgentName[] = cliRows.map(({ cli }) => nameOf(cli))) {
  return names.map((name) => {
    const { cli } = agentPrograms[name];
    const installed = inject('clis')[cli]!;
    if (installed.missing !== undefined) process.stderr.write(`${name} is not driven: ${installed.missing}\n`);
    return { name, model: cliRows.find((one) => one.cli === cli)!.model, installed };
  });
}

const nameOf = (cli: AgentCliName) => Object.values(agentPrograms).find((program) => program.cli === cli)!.name;

export const hasBubblewrap = !isMissing('bubblewrap', (await probeSandbox()).auto !== undefined);

const teapots = {
  files: {
    'SKILL.md': `---
name: teapots
description: How to count teapots in a shop.
---

# Teapots

DO: echo seven > teapots.txt
DO: sh ~/SKILLS/teapots/scripts/count.sh > count.txt
DO: pwd > where.txt
`,
    'scripts/count.sh': '#!/bin/sh\necho counted\n',
  },
};

/** The skill with the way to its script as this agent has it. */
export const teapotsFor = (name: AgentName) => ({
  files: {
    ...teapots.files,
    'SKILL.md': teapots.files['SKILL.md'].replace('SKILLS', agentPrograms[name].skillFolders.user),
  },
});

export const COUNT = 'Please count the teapots of the shop.';

/** Where an agent asks the fake model. */
export const urlFor = (name: AgentName, { url }: FakeAgentLLM) =>
  ['claude', 'gemini'].includes(name) ? url : `${url}/v1`;

type Shop = {
  readonly name: AgentName;
  readonly model: string | undefined;
  readonly program: string;
  readonly llm: FakeAgentLLM;
  readonly sandbox?: string;
  readonly scope?: 'project';
  readonly callTimeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
};

/** An agent whose model is the fake one, and how it is given something to do. */
export async function openShop({ name, model, program, llm, sandbox: choice, env, ...options }: Shop) {
  const sandbox = openSandbox(choice ?? (hasBubblewrap ? 'bubblewrap' : 'none'));
  const baseURL = urlFor(name, llm);
  const inherited = { PATH: process.env.PATH, HOME: '/nonexistent', ...env };
  const apiKeyEnv = env?.THE_KEY === undefined ? undefined : 'THE_KEY';
  const runner = await agentRunner({
    agent: name,
    model,
    sandbox,
    ...options,
    baseURL,
    apiKeyEnv,
    path: program,
    inherited,
  });
  return {
    runner,
    sandbox,
    async work(
      prompt: string,
      { files = {}, limits = {}, skills = [teapotsFor(name)], signal, sampleIndex = 0 }: Work = {},
    ) {
      const template = await openTemplate({ sandbox, files: { 'a.txt': 'a\n', ...files } });
      await using workspace = await openWorkspace({ template, sandbox });
      const run = await runner.run({
        workspace: workspace.view,
        prompt,
        skills,
        limits: { timeoutMs: 120_000, ...limits },
        sampleIndex,
        signal: signal ?? new AbortController().signal,
      });
      const { changes } = await workspace.diff();
      return { run, changes: Object.fromEntries(changes.map((change) => [change.path, change.patch ?? ''])) };
    },
  };
}

type Work = {
  readonly files?: Readonly<Record<string, string>>;
  readonly limits?: object;
  readonly skills?: readonly (typeof teapots)[];
  readonly signal?: AbortSignal;
  readonly sampleIndex?: number;
};
