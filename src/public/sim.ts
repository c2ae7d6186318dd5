/** A world whose truth is known, to try a trainer in: offline, seeded, free. The whole room is public. */

export * from '../sim/index.ts';
