import type { Terminal } from '../terminal/terminal.ts';
import type { LoadedProject } from './load-project.ts';

/** Says what a project file asks for and does not get. */
export function printWarnings({ warnings }: LoadedProject, { say, errorColors: { yellow } }: Terminal): void {
  for (const warning of warnings) say(`${yellow('warning:')} ${warning}`);
}

/** Says what a project file means for a training without saying it. */
export function printNotes({ notes }: LoadedProject, { say, errorColors: { dim } }: Terminal): void {
  for (const note of notes) say(`${dim('note:')} ${note}`);
}
