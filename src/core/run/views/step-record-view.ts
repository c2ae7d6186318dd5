import type { SkillOptConfig } from '../../config.ts';
import type { StageUsage } from '../stage-usage.ts';
import type { StepRecord } from '../step-record.ts';

/** A step as `history.json` and `step_record.json` have it: what those who read the reference's files look for, and ours beside it. */
export function toStepRecordView(record: StepRecord, config: SkillOptConfig | undefined) {
  const { timing = {}, tokens = {}, editStatuses = [], ...rest } = record;
  const applyReport = countStatuses(editStatuses);
  return {
    ...rest,
    editStatuses,
    applyReport,
    editApplySummary: applyReport,
    gateMetric: config?.gateMetric,
    lrControlMode: config?.lrControlMode,
    timing: Object.fromEntries(Object.entries(timing).map(([stage, ms]) => [`${stage}S`, toSeconds(ms)])),
    timingMs: timing,
    tokens: Object.fromEntries(Object.entries(tokens).map(([stage, usage]) => [stage, withCounts(usage)])),
  };
}

export const toSeconds = (ms: number) => Math.round(ms / 10) / 100;

function countStatuses(statuses: readonly string[]) {
  const count = (prefix: string) => statuses.filter((status) => status.startsWith(prefix)).length;
  return { total: statuses.length, applied: count('applied'), skipped: count('skipped'), errors: count('error') };
}

const withCounts = (usage: StageUsage) => ({
  ...usage,
  calls: usage.replies - usage.cacheHits,
  promptTokens: usage.input,
  completionTokens: usage.output,
});
