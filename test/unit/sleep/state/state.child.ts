// One night of a process: opens the state, counts a night and leaves, or says why it could not.
import { setTimeout as delay } from 'node:timers/promises';
import { nightOf, openSleepState, recordNight } from '../../../../src/sleep/index.ts';

try {
  await using open = await openSleepState(process.argv[2]!);
  await delay(300);
  const night = nightOf(open.state, '/p') + 1;
  await open.update((state) =>
    recordNight(state, { row: { project: '/p', night, at: '2026-03-10T00:00:00Z', accepted: false, nTasks: 0 } }),
  );
  process.stdout.write('wrote');
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  process.stdout.write(`${code} ${message}`);
}
