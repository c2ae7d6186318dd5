import { checkBody } from './check-body.ts';
import { checkFields } from './check-fields.ts';
import { checkMarkers } from './check-markers.ts';
import type { Finding } from './finding.ts';
import { parseFrontmatter } from './parse-frontmatter.ts';

type SkillText = {
  /** The name of the folder that holds the skill; undefined where it is not known. */
  readonly folderName: string | undefined;
  readonly text: string;
};

/** What is wrong with a skill according to the Agent Skills specification and to the trainer, in order of lines. */
export function lintSkill({ folderName, text }: SkillText): Finding[] {
  const { fields, findings, bodyStart } = parseFrontmatter(text);
  return [
    ...findings,
    ...(fields ? checkFields(fields, folderName) : []),
    ...checkBody(text, bodyStart),
    ...checkMarkers(text),
  ].sort((a, b) => a.line - b.line);
}
