import { stringify } from 'yaml';
import { createWorld } from '../sim/index.ts';
import { skillNameFor } from '../skills/index.ts';
import type { ConfigFormat } from './propose/config-text.ts';

export const STARTER_TASKS = 'tasks.jsonl';

/** The files of a project that trains offline at once, by name. Its skill is named after the folder, as skills must be. */
export function starterProject(format: ConfigFormat, folderName: string): Readonly<Record<string, string>> {
  const { items, initialSkill } = createWorld({ train: 48, val: 36, test: 36 });
  const rows = [...items.train, ...items.val, ...items.test];
  return {
    [`skillopt.config.${format}`]: configs[format],
    [STARTER_TASKS]: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    'SKILL.md': initialSkill.replace(/^name: .*\n/m, stringify({ name: skillNameFor(folderName) })),
  };
}

const YAML = `# A skillopt project. Train it: npx skillopt train
# Every key and its default: npx skillopt train --help-all

name: starter           # the run is kept in runs/starter
tasks: tasks.jsonl      # one task per line: id, question, answers, and optionally context, taskType, split
skill: SKILL.md         # where training starts; it is read, never written

# The simulated models work offline and only understand the tasks that came with this file.
# For tasks of your own, name real ones:
#   target: openai:MODEL                                  key from the variable OPENAI_API_KEY
#   target: compatible:MODEL@http://127.0.0.1:8080/v1     any server that speaks Chat Completions
#   target: { provider: compatible, model: MODEL, baseURL: https://…/v1, apiKeyEnv: MY_API_KEY }
target: simulated       # the frozen model that the skill is for
optimizer: simulated    # the model that reads the results and proposes edits

numEpochs: 3            # passes over the training tasks
batchSize: 16           # tasks per step
seed: 42                # same seed, same run

# env: ./env.mjs        # your own environment: a module with a default export
`;

const MJS = `// A skillopt project. Train it: npx skillopt train
// Every key and its default: npx skillopt train --help-all
export default {
  name: 'starter', // the run is kept in runs/starter
  tasks: 'tasks.jsonl', // one task per line: id, question, answers, and optionally context, taskType, split
  skill: 'SKILL.md', // where training starts; it is read, never written

  // The simulated models work offline and only understand the tasks that came with this file.
  // For tasks of your own, name real ones:
  //   target: 'openai:MODEL'                                  key from the variable OPENAI_API_KEY
  //   target: 'compatible:MODEL@http://127.0.0.1:8080/v1'     any server that speaks Chat Completions
  //   target: { provider: 'compatible', model: 'MODEL', baseURL: 'https://…/v1', apiKeyEnv: 'MY_API_KEY' }
  target: 'simulated', // the frozen model that the skill is for
  optimizer: 'simulated', // the model that reads the results and proposes edits

  numEpochs: 3, // passes over the training tasks
  batchSize: 16, // tasks per step
  seed: 42, // same seed, same run

  // env: './env.mjs', // your own environment: a module with a default export
};
`;

const JSON_TEXT = `{
  "name": "starter",
  "tasks": "tasks.jsonl",
  "skill": "SKILL.md",
  "target": "simulated",
  "optimizer": "simulated",
  "numEpochs": 3,
  "batchSize": 16,
  "seed": 42
}
`;

const TS = `import { defineConfig } from 'skillopt';\n\n${MJS.replace('export default {', 'export default defineConfig({').replace(/};\n$/, '});\n')}`;

const configs: Readonly<Record<ConfigFormat, string>> = { yaml: YAML, json: JSON_TEXT, mjs: MJS, ts: TS };
