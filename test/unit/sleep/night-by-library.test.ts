import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { simulatedPerson } from 'skillopt/sim';
import { runSleepCycle } from 'skillopt/sleep';
import { expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';

const DAYS = 4;

it('a night is a few lines for a program: models, a project and settings', async () => {
  using temp = tempFolder();
  const home = realpathSync(temp.path);
  const project = join(home, 'rig');
  mkdirSync(project);
  const person = simulatedPerson({ seed: 11 });
  for (let day = 1; day <= DAYS; day++) await person.writeDay(home, day);
  const { target, optimizer, judge } = person;
  const told: string[] = [];

  const night = await runSleepCycle({
    ...{ project, target, optimizer, judge },
    place: { env: {}, home, platform: 'linux' },
    settings: { source: 'claude', lookbackHours: 0, maxTokensPerNight: 50_000_000 },
    now: () => person.eveningOf(DAYS),
    onGather: ({ type }) => void told.push(type),
  });

  expect(night.report).toMatchObject({ night: 1, accepted: true, nSessions: 24 });
  expect(night.proposals.length).toBeGreaterThan(0);
  expect(night.folder?.startsWith(home)).toBe(true); // the state is in the home that was given, and nowhere else
  expect([...new Set(told)]).toEqual([
    'gather-start',
    'transcript-read',
    'sessions-chosen',
    'session-mined',
    'mining-end',
    'tasks-ready',
  ]);
}, 60_000);
