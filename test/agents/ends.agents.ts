import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { type FakeAgentLLM, startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../support/temp-folder.ts';
import { kinds, newMark, processesWith } from '../unit/workspaces/kinds.ts';
import { COUNT, installedAgents, MOST_USED, openShop, teapotsFor, urlFor } from './agent-at-work.ts';

const rows = installedAgents(process.env.CI ? MOST_USED : ['claude', 'codex', 'gemini']);
const cases = rows.flatMap((row) => kinds.map(([sandbox]) => ({ ...row, sandbox })));

/** Time for an agent to start and to run its tool, also on a machine that has other things to do. */
const PATIENCE = { timeout: 120_000, interval: 200 };

/** Has the agent start one process that leaves its session and its parent, and wait for another. */
const sleepers = (name: (typeof rows)[number]['name'], mark: string) => {
  const skill = teapotsFor(name);
  const waiting = `DO: sleep ${mark}\n`.repeat(20); // codex looks at a command after ten seconds, and takes the next step
  const body = `DO: (setsid sleep ${mark} > /dev/null 2>&1 &)\n${waiting}`;
  return { files: { ...skill.files, 'SKILL.md': skill.files['SKILL.md'].replace(/^DO:[\s\S]*/m, body) } };
};

/** What a sandbox of an agent's own puts into folders that are not ours alone. */
const litter = () => ['.git', '.agents', '.codex'].filter((name) => existsSync(join(tmpdir(), name)));

const bothSleep = (mark: string) => expect.poll(() => processesWith(mark).length, PATIENCE).toBeGreaterThanOrEqual(2);

describe.each(cases)(
  'row 4: what $name started in $sandbox',
  { timeout: 300_000 },
  ({ name, model, installed, sandbox }) => {
    if (installed.missing !== undefined) return it.skip(installed.missing);
    const { program } = installed;
    const shop = { name, model, program, sandbox };

    it('is gone when its time is up', async () => {
      await using llm = await startFakeAgentLLM({ policy: 'follow', only: ['teapots'] });
      const { work } = await openShop({ ...shop, llm });
      const [mark, before] = [newMark(), litter()];
      const working = work(COUNT, { skills: [sleepers(name, mark)], limits: { timeoutMs: 40_000 } });
      await bothSleep(mark);
      expect((await working).run.ended).toBe('timeout');
      expect([processesWith(mark), litter()]).toEqual([[], before]);
    });

    it('is gone when it is aborted', async () => {
      await using llm = await startFakeAgentLLM({ policy: 'follow', only: ['teapots'] });
      const { work } = await openShop({ ...shop, llm });
      const [mark, before] = [newMark(), litter()];
      const stop = new AbortController();
      const working = work(COUNT, { skills: [sleepers(name, mark)], signal: stop.signal });
      const refused = expect(working).rejects.toThrow('enough');
      await bothSleep(mark);
      stop.abort(new Error('enough'));
      await refused;
      expect([processesWith(mark), litter()]).toEqual([[], before]);
    });

    it('is gone after the next start when we were killed', async () => {
      await using llm = await startFakeAgentLLM({ policy: 'follow', only: ['teapots'] });
      const [mark, before] = [newMark(), litter()];
      const files = Object.entries(sleepers(name, mark).files).map(([path, text]) => [`teapots/${path}`, text]);
      using folder = tempFolder(Object.fromEntries(files));
      using programs = tempFolder(); // what lies in a project, or among its modules, is not run
      symlinkSync(program, join(programs.path, basename(program)));
      const tryOut = (task: string) =>
        startTry([task, '--agent', name, '--model', model, '--sandbox', sandbox], {
          folder,
          programs,
          url: urlFor(name, llm),
        });
      const killed = tryOut(COUNT);
      await bothSleep(mark);
      killed.kill('SIGKILL');
      await once(killed, 'exit');
      const [code] = await once(tryOut('Say hello.'), 'exit');
      expect([code, processesWith(mark), litter()]).toEqual([0, [], before]);
    });
  },
);

type Place = {
  readonly folder: { readonly path: string };
  readonly programs: { readonly path: string };
  readonly url: FakeAgentLLM['url'];
};

/** The command, as a process of its own. */
function startTry(args: readonly string[], { folder, programs, url }: Place) {
  const path = [programs.path, process.env.PATH].join(':');
  const env = { PATH: path, HOME: folder.path, FAR_KEY: 'dummy-key', SKILLOPT_HOME: join(folder.path, '.state') };
  const all = ['try', ...args, '--skill', 'teapots', '--base-url', url, '--api-key-env', 'FAR_KEY'];
  return spawn(process.execPath, [resolve('bin/skillopt.mjs'), ...all], { cwd: folder.path, env, stdio: 'ignore' });
}
