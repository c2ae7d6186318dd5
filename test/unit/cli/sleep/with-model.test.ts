import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { answerOf, type SleepHome, sleepHome, USUAL_TURNS } from '../../../support/sleep/sleep-home.ts';

const MINED = {
  intent: 'Write a commit message for a change of the cart',
  rubric: 'The message has one short line in the imperative.',
  satisfied: true,
};
const reply = JSON.stringify({ tasks: [MINED] });

const byModel = (model: string, ...flags: string[]) => ['harvest', '--with-model', '--optimizer', model, ...flags];
const stateOf = (home: SleepHome) => JSON.parse(readFileSync(join(home.state, 'state.json'), 'utf8'));

describe('skillopt sleep harvest --with-model', () => {
  it('on this machine needs no consent: the optimizer finds the tasks, and is asked once for each session', async () => {
    await using server = await startFakeLLM(() => reply);
    using home = sleepHome();
    home.said();
    const argv = byModel(`compatible:m@${server.baseURL}`);
    const { code, out, err } = await home.run(argv);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('1 task from 1 session, as the model found them.');
    expect(out).toMatch(/Write a commit message.* llm_[0-9a-f]{12}/);
    const { tasks } = await answerOf(home, argv);
    expect(tasks).toMatchObject([{ intent: MINED.intent, reference: MINED.rubric, outcome: 'success' }]);
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]!.messages.at(-1)!.content).toContain(USUAL_TURNS[0]![1]);
  });

  it('what the model answered is kept privately, and purged', async () => {
    await using server = await startFakeLLM(() => reply);
    using home = sleepHome();
    home.said();
    const argv = byModel(`compatible:m@${server.baseURL}`);
    await home.run(argv);
    for (const name of readdirSync(home.state))
      expect(`${name} ${home.mode(join(home.state, name))}`).toMatch(/ [67]00$/);
    expect(await answerOf(home, ['purge'])).toMatchObject({ removed: { 'answers of models': 1 } });
    const left = readdirSync(home.state, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = left.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
    expect(texts.join('')).not.toContain('commit message');
    await home.run(argv);
    expect(server.requests).toHaveLength(2);
  });

  it('what the model answers is redacted before it is kept or shown', async () => {
    const key = `${'sk'}-ant-api03-MzSstjHTVjo7EmL1i0pNvy0PiIWI79WZUv6AA`;
    const told = { intent: `Log in as mara@firma.de with the key ${key}`, rubric: 'The password is "hunter2".' };
    const checked = { intent: 'Deploy it and say so', checks: [{ op: 'contains', arg: key }] };
    await using server = await startFakeLLM(() => JSON.stringify({ tasks: [told, checked] }));
    using home = sleepHome();
    home.said();
    const { code, out } = await home.run(byModel(`compatible:m@${server.baseURL}`, '--json', '--output', 'tasks.json'));
    expect(code).toBe(0);
    expect(JSON.parse(out).tasks).toMatchObject([
      { intent: 'Log in as [email] with the key [secret]', reference: 'The password is "[secret]".' },
      { judge: { checks: [{ arg: '[secret]' }] } },
    ]);
    const files = readdirSync(home.state, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const kept = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('');
    expect(out + kept + home.read('shop/tasks.json')).not.toMatch(/MzSstjHTVjo7|hunter2|mara@/);
    expect(kept).toContain('Log in as');
  });

  it('a model whose every reply is unreadable is out of order', async () => {
    await using server = await startFakeLLM(() => 'I would rather not.');
    using home = sleepHome();
    home.said({ id: 'a' });
    home.said({ id: 'b' });
    const { code, err, out } = await home.run(byModel(`compatible:m@${server.baseURL}`));
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err).toContain('no readable reply about any of 2 sessions');
  });

  it('a night of which no reply could be read asks again on the next one', async () => {
    let said = 'I would rather not.';
    await using server = await startFakeLLM(() => said);
    using home = sleepHome();
    home.said();
    const argv = ['run', '--target', `compatible:m@${server.baseURL}`, '--quiet'];
    expect((await answerOf(home, argv)).nTasks).toBe(0);
    said = reply;
    expect(await answerOf(home, argv)).toMatchObject({ nSessions: 1, nTasks: 1 });
  });

  it('with no task found shows no empty table', async () => {
    await using server = await startFakeLLM(() => '{"tasks":[]}');
    using home = sleepHome();
    home.said();
    const { code, out } = await home.run(byModel(`compatible:m@${server.baseURL}`));
    expect(code).toBe(0);
    expect(out).toContain('0 tasks from 1 session');
    expect(out).not.toMatch(/outcome|asked twice/);
  });

  it('sessions of which nothing is left need neither model nor consent', async () => {
    using home = sleepHome();
    const { code, out } = await home.run(byModel('openai:gpt-5-mini'));
    expect(code).toBe(0);
    expect(out).toContain('No session to learn from.');
  });

  it('where the settings say that rules find the tasks, is refused: the plan shows other texts then', async () => {
    await using server = await startFakeLLM(() => reply);
    using home = sleepHome();
    home.said();
    home.write('shop/skillopt.config.yaml', 'sleep:\n  llmMine: false\n');
    const argv = byModel(`compatible:m@${server.baseURL}`);
    const { code, err } = await home.run(argv);
    expect(code).toBe(2);
    expect(err).toContain('--llm-mine');
    expect((await home.run([...argv, '--llm-mine'])).code).toBe(0);
  });
});

describe('consent', () => {
  it('without a terminal is missing: refused, with the flag that gives it', async () => {
    using home = sleepHome();
    home.said();
    home.env.OPENAI_API_KEY = 'dummy-key';
    const { code, out, err } = await home.run(byModel('openai:gpt-5-mini', '--json'));
    expect(code).toBe(2);
    expect(JSON.parse(out).error).toMatchObject({
      code: 'CONSENT_MISSING',
      hint: expect.stringMatching(/--consent openai$/),
    });
    expect(err).toContain('nobody agreed yet that texts of your sessions are sent to OpenAI');
    expect(err).toContain('skillopt sleep run --plan --page all');
  });

  it('is not given by naming somebody else', async () => {
    using home = sleepHome();
    home.said();
    expect((await home.run(byModel('openai:gpt-5-mini', '--consent', 'anthropic'))).code).toBe(2);
    expect((await home.run(byModel('openai:gpt-5-mini', '--consent', 'openai@evil'))).code).toBe(2);
  });

  it('given by a flag is remembered, and the plan says so', async () => {
    await using server = await startFakeLLM(() => reply);
    using home = sleepHome();
    home.said();
    const address = server.baseURL.replace('127.0.0.1', '[::ffff:127.0.0.1]'); // nobody takes it for this machine
    const provider = `qwen@${new URL(address).href}`;
    home.env.QWEN_CHAT_BASE_URL = address;
    home.env.QWEN_CHAT_API_KEY = 'dummy-key';
    const argv = byModel('qwen:m');
    const given = await home.run([...argv, '--consent', provider]);
    expect({ code: given.code, err: given.err }).toEqual({ code: 0, err: '' });
    expect(stateOf(home).consents).toMatchObject([{ provider, by: 'flag' }]);
    expect(home.mode(join(home.state, 'state.json'))).toBe('600');
    expect((await home.run(argv)).err).not.toContain('nobody agreed');
    const plan = ['run', '--plan', '--target', 'qwen:m'];
    expect((await home.run(plan)).out).toContain('(you agreed)');
    expect(await answerOf(home, plan)).toMatchObject({ consentMissing: [] });
    await home.run(['purge', 'consent']);
    expect((await home.run(argv)).err).toContain('nobody agreed');
  });

  it.each([
    ['openai:gpt-5-mini', 'OPENAI_API_KEY'],
    ['nonsense', 'unknown provider'],
    ['simulated', 'simulated optimizer'],
  ])('is neither asked for nor kept when %s cannot be asked', async (model, said) => {
    using home = sleepHome();
    home.said();
    const { code, err } = await home.run(byModel(model, '--consent', 'openai'));
    expect(code).toBe(2);
    expect(err).toContain(said);
    expect(existsSync(join(home.state, 'state.json'))).toBe(false);
  });

  it('is asked for with the flags that were given', async () => {
    using home = sleepHome();
    home.said({ cwd: home.blog });
    home.env.OPENAI_API_KEY = 'dummy-key';
    const { err } = await home.run(byModel('openai:gpt-5-mini', '--all-projects', '--since', '2020-01-01'));
    expect(err).toContain('run --plan --page all --optimizer openai:gpt-5-mini --all-projects --since 2020-01-01');
    expect(err).toMatch(/sent to OpenAI\n/);
  });

  it('for several is given in either spelling, and is of one address', async () => {
    using home = sleepHome();
    home.said();
    const far = 'compatible:m@https://models.example:8443/v1';
    const refused = await home.run(byModel(far));
    expect(refused.err).toMatch(/--consent compatible@https:\/\/models\.example:8443\/v1\n$/);
    const plan = ['run', '--plan', '--target', far, '--judge', 'openai:gpt-5-mini'];
    expect((await answerOf(home, plan)).consentMissing).toEqual([
      'compatible@https://models.example:8443/v1',
      'openai',
    ]);
  });

  it('is asked for where a project names an address of this machine, and is of its path and its key', async () => {
    await using server = await startFakeLLM(() => reply);
    using home = sleepHome();
    home.said();
    home.env.MY_SECRET = 'dummy-key';
    const project = (more: string) =>
      home.write('shop/skillopt.config.yaml', `sleep:\n  target: { provider: compatible, model: m, ${more} }\n`);
    const run = (...flags: string[]) => home.run(['harvest', '--with-model', ...flags]);
    project(`baseURL: '${server.baseURL}/', apiKeyEnv: MY_SECRET`);
    const plan = (await home.run(['run', '--plan'])).out.replace(/\s+/g, ' ');
    const shown = `compatible at ${server.baseURL}, with the key in MY_SECRET, as the project says`;
    expect(plan).toContain(`may be sent to ${shown}, as target, optimizer, judge (you will be asked first)`);
    const { code, err } = await run();
    expect([code, server.requests]).toEqual([2, []]);
    expect(err.replace(/\s+/g, ' ')).toContain(`are sent to ${shown}`);
    expect((await run('--consent', `compatible@${server.baseURL}`)).code).toBe(2);
    expect((await run('--consent', `compatible@${server.baseURL}#MY_SECRET`)).code).toBe(0);
    expect((await run()).code).toBe(0);
    for (const other of [
      `baseURL: '${server.baseURL}/x', apiKeyEnv: MY_SECRET`,
      `baseURL: '${server.baseURL}', apiKeyEnv: HOME`,
    ]) {
      project(other);
      expect((await run()).err).toContain('nobody agreed');
    }
    expect((await run('--optimizer', `compatible:m@${server.baseURL}`)).code).toBe(0);
  });

  it('of old for a host is asked for again', async () => {
    using home = sleepHome();
    home.said();
    await giveSomeConsent(home);
    const path = join(home.state, 'state.json');
    const state = stateOf(home);
    const old = { ...state.consents[0], provider: 'compatible@models.example' };
    writeFileSync(path, JSON.stringify({ ...state, consents: [old] }));
    for (const url of ['https://models.example/v1', 'http://models.example/v1', 'https://models.example']) {
      const { consentMissing } = await answerOf(home, ['run', '--plan', '--target', `compatible:m@${url}`]);
      expect(consentMissing).toEqual([`compatible@${url}`]);
    }
  });
});

/** Writes a state with one consent. */
async function giveSomeConsent(home: SleepHome): Promise<void> {
  await using server = await startFakeLLM(() => reply);
  home.env.QWEN_CHAT_BASE_URL = server.baseURL.replace('127.0.0.1', '[::ffff:127.0.0.1]');
  const provider = `qwen@${new URL(home.env.QWEN_CHAT_BASE_URL).href}`;
  await home.run(['harvest', '--with-model', '--optimizer', 'qwen:m', '--consent', provider]);
}
