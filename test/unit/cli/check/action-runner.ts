import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

type Step = {
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly shell?: string;
  /** An action of GitHub, and what it is told. */
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'working-directory'?: string;
};
type Action = {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
};

export const readAction = (): Action => parse(readFileSync('action.yml', 'utf8'));

type RunOptions = {
  readonly workspace: string;
  /** Where the files of the runner lie. */
  readonly temp: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly github: object;
  readonly env: Readonly<Record<string, string>>;
};

/** Runs the steps of our action in order, as a runner does: expressions first, then bash; after a failure nothing more. */
export async function runAction({ workspace, temp, inputs, github, env }: RunOptions) {
  const action = readAction();
  const defaults = Object.entries(action.inputs).map(([name, input]) => [name, fill(input.default ?? '', { github })]);
  const contexts = {
    github,
    inputs: { ...Object.fromEntries(defaults), ...inputs },
    steps: {} as Record<string, object>,
  };
  const log: string[] = [];
  const used: { readonly uses: string; readonly with: Readonly<Record<string, string>> }[] = [];
  let code = 0;
  for (const [at, step] of action.runs.steps.entries()) {
    if (code !== 0 || (step.if !== undefined && !isTrue(step.if, contexts))) continue;
    if (step.run === undefined) {
      const told = Object.entries(step.with ?? {}).map(([name, value]) => [name, fill(String(value), contexts)]);
      used.push({ uses: step.uses ?? '', with: Object.fromEntries(told) });
      continue;
    }
    const files = { GITHUB_OUTPUT: join(temp, `output-${at}`), GITHUB_STEP_SUMMARY: join(temp, 'summary.md') };
    for (const file of Object.values(files)) writeFileSync(file, '', { flag: 'a' });
    const own = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, fill(text, contexts)]));
    const cwd = join(workspace, fill(step['working-directory'] ?? '.', contexts));
    const ran = await bash(fill(step.run, contexts), cwd, {
      ...env,
      ...files,
      ...own,
      RUNNER_TEMP: temp,
      GITHUB_RUN_ID: '1',
    });
    log.push(ran.output);
    code = ran.code;
    const outputs = readFileSync(files.GITHUB_OUTPUT, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/=(.*)/s));
    if (step.id !== undefined) contexts.steps[step.id] = { outputs: Object.fromEntries(outputs) };
  }
  const outputs = Object.entries(action.outputs).map(([name, { value }]) => [name, fill(value, contexts)]);
  return { code, used, log: log.join(''), outputs: Object.fromEntries(outputs) as Record<string, string> };
}

const fill = (text: string, contexts: object) =>
  text.replace(/\$\{\{(.*?)\}\}/g, (_, path) => String(lookUp(path, contexts) ?? ''));

const lookUp = (path: string, contexts: object) =>
  path
    .trim()
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], contexts);

/** Of the language of expressions, what our action uses: a path, a comparison with a text, and both of two. */
function isTrue(text: string, contexts: object): boolean {
  const expression = text.replace(/^\$\{\{(.*)\}\}$/s, '$1');
  return expression.split('&&').every((part) => {
    const [path, literal] = part.split('==').map((side) => side.trim());
    const value = lookUp(path!, contexts);
    return literal === undefined ? Boolean(value) : value === literal.slice(1, -1);
  });
}

/** As the runner calls it for `shell: bash`. */
function bash(script: string, cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], { cwd, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => (output += chunk));
  return new Promise<{ code: number; output: string }>((done) =>
    child.on('close', (code) => done({ code: code ?? 1, output })),
  );
}

/** Programs of ours in a folder for the PATH: `npx` is this clone's command line, `gh api` asks a server of the test. */
export function fakePrograms(folder: string, cli: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const script = (name: string, text: string) => writeFileSync(join(bin, name), text, { mode: 0o755 });
  script(
    'npx',
    `#!/bin/bash\necho "$*" >> "$NPX_LOG"\nwhile [ "$1" != -- ]; do shift; done\nshift 2\nexec node ${cli} "$@"\n`,
  );
  script(
    'gh',
    `#!/usr/bin/env node
const { readFileSync } = require('node:fs');
const args = process.argv.slice(3);
const take = (name) => (args.includes(name) ? args.splice(args.indexOf(name), 2)[1] : undefined);
const [method = 'GET', input, jq] = ['--method', '--input', '--jq'].map(take);
const path = args.find((arg) => !arg.startsWith('--'));
const body = input === undefined ? undefined : readFileSync(input, 'utf8');
const headers = { authorization: 'Bearer ' + process.env.GH_TOKEN };
fetch(process.env.FAKE_GITHUB + '/' + path, { method, body, headers }).then(async (reply) => {
  if (!reply.ok) { console.error('gh: HTTP ' + reply.status); process.exit(1); }
  const value = await reply.json();
  if (jq === undefined) return console.log(JSON.stringify(value));
  if (jq !== '.[] | select(.body | startswith(env.MARK)) | .id') throw new Error('another filter: ' + jq);
  for (const { id, body } of value) if (body.startsWith(process.env.MARK)) console.log(id);
});
`,
  );
  return bin;
}
