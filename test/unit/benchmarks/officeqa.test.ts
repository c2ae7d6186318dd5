import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DataFiles } from '../../../src/benchmarks/data/data-files.ts';
import type { OfficeQaItem } from '../../../src/benchmarks/officeqa/item.ts';
import { officeqa } from '../../../src/benchmarks/officeqa/officeqa.ts';
import type { OfficeQaSettings } from '../../../src/benchmarks/officeqa/settings.ts';
import { ModelCallError, type SkillEnv } from '../../../src/core/contracts/index.ts';
import { scripted } from '../../../src/models/index.ts';
import { loadEnv, loadProject } from '../../../src/project/index.ts';
import { probeSandbox, sandboxes } from '../../../src/public/workspaces.ts';
import { shellAgent } from '../../support/shell-agent.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const DEMO = 'examples/benchmarks/officeqa';
const demo = async () =>
  loadEnv(await loadProject({ flags: {}, config: `${DEMO}/skillopt.config.yaml`, cwd: process.cwd() }));
const itemsOf = async (env: SkillEnv) =>
  (await Promise.all(['train', 'val', 'test'].map((split) => env.getItems(split)))).flat() as OfficeQaItem[];

function attemptWith(env: SkillEnv, item: OfficeQaItem, reply: (turn: number) => string) {
  const target = scripted('model', ({ messages }) => reply(messages.filter(({ role }) => role === 'user').length));
  const { signal } = new AbortController();
  const result = env.rolloutOne({ item, skill: 'Look twice.', target, extras: {}, signal });
  return { result, target };
}
const itemOf = async (env: SkillEnv, id: string) => (await itemsOf(env)).find((item) => item.id === id)!;
const lastSaid = (target: ReturnType<typeof scripted>) => target.requests.at(-1)!.messages.at(-1)!.content;

describe('the demo of OfficeQA', () => {
  it('is right for a model that knows, and wrong for one that says nothing', async () => {
    const env = await demo();
    const items = await itemsOf(env);
    expect(items).toHaveLength(12);
    expect(env.warnings).toEqual([]);
    expect(await env.tryScoring!()).toMatchObject({ passesAll: false });
    for (const item of items) {
      const right = await attemptWith(env, item, () => `<answer>${item.answer}</answer>`).result;
      expect({ id: item.id, ...right }).toMatchObject({ id: item.id, hard: 1, soft: 1, nTurns: 1 });
      const wrong = await attemptWith(env, item, () => '<answer></answer>').result;
      expect(wrong).toMatchObject({
        hard: 0,
        soft: 0,
        predictedAnswer: '',
        failReason: expect.stringMatching(/^expected/),
      });
    }
  });

  it('can be answered from its documents', async () => {
    const env = await demo();
    const item = await itemOf(env, 'interest-1960');
    const { result, target } = attemptWith(
      env,
      item,
      (turn) =>
        [
          'First I look.\n<tool>{"name":"grep","pattern":"\\\\| 19\\\\d\\\\d"}</tool>',
          '<tool>{"name":"read","path":"ellery_bulletin_1961_12.txt","start":6,"limit":2}</tool>',
          'It is 18,500 at 3.75 %. <answer>693.75</answer>',
        ][turn - 1]!,
    );
    expect(await result).toMatchObject({ hard: 1, nTurns: 3, predictedAnswer: '693.75', taskType: 'hard' });
    expect((await result).conversation).toEqual([
      expect.objectContaining({ role: 'user', content: expect.stringContaining('- ellery_bulletin_1961_12.txt') }),
      expect.objectContaining({ role: 'assistant', content: expect.stringContaining('First I look.') }),
      { role: 'user', content: expect.stringContaining('ellery_bulletin_1961_12.txt:12: | 1960 | 18,500 | 3.75 |') },
      expect.anything(),
      { role: 'user', content: expect.stringContaining('lines 6 to 7 of 17:\nTable 5.- Loans for the New Mole') },
      expect.objectContaining({ role: 'assistant', content: expect.stringContaining('<answer>693.75</answer>') }),
    ]);
    const [system, question] = target.requests[0]!.messages;
    expect(system!.content).toMatch(/# Skill\n\nLook twice\.$/);
    expect(question!.content).toMatch(/^Question: How many crowns of interest/);
  });
});

describe('an attempt of OfficeQA', () => {
  it('is reminded once, and then ended, when a reply has neither call nor answer', async () => {
    const env = await demo();
    const item = await itemOf(env, 'pilots');
    const { result, target } = attemptWith(env, item, () => 'Let me think.');
    expect(await result).toMatchObject({ hard: 0, nTurns: 2, failReason: 'turn 2 has neither a call nor an answer' });
    expect(lastSaid(target)).toMatch(/^Your reply has neither/);
  });

  it('is asked for the answer when its turns are used up', async () => {
    using folder = tempFolder();
    cpSync(DEMO, folder.path, { recursive: true });
    const config =
      'env: officeqa\nsplitDir: .\ntarget: simulated\noptimizer: simulated\nextras: { max_tool_turns: "3" }\n';
    writeFileSync(join(folder.path, 'short.yaml'), config);
    const env = await loadEnv(await loadProject({ flags: {}, config: 'short.yaml', cwd: folder.path }));
    const item = await itemOf(env, 'pilots');
    const glob = '<tool>{"name":"glob"}</tool>';
    const { result, target } = attemptWith(env, item, () => glob);
    expect(await result).toMatchObject({
      hard: 0,
      nTurns: 4,
      failReason: expect.stringMatching(/^no answer after 3 turns/),
    });
    expect(lastSaid(target)).toMatch(/No calls are left\./);
    const late = attemptWith(env, item, (turn) => (turn <= 3 ? glob : '<answer>Tomas Reke</answer>'));
    expect(await late.result).toMatchObject({ hard: 1, nTurns: 4 });
  });

  it('keeps what the model reads bounded, with the question and the newest results', async () => {
    const env = await demo();
    const item = await itemOf(env, 'pilots');
    const long = 'thinking '.repeat(6_000);
    const calls = (turn: number) => `${long}<tool>{"name":"grep","pattern":"Reke"}</tool> ${turn}`;
    const { result, target } = attemptWith(env, item, calls);
    await result;
    const lengths = target.requests.map(({ messages }) =>
      messages.reduce((sum, { content }) => sum + content.length, 0),
    );
    expect(target.requests).toHaveLength(25);
    expect(Math.max(...lengths)).toBeLessThan(180_000);
    const last = target.requests.at(-1)!.messages;
    expect(last[1]!.content).toMatch(/^Question: Who became captain/);
    expect(last.at(-1)!.content).toContain('Tomas Reke became captain');
    expect(JSON.stringify((await result).conversation).length).toBeLessThan(120_000);
  });

  it('is no score when the model cannot be reached, or when it is stopped', async () => {
    const env = await demo();
    const item = await itemOf(env, 'pilots');
    const outage = new ModelCallError('down', { isRetryable: false });
    const { result } = attemptWith(env, item, () => {
      throw outage;
    });
    await expect(result).rejects.toBe(outage);
    const stop = new AbortController();
    const target = scripted('model', () => {
      stop.abort(new Error('stopped'));
      return '<tool>{"name":"glob"}</tool>';
    });
    await expect(env.rolloutOne({ item, skill: '', target, extras: {}, signal: stop.signal })).rejects.toThrow(
      'stopped',
    );
  });

  it('fails loudly when a document has changed', async () => {
    using folder = tempFolder();
    cpSync(DEMO, folder.path, { recursive: true });
    const env = await loadEnv(await loadProject({ flags: {}, config: 'skillopt.config.yaml', cwd: folder.path }));
    const item = await itemOf(env, 'pilots');
    writeFileSync(join(folder.path, 'documents/ellery_bulletin_1961_09.txt'), 'other');
    const { result } = attemptWith(env, item, () => '<tool>{"name":"grep","pattern":"Reke"}</tool>');
    await expect(result).rejects.toThrow('has changed since the tasks were read');
  });
});

describe('an agent at work on OfficeQA', async () => {
  const isIsolated = (await probeSandbox()).bubblewrap.isAvailable;
  const sandbox = isIsolated ? sandboxes.bubblewrap() : sandboxes.none();
  const target = { id: 'none', complete: () => Promise.reject(new Error('not asked')) };

  it('finds the documents in its workspace, and is told of no tools', async () => {
    using folder = tempFolder();
    cpSync(DEMO, folder.path, { recursive: true });
    const config = `env: officeqa\nsplitDir: .\ntarget: { agent: claude }\noptimizer: simulated\nsandbox: ${isIsolated ? 'auto' : 'none'}\n`;
    writeFileSync(join(folder.path, 'agent.yaml'), config);
    const env = await loadEnv(await loadProject({ flags: {}, config: 'agent.yaml', cwd: folder.path }));
    expect(env).toMatchObject({ name: 'officeqa', card: { benchmark: 'officeqa' } });
    expect(await env.tryScoring!()).toMatchObject({ passesAll: false });
    const item = await itemOf(env, 'pilots');
    const script = 'grep -h -o "Tomas Reke" documents/*; ls documents | wc -l';
    const { signal } = new AbortController();
    const ask = (text: string) => {
      const agent = shellAgent(sandbox, () => ({ script, text }));
      const result = env.rolloutOne({ item, skill: 'Look twice.', target, agent, extras: {}, signal });
      return { agent, result };
    };
    const { agent, result } = ask('It was <answer>Tomas Reke</answer>');
    expect(await result).toMatchObject({
      hard: 1,
      predictedAnswer: 'Tomas Reke',
      taskType: 'easy',
      question: item.question,
    });
    expect((await result).conversation).toContainEqual({
      role: 'result',
      content: expect.stringMatching(/^Tomas Reke\s+1/),
    });
    expect(agent.prompts[0]).toContain('- documents/ellery_bulletin_1961_09.txt');
    expect(agent.prompts[0]).not.toContain('<tool>');
    expect(await ask('It was Tomas Reke').result).toMatchObject({
      hard: 0,
      failReason: 'the reply has no answer in tags',
    });
  });
});

describe('rows of OfficeQA', () => {
  const settings = officeqa.settings.parse({}) as OfficeQaSettings;
  const bulletins = { 'a/b_1941_01.txt': 'one', 'a/b_1941_02.txt': 'two' };
  const read = async (value: unknown, roots: readonly string[]) =>
    officeqa.item.parse(
      await officeqa.readRow(
        { value, where: 'x:1' },
        { files: new DataFiles(roots), keep: () => Promise.reject(new Error('no')) },
        settings,
      ),
    );

  it('are read as upstream, SkillOpt and we write them, and ours give the same item again', async () => {
    using folder = tempFolder(bulletins);
    const upstream = {
      uid: 'UID0001',
      question: 'How much? ',
      answer: '5',
      source_docs: 'https://example.org/january-1941?page=3\nhttps://example.org/february-1941',
      source_files: 'b_1941_01.txt\nb_1941_02.txt',
      difficulty: 'easy',
    };
    const item = await read(upstream, [folder.path]);
    expect(item).toEqual({
      id: 'UID0001',
      question: 'How much?',
      answer: '5',
      taskType: 'easy',
      sourceFiles: ['b_1941_01.txt', 'b_1941_02.txt'],
      sourceDocs: ['https://example.org/january-1941?page=3', 'https://example.org/february-1941'],
      documents: [
        { name: 'a/b_1941_01.txt', sha256: '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed' },
        { name: 'a/b_1941_02.txt', sha256: '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3' },
      ],
    });
    const { uid: id, answer, difficulty: category, ...rest } = upstream;
    const skillopt = {
      id,
      ground_truth: Number(answer),
      category,
      ...rest,
      source_files: ['b_1941_01.txt,b_1941_02.txt'],
    };
    expect((await read(skillopt, [folder.path])).documents).toEqual(item.documents);
    expect(await read(JSON.parse(JSON.stringify(item)), [folder.path])).toEqual(item);
    writeFileSync(join(folder.path, 'a/b_1941_02.txt'), 'three');
    expect(await read(item, [folder.path])).not.toEqual(item);
  });

  it('find documents below the folders of the data before copies in the project, each once', async () => {
    using folder = tempFolder({
      'data/x/b_1941_01.txt': 'one',
      'runs/1/b_1941_01.txt': 'copy',
      'b_1941_02.txt': 'two',
    });
    const row = (names: string) => ({ uid: '1', question: 'q', answer: '1', source_files: names });
    const roots = [join(folder.path, 'missing'), join(folder.path, 'data'), join(folder.path, 'data/x'), folder.path];
    const { documents } = await read(row('b_1941_01.txt, b_1941_02.pdf'), roots);
    expect(documents.map(({ name }) => name)).toEqual(['b_1941_01.txt', 'b_1941_02.txt']);
  });

  it('name what is missing', async () => {
    using folder = tempFolder(bulletins);
    const row = { uid: '1', question: 'q', answer: '1' };
    await expect(read({ ...row, source_files: 'b_1999_01.txt' }, [folder.path])).rejects.toThrow(
      /no file called b_1999_01\.txt is below/,
    );
    await expect(read(row, [folder.path])).rejects.toThrow('source_files names no bulletin');
    await expect(read({ uid: '1', source_files: 'b_1941_01.txt' }, [folder.path])).rejects.toThrow(/question/);
  });

  it('do not lead out of the folders', async () => {
    using outside = tempFolder({ 'secret.txt': 'key' });
    using folder = tempFolder(bulletins);
    symlinkSync(join(outside.path, 'secret.txt'), join(folder.path, 'secret.txt'));
    const row = { uid: '1', question: 'q', answer: '1', source_files: 'secret.txt' };
    await expect(read(row, [folder.path])).rejects.toThrow(/no file called secret\.txt/);
    for (const name of ['secret.txt', '../secret.txt', join(outside.path, 'secret.txt')])
      await expect(read({ ...row, documents: [{ name }] }, [folder.path])).rejects.toThrow(/leads out|outside|not in/);
  });

  it('come from the full table of what a person downloaded', async () => {
    const table = 'uid,question,answer,source_docs,source_files,difficulty\n';
    using folder = tempFolder({
      'x/officeqa_pro.csv': `${table}1,q,1,d,b.txt,hard\n`,
      'x/officeqa_full.csv': `${table}1,q,1,d,b.txt,hard\n2,r,2,d,b.txt,easy\n`,
      'x/jsons/b.json': '{"document": {}}',
      'x/b.txt': 'text',
    });
    const reader = { files: new DataFiles([folder.path]), keep: () => Promise.reject(new Error('no')) };
    const rows = await officeqa.findRows!(reader);
    expect(rows.map(({ value }) => (value as { uid: string }).uid)).toEqual(['1', '2']);
    using empty = tempFolder({ 'b.txt': 'text' });
    await expect(officeqa.findRows!({ ...reader, files: new DataFiles([empty.path]) })).rejects.toThrow(
      /officeqa_full\.csv/,
    );
  });
});

describe('settings of OfficeQA', () => {
  it('are those of SkillOpt’s own config', async () => {
    using folder = tempFolder();
    cpSync('test/fixtures/skillopt-configs', folder.path, { recursive: true });
    cpSync(DEMO, join(folder.path, 'officeqa/data/officeqa_split'), { recursive: true });
    const config = join(folder.path, 'officeqa/default.yaml');
    const text = readFileSync(config, 'utf8');
    expect(text).toContain('split_dir: data/officeqa_split');
    const env = await loadEnv(await loadProject({ flags: {}, config, cwd: join(folder.path, 'officeqa') }));
    expect(await itemsOf(env)).toHaveLength(12);
    expect(env.version).toMatch(/^1, official rule, tolerance 0, turns 24, output 16384, prompt /);
  });

  it('change the version and the rule, and may be texts', async () => {
    const open = (values: object) =>
      officeqa.open({
        settings: officeqa.settings.parse(values),
        files: new DataFiles([]),
        sandbox: sandboxes.none(),
      });
    expect(open({ rule: 'reference' }).rule).toContain('SkillOpt');
    expect(open({ tolerance: '0.01', maxToolTurns: '3', searchMode: ' Offline ', useLocalTools: true })).toMatchObject({
      rule: expect.stringContaining('within 1 %'),
      version: '1, official rule, tolerance 0.01, turns 3, output 16384',
    });
    const item = { answer: '12.5%' } as OfficeQaItem;
    expect(open({}).probe(item)).toEqual({ right: 1, nothing: 0 });
    for (const values of [{ tolerance: 2 }, { maxToolTurns: 0 }, { maxToolTurns: 'many' }, { rule: 'mine' }])
      expect(officeqa.settings.safeParse(values).success).toBe(false);
  });

  it.each(['custom_search', 'azure_search'])('refuse the search mode %s, with the reason', async (mode) => {
    using folder = tempFolder();
    cpSync(DEMO, folder.path, { recursive: true });
    const config = `env: officeqa\nsplitDir: .\ntarget: simulated\noptimizer: simulated\nextras: { search_mode: ${mode} }\n`;
    writeFileSync(join(folder.path, 'online.yaml'), config);
    const loaded = await loadProject({ flags: {}, config: 'online.yaml', cwd: folder.path });
    await expect(loadEnv(loaded)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/searchMode.*no search engine is asked/s),
    });
  });
});
