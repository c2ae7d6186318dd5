import type { Command } from 'commander';
import { z } from 'zod';
import { plural } from '../../../core/text/index.ts';
import { flagsFrom } from '../../flags/flags.ts';
import { interruptible } from '../../interrupt.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type NightStory, weekLines } from './night-story.ts';
import { type PlayNight, playWeek } from './play-week.ts';

const shape = {
  seed: z.number().int().default(11).describe('Seed of the person and the models.'),
  nights: z.number().int().min(1).max(60).default(7).describe('How many nights.'),
};

type DemoSleepFlags = { readonly seed?: number; readonly nights?: number; readonly quiet?: boolean };

/** `demo sleep`, with the night that it plays. */
export function addDemoSleep(command: Command, terminal: Terminal, playNight: PlayNight): void {
  const part = command.command('sleep').description('seven nights of a simulated person, offline');
  for (const option of flagsFrom(shape, { group: 'options:' })) part.addOption(option);
  part
    .option('--quiet', 'no progress, only the result')
    .option('--json', 'one JSON object on stdout')
    .action((_, own: Command) => showDemoSleep(own.optsWithGlobals() as DemoSleepFlags, terminal, playNight));
}

/** A week of a simulated person, in a home that is gone afterwards, told night by night. */
async function showDemoSleep(
  { quiet, ...flags }: DemoSleepFlags,
  terminal: Terminal,
  playNight: PlayNight,
): Promise<void> {
  const { seed, nights } = z.object(shape).parse(flags);
  const { width, colors } = terminal;
  const say = quiet ? () => {} : terminal.say;
  say('a simulated person works by day, their agent learns at night: offline, no key, no cost');
  const onNight = ({ night, learned }: NightStory) =>
    say(`night ${night} of ${nights}: ${plural(learned.length, 'line')} learned`);
  await interruptible({ io: terminal.io, onStop: terminal.say }, async (signal) => {
    const week = await playWeek(playNight, { seed, nights, signal, onNight });
    terminal.answer(week, weekLines(week, { width, colors }));
  });
}
