import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { agentClis } from 'skillopt/agents';
import { type ModelGateway, startModelGateway } from 'skillopt/models';
import { type FakeAgentLLM, startFakeAgentLLM } from 'skillopt/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliRow, cliRows } from './cli-rows.ts';
import { installCli } from './install-cli.ts';
import { cleanEnvironment, wrap, write } from './isolated-home.ts';
import { workRows } from './work-rows.ts';

const name = 'invoice-maker';
const description = 'Prepares an invoice with "totals" & taxes, as the office wants it.';
const skill = `---\nname: ${name}\ndescription: ${description}\n---\n\n# Invoices\n\nDO: echo total 42 > invoice.txt\nDO: pwd > where.txt\n`;
const auth = { header: 'x-api-key', value: 'the-key-of-this-account' };

const rows = [];
for (const row of cliRows) {
  const work = workRows[row.cli];
  if (work !== undefined)
    rows.push({ row, work, installed: await installCli(agentClis[row.cli].binary, row.specifier) });
}

describe.each(rows)(
  '$row.cli ($row.specifier), driven by the fake model through the gateway',
  ({ row, work, installed }) => {
    if (installed.missing !== undefined) return it.skip(installed.missing);
    const { program } = installed;
    let root: string;
    let llm: FakeAgentLLM;

    beforeAll(async () => {
      root = await realpath(await mkdtemp(join(tmpdir(), 'skillopt-work-')));
      for (const folder of ['home', 'tmp']) await mkdir(join(root, folder));
      await write(join(root, 'home', work.skills, name, 'SKILL.md'), skill);
    });
    afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

    async function workOn(prompt: string, gateway: ModelGateway) {
      const url = gateway.url!;
      const [home, folder] = [join(root, 'home'), await mkdtemp(join(root, 'workspace-'))];
      for (const [file, text] of Object.entries(homeFiles(row, url))) await write(join(home, file), text);
      const path = await wrap(program, row.extraArgs?.(url) ?? [], home);
      const plain = { HOME: home, TMPDIR: join(root, 'tmp'), NO_COLOR: '1', CI: '1', TERM: 'dumb' };
      const env = { ...cleanEnvironment(), ...row.env?.(url), ...work.env, ...plain };
      const args = work.args({ prompt, model: row.model, folder });
      const { stdout, timedOut } = await execa(path, args, {
        cwd: folder,
        env,
        stdin: 'ignore',
        reject: false,
        timeout: 80_000,
      });
      expect(timedOut).toBe(false);
      return { folder, stdout };
    }

    async function behindGateway<T>(use: (gateway: ModelGateway) => Promise<T>, limits = {}): Promise<T> {
      llm = await startFakeAgentLLM({ policy: 'follow', only: [name] });
      await using _llm = llm;
      const skills = [{ name, description }];
      const upstream = { baseURL: llm.url, auth };
      const retry = { firstDelayMs: 10, maxRetries: 1 };
      await using gateway = await startModelGateway({ upstream, listen: { port: 0 }, skills, limits, retry });
      return await use(gateway);
    }

    it('loads the skill that the prompt asks for, and does in the workspace what it says; all is counted', () =>
      behindGateway(async (gateway) => {
        const { folder, stdout } = await workOn('Please prepare the quarterly invoice.', gateway);
        expect(await readFile(join(folder, 'invoice.txt'), 'utf8'), stdout).toBe('total 42\n');
        expect((await readFile(join(folder, 'where.txt'), 'utf8')).trim()).toBe(folder);
        expect(gateway.usage()).toEqual(llm.usage());
        expect([gateway.calls(), gateway.failure(), gateway.ended()]).toEqual([llm.calls(), undefined, undefined]);
        expect(gateway.offered()).toEqual([{ name, description: 'whole' }]);
        expect(stdout).toContain('done');
      }));

    it('leaves it alone otherwise', () =>
      behindGateway(async (gateway) => {
        const { folder } = await workOn('Which month is it?', gateway);
        await expect(readFile(join(folder, 'invoice.txt'))).rejects.toThrow();
        expect(gateway.offered()).toEqual([{ name, description: 'whole' }]);
        expect(llm.requests.filter(({ text }) => text.includes('total 42'))).toEqual([]);
        expect(gateway.calls()).toBeGreaterThan(0);
      }));

    it('ends when no further call may be made', () =>
      behindGateway(
        async (gateway) => {
          const { folder } = await workOn('Please prepare the quarterly invoice.', gateway);
          expect(await readFile(join(folder, 'invoice.txt'), 'utf8')).toBe('total 42\n');
          await expect(readFile(join(folder, 'where.txt'))).rejects.toThrow();
          expect([gateway.ended(), gateway.calls(), llm.calls()]).toEqual(['turns', 2, 2]);
        },
        { maxCalls: 2 },
      ));

    it('ends when the provider fails', () =>
      behindGateway(async (gateway) => {
        llm.failWith(429);
        await workOn('Please prepare the quarterly invoice.', gateway);
        expect(gateway.failure()).toMatchObject({ status: 429, isRetryable: true });
        expect(llm.requests.filter(({ method, path }) => method === 'POST' && !path.includes('count'))).toHaveLength(2);
      }));
  },
);

const homeFiles = (row: CliRow, url: string) => row.homeFiles?.(url) ?? {};
