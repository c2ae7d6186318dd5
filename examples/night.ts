// One night from a program: sessions of a coding agent become tasks, and what is proven better waits as a proposal.
// The person and the models are simulated: no key, no network, no cost.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulatedPerson } from 'skillopt/sim';
import { adoptProposals, runSleepCycle } from 'skillopt/sleep';

// A home with the transcripts of a few days. Leave `place` and `stateFolder` out to use your own home.
const home = realpathSync(mkdtempSync(join(tmpdir(), 'skillopt-night-')));
try {
  const person = simulatedPerson({ seed: 11 });
  const DAYS = 4;
  mkdirSync(join(home, 'rig'));
  for (let day = 1; day <= DAYS; day++) await person.writeDay(home, day, { skill: '', memory: '' });

  const { target, optimizer, judge } = person;
  const stateFolder = join(home, 'state');
  const night = await runSleepCycle({
    ...{ target, optimizer, judge, stateFolder, project: join(home, 'rig') },
    place: { env: {}, home, platform: 'linux' },
    settings: { source: 'claude', lookbackHours: 0, maxTokensPerNight: 50_000_000 },
    now: () => person.eveningOf(DAYS),
  });

  const { nSessions, nTasks, calls } = night.report;
  console.log(`${nSessions} sessions, ${nTasks} tasks, ${calls} model calls`);
  for (const { document, gain } of night.proposals)
    console.log(`proposed for ${document.name}: ${(100 * gain!.value).toFixed(1)} points better`);
  assert.ok(night.proposals.length > 0);

  // A night changes no document. A person decides, and agrees to lines that are marked; here by calling this.
  const agreed = night.proposals.map(({ digest }) => digest);
  const { adopted } = await adoptProposals({ stateFolder, choose: () => night.proposals, agreed });
  console.log(readFileSync(adopted[0]!.path, 'utf8'));
} finally {
  rmSync(home, { recursive: true, force: true });
}
