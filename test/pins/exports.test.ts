import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { publint } from 'publint';
import { build } from 'vite';
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
  './agents': ['agentChat', 'agentClis', 'detectAgents', 'requireInstalled'],
  './envs': [
    'BaseDataLoader',
    'EnvAdapter',
    'SimpleQAEnv',
    'SplitDataLoader',
    'adapterEnv',
    'envNames',
    'extractAnswer',
    'isEnvAdapter',
    'loadItems',
    'loadQaItems',
    'normalizeAnswer',
    'planItems',
    'planSeeds',
    'registerEnv',
    'scoreAnswer',
    'splitItems',
    'stratifiedSample',
    'tokenF1',
  ],
  './judges': ['SingleJudgement', 'judgeAnswer', 'judgedOutput', 'judgementsOf'],
  './models': [
    'PRICES',
    'PRICES_DATE',
    'anthropicChat',
    'azureChat',
    'costUsd',
    'countMessages',
    'countTokens',
    'createBudget',
    'createLimiterPool',
    'createMeter',
    'createRateLimiter',
    'fromAiSdk',
    'googleChat',
    'minimaxChat',
    'openaiChat',
    'openaiCompatible',
    'priceOf',
    'qwenChat',
    'scripted',
    'withBudget',
    'withCircuit',
    'withMeter',
    'withRateLimit',
    'withReplyCache',
    'withRetry',
    'withTimeout',
  ],
  './run': [
    'STAGES',
    'acceptedEdits',
    'detailViews',
    'emptyRun',
    'isAccepted',
    'journalLines',
    'reduce',
    'reportedScores',
    'stateViews',
    'summarize',
    'toFact',
    'winnerMeasurement',
  ],
  './sim': ['createWorld', 'serveSim', 'simulatedOptimizer', 'simulatedTarget'],
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
    'inherit',
    'isBinary',
    'isMissing',
    'itemMean',
    'judgeWave',
    'knownOf',
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
  './testing': ['scripted', 'startFakeLLM'],
};

describe('the published package', () => {
  const { exports } = JSON.parse(readFileSync(resolve(PACKAGE, 'package.json'), 'utf8'));

  it('has these doors, each with its names', () => {
    expect(Object.keys(surface)).toEqual(Object.keys(exports).filter((door) => door !== './package.json'));
    expect(Object.keys(exports)).toEqual([
      '.',
      './agents',
      './envs',
      './judges',
      './models',
      './run',
      './sim',
      './stats',
      './testing',
      './package.json',
    ]);
  });

  it.each(Object.entries(surface))('%s exports exactly these names', async (door, names) => {
    expect(Object.keys(await load(exports[door].default)).sort()).toEqual([...names].sort());
  });

  it.each(['./run', './stats'])('%s bundles for a browser, with nothing of Node', async (door) => {
    const lib = { entry: resolve(PACKAGE, exports[door].default), formats: ['es' as const] };
    const bundled = await build({ configFile: false, logLevel: 'silent', build: { write: false, minify: false, lib } });
    const [{ output }] = bundled as unknown as [{ output: readonly { code?: string }[] }];
    const code = output.map((chunk) => chunk.code ?? '').join('');
    expect(code.length).toBeGreaterThan(10_000);
    expect(code).not.toMatch(/['"]node:|vite-browser-external/);
  });

  it('satisfies publint', async () => {
    const { messages } = await publint({ pkgDir: PACKAGE, strict: true });
    expect(messages).toEqual([]);
  });
});
