import { appendFileSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runDirectory } from 'skillopt';
import { startFakeAgentLLM, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/command-table.ts';
import { buildCommand } from '../../src/cli/run-command.ts';
import { openTerminal } from '../../src/cli/terminal/terminal.ts';
import { captureIo } from '../support/capture-io.ts';
import { pluginHome } from '../support/plugins/plugin-home.ts';
import { openRecording, type Place, recordedCommands } from '../support/recordings/json-recording.ts';
import {
  answerOfNight,
  beginnings,
  projectOfAgent,
  projectWithoutTasks,
  simulatedProject,
} from '../support/recordings/recorded-projects.ts';
import { sleepHome } from '../support/sleep/sleep-home.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { reviewedTasks } from '../unit/cli/sleep/night-over-http.ts';
import { fakeSystem } from '../unit/cli/sleep/schedule/fake-system.ts';

/** Each command by what is special about it. `RECORD=1` records the answers again; see `test/support/json-recording.ts`. */
describe('what commands answer with --json', () => {
  it('about a run: train, and all that reads a run', async () => {
    using folder = simulatedProject();
    const { keep, keepAll, compare } = openRecording('run');
    const here = { cwd: folder.path };
    await keepAll(here, {
      estimate: 'estimate',
      'estimate of a model with a price': 'estimate --target openai:gpt-5-mini --num-epochs 2',
      'train below the estimate': 'train --max-calls 20',
      'train at its limit': 'train --max-calls 90 --ignore-estimate',
      'runs with one at its limit': 'runs',
      'show of one at its limit': 'show',
      'watch of one that nobody works on': 'watch run',
      'train resumed': 'train',
      'train finished again': 'train',
      'train with another seed': 'train --seed 5',
    });
    const open = await runDirectory(join(folder.path, 'runs/run')).open();
    await keep('train while another writes', 'train', here);
    await open[Symbol.asyncDispose]();
    await keepAll(here, {
      'watch of a finished run': 'watch run',
      runs: 'runs',
      show: 'show run',
      'show --all': 'show --all',
      'show --task': 'show --task train-001',
      'show --task --step': 'show run --task train-001 --step 2',
      'show --step without a task': 'show run --step 1',
      'show of an unknown task': 'show run --task nope',
      report: 'report run',
      'report of no run': 'report nowhere',
      'ui of no run': 'ui nowhere',
      'show of an unknown run': 'show nope',
      diff: 'diff',
      'diff of two steps': 'diff run 1 2',
      'diff --task': 'diff run --task test-001',
      'cache stats': 'cache stats',
      apply: 'apply run',
      'apply again': 'apply run',
      'apply --undo': 'apply run --undo',
      'apply --undo again': 'apply run --undo',
      'apply --to': 'apply run --to elsewhere',
    });
    appendFileSync(join(folder.path, 'house-style/SKILL.md'), 'Mine.\n');
    await keep('apply over an edit of a person', 'apply run', here);
    await keep('train --fresh', 'train --fresh --seed 7', here);
    const { runs } = await keep('runs with one moved aside', 'runs', here);
    await keep('compare of two runs', ['compare', runs[1].name, runs[0].name], here);
    await keep('cache clear', 'cache clear run', here);
    compare();
  });

  it('about documents: eval, compare, calibrate, doctor, skill lint', async () => {
    using folder = simulatedProject();
    const { keep, keepAll, compare } = openRecording('documents');
    const here = { cwd: folder.path };
    await keepAll(here, {
      eval: 'eval --skill NEW.md',
      'eval --split all': 'eval --skill NEW.md --split all',
      'eval --baseline': 'eval --skill NEW.md --baseline OLD.md',
      'eval that is worse': 'eval --skill OLD.md --baseline NEW.md',
      'eval --min-score': 'eval --skill NEW.md --min-score 1',
      'eval of no document': 'eval --skill NOWHERE.md',
      'compare of two documents': 'compare OLD.md NEW.md',
      'compare of the same': 'compare OLD.md house-style',
      'compare on no split': 'compare OLD.md NEW.md --split nope',
      calibrate: 'calibrate',
      'calibrate --skill': 'calibrate --skill NEW.md --passes 3 --split test',
      doctor: 'doctor',
      'skill lint': 'skill lint house-style',
    });
    writeFileSync(join(folder.path, 'house-style/SKILL.md'), '---\nname: Other Name\n---\nSee [it](gone.md).\n');
    await keep('skill lint with errors', 'skill lint house-style', here);
    compare();
  });

  it('about a new project: init and tasks', async () => {
    const { keep, keepAll, compare } = openRecording('new-project');
    using places = beginnings();
    const at = (name: string) => ({ cwd: join(places.path, name) });
    await keep('init of nothing', 'init', at('nothing'));
    await keep('init again', 'init', at('nothing'));
    await keep('init in a new folder', 'init other --format json', at('nothing'));
    await keep('init of a skill and tasks', 'init', { ...at('some'), env: { OPENAI_API_KEY: 'dummy-key' } });
    await keep('init of promptfoo', 'init', at('promptfoo'));
    using folder = projectWithoutTasks();
    await keepAll(
      { cwd: folder.path },
      {
        'tasks draft': 'tasks draft --n 8',
        'tasks draft of none': 'tasks draft --n 8',
        'tasks draft at its limit': 'tasks draft --n 40 --max-calls 60',
        'tasks review': 'tasks review',
        'tasks review --keep-all': 'tasks review --keep-all',
        'tasks check': 'tasks check',
        'tasks check of too few': 'tasks check few.jsonl',
        'tasks check --fix': 'tasks check sums.jsonl --fix --out clean.jsonl',
        'tasks check --measure': 'tasks check --measure',
      },
    );
    compare();
  });

  it('about an agent at work: try, doctor, eval, train', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow' });
    using project = projectOfAgent(llm.url);
    const { keep, keepAll, compare } = openRecording('agent');
    const here = { cwd: project.path, env: { PATH: `${join(project.path, 'bin')}:${process.env.PATH}` } };
    const trying = ['try', 'Please count the teapots.', '--agent', 'claude', '--skill', 'teapots', '--in', 'shop'];
    await keep('try', [...trying, '--base-url', llm.url, '--sandbox', 'none'], here);
    await keepAll(here, {
      'try without a skill': 'try Count. --agent claude --skill nope',
      doctor: 'doctor',
      eval: 'eval --skill teapots --split val',
      train: 'train',
      'show --task': 'show run --task val',
    });
    compare();
  });

  it('about nights', async () => {
    await using llm = await startFakeLLM(answerOfNight);
    using home = sleepHome();
    using system = fakeSystem();
    const { keep, keepAll, compare } = openRecording('sleep');
    const [here, there] = [home, system.home].map(({ shop, env }) => ({ cwd: shop, env })) as [Place, Place];
    const model = `compatible:m@${llm.baseURL}`;
    // The job is tried as a process of its own, which takes as long as all the rest.
    const scheduled = keep('schedule', `sleep schedule --max-minutes 9 --target ${model}`, there);
    await keepAll(here, {
      'status of nothing': 'sleep status',
      'overview of nothing': 'sleep',
      'adopt of nothing': 'sleep adopt',
      'rollback of nothing': 'sleep rollback',
    });
    home.said({ id: 'a', endedHoursAgo: 1.001 }); // seconds before the other: the newest session comes first
    home.said({ id: 'b' });
    await keep('run without consent', 'sleep run --target openai:gpt-5-mini', {
      ...here,
      env: { ...home.env, OPENAI_API_KEY: 'dummy-key' },
    });
    await keepAll(here, {
      overview: 'sleep',
      harvest: 'sleep harvest',
      'harvest --output': 'sleep harvest --output found.json',
      'harvest --with-model': `sleep harvest --with-model --optimizer ${model}`,
      plan: `sleep run --plan --target ${model}`,
      'plan with a price': 'sleep run --plan --target openai:gpt-5-mini',
      'plan --page --drop': `sleep run --plan --page 1 --drop b --target ${model}`,
      'plan without a model': 'sleep run --plan',
      'run of sessions': `sleep run --no-llm-mine --target ${model}`,
      'run of tasks that nobody reviewed': `sleep run --tasks found.json --target ${model}`,
    });
    reviewedTasks(home);
    await keepAll(here, {
      'dry-run': `sleep dry-run --tasks tasks.json --target ${model}`,
      'run at its limit': `sleep run --tasks tasks.json --max-calls 5 --target ${model}`,
      'status of an unfinished night': 'sleep status',
      'run resumed': `sleep run --tasks tasks.json --max-calls 1000 --target ${model}`,
      'status of a proposal': 'sleep status',
      runs: 'runs',
      show: 'show night-2',
      'show --all': 'show night-2 --all',
      diff: 'diff night-2',
      'apply of a night': 'apply night-2',
      review: 'sleep review',
      'review without an agreement': `sleep review --drop-change 2 --target ${model}`,
      'review --drop-change': `sleep review --drop-change 2 --yes --target ${model}`,
      adopt: 'sleep adopt',
      'adopt again': 'sleep adopt',
      'status of an adoption': 'sleep status',
      rollback: 'sleep rollback',
      'adopt --night': 'sleep adopt --night 2',
      'run with a handoff': 'sleep run --tasks tasks.json --target handoff',
      'schedule without a limit': `sleep schedule --target ${model}`,
      'run --check': `sleep run --check --target ${model}`,
      'purge of one kind': 'sleep purge index',
      'purge of no kind': 'sleep purge nonsense',
      purge: 'sleep purge --yes',
      'an unknown part': 'sleep rnu',
    });
    for (const kind of ['cron', 'systemd', 'launchd', 'windows'])
      await keep(kind, `sleep schedule --print --with ${kind} --max-minutes 9 --target ${model}`, here);
    await scheduled;
    await keepAll(there, {
      'status of a job': 'sleep status',
      unschedule: 'sleep unschedule',
      'unschedule --all': 'sleep unschedule --all',
    });
    compare();
  });

  const demoData = fileURLToPath(new URL('../../examples/benchmarks/searchqa', import.meta.url));

  it('about the rest: demo, sim, completion, and errors', async () => {
    using folder = simulatedProject();
    const { keep, keepAll, compare } = openRecording('others');
    cpSync(demoData, join(folder.path, 'demo'), { recursive: true });
    const here = { cwd: folder.path };
    await keepAll(here, {
      demo: 'demo --latency-ms 0',
      'demo sleep': 'demo sleep --nights 1',
      completion: 'completion bash',
      'an unknown command': 'trian',
      'an unknown option': 'train --epochs 3',
      'a value that cannot be': 'train --batch-size 0',
      'tasks that are not there': 'train --tasks nope.jsonl',
      'a model without a key': 'train --target openai:gpt-5-mini',
      'a worker without a queue': 'worker',
      'a queue that is none': 'worker --queue http://127.0.0.1:1',
      'bench list': 'bench list',
      'bench pull': 'bench pull searchqa --from demo --out pulled',
      'bench check': 'bench check searchqa --data pulled',
      'a benchmark that is none': 'bench check searchqq',
    });
    using empty = tempFolder();
    const nowhere = { cwd: empty.path };
    await keepAll(nowhere, { 'no project': 'train', 'no runs': 'runs', 'doctor without a project': 'doctor' });
    await using broken = await startFakeLLM(() => ({ status: 401, content: 'the key is not valid' }));
    await keep('a model that refuses', `train --target compatible:m@${broken.baseURL}`, here);
    let io = captureIo();
    const onIo = (opened: typeof io) => {
      io = opened;
    };
    await using slow = await startFakeLLM(() => {
      io.emit('SIGINT');
      return 'no';
    });
    await keep('train interrupted', `train --run runs/stopped --target compatible:m@${slow.baseURL}`, {
      ...here,
      onIo,
    });
    const timer = setInterval(() => io.out() !== '' && io.emit('SIGINT'), 20);
    await keep('sim', 'sim --port 0', { ...here, onIo });
    clearInterval(timer);
    compare();
  });

  it('about the plugin', async () => {
    using home = pluginHome();
    const { keepAll, compare } = openRecording('plugin');
    await keepAll(home.place, {
      'plugin install --dry-run': 'plugin install codex --dry-run',
      'plugin install': 'plugin install codex',
      'plugin install again': 'plugin install codex',
      'plugin list': 'plugin list',
      'plugin uninstall --dry-run': 'plugin uninstall codex --dry-run',
      'plugin uninstall': 'plugin uninstall codex',
      'plugin uninstall of nothing': 'plugin uninstall codex',
      'plugin doctor of nothing': 'plugin doctor',
      'plugin install into an unknown agent': 'plugin install vim',
    });
    compare();
  });

  it('is recorded for every command and all of its parts', async () => {
    const recorded = recordedCommands();
    const isRecorded = (name: string) => recorded.some((command) => `${command} `.startsWith(`${name} `));
    for (const entry of commands.filter(({ name }) => name !== 'mcp')) {
      // it speaks JSON-RPC
      const { commands: parts } = await buildCommand(entry, openTerminal(captureIo()));
      const names = parts.map((part) => `${entry.name} ${part.name()}`);
      expect([entry.name, ...names].filter((name) => !isRecorded(name))).toEqual([]);
    }
  });
});
