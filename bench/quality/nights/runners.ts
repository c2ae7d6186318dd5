import { ourNight } from './our-night.ts';
import { referenceNight } from './reference-night.ts';
import type { NamedRunner } from './runner.ts';

/** Every way to spend a night that the rows compare. One that promises the goals has a line of its own here. */
export const RUNNERS: Readonly<Record<string, NamedRunner>> = {
  reference: { run: referenceNight, measure: 'soft', isPromised: false },
  ours: { run: ourNight, measure: 'mixed', isPromised: true },
};
