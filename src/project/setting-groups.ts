import type { z } from 'zod';
import { configShape, unwrap } from '../core/contracts/index.ts';
import { projectKeys } from './project.ts';

export type SettingGroup = { readonly title: string; readonly keys: readonly string[] };

const group = (title: string, keys: string): SettingGroup => ({ title, keys: keys.trim().split(/\s+/) });

/** Every key of a project once, by subject. In the file itself they stand side by side. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  group(
    'project',
    'name env tasks columns scoring skill skillFiles target optimizer judge sandbox workspace promptOverrides extras sleep',
  ),
  group(
    'data',
    'splitRatio splitSeed splitMode splitDir dataPath trainSize selEnvNum testEnvNum selectionSplit testSplit',
  ),
  group(
    'search',
    `preset numEpochs batchSize minibatchSize mergeBatchSize accumulation proposalsPerBatch failureOnly editBudget
     minEditBudget lrScheduler lrControlMode skillUpdateMode parts dropRepeats retryRejectedEdits tryRemovals salvage
     salvageRollouts prune`,
  ),
  group(
    'memory',
    `useStepBuffer stepBufferScope useSlowUpdate slowUpdateSamples slowUpdateGate longitudinalPairPolicy useMetaSkill
     useSkillAwareReflection skillAwareAppendixSource skillAwareConsolidateThreshold`,
  ),
  group(
    'gate and report',
    `useGate gate racing gateMetric gateMixedWeight confidence regressionVeto protectedItems leakCritic maxMemorisedShare
     finalPasses evalTest`,
  ),
  group(
    'limits',
    'maxRollouts maxCalls maxTotalTokens maxCostUsd maxMinutes prices maxErroredShare maxConsecutiveFailures',
  ),
  group(
    'sizes',
    'maxSkillTokens maxTrajectoryTokens optimizerContextTokens optimizerMaxCompletionTokens rewriteMaxCompletionTokens',
  ),
  group('running', 'outRoot seed workers maxRetries callTimeoutMs rolloutTimeoutMs saveEveryStep maxCacheMb verbose'),
];

/** Those that most people change. --help shows these, --help-all shows every setting. */
export const MAIN_SETTINGS: ReadonlySet<string> = new Set(
  'tasks skill target optimizer numEpochs batchSize maxCalls maxCostUsd workers outRoot'.split(' '),
);

const SHAPE: Readonly<Record<string, z.ZodType>> = { ...projectKeys, ...configShape };

/** The groups as Markdown tables: key, default, what it is for. */
export function renderSettings(): string {
  return SETTING_GROUPS.map(({ title, keys }) => [`## ${title}`, '', renderTable(SHAPE, keys)].join('\n')).join('\n\n');
}

/** Keys of a schema as a Markdown table. */
export function renderTable(
  shape: Readonly<Record<string, z.ZodType>>,
  keys: readonly string[] = Object.keys(shape),
): string {
  return ['| key | default | |', '|---|---|---|', ...keys.map((key) => renderRow(key, shape[key]!))].join('\n');
}

function renderRow(key: string, schema: z.ZodType): string {
  const { fallback } = unwrap(schema);
  const shown =
    fallback === undefined ? '' : `\`${typeof fallback === 'string' ? fallback : JSON.stringify(fallback)}\``;
  return `| \`${key}\` | ${shown} | ${schema.description ?? ''} |`;
}
