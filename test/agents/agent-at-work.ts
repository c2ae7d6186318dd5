import { type AgentName, agentClis, agentPrograms } from 'skillopt/agents';
import { agentRunner } from 'skillopt/runners';
import type { FakeAgentLLM } from 'skillopt/testing';
import { openSandbox, openTemplate, openWorkspace, probeSandbox } from 'skillopt/workspaces';
import { cliRows } from './cli-rows.ts';
import { installCli } from './install-cli.ts';

/** The real agents, each installed, or with the reason why it is not here. */
export async function installedAgents(names = Object.keys(agentPrograms) as AgentName[]) {
  const rows = [];
  for (const name of names) {
    const { cli } = agentPrograms[name];
    const row = cliRows.find((one) => one.cli === cli);
    const installed = row ? await installCli(agentClis[cli].binary, row.specifier) : NOT_ON_NPM;
    rows.push({ name, model: row?.model, installed });
  }
  return rows;
}

const NOT_ON_NPM = { missing: 'cannot be installed from npm', isOffline: false };

const hasBubblewrap = (await probeSandbox()).auto !== undefined;

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

type Shop = {
  readonly name: AgentName;
  readonly model: string | undefined;
  readonly program: string;
  readonly llm: FakeAgentLLM;
  readonly sandbox?: string;
  readonly scope?: 'project';
  readonly env?: Readonly<Record<string, string>>;
};

/** An agent whose model is the fake one, and how it is given something to do. */
export async function openShop({ name, model, program, llm, sandbox: choice, scope, env }: Shop) {
  const sandbox = openSandbox(choice ?? (hasBubblewrap ? 'bubblewrap' : 'none'));
  const baseURL = ['claude', 'gemini'].includes(name) ? llm.url : `${llm.url}/v1`;
  const inherited = { PATH: process.env.PATH, HOME: '/nonexistent', ...env };
  const apiKeyEnv = env?.THE_KEY === undefined ? undefined : 'THE_KEY';
  const runner = await agentRunner({
    agent: name,
    model,
    sandbox,
    scope,
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
