import type { KeyRow, Section } from './key-row.ts';
import { LR_CONTROL_WORDS, PAIR_POLICY_WORDS, UPDATE_MODE_WORDS } from './value-aliases.ts';

type More = Partial<Omit<KeyRow, 'section' | 'key' | 'does' | 'to'>>;

const mapped = (section: Section, key: string, to: string, more: More = {}): KeyRow => ({
  section,
  key,
  flat: key,
  does: 'mapped',
  to,
  ...more,
});

const ignored = (section: Section, key: string, why: string, more: More = {}): KeyRow => ({
  section,
  key,
  flat: key,
  does: 'ignored',
  why,
  ...more,
});

const forEnvironment = (key: string, more: More = {}): KeyRow => mapped('env', key, `extras.${key}`, more);

const DENSITY = 'Pays for loud words. The gate here looks at tasks and nothing else.';
const BOTH_WORKERS = 'One number for all calls in flight: the larger of env.workers and gradient.analyst_workers.';

/** Every key outside the section `model`. */
export const runKeyRows: readonly KeyRow[] = [
  mapped('train', 'num_epochs', 'numEpochs'),
  mapped('train', 'train_size', 'trainSize'),
  ignored('train', 'steps_per_epoch', 'Follows from the data and batch_size, there as here.'),
  mapped('train', 'batch_size', 'batchSize'),
  mapped('train', 'accumulation', 'accumulation'),
  mapped('train', 'seed', 'seed'),

  mapped('gradient', 'minibatch_size', 'minibatchSize'),
  mapped('gradient', 'merge_batch_size', 'mergeBatchSize'),
  mapped('gradient', 'analyst_workers', 'workers', { why: BOTH_WORKERS }),
  mapped('gradient', 'failure_only', 'failureOnly'),
  ignored('gradient', 'max_analyst_rounds', 'Retired in SkillOpt too.'),

  mapped('optimizer', 'learning_rate', 'editBudget', { flat: 'edit_budget' }),
  mapped('optimizer', 'min_learning_rate', 'minEditBudget', { flat: 'min_edit_budget' }),
  mapped('optimizer', 'lr_scheduler', 'lrScheduler', { why: 'autonomous sets no limit, as there.' }),
  mapped('optimizer', 'lr_control_mode', 'lrControlMode', { values: LR_CONTROL_WORDS }),
  mapped('optimizer', 'skill_update_mode', 'skillUpdateMode', { values: UPDATE_MODE_WORDS }),
  ignored('optimizer', 'meta_learning_rate', 'Read by nothing in SkillOpt either.', { flat: 'meta_edit_budget' }),
  mapped('optimizer', 'use_slow_update', 'useSlowUpdate'),
  mapped('optimizer', 'slow_update_samples', 'slowUpdateSamples'),
  mapped('optimizer', 'slow_update_gate_with_selection', 'slowUpdateGate', {
    why: 'Off where no file says anything, as in SkillOpt; on with preset: default.',
  }),
  mapped('optimizer', 'longitudinal_pair_policy', 'longitudinalPairPolicy', { values: PAIR_POLICY_WORDS }),
  mapped('optimizer', 'use_meta_skill', 'useMetaSkill'),
  mapped('optimizer', 'use_skill_aware_reflection', 'useSkillAwareReflection'),
  mapped('optimizer', 'skill_aware_appendix_source', 'skillAwareAppendixSource'),
  mapped('optimizer', 'skill_aware_consolidate_threshold', 'skillAwareConsolidateThreshold'),

  mapped('evaluation', 'use_gate', 'useGate'),
  mapped('evaluation', 'gate_metric', 'gateMetric'),
  mapped('evaluation', 'gate_mixed_weight', 'gateMixedWeight'),
  ignored('evaluation', 'use_semantic_density', DENSITY, { harmless: [false] }),
  ignored('evaluation', 'semantic_density_weight', DENSITY, { harmless: [0, 0.05] }),
  ignored('evaluation', 'leading_words', DENSITY),
  mapped('evaluation', 'sel_env_num', 'selEnvNum'),
  mapped('evaluation', 'test_env_num', 'testEnvNum'),
  mapped('evaluation', 'eval_test', 'evalTest'),

  mapped('env', 'name', 'env', { flat: 'env' }),
  mapped('env', 'skill_init', 'skill'),
  mapped('env', 'out_root', 'outRoot', { why: 'Without it runs/NAME and no timestamp: a run can be resumed.' }),
  mapped('env', 'split_mode', 'splitMode'),
  mapped('env', 'split_ratio', 'splitRatio', { why: "Without it 2:1:7, the default of SkillOpt's environments." }),
  mapped('env', 'split_seed', 'splitSeed'),
  mapped('env', 'split_dir', 'splitDir'),
  mapped('env', 'data_path', 'dataPath'),
  forEnvironment('split_output_dir'),
  mapped('env', 'exec_timeout', 'rolloutTimeoutMs, extras.exec_timeout', {
    why: 'A task gets a minute more, as there, and never less than our default. For an agent it is target.limits.timeoutMs too.',
  }),
  mapped('env', 'workers', 'workers', { why: BOTH_WORKERS }),
  mapped('env', 'max_completion_tokens', 'extras.max_completion_tokens, extras.maxCompletionTokens', {
    why: 'The second spelling is what the environment qa reads.',
  }),
  forEnvironment('limit'),
  forEnvironment('max_turns', { isOfOthers: true, harmless: [1] }),
  ...[
    'data_root',
    'mode',
    'image_detail',
    'shuffle_choices',
    'use_theorem',
    'use_sketch',
    'max_steps',
    'max_api_workers',
    'max_tool_turns',
    'search_mode',
    'max_queries_per_turn',
    'search_api_url',
    'search_auth_env',
    'search_provider',
    'search_max_num_results',
    'search_timeout_seconds',
    'use_local_tools',
    'data_dirs',
    'docs_dirs',
  ].map((key) => forEnvironment(key, { isOfOthers: true })),
];
