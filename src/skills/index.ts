// The names of this room that other rooms use.

/** The name for a skill in a folder. */
export { skillNameFor } from './check-name.ts';
/** What is wrong with a skill, and where. */
export type { Finding } from './finding.ts';
/** Lints a skill on disk, with the files that it links to. */
export { type LintedSkill, lintFolder } from './lint-folder.ts';
/** What is wrong with the text of a skill. */
export { lintSkill } from './lint-skill.ts';
/** A skill with all that lies beside it. */
export { readPackage } from './read-package.ts';
/** The skill files at a path. */
export { findSkillFiles, NO_SKILL_TEXT, skillFileAt, skillTextOf } from './read-skill-file.ts';
export { backupPath, readReceipt } from './replace/journal.ts';
/** Writes documents that people and agents use: all or nothing, and never over what somebody else wrote. */
export { replaceFiles, undo } from './replace/replace-files.ts';
export { digestOf, type Moment, type Receipt, type Replacement } from './replace/replacement.ts';
/** Takes back what a crash cut off. */
export { type Recovered, recoverReplacements } from './replace/take-back.ts';
/** A document as it is, if it could be replaced. */
export { type ReadDocument, readDocument } from './replace/target.ts';
/** Files that a skill refers to. */
export { readSkillFiles, type SkillFile } from './skill-files.ts';
/** Name and description of a skill. */
export { skillHeader } from './skill-header.ts';
