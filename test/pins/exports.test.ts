import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { publint } from 'publint';
import { describe, expect, it } from 'vitest';

const PACKAGE = resolve('.cache/package');
const load = (path: string) => import(/* @vite-ignore */ pathToFileURL(resolve(PACKAGE, path)).href);

/** The public surface as a literal: a name that comes or goes must be changed here by hand. */
const surface: Record<string, string[]> = {
  '.': [
    'Edit',
    'ModelCallError',
    'PROMPT_NAMES',
    'Patch',
    'PromptTooLongError',
    'PythonRandom',
    'RolloutResult',
    'SimpleQAEnv',
    'SkillError',
    'SkillOptConfig',
    'SkillOptTrainer',
    'anthropicChat',
    'applyEdit',
    'applyPatch',
    'applyPatchWithReport',
    'buildScheduler',
    'computeScore',
    'createStageDeps',
    'defineEnv',
    'emptyRun',
    'evaluateGate',
    'evaluateSkill',
    'extractJson',
    'fromAiSdk',
    'memoryRun',
    'mergePatches',
    'openaiChat',
    'openaiCompatible',
    'parseConfig',
    'rankAndSelect',
    'reduce',
    'runDirectory',
    'runMinibatchReflect',
    'runRollout',
    'scripted',
    'selectGateScore',
    'shuffle',
    'skillHash',
    'summarize',
    'toFact',
  ],
  './judges': ['SingleJudgement', 'judgeAnswer', 'judgedOutput', 'judgementsOf'],
  './stats': [
    'MAX_MISSING_SHARE',
    'addObservations',
    'addOwn',
    'barFor',
    'believedScore',
    'calibrate',
    'combineJudgements',
    'disputedItems',
    'estimateGain',
    'estimateNoise',
    'estimateScore',
    'exactRace',
    'finalReport',
    'findFlips',
    'findLeaks',
    'hardestFirst',
    'incompleteBeta',
    'inherit',
    'isBinary',
    'isMissing',
    'itemMean',
    'judgeWave',
    'knownOf',
    'logGamma',
    'missingShare',
    'noEvidence',
    'noKnowledge',
    'normalCdf',
    'normalQuantile',
    'planWaves',
    'pooledMean',
    'raceOrder',
    'raceSettings',
    'regressionVeto',
    'settingsFor',
    'startable',
    'tCdf',
    'tQuantile',
    'unmetItems',
    'weigh',
    'weighCandidate',
    'withinItems',
    'withinVariance',
  ],
};

describe('the published package', () => {
  const { exports } = JSON.parse(readFileSync(resolve(PACKAGE, 'package.json'), 'utf8'));

  it('has these doors', () => {
    expect(Object.keys(exports)).toEqual([
      '.',
      './agents',
      './envs',
      './judges',
      './models',
      './sim',
      './stats',
      './testing',
      './package.json',
    ]);
  });

  it.each(Object.entries(surface))('%s exports exactly these names', async (door, names) => {
    expect(Object.keys(await load(exports[door].default)).sort()).toEqual([...names].sort());
  });

  it('satisfies publint', async () => {
    const { messages } = await publint({ pkgDir: PACKAGE, strict: true });
    expect(messages).toEqual([]);
  });
});
