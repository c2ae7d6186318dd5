import type { ErrorCode } from '../../../../src/core/contracts/index.ts';

/** What an error means to the person who gets it, and what helps. Markdown: `docs/errors.md` is made of it. */
type Explained = { readonly means: string; readonly remedy: string };

/** Every code in the words of the command line. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, Explained>> = {
  CONFIG_INVALID: {
    means:
      'A setting of the project file, of a flag or of `--set` is not what was expected, or the file cannot be read.',
    remedy:
      'The message names the key, its line and what was expected. `skillopt train --help-all` lists every key; `skillopt init DIR` writes a project that works.',
  },
  TASKS_INVALID: {
    means: 'A task file is missing, cannot be read, or has rows that are no tasks.',
    remedy: 'Fix the rows that the message names (`tasks.csv:17`). What a row may look like: [tasks.md](tasks.md).',
  },
  ENV_INVALID: {
    means: 'An environment module or adapter cannot be loaded, or is not what one must be.',
    remedy: 'The hint says what its default export must be and what it can import: [own-env.md](own-env.md).',
  },
  ENV_FAILED: {
    means:
      'More than half of a stage threw in the environment, it threw outside of a rollout, or its verifiers gave no verdict. No score is made of that.',
    remedy: 'Fix the environment, or start what it calls. The same command resumes the run.',
  },
  SKILL_NOT_FOUND: {
    means: 'The skill document that was named is not there, or its folder has no SKILL.md.',
    remedy:
      'Check the path: in the project file it is read from the folder of that file, as a flag from where you are.',
  },
  RUN_NOT_FOUND: {
    means: 'No run has that name, in the folder of runs or as a path.',
    remedy: '`skillopt runs` lists them; `--root DIR` names another folder.',
  },
  RUN_MISMATCH: {
    means: 'The run that is there was begun with other settings, tasks or models, and its result would be of neither.',
    remedy:
      'Go back to the settings that the message names, or start over: `--fresh`. Another name keeps both: `--run runs/NAME`.',
  },
  RUN_LOCKED: {
    means: 'Another process works on the same run, project or document.',
    remedy: 'Wait until it is done. A lock whose process is gone is taken over without asking.',
  },
  RUN_UNWRITABLE: {
    means: 'The run directory cannot be made or written.',
    remedy: 'Check the rights and the room on the disk, or choose another place: `--run PATH`.',
  },
  JOURNAL_CORRUPT: {
    means: 'A line in the middle of a journal cannot be read, or the journal is a link. A torn last line is no error.',
    remedy: 'Restore `events.jsonl` from a backup, or start over: `--fresh` moves the old run aside.',
  },
  STATE_UNUSABLE: {
    means:
      'Something of ours that is kept between runs (a cache, the state of sleep) cannot be read, or is of a newer version.',
    remedy: 'Do what the hint says: update skillopt, or move that file away.',
  },
  CONSENT_MISSING: {
    means: 'A night would send texts of sessions to a provider that nobody has agreed to.',
    remedy: 'Look at the texts with `skillopt sleep run --plan --page all`, then agree: `--consent PROVIDER`.',
  },
  DOCUMENT_REFUSED: {
    means:
      'A live document would be overwritten that changed since, is gone, or cannot be replaced safely. Nothing was written.',
    remedy: 'The hint says how to see the difference. `skillopt apply RUN --to PATH` writes elsewhere.',
  },
  MODEL_CALL_FAILED: {
    means:
      'A provider or agent refused, dropped or mangled a call for good. Never a wrong answer: the task has no score.',
    remedy: '`skillopt doctor` asks each model one question. Then the same command resumes where the run stopped.',
  },
  PROMPT_TOO_LONG: {
    means: 'A prompt does not fit into the context of a model.',
    remedy: 'A model with a larger context, shorter tasks or skill, or a smaller `minibatchSize` or `mergeBatchSize`.',
  },
  MODEL_REPLY_INVALID: {
    means: 'A reply that a stage needs could not be read, and that stage has nothing to fall back on.',
    remedy: 'Try again, or use a stronger model in that role.',
  },
  ANSWER_PENDING: {
    means: 'Questions were written to files, and wait for the agent that answers them.',
    remedy: 'Answer them as each file says, then the same command again.',
  },
  BUDGET_EXHAUSTED: {
    means: 'The next call would be above a limit of the run. Everything so far is kept, and the winner was measured.',
    remedy: 'The same command with a higher limit resumes. `skillopt estimate` tells what a whole run takes.',
  },
  SANDBOX_UNAVAILABLE: {
    means: 'A task is scored by a command, and no sandbox is installed to run it in.',
    remedy: 'Install bubblewrap, or leave such tasks out.',
  },
  QUEUE_UNREACHABLE: {
    means:
      'The server of `--queue` does not answer, refuses the account, or was away for a minute. No score is made of that.',
    remedy: 'Start it, or check the address: `skillopt doctor --queue URL`. The same command resumes the run.',
  },
  WORKER_MISMATCH: {
    means: 'A worker has another copy of the project, and would score a task differently. It made no attempt.',
    remedy: 'Give all machines the same files, packages and versions: [workers.md](workers.md).',
  },
  PLUGIN_FAILED: {
    means: 'An agent did not install, list or remove the plugin. An install that fails is undone.',
    remedy:
      'The message quotes the agent. `skillopt plugin install AGENT --dry-run` shows the commands, to try them by hand.',
  },
  USAGE: {
    means: 'A command, argument or option that does not exist or does not fit.',
    remedy: 'The hint names what was probably meant. `skillopt COMMAND --help` lists all of them.',
  },
};
