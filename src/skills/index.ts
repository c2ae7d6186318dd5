// The names of this room that other rooms use.

/** The name for a skill in a folder. */
export { skillNameFor } from './check-name.ts';
/** What is wrong with a skill, and where. */
export type { Finding } from './finding.ts';
/** Lints a skill on disk, with the files that it links to. */
export { type LintedSkill, lintFolder } from './lint-folder.ts';
/** The skill files at a path. */
export { findSkillFiles } from './read-skill-file.ts';
