import { objectOf, textOf } from '../read/json.ts';

/** Tools that load a skill by its name: those of Claude Code, Gemini CLI, and several others. */
const SKILL_TOOLS = ['Skill', 'skill', 'activate_skill'];

/** Agents without such a tool read the file. */
const SKILL_FILE = /(?:^|[\\/"'\s])skills?[\\/]+([\p{L}\p{N}][\p{L}\p{N}._-]{0,63})[\\/]+SKILL\.md/u;

const MAX_INPUT_LENGTH = 4_000;

/** The skill that a tool call loads; empty if none. */
export function loadedSkill(tool: string, input: unknown): string {
  if (SKILL_TOOLS.includes(tool)) {
    const { skill, name, command } = objectOf(input);
    return textOf(skill) || textOf(name) || textOf(command);
  }
  const text = typeof input === 'string' ? input : shortValues(input);
  return SKILL_FILE.exec(text.slice(0, MAX_INPUT_LENGTH))?.[1] ?? '';
}

/** Commands and paths; a file's content is not among them. */
function shortValues(input: unknown): string {
  const values = Object.values(objectOf(input)).filter((value) => typeof value === 'string' && value.length < 1_000);
  return values.join('\n');
}

/** A plugin's skill is called `plugin:skill`; its folder has the last part of the name. */
export const skillName = (name: string) => name.slice(name.lastIndexOf(':') + 1).trim();
