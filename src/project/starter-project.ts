import { stringify } from 'yaml';
import { createWorld } from '../sim/index.ts';
import { skillNameFor } from '../skills/index.ts';
import { type ConfigEntry, type ConfigFormat, configText } from './propose/config-text.ts';

export const STARTER_TASKS = 'tasks.jsonl';

/** The files of a project that trains offline, by name. Its skill has the name of the folder. */
export function starterProject(format: ConfigFormat, folderName: string): Readonly<Record<string, string>> {
  const { items, initialSkill } = createWorld({ train: 48, val: 36, test: 36 });
  const rows = [...items.train, ...items.val, ...items.test];
  return {
    [`skillopt.config.${format}`]: configText(ENTRIES, format),
    [STARTER_TASKS]: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    'SKILL.md': initialSkill.replace(/^name: .*\n/m, stringify({ name: skillNameFor(folderName) })),
  };
}

const TARGET = `The frozen model that the skill is for. The simulated models work offline and only understand the tasks that came
  with this file. For tasks of your own, name real ones: openai:MODEL (its key is in the variable OPENAI_API_KEY),
  compatible:MODEL@http://127.0.0.1:8080/v1 (any server that speaks Chat Completions), or the keys provider, model, baseURL
  and apiKeyEnv.`;

const ENTRIES: readonly ConfigEntry[] = [
  { key: 'name', value: 'starter', why: 'The run is kept in runs/starter.' },
  {
    key: 'tasks',
    value: STARTER_TASKS,
    why: 'One task per line: id, question, answers, and optionally context, taskType, split.',
  },
  { key: 'skill', value: 'SKILL.md', why: 'Training starts here. The file is read, never written.' },
  { key: 'target', value: 'simulated', why: TARGET },
  { key: 'optimizer', value: 'simulated', why: 'The model that reads the results and proposes edits.' },
  { key: 'numEpochs', value: 3, why: 'Passes over the training tasks.' },
  { key: 'batchSize', value: 16, why: 'Tasks per step.' },
  { key: 'seed', value: 42, why: 'The same seed gives the same run.' },
  { key: 'env', example: './env.mjs', why: 'Your own environment: a module with a default export.' },
];
