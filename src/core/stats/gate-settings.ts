/** The operating point of a step. It is chosen for gain over a run, not for significance: that belongs to the claim. */
export type GateSettings = {
  /** Where waves end, as shares of the items. */
  readonly waves: readonly number[];
  /** The first wave has at least this many items. */
  readonly firstWave: number;
  /** After a share f of the items, z below `rejectSlope · f` ends the race. */
  readonly rejectSlope: number;
  /** z from which a finished candidate is accepted. */
  readonly acceptThreshold: number;
  /**
   * A candidate that passes is rolled out on all items once more, and wins if z over both passes reaches this. Pays where
   * proposals are scarce and rollouts are not.
   */
  readonly confirmThreshold?: number;
  /** Rollouts that an item's prior weighs (binary; graded scores estimate it). */
  readonly priorRollouts: number;
  /** Rollouts' worth of old evidence that an item keeps after an accept. */
  readonly keptRollouts: number;
  /** Incumbent rollouts repeated per step, as a share of the items. */
  readonly refreshShare: number;
};

/** The settings for a validation set of `n` items, chosen on the bench; see docs/decisions. */
export function gateSettings(n: number): GateSettings {
  return {
    waves: [0.1, 0.2, 0.3, 0.5, 0.75, 1],
    firstWave: 2,
    rejectSlope: 0,
    acceptThreshold: acceptThreshold(n),
    priorRollouts: 2,
    keptRollouts: Math.min(2, 10 / Math.max(1, n)),
    refreshShare: 0.0125,
  };
}

/**
 * Settings for a run with few proposals and rollouts to spare, about as many as a full pass for each: later waves, a low first
 * bar, and a second pass for those that pass it.
 */
export function patientSettings(n: number): GateSettings {
  return { ...gateSettings(n), waves: [0.5, 0.75, 1], rejectSlope: -1, acceptThreshold: 0, confirmThreshold: 0.8 };
}

/** What suits a run that makes so many proposals from one batch: where they are cheap, most may be dropped early. */
export function settingsFor(n: number, proposalsPerBatch: number): GateSettings {
  return proposalsPerBatch > 1 ? gateSettings(n) : patientSettings(n);
}

/** The fewer the items, the more of a lead is luck. */
function acceptThreshold(n: number): number {
  return Math.max(0.2, Math.min(0.8, 8 / Math.max(1, n)));
}

/** How many items have been met at the end of each wave. Rising, the last is `n`; no items, no waves. */
export function planWaves(n: number, settings: GateSettings = gateSettings(n)): number[] {
  const ends = settings.waves.map((share) => Math.min(n, Math.max(settings.firstWave, Math.ceil(share * n - 1e-9))));
  return [...new Set([...ends, n])].filter((end) => end > 0);
}
