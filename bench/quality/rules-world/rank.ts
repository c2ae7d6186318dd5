import { parseJson } from '../../../src/core/text/index.ts';
import { applyPatch } from '../../../src/index.ts';
import type { Draw } from '../../../src/sim/draw.ts';
import { readEdit, type WireEdit } from '../../../src/sim/optimizer/edits.ts';
import type { OptimizerPrompt } from '../../../src/sim/optimizer/read-prompt.ts';
import { mean } from '../interval.ts';
import { readSkill } from './sentences.ts';
import { trueScore } from './true-score.ts';
import type { RulesWorld } from './world.ts';

/** By what each edit truly does; by that with an error as large as the edits differ; or by nothing. */
export type Ranker = 'right' | 'noisy' | 'random';

type Listed = { readonly index: number; readonly worth: number };

/** The reply to a ranking call: the whole list, best first, as far as it was asked for. */
export function rankEdits(prompt: OptimizerPrompt, ranker: Ranker, world: RulesWorld, draw: Draw): object {
  const listed = judgeAll(prompt, world);
  const spread = deviation(listed.map(({ worth }) => worth));
  const rankOf = ({ index, worth }: Listed) => {
    if (ranker === 'random') return draw(`rank ${index}`);
    return ranker === 'right' ? worth : worth + spread * normal((label) => draw(`error ${index}: ${label}`));
  };
  const order = listed.map((edit) => ({ ...edit, rank: rankOf(edit) })).sort((a, b) => b.rank - a.rank);
  return { reasoning: 'By reach.', selected_indices: order.slice(0, prompt.limit).map(({ index }) => index) };
}

/** An edit that says what the skill or an edit before it in the list says is worth nothing. */
function judgeAll({ edits, skill }: OptimizerPrompt, world: RulesWorld): Listed[] {
  const said = new Set<string>();
  return readList(edits).map(({ index, edit }) => {
    const words = newRules(edit, skill).filter((word) => !said.has(word));
    const isRepeated = words.length === 0 && newRules(edit, skill).length > 0;
    for (const word of words) said.add(word);
    return { index, worth: isRepeated ? 0 : worthOf(edit, words, skill, world) };
  });
}

function readList(lines: string): { readonly index: number; readonly edit: WireEdit }[] {
  return [...lines.matchAll(/^\[(\d{1,9})\] (.*)$/gm)].flatMap(([, index, json = '']) =>
    readEdit(parseJson(json)).map((edit) => ({ index: Number(index), edit })),
  );
}

const after = (skill: string, edit: WireEdit) => applyPatch(skill, { edits: [edit] });

function newRules(edit: WireEdit, skill: string): string[] {
  const { stated } = readSkill(skill);
  return [...readSkill(after(skill, edit)).stated].filter((word) => !stated.has(word));
}

/** Less than one task's worth: decides only where the effects are equal. */
const PER_NEED = 1e-6;

/** The effect on all tasks. A rule that helps only together with another one is still worth more than a remark. */
function worthOf(edit: WireEdit, words: readonly string[], skill: string, world: RulesWorld): number {
  const tasks = [...world.tasks.train, ...world.tasks.val];
  const needing = tasks.filter(({ needs }) => needs.some((word) => words.includes(word)));
  const effect = trueScore(after(skill, edit), world, tasks) - trueScore(skill, world, tasks);
  return effect + PER_NEED * needing.length;
}

function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

/** By Box and Muller. */
function normal(draw: Draw): number {
  return Math.sqrt(-2 * Math.log(1 - draw('length'))) * Math.cos(2 * Math.PI * draw('angle'));
}
