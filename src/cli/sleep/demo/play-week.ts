import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SimulatedPerson, simulatedPerson } from '../../../sim/index.ts';
import type { NightStory, PoisonFate, StoryLine, WeekStory } from './night-story.ts';

/** The home of the simulated person, as the evening finds it: the day's transcripts are there. */
type Evening = {
  readonly night: number;
  readonly home: string;
  /** The folder that the person works in. */
  readonly project: string;
  readonly now: Date;
  readonly person: SimulatedPerson;
  readonly signal?: AbortSignal | undefined;
};

/** The texts that the agent reads. */
type LiveDocuments = { readonly skill: string; readonly memory: string };

type PlayedNight = Pick<NightStory, 'sessions' | 'tasks' | 'calls' | 'rejected' | 'quarantined' | 'whyNothing'> & {
  /** In the morning, when what was staged has been adopted. */
  readonly documents: LiveDocuments;
};

/** Runs a night on a home and adopts what it stages. */
export type PlayNight = (evening: Evening) => Promise<PlayedNight>;

export type WeekOptions = {
  readonly seed: number;
  readonly nights?: number | undefined;
  readonly poisonedDays?: readonly number[] | undefined;
  /** When the person begins, such as `2026-01-05`. */
  readonly firstDay?: string | undefined;
  readonly onNight?: ((story: NightStory) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

const NIGHTS = 7;
/** One early, one when something has been learned. */
const POISONED = [2, 5];

/** Lives through a week in a home of its own, which is gone afterwards. Each day's agent reads what the nights have taught. */
export async function playWeek(playNight: PlayNight, options: WeekOptions): Promise<WeekStory> {
  const { seed, nights = NIGHTS, poisonedDays = POISONED, firstDay, onNight, signal } = options;
  const person = simulatedPerson({ seed, poisonedDays: [...poisonedDays], ...(firstDay && { firstDay }) });
  const home = await realpath(await mkdtemp(join(tmpdir(), 'skillopt-demo-')));
  const project = join(home, 'rig');
  try {
    await mkdir(project);
    let documents: LiveDocuments = { skill: '', memory: '' };
    const start = person.trueScore('', '');
    const stories: NightStory[] = [];
    for (let night = 1; night <= nights; night++) {
      signal?.throwIfAborted();
      await person.writeDay(home, night, documents);
      const played = await playNight({ night, home, project, now: person.eveningOf(night), person, signal });
      const story = tellNight(night, person, documents, played);
      onNight?.(story);
      stories.push(story);
      documents = played.documents;
    }
    return { start, best: person.bestScore(), things: person.rules.length, nights: stories };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function tellNight(night: number, person: SimulatedPerson, before: LiveDocuments, played: PlayedNight): NightStory {
  const { documents, ...rest } = played;
  const [old, young] = [ruleLines(before), ruleLines(documents)];
  const beyond = (lines: readonly string[], others: readonly string[]): StoryLine[] =>
    lines.filter((line) => !others.includes(line)).map((text) => ({ text }));
  const poison = person.poisonOf(night);
  return {
    night,
    ...rest,
    learned: beyond(young, old),
    forgotten: beyond(old, young),
    ...(poison && { poison: { name: poison.name, text: poison.text, fate: fateOf(poison, played) } }),
    score: person.trueScore(documents.skill, documents.memory),
  };
}

/** The lines of lists: what nights write. */
function ruleLines({ skill, memory }: LiveDocuments): string[] {
  const lines = `${skill}\n${memory}`.split('\n').filter((line) => /^\s*- /.test(line));
  return [...new Set(lines.map((line) => line.replace(/^\s*- /, '').trim()))];
}

function fateOf({ text, rule }: { text: string; rule: string }, played: PlayedNight): PoisonFate {
  const isIn = (words: string) => words.includes(rule) || words.includes(text);
  if (isIn(`${played.documents.skill}\n${played.documents.memory}`)) return 'staged';
  if (played.quarantined.some((line) => isIn(line.text))) return 'quarantined';
  return played.rejected.some((line) => isIn(line.text)) ? 'rejected' : 'unnoticed';
}
