/**
 * What each version wrote on a person's disk: this version opens it, continues it and takes it back.
 *
 * `WRITE_FIXTURES=1 npx vitest run test/pins/versions.test.ts` writes the folder of this version if it has none. One that is there
 * stays: what an earlier version wrote cannot be written again.
 */
import { readdirSync, rmSync } from 'node:fs';
import { type RunEvent, toFact } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { readJournal } from '../../src/stores/run/journal.ts';
import { SETTINGS } from '../support/plugins/plugin-home.ts';
import { foreignFiles, openVersion, VERSION, versions, writeMissing } from '../support/recordings/version-fixtures.ts';

await writeMissing();

/** What happened in a run, but for its place and for the number of runs that had looked at the test tasks before. */
const factsOf = (events: readonly RunEvent[]) =>
  events
    .map(toFact)
    .filter(({ type }) => type !== 'run-start')
    .map((fact) => (fact.type === 'test-look' ? { ...fact, looks: 0 } : fact));

const shop = 'person/shop';

it('this version has a folder: WRITE_FIXTURES=1 writes it before a release', () => {
  expect(versions()).toContain(VERSION);
});

describe.each(versions())('what %s wrote', (version) => {
  it('names no place of the machine that wrote it', () => {
    expect(foreignFiles(version)).toEqual([]);
  });

  it('a finished run: runs, show and diff give its verdict', async () => {
    using place = await openVersion(version);
    const { listed, verdict, bestSkill, diff } = place.expected;
    const { runs } = await place.ask('project', 'runs');
    expect(runs.find(({ name }: { name: string }) => name === 'finished')).toMatchObject(listed);
    expect(await place.ask('project', 'show finished')).toMatchObject({ verdict, bestSkill, isDone: true });
    expect(await place.ask('project', 'diff finished')).toEqual(diff);
    expect(diff.patch).toContain('\n+- ');
  });

  it('a run that was killed: train resumes it to the recorded end, and pays for nothing twice', async () => {
    using place = await openVersion(version);
    const journal = (run: string) => readJournal(place.at('project/runs', run, 'events.jsonl'));
    const { runs } = await place.ask('project', 'runs');
    expect(runs.find(({ name }: { name: string }) => name === 'killed')).toMatchObject({ verdict: 'stopped' });
    const before = await journal('killed');
    expect(before.at(-1)).toMatchObject({ step: 2 });
    const { verdict, warnings } = await place.ask('project', 'train --run runs/killed --force');
    const after = await journal('killed');
    expect(after.slice(0, before.length)).toEqual(before);
    expect(factsOf(after)).toEqual(factsOf(await journal('finished')));
    expect(after.find(({ type }) => type === 'test-look')).toMatchObject({ looks: 2 });
    expect({ ...verdict, mayHaveBeen: undefined }).toEqual(place.expected.verdict);
    expect(warnings).toEqual([]);
  });

  it('its cache answers all that the run had asked, without a call', async () => {
    using place = await openVersion(version);
    const run = place.at('project/runs/finished');
    const finished = await readJournal(`${run}/events.jsonl`);
    for (const name of readdirSync(run).filter((name) => name !== 'cache'))
      rmSync(`${run}/${name}`, { recursive: true });
    const { verdict } = await place.ask('project', 'train --run runs/finished --force');
    expect(verdict).toEqual({ ...place.expected.verdict, calls: 0, tokens: 0 });
    expect(factsOf(await readJournal(`${run}/events.jsonl`))).toEqual(factsOf(finished));
  });

  it('its nights: the sessions are known, and the status and the runs show the night', async () => {
    using place = await openVersion(version);
    const { sessions, filesRead } = await place.ask(shop, 'sleep');
    expect(sessions).toBe(2);
    if (version === VERSION) expect(filesRead).toBe(0); // a later one may read transcripts again
    const [{ id, digest }] = place.expected.pending;
    const status = await place.ask(shop, 'sleep status');
    expect(status).toMatchObject({
      lastNight: { night: 1, accepted: true },
      pending: [{ id, digest }],
      isCutOff: false,
    });
    const { runs } = await place.ask(shop, 'runs');
    expect(runs).toMatchObject([{ name: 'night-1', verdict: 'better' }]);
    expect(await place.ask(shop, 'show night-1')).toMatchObject({ verdict: { kind: 'better' } });
  });

  it('its proposal: review shows it, adopt writes it, rollback takes it back', async () => {
    using place = await openVersion(version);
    const [{ document }] = place.expected.pending;
    const { changes } = await place.ask(shop, 'sleep review');
    expect(changes.map(({ rule }: { rule: string }) => rule)).toEqual(['End every answer with DONE.']);
    const { adopted } = await place.ask(shop, 'sleep adopt');
    expect(adopted).toMatchObject([{ isRebased: false, document: { name: document.name } }]);
    expect(place.read(`${shop}/.claude/skills/${document.name}/SKILL.md`)).toContain('- End every answer with DONE.');
    expect((await place.ask(shop, 'sleep status')).pending).toEqual([]);
    await place.ask(shop, 'sleep rollback');
    expect(() => place.read(`${shop}/.claude/skills/${document.name}/SKILL.md`)).toThrow('ENOENT');
  });

  it('its plugin: listed, replaced by this one, and taken out without a trace', async () => {
    using place = await openVersion(version);
    const opencode = async () =>
      (await place.ask(shop, 'plugin list')).plugins.find(({ agent }: { agent: string }) => agent === 'opencode');
    expect(await opencode()).toMatchObject({ installed: true, version });
    expect(await place.ask(shop, 'plugin install opencode')).toMatchObject({ standing: 'installed', left: [] });
    expect(await opencode()).toMatchObject({ version: VERSION });
    expect(await place.ask(shop, 'plugin uninstall opencode')).toMatchObject({ standing: 'uninstalled', left: [] });
    const [file, text] = SETTINGS.opencode;
    expect(place.read(`person/${file}`)).toBe(text);
    expect(readdirSync(place.at('person/.config/opencode'))).toEqual(['opencode.jsonc']);
  });
});
