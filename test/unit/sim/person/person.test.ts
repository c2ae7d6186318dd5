import { describe, expect, expectTypeOf, it } from 'vitest';
import { judgeAnswer } from '../../../../src/public/judges.ts';
import { type PersonSession, type PersonTask, simulatedPerson } from '../../../../src/public/sim.ts';
import { harvest, openSessionIndex, type SessionDigest, TaskRecord } from '../../../../src/public/sleep.ts';
import { HARMS, kindIn, REMARKS, readAdvice } from '../../../../src/sim/person/kind.ts';
import { KINDS } from '../../../../src/sim/person/kinds.ts';
import { claude } from '../../../../src/transcripts/sources/claude.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const THINGS = KINDS.flatMap(({ things }) => things);
const person = simulatedPerson({ seed: 3, poisonedDays: [2, 4] });
const everyRule = person.rules.map(({ text }) => `- ${text}`).join('\n');

type Asked = { readonly skill?: string; readonly task: PersonTask; readonly sampleIndex: number };

const attempt = async ({ skill = '', task, sampleIndex }: Asked, who = person) => {
  const system = { role: 'system' as const, content: `# Skill\n${skill}` };
  const messages = [system, { role: 'user' as const, content: task.intent }];
  return (await who.target.complete({ messages, sampleIndex })).text;
};

const judge = async (asked: Asked, who = person) => {
  const answer = await attempt(asked, who);
  const { intent: question, reference: rubric } = asked.task;
  return (await judgeAnswer({ judge: who.judge, question, answer, rubric, repeats: 1 })).score!;
};

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The mean judgement of many attempts at tasks of every kind, each kind as often as the others. */
async function sampledScore(skill: string, who = person, samples = 100): Promise<number> {
  const tasks = Array.from({ length: 20 }, (_, at) => who.tasksOf(at + 1)).flat();
  const byKind = who.rules.map(({ kind }) => kind).filter((kind, at, all) => all.indexOf(kind) === at);
  const means = byKind.map(async (name) => {
    const task = tasks.find(({ intent }) => kindIn(intent, KINDS)!.name === name)!;
    const scores = Array.from({ length: samples }, (_, sampleIndex) => judge({ skill, task, sampleIndex }, who));
    return mean(await Promise.all(scores));
  });
  return mean(await Promise.all(means));
}

describe('the things a person wants', () => {
  it.each(THINGS.map((thing) => [thing.name, thing] as const))(
    '%s is stated by its rules and by no other text',
    (name, thing) => {
      for (const rule of thing.rules) expect([...readAdvice(`Intro.\n- ${rule}\n`, THINGS).stated]).toEqual([name]);
      const others = [...REMARKS, ...HARMS, ...KINDS.flatMap(({ heads, objects }) => [...heads, ...objects])];
      expect(others.filter((text) => thing.cue.test(text))).toEqual([]);
      expect(thing.kept.includes(thing.missed) || thing.missed.includes(thing.kept)).toBe(false);
    },
  );

  it('have requests that nothing else looks like', () => {
    const texts = [
      ...REMARKS,
      ...HARMS,
      ...THINGS.flatMap(({ rules, wish, complaint }) => [...rules, wish, complaint]),
    ];
    expect(texts.filter((text) => kindIn(text, KINDS) !== undefined)).toEqual([]);
  });
});

describe('a simulated person', () => {
  it('is the same for the same options, whatever was asked in between', async () => {
    const again = simulatedPerson({ seed: 3, poisonedDays: [2, 4] });
    const [task] = again.tasksOf(5);
    const later = await judge({ task: task!, sampleIndex: 3 }, again);
    for (const day of [9, 1, 4]) expect(again.day(day)).toEqual(person.day(day));
    await judge({ task: task!, sampleIndex: 1 });
    expect(await judge({ task: task!, sampleIndex: 3 })).toBe(later);
    expect(simulatedPerson({ seed: 4 }).day(1)).not.toEqual(person.day(1));
  });

  it('has days whose transcripts harvest to the same digests', async () => {
    const folder = tempFolder({ 'rig/.keep': '' });
    for (const day of [1, 2, 3, 4]) await person.writeDay(folder.path, day);
    const place = { env: {}, home: folder.path, platform: 'linux' as const };
    using index = await openSessionIndex(`${folder.path}/index`);
    const sources = [claude];
    const { sessions, trouble } = await harvest({
      index,
      place,
      sources,
      scope: 'all',
      now: Date.UTC(2026, 1),
    });
    const days = [1, 2, 3, 4].flatMap((day) => person.day(day, { home: folder.path }));
    const byId = (a: PersonSession | SessionDigest, b: PersonSession | SessionDigest) =>
      a.sessionId < b.sessionId ? -1 : 1;
    expect(trouble).toEqual([]);
    expect([...sessions].sort(byId)).toEqual(days.sort(byId));
  });

  it('gives tasks and sessions in the shapes of sleep', () => {
    expectTypeOf<PersonTask>().toEqualTypeOf<TaskRecord>();
    expectTypeOf<PersonSession>().toExtend<SessionDigest>();
    const tasks = [1, 2, 3].flatMap((day) => person.tasksOf(day));
    expect(tasks.map((task) => TaskRecord.parse(task))).toEqual(tasks);
  });

  it('complains about what the agent missed, repeats itself over days, and wastes some sessions', () => {
    const days = Array.from({ length: 20 }, (_, at) => person.day(at + 1));
    const sessions = days.flat();
    const share = (isSo: (session: PersonSession) => boolean) => sessions.filter(isSo).length / sessions.length;
    expect(sessions).toHaveLength(120);
    expect(share(({ feedbackSignals }) => feedbackSignals.includes('neg:no'))).toBeGreaterThan(0.5);
    expect(share(({ userPrompts }) => kindIn(userPrompts[0]!, KINDS) === undefined)).toBeGreaterThan(0.05);
    const first = sessions.map(({ userPrompts }) => userPrompts[0]!);
    expect(new Set(first).size).toBeLessThan(first.length);
    const pleased = person.day(1, { documents: { memory: everyRule } });
    expect(pleased.filter(({ feedbackSignals }) => feedbackSignals.includes('neg:no')).length).toBeLessThan(3);
  });

  it('pastes a poisoned text on the given days only', () => {
    const counts = [1, 2, 3, 4].map((day) =>
      person.day(day).filter(({ userPrompts }) => userPrompts[0]!.includes('\n\n')),
    );
    expect(counts.map(({ length }) => length)).toEqual([0, 1, 0, 1]);
    expect(person.tasksOf(2).filter(({ intent }) => intent.includes('\n'))).toEqual([]);
  });
});

describe('the true score', () => {
  it('is what many judged attempts come to, with each rule and without', async () => {
    const some = person.rules.slice(0, 4).map(({ text }) => text);
    for (const skill of ['', some.join('\n'), everyRule, `${everyRule}\n${HARMS[0]}`]) {
      expect(Math.abs((await sampledScore(skill)) - person.trueScore(skill, ''))).toBeLessThan(0.02);
    }
    expect(person.trueScore('', '')).toBeGreaterThan(0.45);
    expect(person.trueScore('', '')).toBeLessThan(0.6);
    expect(person.bestScore()).toBe(person.trueScore(everyRule, ''));
  });

  it('rises with every rule, in the skill or in the memory, not with remarks, and falls with harmful advice', () => {
    const scores = person.rules.map((_, at) => {
      const said = person.rules.slice(0, at + 1).map(({ text }) => text);
      return person.trueScore(said.slice(0, 2).join('\n'), said.slice(2).join('\n'));
    });
    for (const [at, score] of scores.entries())
      expect(score).toBeGreaterThan(scores[at - 1] ?? person.trueScore('', ''));
    expect(person.trueScore(REMARKS.join('\n'), '')).toBe(person.trueScore('', ''));
    expect(person.trueScore(HARMS[0]!, '')).toBeCloseTo(person.trueScore('', '') - 0.06, 2);
  });

  it('follows the measure: passes of two judgements, or half of each', async () => {
    const [soft, hard, mixed] = (['soft', 'hard', 'mixed'] as const).map((measure) =>
      person.trueScore(everyRule, '', { measure }),
    );
    expect(mixed).toBeCloseTo((soft! + hard!) / 2);
    const task = person.tasksOf(1)[0]!;
    const { intent: question, reference: rubric } = task;
    const passes = Array.from({ length: 400 }, async (_, sampleIndex) => {
      const answer = await attempt({ skill: everyRule, task, sampleIndex });
      const { score } = await judgeAnswer({ judge: person.judge, question, answer, rubric, repeats: 2 });
      return Number(score! >= 0.8);
    });
    expect(mean(await Promise.all(passes))).toBeCloseTo(hard!, 0.9);
  });

  it('moves with no text where nothing helps', async () => {
    const deaf = simulatedPerson({ seed: 3, usefulness: 'nothing-helps' });
    expect(deaf.bestScore()).toBe(deaf.trueScore('', ''));
    expect(deaf.trueScore(HARMS.join('\n'), '')).toBe(deaf.trueScore('', ''));
    expect(Math.abs((await sampledScore(everyRule, deaf)) - deaf.trueScore('', ''))).toBeLessThan(0.02);
  });
});

describe("the judge's noise", () => {
  it('has the said spread for one answer, and is new for another wording', async () => {
    const task = person.tasksOf(1)[0]!;
    const { intent: question, reference: rubric } = task;
    const ask = (answer: string, repeats: number) =>
      judgeAnswer({ judge: person.judge, question, answer, rubric, repeats });
    const { judgements } = await ask('Nothing of it.', 1_500);
    const scores = judgements.map(({ score }) => score!);
    const middle = mean(scores);
    const sd = Math.sqrt(mean(scores.map((score) => (score - middle) ** 2)));
    expect(middle).toBeCloseTo(0.45, 1.7);
    expect(sd).toBeGreaterThan(0.141);
    expect(sd).toBeLessThan(0.159);
    expect((await ask('Nothing of it!', 1)).score).not.toBe((await ask('Nothing of it.', 1)).score);
    expect(judgements[0]!.reason).not.toBe('');
  });
});
